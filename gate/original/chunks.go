package original

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// parts calls each with the segments of a JPEG file or the chunks of a PNG or WebP file, which have no kinds in common, and
// returns the length of the image.
func parts(body []byte, each func(kind string, data []byte)) (length int) {
	switch Type(body) {
	case "image/jpeg":
		return segments(body, each)
	case "image/png":
		pngChunks(body, each)
	case "image/webp":
		webpChunks(body, each)
	}
	return len(body)
}

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

// webpChunks calls each with the chunks of a WebP file, and with what there is of one that is cut.
func webpChunks(body []byte, each func(kind string, data []byte)) {
	for rest := body[min(12, len(body)):]; len(rest) >= 8; {
		length, whole := int64(binary.LittleEndian.Uint32(rest[4:])), int64(len(rest))
		each(string(rest[:4]), rest[8:min(8+length, whole)])
		rest = rest[min(8+length+length%2, whole):]
	}
}

// webpFrame returns the size of the pixels in a chunk of a WebP file. A file may have another one in front of them.
func webpFrame(kind string, data []byte) request.Size {
	if kind == "VP8L" {
		config, _ := vp8l.DecodeConfig(bytes.NewReader(data))
		return request.Size{Width: config.Width, Height: config.Height}
	}
	decoder := vp8.NewDecoder()
	decoder.Init(bytes.NewReader(data), len(data))
	frame, _ := decoder.DecodeFrameHeader()
	return request.Size{Width: frame.Width, Height: frame.Height}
}
