package original

import (
	"bytes"
	"encoding/binary"
)

// JPEG holds properties of a JPEG file.
type JPEG struct {
	// Progressive files need the memory of all coefficients while they are decoded.
	Progressive bool
	// CMYK files have four components.
	CMYK bool
	// Orientation is the orientation of Exif, valid from 1 to 8; zero if there is none.
	Orientation int
}

const (
	markerSOF2 = 0xc2 // start of a progressive frame
	markerSOS  = 0xda
	markerAPP1 = 0xe1
)

// scanJPEG reads the segments before the pixels. A malformed file yields what was found:
// decoding it will fail with a better error.
func scanJPEG(body []byte) JPEG {
	var found JPEG
	for rest := body[2:]; len(rest) >= 4 && rest[0] == 0xff; {
		if rest[1] == 0xff { // fill byte
			rest = rest[1:]
			continue
		}
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || len(rest) < 2+length {
			break
		}
		switch rest[1] {
		case markerSOS:
			return found
		case markerSOF2:
			found.Progressive = true
		case markerAPP1:
			if found.Orientation == 0 {
				found.Orientation = orientation(rest[4 : 2+length])
			}
		}
		rest = rest[2+length:]
	}
	return found
}

const tagOrientation = 0x0112

// orientation returns the orientation in an Exif segment, or zero.
func orientation(segment []byte) int {
	tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00"))
	if !ok || len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	start := uint64(order.Uint32(tiff[4:]))
	if start+2 > uint64(len(tiff)) {
		return 0
	}
	entries := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(entries) < 12 {
			return 0
		}
		if order.Uint16(entries) == tagOrientation {
			return int(order.Uint16(entries[8:]))
		}
		entries = entries[12:]
	}
	return 0
}
