package middleware

import (
	"fmt"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Route describes the properties of a route that middlewares need.
type Route struct {
	// Streams are not compressed, and their duration is not recorded.
	Streams bool
	// Probe routes are requested frequently, so they are logged at debug level even if they fail.
	Probe bool
}

// Routes are the routes of a mux by pattern.
type Routes map[string]Route

// Router serves a mux, and compresses responses. Requests that match no route receive a problem: 404, or 405 with the
// allowed methods. For other requests, it passes the route to Observe.
func Router(mux *http.ServeMux, routes Routes) http.Handler {
	compressed := compress(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			setRoute(r.Context(), pattern)
			if routes[pattern].Streams {
				mux.ServeHTTP(w, r)
			} else {
				compressed.ServeHTTP(w, r)
			}
			return
		}
		dry := &headOnly{header: http.Header{}, status: http.StatusOK}
		handler.ServeHTTP(dry, r)
		if dry.status == http.StatusMethodNotAllowed {
			allow := dry.header.Get("Allow")
			problem.Write(w, problem.New(dry.status, fmt.Sprintf("%s is not allowed here; allowed: %s", r.Method, allow)).
				WithHeader("Allow", allow))
			return
		}
		problem.Write(w, problem.New(http.StatusNotFound, "not found; see /openapi.json"))
	})
}

// headOnly records the status and the headers of a response, and discards the body.
type headOnly struct {
	header http.Header
	status int
}

func (h *headOnly) Header() http.Header         { return h.header }
func (h *headOnly) WriteHeader(status int)      { h.status = status }
func (h *headOnly) Write(p []byte) (int, error) { return len(p), nil }
