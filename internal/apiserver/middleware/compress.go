package middleware

import (
	"compress/gzip"
	"net/http"

	"github.com/klauspost/compress/gzhttp"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// minCompressed is the smallest body that is compressed, in bytes: a body that fits into
// one or two packets does not arrive sooner.
const minCompressed = 2 << 10

// packedTypes are the media types that are compressed. Images are compressed already, and
// the page compresses its own files.
var packedTypes = []string{
	"application/json", problem.MediaType, "application/yaml",
	"application/vnd.oai.openapi+json",
}

// Compress compresses responses: a long list shrinks to a fifteenth. Responses to requests
// that are sent piece by piece pass as they are, because this compressor buffers them.
//
// The length of a compressed response discloses its content to attackers who can place
// their own text in it (BREACH). It is safe here because responses contain no secrets: no
// tokens, no cookies and no write-only fields.
func Compress(next http.Handler, piecewise func(*http.Request) bool) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.ContentTypes(packedTypes),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // an option is invalid
	}
	compressed := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if piecewise(r) {
			next.ServeHTTP(w, r)
			return
		}
		compressed.ServeHTTP(w, r)
	})
}
