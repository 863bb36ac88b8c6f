package original

import (
	"bytes"
	"encoding/binary"
)

// pngChunks calls each with the chunks of a PNG file.
func pngChunks(body []byte, each func(kind string, data []byte)) {
	for rest := body[min(8, len(body)):]; len(rest) >= 12; {
		length := int64(binary.BigEndian.Uint32(rest))
		kind := string(rest[4:8])
		if length > int64(len(rest)-12) || kind == "IEND" {
			return
		}
		each(kind, rest[8:8+length])
		rest = rest[12+length:]
	}
}

// webpChunks calls each with the chunks of a WebP file.
func webpChunks(body []byte, each func(kind string, data []byte)) {
	for rest := body[min(12, len(body)):]; len(rest) >= 8; {
		length := int64(binary.LittleEndian.Uint32(rest[4:]))
		if length > int64(len(rest)-8) {
			return
		}
		each(string(rest[:4]), rest[8:8+length])
		rest = rest[min(8+length+length%2, int64(len(rest))):]
	}
}

// scanPNG returns the orientation of a PNG file, and whether it is animated.
func scanPNG(body []byte) (orientation int, animated bool) {
	orientation = upright
	pngChunks(body, func(kind string, data []byte) {
		switch kind {
		case "eXIf":
			orientation = orientationOf(data)
		case "acTL":
			animated = true
		}
	})
	return orientation, animated
}

// scanWebP returns the orientation of a WebP file, and whether it is animated.
func scanWebP(body []byte) (orientation int, animated bool) {
	orientation = upright
	webpChunks(body, func(kind string, data []byte) {
		switch kind {
		case "EXIF":
			orientation = orientationOf(bytes.TrimPrefix(data, []byte("Exif\x00\x00"))) // some programs write it
		case "ANIM":
			animated = true
		}
	})
	return orientation, animated
}
