package main

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

// For any way to request auto=format, a client gets the format that it accepts, caches are informed, and conditional
// requests, ranges and HEAD refer to that format.
func TestTheFormatFollowsTheClient(t *testing.T) {
	source := newOrigin(t).url
	plain := start(t, source, map[string]string{"GATE_PRESETS": `{"best":"w=90&auto=format"}`})
	byDefault := start(t, source, map[string]string{"DEFAULTPARAMS": "auto=format", "GATE_PARAMETERS": "w,q"})
	urls := []struct {
		gate   *gate
		path   string
		varies bool
		webp   bool
	}{
		{plain, "/photo.jpg?w=90", false, false},
		{plain, "/photo.jpg?auto=format", true, true},
		{plain, "/photo.jpg?auto=format&q=10", true, true},
		{plain, "/photo.jpg?auto=compress,format&w=100", true, true},
		{plain, "/photo.jpg?preset=best", true, true},
		{plain, "/cut.jpg?auto=format", true, true},
		{byDefault, "/photo.jpg", true, true},
		{byDefault, "/photo.jpg?w=100", true, true},
		{byDefault, "/photo.jpg?w=100&q=90", true, true},
	}
	for range 2 { // created, then cached
		for _, u := range urls {
			tags := map[bool]string{}
			for _, accepts := range []bool{true, false} {
				client := map[string]string{"Accept": map[bool]string{true: "image/webp,*/*", false: "image/*,*/*;q=0.8"}[accepts]}
				do := func(method string, more ...string) answer {
					header := map[string]string{"Accept": client["Accept"]}
					for i := 0; i < len(more); i += 2 {
						header[more[i]] = more[i+1]
					}
					return u.gate.do(method, u.path, header)
				}
				got := do(http.MethodGet)
				webp := accepts && u.webp
				kind := original.Type(got.body)
				if got.status != http.StatusOK || (kind == "image/webp") != webp || got.header.Get("Content-Type") != kind {
					t.Errorf("%s for %q: %d %s", u.path, client["Accept"], got.status, got.header.Get("Content-Type"))
				}
				tags[accepts] = got.header.Get("ETag")
				for _, test := range []struct {
					answer answer
					status int
					body   []byte
				}{
					{got, 200, got.body},
					{do(http.MethodHead), 200, nil},
					{do(http.MethodGet, "If-None-Match", tags[accepts]), 304, nil},
					{do(http.MethodGet, "If-None-Match", `"other"`), 200, got.body},
					{do(http.MethodGet, "Range", "bytes=3-9"), 206, got.body[3:10]},
				} {
					other := test.answer
					if other.status != test.status || !bytes.Equal(other.body, test.body) ||
						other.header.Get("ETag") != tags[accepts] ||
						(other.header.Get("Vary") == "Accept") != u.varies {
						t.Errorf("%s for %q: %d with %d bytes, want %d, %v", u.path, client["Accept"], other.status,
							len(other.body), test.status, other.header)
					}
				}
			}
			if (tags[true] != tags[false]) != u.webp {
				t.Errorf("%s has the tags %v", u.path, tags)
			}
		}
	}
}

// Results of a replaced original are encoded again.
func TestAnEncodedResultIsAsFreshAsItsOriginal(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, map[string]string{"GATE_REVALIDATE_SECONDS": "0"})
	first := g.do(http.MethodGet, "/photo.jpg?w=200&auto=format", acceptsWebP)
	o.respond(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(images()["large.jpg"]) })
	g.waitUntil("the new image is served", func() bool {
		return g.do(http.MethodGet, "/photo.jpg?w=200&auto=format", acceptsWebP).
			header.Get("ETag") != first.header.Get("ETag")
	})
}
