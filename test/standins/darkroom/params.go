package main

import (
	"maps"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// parseDefaultParams reads `k=v;k=v`. A part without `=` is dropped; a value cannot contain `=` or `;`.
func parseDefaultParams(text string) map[string]string {
	params := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if name, value, found := strings.Cut(part, "="); found {
			value, _, _ = strings.Cut(value, "=")
			params[name] = value
		}
	}
	return params
}

// joinParams adds the parameters of a request to the defaults. If both have a parameter, the values are joined with a
// comma. That works for auto=compress,format but is a trap for w: a default w=100 and ?w=50 yield `100,50`, which is
// not a number, so the image is not resized.
func joinParams(defaults map[string]string, query url.Values) map[string]string {
	joined := maps.Clone(defaults)
	for name := range query {
		value := query.Get(name)
		if value == "" {
			continue
		}
		if joined[name] != "" {
			value = joined[name] + "," + value
		}
		joined[name] = value
	}
	return joined
}

// cleanInt parses a size in pixels. It returns 0 unless text is a positive number, and otherwise the last four digits,
// so 10000 also yields 0.
func cleanInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0
	}
	return n % 10000
}

// cleanFloat parses a number modulo bound. It returns 0 unless text is a positive number.
func cleanFloat(text string, bound float64) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0
	}
	return math.Mod(f, bound)
}
