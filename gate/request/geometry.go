package request

import (
	"math"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// maxBlurWork bounds pixels times radius of a blur: about two and a half seconds of one processor.
const maxBlurWork = 100_000_000

// Size is a width and a height in pixels.
type Size struct{ Width, Height int }

// Pixels returns the number of pixels.
func (s Size) Pixels() int64 { return int64(s.Width) * int64(s.Height) }

// Resolve returns the transformation of an original of this size as Darkroom knows it: without DPR,
// which is reduced to what the limits allow, and with a Fit of Darkroom.
func (r Rules) Resolve(t Transform, original Size) Transform {
	if t.DPR > 1 {
		width, height := r.MaxWidth, r.MaxHeight
		switch { // a side that is not given follows the other one
		case t.Height == 0:
			width = min(width, scaleSide(height, original.Width, original.Height))
		case t.Width == 0:
			height = min(height, scaleSide(width, original.Height, original.Width))
		}
		density := max(1, min(t.DPR, float64(width)/float64(max(t.Width, 1)), float64(height)/float64(max(t.Height, 1))))
		t.Width, t.Height = int(math.Round(float64(t.Width)*density)), int(math.Round(float64(t.Height)*density))
	}
	t.DPR = 0
	switch t.Fit {
	case FitMax:
		t.Fit = ""
		if scaled := t.Scaled(original); scaled.Width >= original.Width && scaled.Height >= original.Height {
			t.Width, t.Height = 0, 0
		}
	case FitMin:
		t.Fit = FitCrop
		part := min(1, float64(original.Width)/float64(t.Width), float64(original.Height)/float64(t.Height))
		t.Width, t.Height = max(1, int(math.Round(float64(t.Width)*part))), max(1, int(math.Round(float64(t.Height)*part)))
	}
	return t
}

// Scaled returns the size that Darkroom scales an image to: the size of the result, or
// with FitCrop that of the image from which the result is cropped.
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

func scaleSide(side, numerator, denominator int) int {
	return int(int64(side) * int64(numerator) / int64(denominator))
}

// Check refuses a transformation whose cost or result, for an original of this size,
// exceeds the limits.
func (r Rules) Check(t Transform, original Size, maxPixels int64) error {
	scaled := t.Scaled(original)
	resized := t.Width != 0 || t.Height != 0
	switch {
	case scaled.Width < 1 || scaled.Height < 1:
		return problem.New(http.StatusBadRequest,
			"parameters w and h reduce an image of %dx%d pixels to nothing", original.Width, original.Height)
	case scaled.Pixels() > maxPixels,
		resized && t.Fit != FitCrop && (scaled.Width > r.MaxWidth || scaled.Height > r.MaxHeight):
		return problem.New(http.StatusBadRequest,
			"parameters w and h enlarge an image of %dx%d pixels to %dx%d; the maximum is %dx%d",
			original.Width, original.Height, scaled.Width, scaled.Height, r.MaxWidth, r.MaxHeight)
	}
	blurred := scaled.Pixels()
	if t.Fit == FitCrop {
		blurred = int64(t.Width) * int64(t.Height)
	}
	if most := float64(maxBlurWork) / float64(blurred); t.Blur > most {
		return problem.New(http.StatusBadRequest,
			"parameter blur must be at most %.1f for a result of %d pixels", most, blurred)
	}
	return nil
}
