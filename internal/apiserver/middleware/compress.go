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

// compress compresses responses: a long list shrinks to a fifteenth. It must not wrap streams, because the compressor
// buffers what they flush.
//
// The length of a compressed response discloses its content to attackers who can place
// their own text in it (BREACH). It is safe here because responses contain no secrets: no
// tokens, no cookies and no write-only fields.
func compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.ContentTypes(packedTypes),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // an option is invalid
	}
	return wrap(next)
}
