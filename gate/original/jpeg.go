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
	// Exif is the segment with the orientation, marker included; empty if there is none.
	Exif string
	// Scans is the number of passes over the pixels.
	Scans int
}

// maxScans bounds the work of decoding, as a scan of a few bytes is a pass over all pixels.
// Progressive files of ordinary programs have about ten scans.
const maxScans = 100

// scanJPEG reads all segments. A malformed file yields what was found: decoding it will fail
// with a better error.
func scanJPEG(body []byte) JPEG {
	var found JPEG
	for rest := body[2:]; ; {
		// Between segments are the pixels of a scan, in which zero follows 0xff.
		start := bytes.IndexByte(rest, 0xff)
		if start < 0 || len(rest) < start+4 {
			return found
		}
		rest = rest[start:]
		marker, length := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		if marker < 0xc0 || marker >= 0xd0 && marker < 0xda || marker == 0xff || length < 2 {
			rest = rest[1:] // no segment
			continue
		}
		segment := rest[:min(2+length, len(rest))]
		rest = rest[len(segment):]
		switch marker {
		case 0xda: // start of a scan
			found.Scans++
		case 0xc2: // start of a progressive frame
			found.Progressive = true
		case 0xe1: // data of applications
			if found.Exif == "" && bytes.HasPrefix(segment[4:], []byte("Exif\x00\x00")) {
				found.Exif = string(segment)
			}
		}
	}
}
