package pipeline

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// parameters draws some parameters, each of which is valid on its own.
func parameters() *rapid.Generator[map[string]string] {
	values := map[string][]string{
		"w": {"1", "10", "100"}, "h": {"1", "10", "100"}, "fit": {request.FitCrop, request.FitScale, request.FitMax, request.FitMin}, "dpr": {"1", "2.5", "5"}, "crop": {"top", "bottom,left"},
		"mono": {"000000"}, "blur": {"0.5", "30", "100"}, "rot": {"90", "360"}, "flip": {"h"}, "auto": {"compress", "format", "format,compress"},
		"q": {"1", "75", "100"},
	}
	return rapid.Custom(func(t *rapid.T) map[string]string {
		params := map[string]string{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(request.Parameters), rapid.ID).Draw(t, "names") {
			params[name] = rapid.SampledFrom(values[name]).Draw(t, name)
		}
		return params
	})
}

// Whatever the defaults, the parameters of a client and the shape of an image: the default parameters are applied if that
// is possible, and otherwise the response is that to the same URL without them.
func TestDefaultParametersAreAppliedOrLeftOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(slices.Concat(pixel(1), []byte(r.URL.RawQuery))) // each query has another result
	}))
	defer server.Close()
	at, _ := url.Parse(server.URL)
	rapid.Check(t, func(rt *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 1000).Draw(rt, "width"), rapid.IntRange(1, 1000).Draw(rt, "height"))
		body := []byte("<svg></svg>")
		if rapid.Bool().Draw(rt, "readable") {
			var file bytes.Buffer
			_ = png.Encode(&file, image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black}))
			body = file.Bytes()
		}
		query := url.Values{}
		for name, value := range parameters().Draw(rt, "query") {
			query.Set(name, value)
		}
		defaults := parameters().Draw(rt, "defaults")
		for _, name := range slices.Sorted(maps.Keys(query)) {
			if rapid.Bool().Draw(rt, name+" is a default too") {
				defaults[name] = query.Get(name)
			}
		}
		accept := []string{rapid.SampledFrom([]string{"image/webp", "*/*"}).Draw(rt, "accept")}
		type response struct {
			status int
			body   string
		}
		get := func(r request.Request, err error) response {
			p := newPipeline(func(context.Context, original.Validators) (*source.Response, error) { return respond(body, nil) })
			p.transformer = darkroom.New(at, 1<<20)
			p.MaxSourcePixels = 100_000
			var entry *cache.Entry
			if err == nil {
				entry, _, err = p.Get(t.Context(), "a", r)
			}
			if err != nil {
				return response{status: problem.Of(err).Status}
			}
			return response{http.StatusOK, string(entry.Body)}
		}
		parse := func(defaults map[string]string) (request.Request, error) {
			rules := request.Rules{MaxWidth: 100, MaxHeight: 100, Defaults: defaults}
			r, err := rules.Parse(&url.URL{Path: "/a.png", RawQuery: query.Encode()})
			r, _ = r.Negotiate(accept)
			return r, err
		}
		r, err := parse(defaults)
		got := get(r, err)
		r.Own = r.Transform
		want := get(r, err)
		if want.status != http.StatusOK {
			without, err := parse(nil)
			without.WebP = r.WebP // the format is possible for each result
			want = get(without, err)
		}
		if got != want && (got.status == http.StatusOK || want.status == http.StatusOK) {
			rt.Fatalf("%s with defaults %v: %d %q, want %d %q", query.Encode(), defaults, got.status, got.body, want.status, want.body)
		}
	})
}
