package original

import (
	"bytes"
	"encoding/binary"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// JPEG holds properties of a JPEG file.
type JPEG struct {
	// Progressive files need the memory of all coefficients while they are decoded.
	Progressive bool
	// CMYK files have four components.
	CMYK bool
	// Scans is the number of passes over the pixels.
	Scans int
	// Samples is the number of samples for each pixel: 1.5 for an ordinary photo, whose
	// colors have half the width and height.
	Samples float64
	// Length is that of the image, without what is behind it.
	Length int
}

// maxScans bounds the work of decoding, as a scan of a few bytes is a pass over all pixels.
// Progressive files of ordinary programs have about ten scans.
const maxScans = 100

const (
	frameStart      = 0xc0 // to 0xcf, but for the three below
	huffmanTables   = 0xc4
	reserved        = 0xc8
	arithmeticTable = 0xcc
	imageEnd        = 0xd9
	scanStart       = 0xda
	applicationData = 0xe1
	profileData     = 0xe2
)

// segments calls each with the segments of a JPEG file up to the end of its image, and returns its
// length. What follows, such as the video of a motion photo or a second image, is not part of it.
// A malformed file ends where it cannot be read: decoding it will fail with a better error.
func segments(body []byte, each func(marker byte, data []byte)) (length int) {
	for rest := body[min(2, len(body)):]; ; {
		// Between segments are the pixels of a scan, in which zero follows 0xff.
		start := bytes.IndexByte(rest, 0xff)
		if start < 0 || len(rest) < start+4 {
			return len(body)
		}
		rest = rest[start:]
		marker, length := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		switch {
		case marker == imageEnd:
			return len(body) - len(rest) + 2
		case marker < frameStart, marker >= 0xd0 && marker < scanStart, marker == 0xff, length < 2:
			rest = rest[1:] // no segment
			continue
		}
		segment := rest[:min(2+length, len(rest))]
		rest = rest[len(segment):]
		each(marker, segment[4:])
	}
}

// scanJPEG returns what the header that Go decodes does not have.
func scanJPEG(body []byte) (found JPEG, stored request.Size, orientation int) {
	found.Length = segments(body, func(marker byte, data []byte) {
		switch {
		case marker == scanStart:
			found.Scans++
		case marker == applicationData && orientation == 0 && bytes.HasPrefix(data, []byte("Exif\x00\x00")):
			orientation = orientationOf(data[6:])
		case marker >= frameStart && marker < 0xd0 && marker != huffmanTables && marker != reserved && marker != arithmeticTable &&
			stored == (request.Size{}) && len(data) >= 6:
			found.Progressive = marker&3 == 2
			stored = request.Size{Width: int(binary.BigEndian.Uint16(data[3:])), Height: int(binary.BigEndian.Uint16(data[1:]))}
			found.Samples, found.CMYK = samples(data[6:]), data[5] == 4
		}
	})
	return found, stored, max(orientation, upright)
}

// samples returns the number of samples for each pixel, of components of three bytes each.
func samples(components []byte) float64 {
	var sum, most int
	for ; len(components) >= 3; components = components[3:] {
		n := int(components[1]>>4) * int(components[1]&15)
		sum, most = sum+n, max(most, n)
	}
	return float64(sum) / float64(max(most, 1))
}
