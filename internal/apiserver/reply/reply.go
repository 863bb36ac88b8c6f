// Package reply contains the responses of the handlers of the REST API: bodies in JSON, Darkrooms with their ETag,
// files with the headers of caches, and streams. Other problems are in package problem; the ones about a Darkroom are
// here.
package reply

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/net/http/httpguts"
)

// Media types of bodies.
const (
	TypeJSON       = "application/json"
	TypeMergePatch = "application/merge-patch+json"
	TypeEvents     = "text/event-stream"
)

// JSON is a response with a body in JSON.
type JSON[T any] struct {
	Body T
}

// With returns a response with a body.
func With[T any](body T) *JSON[T] { return &JSON[T]{Body: body} }

// Content is a response with a body of another media type.
type Content struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// Raw is a response that a function writes.
type Raw struct {
	Body func(huma.Context)
}

// Written returns a response that a function writes.
func Written(write func(w http.ResponseWriter, r *http.Request)) *Raw {
	return &Raw{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		write(w, r)
	}}
}

// Send responds with a body.
func Send(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	// An error means that the client is gone.
	_, _ = w.Write(body)
}

// AcceptsGzip reports whether the client accepts gzip.
func AcceptsGzip(r *http.Request) bool {
	return httpguts.HeaderValuesContainsToken(r.Header.Values("Accept-Encoding"), "gzip")
}
