package middleware

import (
	"compress/gzip"
	"net/http"

	"github.com/klauspost/compress/gzhttp"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// minCompressed is the size of the smallest body that is compressed, in bytes: a body that fits into one or two packets
// does not arrive sooner.
const minCompressed = 2 << 10

// packedTypes are the media types that are compressed. Images are already compressed, and reply.File compresses the
// files of the page.
var packedTypes = []string{
	"application/json", problem.MediaType, "application/yaml",
	"application/vnd.oai.openapi+json",
}

// compress compresses responses; a long list shrinks to a fifteenth of its size. It must not wrap streams, because the
// compressor buffers their output.
//
// The length of a compressed response discloses its content to attackers who control a part of it (BREACH). This is
// safe here, because responses contain no secrets: no tokens, cookies or write-only fields.
func compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.ContentTypes(packedTypes),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // invalid option
	}
	return wrap(next)
}
