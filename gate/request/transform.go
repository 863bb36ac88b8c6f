package request

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Parameters are the URL parameters of Darkroom v0.4.
var Parameters = []string{"auto", "blur", "crop", "fit", "flip", "h", "mono", "rot", "w"}

// MaxBlur bounds the radius of a blur, in pixels. The cost of a blur grows with it.
const MaxBlur = 100

// Values of Transform.Fit.
const (
	FitCrop  = "crop"
	FitScale = "scale"
)

// Transform lists the operations on an image. The zero value leaves it unchanged.
type Transform struct {
	// Width and Height are in pixels; zero means not given.
	Width, Height int
	// Fit is empty (the result fits into width and height), FitCrop or FitScale.
	Fit string
	// Crop is the part to keep with FitCrop; empty means the center.
	Crop string
	// Mono converts to shades of gray.
	Mono bool
	// Blur is the radius of a Gaussian blur in pixels, at most MaxBlur.
	Blur float64
	// Flip is empty, h, v or hv.
	Flip string
	// Rotate is the clockwise rotation in degrees, less than 360.
	Rotate float64
	// Auto is empty, compress, format or both, separated by a comma.
	Auto string
}

// Query returns the transformation as a query string of Darkroom, sorted by name.
func (t Transform) Query() string {
	values := url.Values{
		"auto": {t.Auto}, "blur": {formatFloat(t.Blur)}, "crop": {t.Crop}, "fit": {t.Fit}, "flip": {t.Flip},
		"h": {strconv.Itoa(t.Height)}, "rot": {formatFloat(t.Rotate)}, "w": {strconv.Itoa(t.Width)},
	}
	maps.DeleteFunc(values, func(_ string, v []string) bool { return v[0] == "" || v[0] == "0" })
	if t.Mono {
		values.Set("mono", "000000")
	}
	return values.Encode()
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (r Rules) parseTransform(params map[string]string) (Transform, error) {
	t, err := r.parseParameters(params)
	if err != nil {
		return Transform{}, err
	}
	return t.simplify()
}

func (r Rules) parseParameters(params map[string]string) (t Transform, err error) {
	for name, value := range params {
		switch name {
		case "w":
			t.Width, err = parseSize(name, value, r.MaxWidth)
		case "h":
			t.Height, err = parseSize(name, value, r.MaxHeight)
		case "fit":
			t.Fit, err = parseChoice(name, value, FitCrop, FitScale)
		case "crop":
			t.Crop, err = parseChoice(name, value, "top", "bottom", "left", "right",
				"top,left", "top,right", "bottom,left", "bottom,right")
		case "mono":
			_, err = parseChoice(name, value, "000000")
			t.Mono = true
		case "blur":
			t.Blur, err = parseNumber(name, value, MaxBlur)
		case "flip":
			t.Flip, err = parseChoice(name, strings.ToLower(value), "h", "v", "hv", "vh")
			t.Flip = strings.ReplaceAll(t.Flip, "vh", "hv")
		case "rot":
			t.Rotate, err = parseNumber(name, value, 360)
			t.Rotate = math.Mod(t.Rotate, 360)
		case "auto":
			t.Auto, err = parseAuto(value)
		}
		if err != nil {
			return Transform{}, err
		}
	}
	return t, nil
}

// simplify removes what has no effect and refuses combinations without a result.
func (t Transform) simplify() (Transform, error) {
	partial := t.Width == 0 || t.Height == 0
	if t.Fit == FitScale && partial {
		return Transform{}, problem.New(http.StatusBadRequest, "parameter fit=scale requires w and h")
	}
	if partial {
		t.Fit = "" // Darkroom resizes if there is nothing to crop
	}
	if t.Fit != FitCrop {
		t.Crop = ""
	}
	return t, nil
}

func parseSize(name, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0, problem.New(http.StatusBadRequest, "parameter %s must be an integer from 1 to %d", name, most)
	}
	return n, nil
}

func parseNumber(name, value string, most float64) (float64, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= 0 && f <= most) {
		return 0, problem.New(http.StatusBadRequest, "parameter %s must be a number from 0 to %g", name, most)
	}
	// Two digits are enough for pixels and degrees, and bound the number of variants.
	return math.Round(f*100) / 100, nil
}

func parseChoice(name, value string, choices ...string) (string, error) {
	if !slices.Contains(choices, value) {
		return "", problem.New(http.StatusBadRequest, "parameter %s must be one of: %s", name, strings.Join(choices, "; "))
	}
	return value, nil
}

func parseAuto(value string) (string, error) {
	parts := strings.Split(value, ",")
	for _, part := range parts {
		if _, err := parseChoice("auto", part, "compress", "format"); err != nil {
			return "", err
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ","), nil
}
