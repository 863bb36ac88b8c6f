package request

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// A client gets WebP only if its Accept header names the type with a positive weight, and only for URLs with
// auto=format. Other clients share the response to the URL without it.
func TestTheFormatIsThatOfTheHeaderAccept(t *testing.T) {
	others := rapid.SampledFrom([]string{"*/*", "image/*", "image/avif", "image/webpx", "text/html;q=0.9", "\"", ",", ""})
	property.Check(t, func(rt *rapid.T) {
		weight := rapid.SampledFrom([]string{"", ";q=1", "; q=0.001", ";Q=0.5", ";q=0", ";q=0.000", ";v=b3;q=0.7", ";q=x"}).
			Draw(rt, "weight")
		list := rapid.SliceOfN(others, 0, 5).Draw(rt, "others")
		named := rapid.Bool().Draw(rt, "named")
		if named {
			at := rapid.IntRange(0, len(list)).Draw(rt, "at")
			name := rapid.SampledFrom([]string{"image/webp", "Image/WEBP"}).Draw(rt, "name")
			list = slices.Insert(list, at, name+weight)
		}
		accept := []string{strings.Join(list, rapid.SampledFrom([]string{",", ", "}).Draw(rt, "separator"))}
		if rapid.Bool().Draw(rt, "lines") {
			accept = list
		}
		quality := rapid.IntRange(1, 100).Draw(rt, "quality")
		auto := rapid.SampledFrom([]string{"", "compress", "format", "format,compress"}).Draw(rt, "auto")
		r, err := parse(t, rules, fmt.Sprintf("/a?w=10&q=%d&auto=%s", quality, auto))
		if err != nil {
			rt.Fatal(err)
		}
		without, err := parse(t, rules, fmt.Sprintf("/a?w=10&q=%d&auto=%s", quality,
			map[bool]string{true: "compress"}[strings.Contains(auto, "compress")]))
		if err != nil {
			rt.Fatal(err)
		}

		got, varies := r.Negotiate(accept)
		want, format := without, strings.Contains(auto, "format")
		want.WebP = format && named && !strings.HasPrefix(weight, ";q=0")
		if got != want || varies != format {
			rt.Fatalf("auto=%s for %q: %+v %t, want %+v", auto, accept, got, varies, want)
		}
	})
}
