package request

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

var rules = Rules{MaxWidth: 4096, MaxHeight: 4096}

func parse(t *testing.T, r Rules, target string) (Request, error) {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatal(err)
	}
	return r.Parse(u)
}

func TestEqualRequestsHaveOneKey(t *testing.T) {
	for target, want := range map[string]string{
		"/a.jpg":                                "/a.jpg?",
		"/a.jpg?":                               "/a.jpg?",
		"/a.jpg?v=2&utm_source=mail":            "/a.jpg?",
		"/a.jpg?w=":                             "/a.jpg?",
		"/a.jpg?w=50&utm=50%":                   "/a.jpg?w=50",
		"/a.jpg?w=50;v=1":                       "/a.jpg?",
		"/a.jpg?h=5&w=50;v=1&%&=":               "/a.jpg?h=5",
		"//x/../a.jpg":                          "/a.jpg?",
		"/../../a.jpg":                          "/a.jpg?",
		"/%61.jpg?h=2&w=1":                      "/a.jpg?h=2&w=1",
		"/a.jpg?w=0300":                         "/a.jpg?w=300",
		"/a.jpg?blur=0":                         "/a.jpg?",
		"/a.jpg?blur=-0&rot=-0.00":              "/a.jpg?",
		"/a.jpg?blur=1.0000":                    "/a.jpg?blur=1",
		"/a.jpg?rot=360":                        "/a.jpg?",
		"/a.jpg?flip=VH":                        "/a.jpg?flip=hv",
		"/a.jpg?auto=format,compress,format":    "/a.jpg?auto=compress%2Cformat",
		"/a.jpg?w=1&h=2&fit=crop&crop=top,left": "/a.jpg?crop=top%2Cleft&fit=crop&h=2&w=1",
		"/a.jpg?w=1&crop=top":                   "/a.jpg?w=1",
		"/a.jpg?w=1&fit=crop":                   "/a.jpg?w=1",
		"/a%3Fw=1":                              "/a%3Fw=1?",
		"/a%253F":                               "/a%253F?",
		"/%C3%A9 b.jpg":                         "/%C3%A9%20b.jpg?",
		"/a.jpg?mono=000000":                    "/a.jpg?mono=000000",
		"/a.jpg?dpr=2&ixlib=js":                 "/a.jpg?",
		"/a.jpg?w=10&dpr=1":                     "/a.jpg?w=10",
		"/a.jpg?w=10&dpr=2.0&fit=clip":          "/a.jpg?dpr=2&fit=max&w=10",
		"/a.jpg?w=10&fit=min&crop=top":          "/a.jpg?fit=max&w=10",
		"/a.jpg?fit=max":                        "/a.jpg?",
		"/a.jpg?q=50":                           "/a.jpg?q=50",
		"/a.jpg?q=75":                           "/a.jpg?q=75",
		"/a.jpg?w=10&q=75":                      "/a.jpg?w=10",
		"/a.jpg?auto=compress&q=50":             "/a.jpg?auto=compress&q=50",
		"/a.jpg?auto=format&q=75":               "/a.jpg?auto=format",
		"/a.jpg?auto=format&q=050":              "/a.jpg?auto=format&q=50",
		"/a.jpg?auto=format&q=101":              "/a.jpg?auto=format&q=100",
		"/a.jpg?w=300.4":                        "/a.jpg?w=300",
		"/a.jpg?w=8192":                         "/a.jpg?w=4096",
		"/a.jpg?w=1e30":                         "/a.jpg?w=4096",
		"/a.jpg?w=8192&fit=max":                 "/a.jpg?fit=max&w=4096",
		"/a.jpg?w=8192&h=100":                   "/a.jpg?h=100&w=4096",
		"/a.jpg?w=8192&h=100&fit=crop":          "/a.jpg?fit=crop&h=50&w=4096",
		"/a.jpg?w=8192&h=100&fit=scale":         "/a.jpg?fit=scale&h=50&w=4096",
		"/a.jpg?w=10&dpr=6":                     "/a.jpg?dpr=5&w=10",
		"/a.jpg?w=10&dpr=0.75":                  "/a.jpg?dpr=0.75&w=10",
		"/a.jpg?auto=enhance":                   "/a.jpg?",
		"/a.jpg?auto=format,enhance":            "/a.jpg?auto=format",
		"/a.jpg?w=1&h=2&fit=crop&crop=faces":    "/a.jpg?fit=crop&h=2&w=1",
		"/a.jpg?w=1&h=2&fit=crop&crop=left,top": "/a.jpg?crop=top%2Cleft&fit=crop&h=2&w=1",
	} {
		target = strings.ReplaceAll(target, " ", "%20")
		r, err := parse(t, rules, target)
		if err != nil {
			t.Errorf("%s: %v", target, err)
		} else if got := (&url.URL{Path: r.Path}).EscapedPath() + "?" + r.Transform.Query(); got != want ||
			r.Own != r.Transform {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

func TestRefusalsNameParameterAndBound(t *testing.T) {
	limited := Rules{MaxWidth: 100, MaxHeight: 200, Parameters: []string{"w", "h", "fit"}}
	presets := Rules{
		MaxWidth: 100, MaxHeight: 100, Presets: map[string]map[string]string{"thumb": {"w": "50"}},
		OnlyPresets: true,
	}
	for _, test := range []struct {
		rules  Rules
		target string
		kind   problem.Kind
		detail string
	}{
		{rules, "/a?w=-1", problem.Invalid, "parameter w must be a number from 1"},
		{rules, "/a?w=wide", problem.Invalid, "parameter w must be a number from 1"},
		{rules, "/a?h=NaN", problem.Invalid, "parameter h must be a number from 1"},
		{rules, "/a?w=1&w=2", problem.Invalid, "parameter w is given 2 times"},
		{rules, "/a?blur=999", problem.Invalid, "parameter blur must be a number from 0 to 100"},
		{rules, "/a?blur=NaN", problem.Invalid, "parameter blur must be a number from 0 to 100"},
		{rules, "/a?w=1&dpr=0", problem.Invalid, "parameter dpr must be a number from 0.01"},
		{rules, "/a?q=0", problem.Invalid, "parameter q must be a number from 1"},
		{rules, "/a?rot=361", problem.Invalid, "parameter rot must be a number from 0 to 360"},
		{rules, "/a?fit=contain", problem.Invalid, "parameter fit must be one of: crop; scale; max; min; clip"},
		{rules, "/a?fit=scale&w=1", problem.Invalid, "parameter fit=scale requires w and h"},
		{rules, "/a?mono=ff0000", problem.Invalid, "parameter mono must be one of: 000000"},
		{rules, "/a?w=%zz", problem.Invalid, "parameter w is malformed"},
		{rules, "/a%00b", problem.Invalid, "the path contains control characters"},
		{rules, "/a%ff", problem.Invalid, "the path contains control characters or is not valid UTF-8"},
		{rules, "/" + strings.Repeat("a", 2050), problem.URLTooLong, "path or query string exceeds 2048 bytes"},
		{rules, "/a?" + strings.Repeat("a", 2050), problem.URLTooLong, "path or query string exceeds 2048 bytes"},
		{rules, "/", problem.Missing, "no image has this path"},
		{limited, "/a?mono=000000", problem.Invalid, "parameter mono is not allowed"},
		{presets, "/a?w=50", problem.Invalid, "parameter w is not allowed; use preset"},
		{presets, "/a?preset=huge", problem.Invalid, `preset "huge" does not exist`},
	} {
		_, err := parse(t, test.rules, test.target)
		if err == nil {
			t.Errorf("%s: no error", test.target)
			continue
		}
		if p := problem.Of(err); p.Kind != test.kind || !strings.Contains(p.Detail, test.detail) {
			t.Errorf("%s: %s %q, want %s %q", test.target, p.Kind, p.Detail, test.kind, test.detail)
		}
	}
}

func TestDefaultsAndPresetsAreReplacedByTheRequest(t *testing.T) {
	r := Rules{
		MaxWidth: 100, MaxHeight: 100, Defaults: map[string]string{"auto": "compress", "w": "10"},
		Presets: map[string]map[string]string{"thumb": {"w": "50", "h": "50", "fit": "crop"}},
	}
	for target, want := range map[string]string{
		"/a":                   "/a?auto=compress&w=10",
		"/a?w=20":              "/a?auto=compress&w=20",
		"/a?auto=format":       "/a?auto=compress%2Cformat&w=10",
		"/a?preset=thumb":      "/a?auto=compress&fit=crop&h=50&w=50",
		"/a?preset=thumb&w=20": "/a?auto=compress&fit=crop&h=50&w=20",
	} {
		if got, err := parse(t, r, target); err != nil || got.Path+"?"+got.Transform.Query() != want {
			t.Errorf("%s: %+v %v, want %s", target, got, err, want)
		}
	}
}

// Darkroom v0.4.2 uses the same sizes, but rounds down.
func TestScaledSizes(t *testing.T) {
	original := Size{1200, 800}
	for query, want := range map[string]Size{
		"?w=100":                {100, 67},
		"?w=101":                {101, 67},
		"?h=67&w=101":           {101, 67},
		"?w=100&h=66":           {99, 66},
		"":                      {1200, 800},
		"?w=300":                {300, 200},
		"?h=100":                {150, 100},
		"?w=300&h=300":          {300, 200},
		"?w=300&h=100":          {150, 100},
		"?w=300&h=300&fit=crop": {450, 300},
		"?w=300&h=100&fit=crop": {300, 200},
		"?w=7&h=9&fit=scale":    {7, 9},
	} {
		r, err := parse(t, rules, "/a"+query)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Transform.Scaled(original); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

func TestResultsThatTheOriginalMakesTooLargeAreRefused(t *testing.T) {
	for _, test := range []struct {
		query    string
		original Size
		refused  bool
	}{
		{"w=4096", Size{4096, 4096}, false},
		{"w=4096", Size{100, 101}, false},
		{"w=4000&h=10&fit=crop", Size{10, 10000}, false},
		{"w=4000&h=10&fit=crop&mono=000000", Size{10, 10000}, true},
		{"w=1", Size{1000, 10}, false},
		{"w=100", Size{3, 2000}, false},
		{"blur=100", Size{1000, 1000}, false},
		{"blur=100", Size{4000, 3000}, true},
		{"blur=100&w=300", Size{4000, 3000}, false},
		{"rot=90", Size{8000, 6000}, false},
	} {
		r, err := parse(t, rules, "/a?"+test.query)
		if err != nil {
			t.Fatal(err)
		}
		resolved := rules.Resolve(r.Transform, test.original)
		if err := rules.Check(resolved, test.original, 50_000_000); (err != nil) != test.refused {
			t.Errorf("%s of %v: %v", test.query, test.original, err)
		}
	}
}

func TestAThinImageKeepsAPixel(t *testing.T) {
	for original, want := range map[Size]Size{{2000, 3}: {100, 1}, {3, 2000}: {6, 4000}, {1, 9000}: {1, 4096}} {
		resolved := rules.Resolve(Transform{Width: 100}, original)
		if got := resolved.Scaled(original); got != want || rules.Check(resolved, original, 50_000_000) != nil {
			t.Errorf("%v at w=100 is %v, want %v", original, got, want)
		}
	}
}

func TestRequestsOfClientLibrariesAreResolved(t *testing.T) {
	limited := Rules{MaxWidth: 500, MaxHeight: 400}
	for query, want := range map[string]string{
		"w=100&h=50&dpr=3":            "h=150&w=300",
		"w=100&dpr=1.5":               "w=150",
		"w=100&dpr=0.75":              "w=75",
		"h=400":                       "h=300", // as with dpr
		"w=900&h=800&fit=crop":        "fit=crop&h=400&w=450",
		"w=250&h=250&dpr=5":           "h=400&w=400", // the aspect ratio is kept
		"h=200&dpr=5":                 "h=300",       // 500 pixels wide
		"w=300&fit=max":               "w=300",
		"w=400&h=300&fit=max":         "",
		"w=150&dpr=2&fit=clip&blur=1": "blur=1&w=300",
		"w=200&dpr=2&fit=clip&blur=1": "blur=1",
		"w=100&h=50&fit=min&crop=top": "crop=top&fit=crop&h=50&w=100",
		"w=500&h=400&fit=min":         "fit=crop&h=240&w=300",
		"w=500&h=1&fit=min":           "fit=crop&h=1&w=400",
	} {
		r, err := parse(t, limited, "/a?"+query)
		if got := limited.Resolve(r.Transform, Size{400, 240}).Query(); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", query, got, err, want)
		}
	}
}

// Sizes are reduced to the limits and never rejected, for any shape of the original.
func TestAWishForASizeIsNeverRefused(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		side := rapid.IntRange(1, 500)
		limited := Rules{MaxWidth: side.Draw(rt, "max width"), MaxHeight: side.Draw(rt, "max height")}
		original := Size{side.Draw(rt, "width"), side.Draw(rt, "height")}
		fits := []string{"", FitMax, FitMin, FitCrop, FitScale}
		asked, err := limited.parseTransform(map[string]string{
			"w":   rapid.SampledFrom([]string{"1", "50", "499.5", "100000", "1e300"}).Draw(rt, "w"),
			"h":   rapid.SampledFrom([]string{"1", "50", "499.5", "100000", "1e300"}).Draw(rt, "h"),
			"dpr": fmt.Sprint(rapid.Float64Range(0.01, 10).Draw(rt, "dpr")), "fit": cmp.Or(rapid.SampledFrom(fits).Draw(rt, "fit"), "clip"),
		})
		if err != nil {
			rt.Fatal(err)
		}
		switch rapid.IntRange(0, 3).Draw(rt, "sides") {
		case 0:
			asked.Width = 0
		case 1:
			asked.Height = 0
		}
		if asked.Fit == FitScale && min(asked.Width, asked.Height) == 0 {
			asked.Fit = ""
		}
		asked, err = asked.simplify()
		if err != nil {
			rt.Fatal(err)
		}
		resolved := limited.Resolve(asked, original)
		if err := limited.Check(resolved, original, 500*500); err != nil {
			rt.Errorf("%s of %v is refused as %s: %v", asked.Query(), original, resolved.Query(), err)
		}
	})
}

// Two requests have the same key if and only if they are equal and no parameter is repeated.
func TestRandomRequestsShareAKeyOnlyWithTheirEqual(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	parts := []string{
		"a", "b.jpg", "%3F", "?", "%2F", "..", ".", "//", "%25", "%C3%A9", "é", "%00", "&", "+", "%2B", " ",
		";", "#", "=", "w=1", "%ff",
	}
	values := []string{
		"", "0", "1", "-1", "1.005", "-0", "%2B1", "0x1p4", "300", "1e2", "NaN", "crop", "scale",
		"top,left", "hv", "VH", "h", "000000", "compress,format", "9999999999999999999", "%", "thumb",
	}
	names := append([]string{"preset", "v", "W"}, Parameters...)
	limited := rules
	limited.Presets = map[string]map[string]string{"thumb": {"w": "50", "h": "50", "fit": "crop"}, "1": {"auto": "format"}}
	requests, keys := map[string]Request{}, map[Request]string{}
	for range 50_000 {
		target := "/"
		for range random.IntN(5) {
			target += pick(parts) + pick([]string{"", "/"})
		}
		target += "?"
		if random.IntN(2) == 0 { // every parameter has an effect
			target += fmt.Sprintf("q=%d&w=%d&h=%d&fit=%s&crop=%s&mono=%s&blur=%d&flip=%s&rot=%d&auto=%s", 74+random.IntN(3),
				1+random.IntN(3), 1+random.IntN(3),
				pick([]string{"", "crop", "scale"}), pick([]string{"", "top", "left"}), pick([]string{"", "000000"}),
				random.IntN(3), pick([]string{"", "h", "v"}), random.IntN(3),
				pick([]string{"", "format", "compress"}))
		}
		for range random.IntN(5) {
			target += pick([]string{"&", "&", ";", ""}) + pick(names) + "=" + pick(values)
		}
		u, err := url.ParseRequestURI(target)
		if err != nil {
			continue
		}
		r, err := limited.Parse(u)
		if err != nil {
			if p := problem.Of(err); p.Kind.IsFailure() {
				t.Fatalf("%q: %v", target, err)
			}
			continue
		}
		for name, given := range u.Query() {
			if len(given) > 1 && (name == "preset" || slices.Contains(Parameters, name)) {
				t.Fatalf("%q is accepted, with %s given %d times", target, name, len(given))
			}
		}
		negotiated, _ := r.Negotiate([]string{pick([]string{"image/webp", "image/*"})})
		for _, r := range []Request{r, negotiated} {
			if other, ok := requests[r.Key()]; ok && other != r {
				t.Fatalf("%+v and %+v have the key %s", r, other, r.Key())
			}
			if other, ok := keys[r]; ok && other != r.Key() {
				t.Fatalf("%+v has the keys %s and %s", r, r.Key(), other)
			}
			requests[r.Key()], keys[r] = r, r.Key()
		}
	}
	if len(requests) < 1000 {
		t.Errorf("%d different requests", len(requests))
	}
}

// Parsing a canonical form returns the same request, which never exceeds the limits.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"/a.jpg?w=300&h=2&fit=crop&crop=top,left", "/a%3Fw=1", "/../%2e%2e/x?blur=1e1&rot=.5",
		"/%C3%A9?auto=format&preset=x", "//?w=1;h=2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Path == "" {
			return
		}
		first, err := rules.Parse(u)
		if err != nil {
			return
		}
		if tr := first.Transform; tr.Width > 4096 || tr.Height > 4096 || tr.Blur > MaxBlur || tr.Width < 0 || tr.Height < 0 {
			t.Fatalf("%q exceeds the limits: %+v", target, tr)
		}
		second, err := rules.Parse(&url.URL{Path: first.Path, RawQuery: first.Transform.Query()})
		if err != nil || second != first {
			t.Fatalf("%q: %+v, again %+v, %v", target, first, second, err)
		}
	})
}

// Clients choose the names of proxies. They are part of both keys, with a bounded length, and no key of an original
// equals a key of a response.
func TestRequestsThroughOtherProxiesHaveOtherKeys(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		paths := rapid.Map(rapid.OneOf(rapid.Just("a"), rapid.StringMatching(`a?( /|w=1|#own=|#webp| )*a`)),
			func(s string) string { return "/" + s })
		names := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`a(\?w=1)?(#(via|own|webp)=a)?`))
		one, other := Request{}, Request{}
		one.Path, other.Path = paths.Draw(t, "a path"), paths.Draw(t, "another")
		one.Via, other.Via = names.Draw(t, "one"), names.Draw(t, "other")
		other.Transform.Width = rapid.IntRange(0, 1).Draw(t, "width")
		same := one.Via == other.Via && one.Path == other.Path
		if (one.Original() == other.Original()) != same ||
			(one.Key() == other.Key()) != (same && other.Transform.Width == 0) || one.Original() == other.Key() {
			t.Errorf("%q %q", one.Key(), other.Key())
		}
		if one.Via = strings.Repeat("a", 10_000); len(one.Key()) > 100+len(one.Path) {
			t.Errorf("a key of %d bytes", len(one.Key()))
		}
	})
}

// Cropped parts are not blurred and cause no cost.
func TestABlurIsBoundedByThePixelsOfTheResult(t *testing.T) {
	original := Size{Width: 20_000, Height: 1000}
	for _, test := range []struct {
		transform Transform
		fits      bool
	}{
		{Transform{Width: 1000, Height: 1000, Fit: FitCrop, Blur: 100}, true},
		{Transform{Width: 1000, Height: 1001, Fit: FitCrop, Blur: 100}, false},
		{Transform{Blur: 5}, true},
		{Transform{Blur: 5.1}, false},
	} {
		err := Rules{MaxWidth: 2000, MaxHeight: 2000}.Check(test.transform, original, 50_000_000)
		if fits := err == nil; fits != test.fits {
			t.Errorf("%+v: %v", test.transform, err)
		}
	}
}
