// Package request parses the URL of an image into a canonical form, which is the cache key, and refuses requests
// beyond the limits.
package request

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// MaxURL is the maximum length of a path and of a query string, in bytes.
const MaxURL = 2048

// Rules are the settings for parsing and checking requests.
type Rules struct {
	// MaxWidth and MaxHeight limit results, in pixels.
	MaxWidth, MaxHeight int
	// Parameters are the allowed parameters of Darkroom; nil allows all.
	Parameters []string
	// Defaults are added to every request. A parameter of the request replaces the default of the same name, except
	// for auto, whose values are combined.
	Defaults map[string]string
	// Presets are named sets of parameters.
	Presets map[string]map[string]string
	// OnlyPresets refuses all parameters except preset.
	OnlyPresets bool
}

// Request is an image request in canonical form: equivalent requests are equal.
type Request struct {
	// Path is unescaped, clean, and starts with a slash.
	Path string
	// Via contains the names of gates in the header of the client. They are forwarded to the source, which may respond
	// differently.
	Via string
	// Transform is the requested transformation; zero means the original.
	Transform Transform
	// Own is the transformation without default parameters. It applies to originals for which the defaults are not
	// possible.
	Own Transform
	// WebP is set if the client accepts WebP and auto=format is requested.
	WebP bool
}

// Original returns the key of the original. Names of gates are hashed, because there may be many.
func (r Request) Original() string {
	if r.Via == "" {
		return r.Path
	}
	sum := sha256.Sum256([]byte(r.Via))
	return hex.EncodeToString(sum[:16]) + " " + r.Path
}

// Key returns the key of the response. The path may contain any characters; the parts before it contain no spaces.
func (r Request) Key() string {
	key := r.Transform.Query()
	if r.Own != r.Transform {
		key += "#own=" + r.Own.Query()
	}
	if r.WebP {
		key += "#webp"
	}
	return key + " " + r.Original()
}

// Parse parses a URL. All errors are problems. Default parameters cause no errors: they are dropped if they conflict
// with parameters of the request.
func (r Rules) Parse(u *url.URL) (Request, error) {
	clean, err := cleanPath(u)
	if err != nil {
		return Request{}, err
	}
	if err := malformed(u.RawQuery); err != nil {
		return Request{}, err
	}
	params, err := r.own(u.Query()) // drops malformed pairs, as Darkroom does
	if err != nil {
		return Request{}, err
	}
	own, err := r.parseTransform(params)
	if len(r.Defaults) == 0 {
		return Request{Path: clean, Transform: own, Own: own}, err
	}
	all, allErr := r.parseTransform(r.withDefaults(params))
	switch {
	case allErr != nil:
		all = own
	case err != nil: // such as fit=scale with w, and a default for h
		own, err = all, nil
	}
	return Request{Path: clean, Transform: all, Own: own}, err
}

// Validate checks parameters in settings. It returns an error for invalid parameters, and for parameters that would
// be reduced or ignored in a request. Unknown parameters are ignored.
func (r Rules) Validate(parameters map[string]string) error {
	if _, err := r.parseParameters(parameters); err != nil {
		return err
	}
	most := map[string]int{"w": r.MaxWidth, "h": r.MaxHeight, "q": maxQuality}
	for name, value := range parameters {
		var err error
		switch name {
		case "w", "h", "q":
			if n, notANumber := strconv.Atoi(value); notANumber != nil || n > most[name] {
				err = problem.New(problem.Invalid, "parameter %s must be an integer from 1 to %d", name, most[name])
			}
		case "dpr":
			_, err = parseNumber(name, value, 1, maxDPR)
		case "crop":
			_, err = parseChoice(name, value, crops...)
		case "auto":
			for part := range strings.SplitSeq(value, ",") {
				_, notAChoice := parseChoice(name, part, autos...)
				err = cmp.Or(err, notAChoice)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// malformed returns a problem if a parameter of Darkroom is escaped incorrectly. Pairs with a semicolon, which used
// to be a separator, are ignored everywhere.
func malformed(query string) error {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if _, err := url.QueryUnescape(value); err != nil && slices.Contains(Parameters, name) &&
			!strings.Contains(pair, ";") {
			return problem.New(problem.Invalid, "parameter %s is malformed", name).Because(err)
		}
	}
	return nil
}

func cleanPath(u *url.URL) (string, error) {
	if len(u.Path) > MaxURL || len(u.RawQuery) > MaxURL {
		return "", problem.New(problem.URLTooLong, "path or query string exceeds %d bytes", MaxURL)
	}
	if !utf8.ValidString(u.Path) || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return "", problem.New(problem.Invalid, "the path contains control characters or is not valid UTF-8")
	}
	clean := path.Clean("/" + u.Path)
	if clean == "/" {
		return "", problem.New(problem.Missing, "no image has this path")
	}
	return clean, nil
}

// withDefaults adds default parameters to the parameters of a request.
func (r Rules) withDefaults(own map[string]string) map[string]string {
	params := maps.Clone(r.Defaults)
	for name, value := range own {
		merge(params, name, value)
	}
	return params
}

// merge sets a parameter. Values of auto are combined.
func merge(params map[string]string, name, value string) {
	if name == "auto" && params[name] != "" {
		value = params[name] + "," + value
	}
	params[name] = value
}

// own returns the parameters of the request and its preset. Unknown parameters, such as ?v=2, are ignored.
func (r Rules) own(values url.Values) (map[string]string, error) {
	params := map[string]string{}
	chosen := values.Get("preset")
	preset, found := r.Presets[chosen]
	if chosen != "" && !found {
		return nil, problem.New(problem.Invalid, "preset %.32q does not exist", chosen)
	}
	maps.Copy(params, preset)
	for name, given := range values {
		switch known := slices.Contains(Parameters, name); {
		case (known || name == "preset") && len(given) > 1:
			return nil, problem.New(problem.Invalid, "parameter %s is given %d times", name, len(given))
		case !known || given[0] == "":
			continue
		case r.OnlyPresets:
			return nil, problem.New(problem.Invalid, "parameter %s is not allowed; use preset", name)
		case r.Parameters != nil && !slices.Contains(r.Parameters, name):
			return nil, problem.New(problem.Invalid, "parameter %s is not allowed", name)
		}
		merge(params, name, given[0])
	}
	return params, nil
}
