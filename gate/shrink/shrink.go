// Package shrink reduces large JPEG files before Darkroom decodes them. Darkroom needs about
// six bytes of memory for each pixel and resamples all of them, which dominates the cost
// of a thumbnail. Here pixels are averaged over blocks in the JPEG's own color space, such
// that at least twice the width and height of the result remain.
package shrink

import (
	"bytes"
	"image/jpeg"
	"slices"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

const (
	// minPixels is the size from which shrinking costs less than Darkroom saves by it.
	minPixels = 1 << 20
	// quality of the intermediate file. Darkroom encodes the result with quality 75.
	quality = 95
	// maxRoughness separates photographs from line art. Measured with results of 100 to 480
	// pixels: photographs, noisy ones too, have a roughness of 7 to 25, and the result has 40 dB
	// or more; thin black lines on white have 130 to 170, and the result has 32 to 43 dB.
	maxRoughness = 60
)

// Factor returns the number by which width and height can be divided, or 1 if the image must
// be left alone. The transformation must have a result.
func Factor(info original.Info, t request.Transform) int {
	if info.Format != "jpeg" || info.JPEG.CMYK || info.Size.Pixels() < minPixels {
		return 1
	}
	scaled := t.Scaled(info.Size)
	return max(1, min(info.Size.Width/scaled.Width, info.Size.Height/scaled.Height)/2)
}

// Weight returns the memory for shrinking an image, in bytes.
func Weight(info original.Info) int64 {
	return int64(float64(info.Size.Pixels()) * info.BytesPerPixel)
}

// JPEG decodes a JPEG file and encodes it with its width and height divided by factor. It
// returns nil if the image must be left alone: the file cannot be decoded, or has so
// fine lines that its result, of the given size, would differ visibly.
func JPEG(body []byte, factor int, info original.Info, result request.Size) []byte {
	decoded, err := jpeg.Decode(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	reduced := average(decoded, factor)
	if reduced == nil || planes(reduced)[0].roughness(result) > maxRoughness {
		return nil
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, reduced, &jpeg.Options{Quality: quality}); err != nil {
		return nil
	}
	file := out.Bytes()
	return slices.Concat(file[:2], []byte(info.JPEG.Exif), file[2:]) // Darkroom reads the orientation
}

// Exact returns a transformation of the shrunk image with the result's size of the original
// image: Darkroom derives a missing side from the image that it decodes, whose shape is
// slightly different.
func Exact(t request.Transform, size request.Size) request.Transform {
	if t.Fit == "" {
		scaled := t.Scaled(size)
		t.Fit, t.Width, t.Height = request.FitScale, scaled.Width, scaled.Height
	}
	return t
}
