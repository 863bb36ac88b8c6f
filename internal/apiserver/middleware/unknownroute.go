package middleware

import (
	"fmt"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// UnknownRoute serves a mux. It responds with problems to requests that match no route: 404,
// or 405 with the methods that are allowed. It reports the route of other requests to
// Observe.
func UnknownRoute(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			setRoute(r.Context(), pattern)
			mux.ServeHTTP(w, r)
			return
		}
		dry := &headOnly{header: http.Header{}, status: http.StatusOK}
		handler.ServeHTTP(dry, r)
		if dry.status == http.StatusMethodNotAllowed {
			allow := dry.header.Get("Allow")
			problem.Write(w, problem.New(dry.status, fmt.Sprintf("%s is not possible here, but %s", r.Method, allow)).
				WithHeader("Allow", allow))
			return
		}
		problem.Write(w, problem.New(http.StatusNotFound, "there is nothing here; see /openapi.json"))
	})
}

// headOnly records the status and the headers of a response, and drops its body.
type headOnly struct {
	header http.Header
	status int
}

func (h *headOnly) Header() http.Header         { return h.header }
func (h *headOnly) WriteHeader(status int)      { h.status = status }
func (h *headOnly) Write(p []byte) (int, error) { return len(p), nil }
