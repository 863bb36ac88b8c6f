// Package prepare turns originals upright and reduces large ones before Darkroom decodes them.
// Darkroom knows orientations only of some files, and only after it has resized. It needs about
// six bytes of memory for each pixel and resamples all of them, which dominates the cost of a
// thumbnail. Here pixels are averaged over blocks in a JPEG's own color space, such that at least
// twice the width and height of the result remain.
package prepare

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"

	lenient "github.com/darkroom-operator/darkroom-operator/gate/jpeg"
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

// Plan describes the changes of an original. The zero value does nothing.
type Plan struct {
	// Factor is the number that width and height are divided by; at most 1 leaves the size alone.
	Factor int
	// Orientation of the original, which is turned upright; 0 if it is.
	Orientation int
	// Always shrinks line art too, because turning all of its pixels would take too much memory.
	Always bool
	// Weight is the memory for it, in bytes.
	Weight int64
}

// New returns the plan for an image and a transformation, which must have a result, within an
// amount of memory. A plan that turns may exceed it.
func New(info original.Info, t request.Transform, shrink bool, memory int64) Plan {
	plan := Plan{Factor: 1}
	if shrink {
		plan.Factor = factor(info, t)
	}
	if info.Orientation != 1 {
		plan.Orientation = info.Orientation
	}
	decoder, pixels := needed(info)
	switch whole := DecodedWeight(info); {
	case plan.Orientation == 0 && plan.Factor == 1:
		return Plan{}
	case plan.Orientation == 0:
		plan.Weight = decoder
		if plan.Weight > memory {
			return Plan{}
		}
	case plan.Factor == 1 || whole <= memory:
		plan.Weight = whole
	default:
		plan.Weight, plan.Always = max(decoder, pixels+pixels/int64(plan.Factor*plan.Factor)), true
	}
	return plan
}

// Repair returns the plan for a JPEG file that is damaged, of which all that can be read is encoded; zero for others.
func Repair(info original.Info) Plan {
	if info.Format != "jpeg" || info.JPEG.CMYK || info.Orientation != 1 {
		return Plan{}
	}
	return Plan{Factor: 1, Weight: DecodedWeight(info)}
}

// factor returns the number by which width and height can be divided, or 1 if the image must
// be left alone.
func factor(info original.Info, t request.Transform) int {
	if info.Format != "jpeg" || info.JPEG.CMYK || info.Size.Pixels() < minPixels {
		return 1
	}
	scaled := t.Scaled(info.Size)
	return max(1, min(info.Size.Width/scaled.Width, info.Size.Height/scaled.Height)/2)
}

// needed returns the memory of decoding an image, and that of its pixels alone.
func needed(info original.Info) (decoder, pixels int64) {
	each := info.BytesPerPixel
	// Decoders of JPEG files round up to blocks of 32 pixels.
	count := float64(request.Size{Width: info.Size.Width + 31, Height: info.Size.Height + 31}.Pixels())
	if info.Format != "jpeg" || info.JPEG.CMYK {
		return int64(count * each), int64(count * max(each, 4))
	}
	decoded := count * min(each, info.JPEG.Samples)
	if info.JPEG.Progressive {
		return int64(decoded * 5), int64(decoded)
	}
	return int64(decoded), int64(decoded)
}

// DecodedWeight returns the memory of decoding an image and of a copy of its pixels.
func DecodedWeight(info original.Info) int64 {
	decoder, pixels := needed(info)
	return max(decoder, 2*pixels)
}

// Decode returns the pixels of an image that Do can prepare, and those that can be read of a damaged JPEG file.
func Decode(body []byte, info original.Info) (image.Image, error) {
	switch info.Format {
	case "jpeg":
		img, err := lenient.Decode(body, 1)
		if errors.Is(err, lenient.ErrUnsupported) {
			return jpeg.Decode(bytes.NewReader(body))
		}
		return img, err
	case "webp":
		return webp.Decode(bytes.NewReader(body))
	}
	img, err := png.Decode(bytes.NewReader(body))
	if repaired := original.RepairPNG(body); err != nil && repaired != nil {
		return png.Decode(bytes.NewReader(repaired))
	}
	return img, err
}

// Upright returns an image, as it is decoded, or a copy of it that is upright.
func Upright(decoded image.Image, info original.Info) image.Image {
	if info.Orientation == 1 {
		return decoded
	}
	if upright := (Plan{Factor: 1, Orientation: info.Orientation}).average(decoded, info); upright != nil {
		return upright
	}
	return turned(decoded, info.Orientation)
}

// Do returns the file for Darkroom, of the decoded pixels of an image. It is nil if the image must
// be left alone: it has so fine lines that its result, of the given size, would differ visibly.
func (p Plan) Do(decoded image.Image, info original.Info, result request.Size) ([]byte, error) {
	prepared := p.average(decoded, info)
	if prepared == nil || p.Factor > 1 && !p.Always && planes(prepared)[0].roughness(result) > maxRoughness {
		if p.Orientation == 0 {
			return nil, nil
		}
		prepared = Upright(decoded, info)
	}
	var out bytes.Buffer
	var err error
	if info.Format == "jpeg" {
		err = jpeg.Encode(&out, prepared, &jpeg.Options{Quality: quality})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, prepared)
	}
	return out.Bytes(), err
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
