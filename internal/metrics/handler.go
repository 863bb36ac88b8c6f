package metrics

import (
	"compress/gzip"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/gzipped"
)

// Handler serves the metrics of another handler, followed by those of each Darkroom. The
// response is always in the text format; the Accept header is ignored.
func (d *Darkrooms) Handler(process http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		inner := request.Clone(request.Context())
		inner.Header.Set("Accept", "text/plain;version=0.0.4")
		inner.Header.Set("Accept-Encoding", "identity")
		body := &body{ResponseWriter: response, zip: gzipped.Accepted(request.Header)}
		defer body.close()
		process.ServeHTTP(body, inner)
		if body.code == http.StatusOK && request.Method != http.MethodHead {
			_ = d.Write(request.Context(), body) // the error is that of a connection that was closed
		}
	})
}

// body is the body of a successful response, compressed if zip is set, or that of another
// response as it is.
type body struct {
	http.ResponseWriter
	zip    bool
	zipper *gzip.Writer
	code   int
}

// WriteHeader implements http.ResponseWriter.
func (b *body) WriteHeader(code int) {
	if b.code == 0 {
		b.code = code
		if code == http.StatusOK {
			b.Header().Del("Content-Length") // that of the metrics of the process
			b.Header().Add("Vary", "Accept-Encoding")
			if b.zip {
				b.Header().Set("Content-Encoding", "gzip")
				b.zipper = gzipped.Writer(b.ResponseWriter)
			}
		}
	}
	b.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (b *body) Write(bytes []byte) (int, error) {
	if b.code == 0 {
		b.WriteHeader(http.StatusOK)
	}
	if b.zipper != nil {
		return b.zipper.Write(bytes)
	}
	return b.ResponseWriter.Write(bytes)
}

func (b *body) close() {
	if b.zipper == nil {
		return
	}
	_ = gzipped.Close(b.zipper) // the error is that of a connection that was closed
	b.zipper = nil
}
