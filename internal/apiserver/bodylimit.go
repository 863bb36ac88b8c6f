package apiserver

import "net/http"

// maxBody is the largest body of a request, in bytes: as much as Kubernetes stores.
const maxBody = 1 << 20

// maxToken is the largest body with a token, in bytes. Whose it is, and so whose share
// it would count for, is not known before it is read.
const maxToken = 16 << 10

// limitBody defends the memory of the server against bodies without end. What says it
// is too large is refused unread; the rest is cut off, which huma answers with 413.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBody {
			newProblem(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB").write(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}
