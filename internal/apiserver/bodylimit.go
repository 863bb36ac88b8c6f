package apiserver

import (
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// maxBody is the largest body of a request, in bytes: as much as Kubernetes stores.
const maxBody = 1 << 20

// maxToken is the largest body with a token, in bytes. It is small because the caller,
// whose share it would count towards, is not known before it is read.
const maxToken = 16 << 10

// limitBody protects the server's memory against large bodies. It rejects a body by its
// Content-Length, and limits the reader otherwise, which results in a 413 by huma.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBody {
			problem.Write(w, problem.New(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}
