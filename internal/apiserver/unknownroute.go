package apiserver

import (
	"fmt"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// unknownRoute answers what no route is for with problems, like everything else: 404,
// or 405 with the methods that there are.
func unknownRoute(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			notePattern(r.Context(), pattern)
			mux.ServeHTTP(w, r)
			return
		}
		dry := &headOnly{header: http.Header{}, status: http.StatusOK}
		handler.ServeHTTP(dry, r)
		if dry.status == http.StatusMethodNotAllowed {
			allow := dry.header.Get("Allow")
			problem.Write(w, problem.New(dry.status, fmt.Sprintf("%s is not possible here, but %s", r.Method, allow)).WithHeader("Allow", allow))
			return
		}
		problem.Write(w, problem.New(http.StatusNotFound, "there is nothing here: see /docs"))
	})
}

// headOnly learns what a handler would answer.
type headOnly struct {
	header http.Header
	status int
}

func (h *headOnly) Header() http.Header         { return h.header }
func (h *headOnly) WriteHeader(status int)      { h.status = status }
func (h *headOnly) Write(p []byte) (int, error) { return len(p), nil }
