// Package render creates the results of plain transformations. It decodes an original at the scale that the result
// needs, rotates it upright, crops, resizes, and encodes once.
//
//   - render.go plans a result and its memory,
//   - decode.go decodes originals,
//   - resize.go resamples their planes,
//   - encode.go chooses the format and encodes.
package render

import (
	"cmp"
	"context"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/resample"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// Plan describes a result and how to render it.
type Plan struct {
	info original.Info
	// size is the size of the upright result.
	size request.Size
	// area is the visible part of the stored image. It is mirrored if it ends before it starts.
	area resample.Area
	// denominator divides the width and height when a JPEG file is decoded.
	denominator int
	quality     int
	webp        bool
	// forDarkroom is set for an upright copy of the original for Darkroom. It is never replaced by the original.
	forDarkroom bool
	// asItIs is set if the original is the result unless it is encoded as WebP.
	asItIs bool
	// Weight is the memory for rendering, in bytes.
	Weight int64
}

// New returns the plan for a transformation from request.Rules.Resolve, as WebP if requested and possible.
func New(info original.Info, t request.Transform, webp bool) Plan {
	scaled := t.Scaled(info.Size)
	p := Plan{info: info, size: scaled, quality: t.Quality}
	var left, top int
	if t.Fit == request.FitCrop {
		p.size = request.Size{Width: t.Width, Height: t.Height}
		left = offset(t.Crop, "left", "right", scaled.Width-t.Width)
		top = offset(t.Crop, "top", "bottom", scaled.Height-t.Height)
	}
	x, y := float64(info.Size.Width)/float64(scaled.Width), float64(info.Size.Height)/float64(scaled.Height)
	p.area = storedArea(resample.Area{
		X0: x * float64(left), X1: x * float64(left+p.size.Width),
		Y0: y * float64(top), Y1: y * float64(top+p.size.Height),
	}, info)
	p.webp = webp && p.fitsWebP()
	p.denominator = p.jpegDenominator()
	p.Weight = p.weigh()
	return p
}

// Upright returns the plan for an upright and undamaged copy of the original for Darkroom.
func Upright(info original.Info) Plan {
	p := New(info, request.Transform{Quality: 95}, false)
	p.forDarkroom = true
	p.Weight = p.weigh()
	return p
}

// AsWebP returns the plan to convert an image to WebP, and reports whether this is possible.
func AsWebP(info original.Info, quality int) (Plan, bool) {
	p := New(info, request.Transform{Quality: quality}, true)
	p.asItIs = true
	return p, p.webp
}

// IsWebP reports whether the result may be a WebP file.
func (p Plan) IsWebP() bool { return p.webp }

// Compare orders plans by the number of pixels of their results.
func (p Plan) Compare(other Plan) int { return cmp.Compare(p.size.Pixels(), other.size.Pixels()) }

// FullWeight returns the memory for rendering if the whole original is decoded. Unlike Weight, it is a measure of the
// processor time.
func (p Plan) FullWeight() int64 { return p.at(1).Weight }

// WithoutWebP returns the plan without conversion to WebP.
func (p Plan) WithoutWebP() Plan {
	p.webp = false
	return p
}

// at returns the plan with another denominator.
func (p Plan) at(denominator int) Plan {
	p.denominator = denominator
	p.Weight = p.weigh()
	return p
}

// Weight returns the memory for rendering several results of one original one after another, in bytes.
func Weight(plans []Plan) (most int64) {
	denominator := leastDenominator(plans)
	for _, p := range plans {
		most = max(most, p.at(denominator).Weight)
	}
	return most
}

// leastDenominator returns the denominator that has enough pixels for all results.
func leastDenominator(plans []Plan) int {
	return slices.MinFunc(plans, func(a, b Plan) int { return a.denominator - b.denominator }).denominator
}

// Pixels are the pixels of a decoded original.
type Pixels struct {
	img         image.Image
	denominator int
	// profile is set for CMYK files with a profile.
	profile *original.CMYKProfile
}

// Decode decodes an original for several results. The error is a problem of the kind Untransformable.
func Decode(ctx context.Context, body []byte, plans []Plan) (Pixels, error) {
	defer measure(ctx, "decode")()
	denominator := leastDenominator(plans)
	img, err := decode(body, plans[0].info, denominator)
	if err != nil {
		return Pixels{}, problem.New(problem.Untransformable, "the original cannot be decoded").Because(err)
	}
	pixels := Pixels{img: img, denominator: denominator}
	if _, ok := img.(*image.CMYK); ok {
		pixels.profile = original.CMYK(body)
	}
	return pixels, nil
}

// Make renders a result with the color profile of the original. If the original is equivalent and not larger, it is
// returned instead.
func (from Pixels) Make(ctx context.Context, body []byte, p Plan) ([]byte, error) {
	if p.asItIs && !p.webp {
		return body, nil
	}
	end := measure(ctx, "resize")
	resized := p.at(from.denominator).resize(from.img)
	if inks, ok := resized.(*image.CMYK); ok {
		resized = converted(inks, from.profile)
	}
	end()
	defer measure(ctx, "encode")()
	return p.encode(resized, body)
}

// measure measures a part of a request until the returned function is called.
func measure(ctx context.Context, part string) func() {
	start := time.Now()
	return func() { timing.Add(ctx, part, time.Since(start)) }
}

// offset returns the start of the cropped part, given the number of pixels to cut off.
func offset(crop, first, last string, rest int) int {
	switch {
	case strings.Contains(crop, first):
		return 0
	case strings.Contains(crop, last):
		return rest
	}
	return rest / 2
}

// storedArea returns the stored part of the image for an area of the upright image.
func storedArea(a resample.Area, info original.Info) resample.Area {
	width, height := float64(info.Size.Width), float64(info.Size.Height)
	if info.Orientation > 4 { // rotated by 90 or 270 degrees
		a = resample.Area{X0: a.Y0, Y0: a.X0, X1: a.Y1, Y1: a.X1}
		width, height = height, width
	}
	switch info.Orientation {
	case 2, 3, 7, 8: // from the right
		a.X0, a.X1 = width-a.X0, width-a.X1
	}
	switch info.Orientation {
	case 3, 4, 6, 7: // from the bottom
		a.Y0, a.Y1 = height-a.Y0, height-a.Y1
	}
	return a
}

// stored returns the size of the result before it is rotated by 90 or 270 degrees.
func (p Plan) stored() request.Size {
	if p.info.Orientation > 4 {
		return request.Size{Width: p.size.Height, Height: p.size.Width}
	}
	return p.size
}

// weigh returns the memory for decoding, resizing and encoding.
func (p Plan) weigh() int64 {
	const rgba = 4
	// JPEG decoders round up to blocks of 32 pixels.
	pixels := float64(request.Size{Width: p.info.Size.Width + 31, Height: p.info.Size.Height + 31}.Pixels())
	result := float64(p.size.Pixels())
	each := 2. * rgba // with a rotated or converted copy
	decoder, decoded := 0., pixels*(p.info.BytesPerPixel+rgba)
	if p.info.Format == "jpeg" {
		part := pixels / float64(p.denominator*p.denominator)
		decoded, each = p.info.JPEG.Samples*part, 2.5
		if p.info.JPEG.Converted {
			decoded, each = decoded+rgba*part, 3*rgba
		}
		if p.info.JPEG.Progressive { // two bytes for each coefficient, eight for each block, and the first plane
			decoder = p.info.JPEG.Samples*(2*part+pixels/8) + part
		}
		if p.info.JPEG.CMYK {
			decoded += float64(original.CMYKProfileMemory * p.info.JPEG.Profile)
		}
	}
	if p.webp || p.info.Format == "webp" && !p.forDarkroom {
		each += rgba + p.encoderBytes()
	}
	return int64(max(decoder, decoded+each*result))
}
