package request

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

const (
	// DefaultQuality is the quality of JPEG and WebP results without the parameter q.
	DefaultQuality = 75
	maxQuality     = 100
)

// Parameters are the URL parameters of Darkroom v0.4, and dpr and q, which client libraries add.
var Parameters = []string{"auto", "blur", "crop", "dpr", "fit", "flip", "h", "mono", "q", "rot", "w"}

const (
	// leastDPR and maxDPR limit the pixel density of a screen.
	leastDPR, maxDPR = 0.01, 5
	// maxSide is larger than all limits.
	maxSide = math.MaxInt32
)

// MaxBlur is the maximum radius of a blur, in pixels. The cost of a blur grows with its radius.
const MaxBlur = 100

// Values of Transform.Fit. Darkroom knows the first two.
const (
	FitCrop  = "crop"
	FitScale = "scale"
	FitMax   = "max" // into width and height, but never larger than the original
	FitMin   = "min" // FitCrop, but never larger than the original
)

// Transform lists the operations on an image. The zero value leaves it unchanged.
type Transform struct {
	// Width and Height are in pixels; zero if missing.
	Width, Height int
	// DPR multiplies width and height; zero means 1.
	DPR float64
	// Fit is empty (the result fits into width and height) or one of the constants.
	Fit string
	// Crop is the part to keep with FitCrop and FitMin; empty means the center.
	Crop string
	// Mono converts to grayscale.
	Mono bool
	// Blur is the radius of a Gaussian blur in pixels, at most MaxBlur.
	Blur float64
	// Flip is empty, h, v or hv.
	Flip string
	// Rotate is the clockwise rotation in degrees, less than 360.
	Rotate float64
	// Auto is empty, compress, format or both, separated by a comma.
	Auto string
	// Quality of a JPEG or WebP result, from 1 to 100; zero means DefaultQuality. Darkroom does not support it.
	Quality int
}

// Query returns the query string for Darkroom, sorted by name.
func (t Transform) Query() string {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	set("auto", t.Auto)
	set("blur", formatFloat(t.Blur))
	set("crop", t.Crop)
	set("dpr", formatFloat(t.DPR))
	set("fit", t.Fit)
	set("flip", t.Flip)
	set("h", strconv.Itoa(t.Height))
	set("q", strconv.Itoa(t.Quality))
	set("rot", formatFloat(t.Rotate))
	set("w", strconv.Itoa(t.Width))
	if t.Mono {
		query.Set("mono", "000000")
	}
	return query.Encode()
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (r Rules) parseTransform(params map[string]string) (Transform, error) {
	t, err := r.parseParameters(params)
	if err != nil {
		return Transform{}, err
	}
	return r.reduce(t).simplify()
}

func (r Rules) parseParameters(params map[string]string) (t Transform, err error) {
	for name, value := range params {
		switch name {
		case "w":
			t.Width, err = parseInteger(name, value)
		case "h":
			t.Height, err = parseInteger(name, value)
		case "q":
			t.Quality, err = parseInteger(name, value)
			t.Quality = min(t.Quality, maxQuality)
		case "fit":
			t.Fit, err = parseChoice(name, value, FitCrop, FitScale, FitMax, FitMin, "clip")
			t.Fit = strings.ReplaceAll(t.Fit, "clip", FitMax)
		case "dpr":
			t.DPR, err = parseNumber(name, value, leastDPR, math.MaxFloat64)
			t.DPR = min(t.DPR, maxDPR)
		case "crop":
			t.Crop = parseCrop(value)
		case "mono":
			_, err = parseChoice(name, value, "000000")
			t.Mono = true
		case "blur":
			t.Blur, err = parseNumber(name, value, 0, MaxBlur)
		case "flip":
			t.Flip, err = parseChoice(name, strings.ToLower(value), "h", "v", "hv", "vh")
			t.Flip = strings.ReplaceAll(t.Flip, "vh", "hv")
		case "rot":
			t.Rotate, err = parseNumber(name, value, 0, 360)
			t.Rotate = math.Mod(t.Rotate, 360)
		case "auto":
			t.Auto = known(value, autos)
		}
		if err != nil {
			return Transform{}, err
		}
	}
	return t, nil
}

// simplify removes parameters without effect, and refuses invalid combinations.
func (t Transform) simplify() (Transform, error) {
	partial := t.Width == 0 || t.Height == 0
	if t.Fit == FitScale && partial {
		return Transform{}, problem.New(problem.Invalid, "parameter fit=scale requires w and h")
	}
	switch whole := t.Width == 0 && t.Height == 0; {
	case whole:
		t.Fit, t.DPR = "", 0
	case partial && t.Fit == FitMin:
		t.Fit = FitMax
	case partial && t.Fit == FitCrop:
		t.Fit = "" // Darkroom resizes if there is nothing to crop
	}
	if t.DPR == 1 {
		t.DPR = 0
	}
	if t.Fit != FitCrop && t.Fit != FitMin {
		t.Crop = ""
	}
	if t.Quality == DefaultQuality && t != (Transform{Quality: DefaultQuality}) {
		t.Quality = 0
	}
	return t, nil
}

// Plain reports whether a transformation needs no operations that only Darkroom supports.
func (t Transform) Plain() bool { return !t.Mono && t.Blur == 0 && t.Flip == "" && t.Rotate == 0 }

// WithoutQuality returns the transformation for Darkroom, which does not support quality.
func (t Transform) WithoutQuality() Transform {
	t.Quality = 0
	return t
}

// parseInteger parses a number of at least 0.5 and rounds it.
func parseInteger(name, value string) (int, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= 0.5) { // also refuses NaN
		return 0, problem.New(problem.Invalid, "parameter %s must be a number from 1", name)
	}
	return int(math.Round(min(f, maxSide))), nil
}

func parseNumber(name, value string, least, most float64) (float64, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= least && f <= most) {
		return 0, problem.New(problem.Invalid, "parameter %s must be a number from %g to %g", name, least, most)
	}
	// Two decimals are enough for pixels and degrees, and limit the number of variants. Zero has no sign.
	return math.Abs(math.Round(f*100) / 100), nil
}

func parseChoice(name, value string, choices ...string) (string, error) {
	if !slices.Contains(choices, value) {
		return "", problem.New(problem.Invalid, "parameter %s must be one of: %s", name, strings.Join(choices, "; "))
	}
	return value, nil
}

var (
	autos = []string{"compress", "format"}
	crops = []string{
		"top", "bottom", "left", "right", "top,left", "top,right", "bottom,left", "bottom,right",
	}
)

// parseCrop returns the sides in Darkroom's order; empty if there are none, or if they are opposite.
func parseCrop(value string) string {
	crop := known(value, crops[:4])
	if first, second, both := strings.Cut(crop, ","); both && !slices.Contains(crops, crop) {
		crop = second + "," + first
	}
	if !slices.Contains(crops, crop) {
		return ""
	}
	return crop
}

// known returns the entries of a list that are among the choices, sorted. Client libraries also send unknown entries.
func known(value string, choices []string) string {
	parts := slices.DeleteFunc(strings.Split(value, ","), func(part string) bool { return !slices.Contains(choices, part) })
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ",")
}
