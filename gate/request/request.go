// Package request parses the URL of an image into its canonical form, which is the key of
// the cache, and refuses what exceeds the limits before any work is done.
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

// Rules are the settings that requests are checked against.
type Rules struct {
	// MaxWidth and MaxHeight bound the result, in pixels.
	MaxWidth, MaxHeight int
	// Parameters are the names of Darkroom's parameters that may be used; nil allows all.
	Parameters []string
	// Defaults are parameters of every request. A parameter of the request replaces the
	// default of the same name, except for auto, whose values are combined.
	Defaults map[string]string
	// Presets are named sets of parameters.
	Presets map[string]map[string]string
	// OnlyPresets refuses all parameters except preset.
	OnlyPresets bool
}

// Request is an image request in canonical form: two requests for the same image with the
// same transformation are equal.
type Request struct {
	// Path is unescaped, clean, and starts with a slash.
	Path string
	// Via has the names of the gates that a client says its request came through. The source gets them, and may respond
	// differently.
	Via string
	// Transform is the requested transformation; zero means the original.
	Transform Transform
	// Own is the transformation without default parameters, for an original that they cannot be applied to.
	Own Transform
	// WebP is set for a client that accepts a result in that format.
	WebP bool
}

// Original identifies the original. Names of gates may be many, and are digested.
func (r Request) Original() string {
	if r.Via == "" {
		return r.Path
	}
	sum := sha256.Sum256([]byte(r.Via))
	return hex.EncodeToString(sum[:16]) + " " + r.Path
}

// Key identifies the response. A path may have any characters; what is in front of it has no spaces.
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

// Parse returns the canonical form of a URL. All errors are problems. Default parameters never lead
// to one: those that do not go with the parameters of the request are left out.
func (r Rules) Parse(u *url.URL) (Request, error) {
	clean, err := cleanPath(u)
	if err != nil {
		return Request{}, err
	}
	if err := malformed(u.RawQuery); err != nil {
		return Request{}, err
	}
	params, err := r.own(u.Query()) // without the pairs that are malformed, as Darkroom reads it
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
	case err != nil: // such as fit=scale with w, to which a default has h
		own, err = all, nil
	}
	return Request{Path: clean, Transform: all, Own: own}, err
}

// Validate returns an error for a parameter of a setting that is invalid, or would be reduced or ignored in a request.
// Others than Darkroom's have no effect.
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

// malformed returns a problem if a parameter of Darkroom is escaped in a way that nothing can read.
// A semicolon is no longer a separator, and makes a pair that everything ignores.
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

// withDefaults adds the default parameters to the parameters of a request.
func (r Rules) withDefaults(own map[string]string) map[string]string {
	params := maps.Clone(r.Defaults)
	for name, value := range own {
		merge(params, name, value)
	}
	return params
}

// merge sets a parameter, and adds the values of auto to those before.
func merge(params map[string]string, name, value string) {
	if name == "auto" && params[name] != "" {
		value = params[name] + "," + value
	}
	params[name] = value
}

// own merges preset and the parameters of the request. Parameters that Darkroom does not know,
// such as ?v=2, are ignored.
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
