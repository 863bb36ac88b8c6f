package original

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// JPEG contains the properties of a JPEG file that affect decoding.
type JPEG struct {
	// Progressive files need memory for all coefficients while they are decoded.
	Progressive bool
	// CMYK is set for files with four components.
	CMYK bool
	// Converted is set for CMYK and RGB files, which are decoded as YCbCr and then converted.
	Converted bool
	// Scans is the number of passes over the pixels.
	Scans int
	// Samples is the number of samples for each pixel: 1.5 for a typical photo, whose colors have half the width and
	// height.
	Samples float64
	// Profile is the length of the color profile in bytes.
	Profile int
	// Length is the length of the image in bytes, without trailing data.
	Length int
}

// maxScans bounds the work of decoding, because a scan of a few bytes is a pass over all pixels. Typical progressive
// files have about ten scans.
const maxScans = 100

// Markers of segments, as kinds of parts.
const (
	frames          = "\xc0\xc1\xc2\xc3\xc5\xc6\xc7\xc9\xca\xcb\xcd\xce\xcf"
	scanStart       = "\xda"
	applicationData = "\xe1"
	profileData     = "\xe2"
)

// segments calls each with the segments of a JPEG file, and returns the length of the image. Trailing data, such as
// the video of a motion photo or a second image, is not part of the image. In a malformed file it stops at the first
// unreadable segment, because the decoder returns a better error.
func segments(body []byte, each func(kind string, data []byte)) (length int) {
	const firstFrame, firstRestart, imageEnd, firstScan = 0xc0, 0xd0, 0xd9, 0xda
	for rest := body[min(2, len(body)):]; ; {
		// Scan data precedes the next segment. In scan data, 0xff is followed by zero.
		start := bytes.IndexByte(rest, 0xff)
		if start < 0 || len(rest) < start+2 {
			return len(body)
		}
		rest = rest[start:]
		marker, length := rest[1], 0
		if len(rest) >= 4 {
			length = int(binary.BigEndian.Uint16(rest[2:]))
		}
		switch {
		case marker == imageEnd:
			return len(body) - len(rest) + 2
		case marker < firstFrame, marker >= firstRestart && marker < firstScan, marker == 0xff, length < 2:
			rest = rest[1:] // not a segment
			continue
		}
		segment := rest[:min(2+length, len(rest))]
		rest = rest[len(segment):]
		each(string(segment[1:2]), segment[4:])
	}
}

// scanFrame reads a frame header, unless another one was read before.
func (i *Info) scanFrame(kind string, data []byte) {
	if i.JPEG.Samples > 0 || len(data) < 6 {
		return
	}
	i.JPEG.Progressive, i.JPEG.CMYK, i.JPEG.Samples = kind[0]&3 == 2, data[5] == 4, samples(data[6:])
	if i.Format == "" {
		i.Size = request.Size{Width: int(binary.BigEndian.Uint16(data[3:])), Height: int(binary.BigEndian.Uint16(data[1:]))}
	}
	if i.JPEG.Progressive {
		i.BytesPerPixel *= 5 // the decoder keeps all coefficients, with four bytes each
	}
}

// samples returns the number of samples for each pixel. Each component has three bytes.
func samples(components []byte) float64 {
	var sum, most int
	for ; len(components) >= 3; components = components[3:] {
		n := int(components[1]>>4) * int(components[1]&15)
		sum, most = sum+n, max(most, n)
	}
	return float64(sum) / float64(max(most, 1))
}

// parts calls each with the segments of a JPEG file or the chunks of a PNG or WebP file, and returns the length of
// the image. The kinds of the formats are distinct.
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

// webpChunks calls each with the chunks of a WebP file. The last one may be truncated.
func webpChunks(body []byte, each func(kind string, data []byte)) {
	for rest := body[min(12, len(body)):]; len(rest) >= 8; {
		length, whole := int64(binary.LittleEndian.Uint32(rest[4:])), int64(len(rest))
		each(string(rest[:4]), rest[8:min(8+length, whole)])
		rest = rest[min(8+length+length%2, whole):]
	}
}

// webpFrame returns the pixel size in a chunk of a WebP file; zero for chunks without pixels.
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

// upright is the orientation of an image that is stored upright.
const upright = 1

// orientationOf returns the EXIF orientation, 1 to 8, in EXIF data, which starts with a TIFF header; 1 if there is
// none.
func orientationOf(tiff []byte) int {
	const tag, short, entry = 0x0112, 3, 12
	if len(tiff) < 10 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	start := int64(order.Uint32(tiff[4:]))
	if start > int64(len(tiff)-2) {
		return upright
	}
	directory := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(directory) < entry {
			break
		}
		if order.Uint16(directory) == tag && order.Uint16(directory[2:]) == short {
			if found := order.Uint16(directory[8:]); found >= 1 && found <= 8 {
				return int(found)
			}
			break
		}
		directory = directory[entry:]
	}
	return upright
}
