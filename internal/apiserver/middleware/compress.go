package middleware

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/gzipped"
)

// minCompressed is the smallest body that is compressed, in bytes: a body that fits into
// one or two packets does not arrive sooner.
const minCompressed = 2 << 10

// packedTypes are the media types that are compressed. Streams are not, because a
// compressor delays events. Images are compressed already, and the page compresses its own
// files.
var packedTypes = []string{"application/json", problem.MediaType, "application/yaml", "application/vnd.oai.openapi+json", "text/html; charset=utf-8"}

// Compress compresses responses: a long list shrinks to a fifteenth.
//
// The length of a compressed response discloses its content to attackers who can place
// their own text in it (BREACH). It is safe here because responses contain no secrets: no
// tokens, no cookies and no write-only fields.
func Compress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !gzipped.Accepted(r.Header) || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		packing := &packer{ResponseWriter: w}
		next.ServeHTTP(packing, r)
		packing.finish()
	})
}

// packer buffers the beginning of a body until it is large enough to be compressed, or
// complete.
type packer struct {
	http.ResponseWriter

	status  int
	started bool
	begin   bytes.Buffer
	gzip    *gzip.Writer
}

// Unwrap is for http.ResponseController: deadlines, and flushes of streams.
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *packer) WriteHeader(status int) {
	if p.status != 0 {
		return
	}
	p.status = status
	if !p.mayPack() {
		p.started = true
		p.ResponseWriter.WriteHeader(status)
	}
}

// mayPack decides by the header. Answers without a body have no type.
func (p *packer) mayPack() bool {
	header := p.Header()
	return header.Get("Content-Encoding") == "" && slices.Contains(packedTypes, strings.ToLower(header.Get("Content-Type")))
}

func (p *packer) Write(body []byte) (int, error) {
	if p.status == 0 {
		p.WriteHeader(http.StatusOK)
	}
	switch {
	case p.gzip != nil:
		return p.gzip.Write(body)
	case p.started:
		return p.ResponseWriter.Write(body)
	}
	p.begin.Write(body)
	if p.begin.Len() < minCompressed {
		return len(body), nil
	}
	header := p.Header()
	header.Set("Content-Encoding", "gzip")
	header.Add("Vary", "Accept-Encoding")
	header.Del("Content-Length")
	p.started = true
	p.ResponseWriter.WriteHeader(p.status)
	p.gzip = gzipped.Writer(p.ResponseWriter)
	if _, err := p.gzip.Write(p.begin.Bytes()); err != nil {
		return 0, err
	}
	p.begin = bytes.Buffer{}
	return len(body), nil
}

// finish sends the rest of the buffer. An error means that the client is gone.
func (p *packer) finish() {
	switch {
	case p.gzip != nil:
		_ = gzipped.Close(p.gzip)
	case !p.started && p.status != 0:
		p.Header().Add("Vary", "Accept-Encoding")
		p.ResponseWriter.WriteHeader(p.status)
		_, _ = p.ResponseWriter.Write(p.begin.Bytes())
	}
}
