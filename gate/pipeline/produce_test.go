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
	"testing"

	"pgregory.net/rapid"

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

// Whatever the defaults, the parameters of a client and the shape of an image: what is served
// without default parameters is served with them.
func TestDefaultParametersNeverRefuse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(pixel(1)) }))
	defer server.Close()
	at, _ := url.Parse(server.URL)
	rapid.Check(t, func(rt *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 1000).Draw(rt, "width"), rapid.IntRange(1, 1000).Draw(rt, "height"))
		body := bytes.Clone(pixel(1))
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
		maps.DeleteFunc(defaults, func(name, value string) bool { return query.Get(name) == value }) // see Rules.Own
		accept := []string{rapid.SampledFrom([]string{"image/webp", "*/*"}).Draw(rt, "accept")}
		status := func(defaults map[string]string) int {
			p := newPipeline(func(context.Context, original.Validators) (*source.Response, error) { return respond(body, nil) })
			p.transformer = darkroom.New(at, 1<<20)
			p.MaxSourcePixels = 100_000
			p.Rules.Defaults = defaults
			parsed, err := p.Rules.Parse(&url.URL{Path: "/a.png", RawQuery: query.Encode()})
			if parsed, _ = parsed.Negotiate(accept); err == nil {
				_, _, err = p.Get(t.Context(), "a", parsed)
			}
			if err != nil {
				return problem.Of(err).Status
			}
			return http.StatusOK
		}
		if with, without := status(defaults), status(nil); without == http.StatusOK && with != http.StatusOK {
			rt.Fatalf("%s with defaults %v: %d", query.Encode(), defaults, with)
		}
	})
}
