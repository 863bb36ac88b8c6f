package request

import (
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// maxBlurWork bounds pixels times radius of a blur: about two and a half seconds of one processor.
const maxBlurWork = 100_000_000

// Size is a width and a height in pixels.
type Size struct{ Width, Height int }

// Pixels returns the number of pixels.
func (s Size) Pixels() int64 { return int64(s.Width) * int64(s.Height) }

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
