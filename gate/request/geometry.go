package request

import (
	"math"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// maxBlurWork limits pixels times radius of a blur, to about 2.5 seconds of processor time.
const maxBlurWork = 100_000_000

// Size is a width and a height in pixels.
type Size struct{ Width, Height int }

// Pixels returns the number of pixels.
func (s Size) Pixels() int64 { return int64(s.Width) * int64(s.Height) }

// Resolve resolves a transformation for an original of the given size: it applies DPR, as far as the limits allow, and
// replaces values of Fit that Darkroom does not know.
func (r Rules) Resolve(t Transform, original Size) Transform {
	if t.DPR > 0 {
		width, height := float64(t.Width)*t.DPR, float64(t.Height)*t.DPR
		t.Width, t.Height, t.DPR = side(width), side(height), 0
	}
	t = r.within(t)
	switch { // a missing side follows the other one
	case t.Width > 0 && t.Height == 0:
		t.Width = min(t.Width, max(1, r.MaxHeight*original.Width/original.Height))
	case t.Height > 0 && t.Width == 0:
		t.Height = min(t.Height, max(1, r.MaxWidth*original.Height/original.Width))
	}
	switch t.Fit {
	case FitMax:
		t.Fit = ""
		if scaled := t.Scaled(original); scaled.Width >= original.Width && scaled.Height >= original.Height {
			t.Width, t.Height = 0, 0
		}
	case FitMin:
		t.Fit = FitCrop
		part := min(1, float64(original.Width)/float64(t.Width), float64(original.Height)/float64(t.Height))
		t.Width, t.Height = side(float64(t.Width)*part), side(float64(t.Height)*part)
	}
	scaled := t.Scaled(original)
	if t.Fit == "" && max(t.Width, t.Height) > 0 && min(scaled.Width, scaled.Height) == 1 { // Darkroom may round the size to zero
		t.Fit, t.Width, t.Height = FitScale, min(scaled.Width, r.MaxWidth), min(scaled.Height, r.MaxHeight)
	}
	return t
}

// reduce reduces a transformation to the limits. If the result has the aspect ratio of width and height, it keeps that
// ratio.
func (r Rules) reduce(t Transform) Transform {
	if t.Fit != "" && t.Fit != FitMax {
		return r.within(t)
	}
	t.Width, t.Height = min(t.Width, r.MaxWidth), min(t.Height, r.MaxHeight)
	return t
}

// within reduces width and height to the limits with their aspect ratio.
func (r Rules) within(t Transform) Transform {
	part := min(1, float64(r.MaxWidth)/float64(max(t.Width, 1)), float64(r.MaxHeight)/float64(max(t.Height, 1)))
	t.Width, t.Height = side(float64(t.Width)*part), side(float64(t.Height)*part)
	return t
}

// side rounds a side to at least 1. Zero stays zero, for a missing side.
func side(of float64) int {
	if of == 0 {
		return 0
	}
	return max(1, int(math.Round(of)))
}

// Sized sets both sides of a resolved transformation, because Darkroom rounds missing sides down.
func (t Transform) Sized(original Size) Transform {
	if t.Fit == "" && max(t.Width, t.Height) > 0 {
		scaled := t.Scaled(original)
		t.Fit, t.Width, t.Height = FitScale, scaled.Width, scaled.Height
	}
	return t
}

// Scaled returns the size to which an image is scaled, before it is cropped with FitCrop.
func (t Transform) Scaled(original Size) Size {
	byWidth := Size{t.Width, scaleSide(t.Width, original.Height, original.Width)}
	switch {
	case t.Width == 0 && t.Height == 0:
		return original
	case t.Fit == FitScale:
		return Size{t.Width, t.Height}
	case t.Height == 0,
		t.Fit == FitCrop && byWidth.Height >= t.Height,
		t.Fit != FitCrop && t.Width != 0 && byWidth.Height <= t.Height:
		return byWidth
	}
	return Size{scaleSide(t.Height, original.Width, original.Height), t.Height}
}

// scaleSide returns a missing side, rounded.
func scaleSide(of, numerator, denominator int) int {
	return side(float64(of) * float64(numerator) / float64(denominator))
}

// Check returns a problem for a transformation whose cost or result exceeds the limits for an original of the given
// size. A plain crop costs only its result, because the gate does not scale the rest.
func (r Rules) Check(t Transform, original Size, maxPixels int64) error {
	scaled := t.Scaled(original)
	resized := t.Width != 0 || t.Height != 0
	switch {
	case scaled.Pixels() > maxPixels && !(t.Fit == FitCrop && t.Plain()),
		resized && t.Fit != FitCrop && (scaled.Width > r.MaxWidth || scaled.Height > r.MaxHeight):
		return problem.New(problem.Invalid,
			"parameters w and h enlarge an image of %dx%d pixels to %dx%d; the maximum is %dx%d",
			original.Width, original.Height, scaled.Width, scaled.Height, r.MaxWidth, r.MaxHeight)
	}
	blurred := scaled.Pixels()
	if t.Fit == FitCrop {
		blurred = int64(t.Width) * int64(t.Height)
	}
	if most := float64(maxBlurWork) / float64(blurred); t.Blur > most {
		return problem.New(problem.Invalid,
			"parameter blur must be at most %.1f for a result of %d pixels", most, blurred)
	}
	return nil
}
