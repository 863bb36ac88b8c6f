package reply

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

// Values of Cache-Control for files.
const (
	// Checked requires that caches revalidate the file.
	Checked = "no-cache"
	// Immutable is for a file whose name contains a hash of its content.
	Immutable = "public, max-age=31536000, immutable"
)

// File is a file in memory. Package middleware adds the header Vary.
type File struct {
	contentType, cacheControl, etag string

	plain []byte
	// packed is the file in gzip; it is compressed at the first request.
	packed func() []byte
}

// NewFile returns a file. The media type is derived from the name.
func NewFile(name, cacheControl string, content []byte) *File {
	sum := sha256.Sum256(content)
	file := &File{
		contentType:  mime.TypeByExtension(path.Ext(name)),
		cacheControl: cacheControl,
		etag:         `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		plain:        content,
		packed:       sync.OnceValue(func() []byte { return pack(content) }),
	}
	if known, ok := fileTypes[path.Ext(name)]; ok {
		file.contentType = known
	}
	return file
}

// fileTypes replaces the system's MIME table, so that the result is the same everywhere.
var fileTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".woff2": "font/woff2", ".json": TypeJSON,
}

// pack returns nil if compression does not make the file smaller, for example for fonts.
func pack(content []byte) []byte {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := writer.Write(content); errors.Join(err, writer.Close()) != nil || out.Len() > len(content)*9/10 {
		return nil
	}
	return out.Bytes()
}

// ServeHTTP implements http.Handler.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", f.cacheControl)
	header.Set("ETag", f.etag)
	if match := r.Header.Get("If-None-Match"); match != "" && strings.Contains(match, f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if AcceptsGzip(r) {
		if packed := f.packed(); packed != nil {
			header.Set("Content-Encoding", "gzip")
			body = packed
		}
	}
	Send(w, f.contentType, body)
}
