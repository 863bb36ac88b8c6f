package metrics

import (
	"compress/gzip"
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

// Handler serves the metrics of another handler, followed by those of each Darkroom. The
// response is always in the text format; the Accept header is ignored.
func (d *Darkrooms) Handler(process http.Handler) http.Handler {
	compressed, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // an option is invalid
	}
	return compressed(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		inner := request.Clone(request.Context())
		inner.Header.Set("Accept", "text/plain;version=0.0.4")
		inner.Header.Set("Accept-Encoding", "identity")
		body := &body{ResponseWriter: response}
		process.ServeHTTP(body, inner)
		if body.code == http.StatusOK && request.Method != http.MethodHead {
			_ = d.Write(request.Context(), body) // the error is that of a connection that was closed
		}
	}))
}

// body is the body of a response that may become longer than its handler knows.
type body struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (b *body) WriteHeader(code int) {
	if b.code == 0 {
		b.code = code
		b.Header().Del("Content-Length") // that of the metrics of the process
	}
	b.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (b *body) Write(bytes []byte) (int, error) {
	if b.code == 0 {
		b.WriteHeader(http.StatusOK)
	}
	return b.ResponseWriter.Write(bytes)
}
