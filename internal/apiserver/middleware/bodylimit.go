package middleware

import (
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// MaxBody is the largest body of a request, in bytes: as much as Kubernetes stores.
const MaxBody = 1 << 20

// LimitBody protects the server's memory against large bodies. It rejects a body by its
// Content-Length, and limits the reader otherwise, which results in a 413 by huma.
func LimitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > MaxBody {
			problem.Write(w, problem.New(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		next.ServeHTTP(w, r)
	})
}
