package apiserver

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

// pagePolicy is the content security policy of the web page: its own files, and
// requests to its own server. PatternFly draws arrows by data: URLs, and images of
// the playground are blobs. Nothing inline runs: React and the YAML editor set styles by
// the DOM, which a policy does not concern. No text becomes HTML or a script (Trusted Types).
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// notBuilt is shown if the page was not built.
const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Darkrooms</title>
<h1>The web page is not built in</h1>
<p>Build it with <code>make page build</code>, which requires Node.js, and restart the server.
<p>The API works without it: see <a href="/openapi.json">/openapi.json</a>.
</html>
`

// pageFiles are the files that are served as they are, at the same path.
const (
	indexFile   = "index.html"
	assetFolder = "assets/"
)

// page serves the web page: a few files, and one page at all of its addresses.
type page struct {
	index *pageFile
	files map[string]*pageFile
}

// pageFile is a file, ready to be sent. Package middleware adds the header Vary.
type pageFile struct {
	contentType, cacheControl, etag string

	plain []byte
	// packed is the file in gzip, compressed at the first request.
	packed func() []byte
}

// newPage reads the files of a page. Without index.html the page is notBuilt.
func newPage(files fs.FS) (*page, error) {
	out := &page{files: map[string]*pageFile{}}
	if files == nil {
		return out, nil
	}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		out.files[name] = newPageFile(name, content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the web page: %w", err)
	}
	out.index = out.files[indexFile]
	delete(out.files, indexFile)
	return out, nil
}

func newPageFile(name string, content []byte) *pageFile {
	sum := sha256.Sum256(content)
	file := &pageFile{
		contentType:  mime.TypeByExtension(path.Ext(name)),
		cacheControl: "no-cache",
		etag:         `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		plain:        content,
		packed:       sync.OnceValue(func() []byte { return pack(content) }),
	}
	// The name of an asset has a hash of its content: it never changes.
	if strings.HasPrefix(name, assetFolder) {
		file.cacheControl = "public, max-age=31536000, immutable"
	}
	if known, ok := pageTypes[path.Ext(name)]; ok {
		file.contentType = known
	}
	return file
}

// pageTypes do not depend on what the machine knows.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".woff2": "font/woff2", ".json": typeJSON,
}

// pack returns nothing if the file does not become smaller, as with fonts.
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

// register adds the page's routes. The page itself handles the paths under /ui/.
func (p *page) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", p.serveIndex)
	mux.HandleFunc("GET /ui/", p.serveIndex)
	for name, file := range p.files {
		mux.HandleFunc("GET /"+name, file.serve)
	}
}

func (p *page) serveIndex(w http.ResponseWriter, r *http.Request) {
	if p.index == nil {
		reply(w, "text/html; charset=utf-8", []byte(notBuilt))
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	p.index.serve(w, r)
}

func (f *pageFile) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", f.cacheControl)
	header.Set("ETag", f.etag)
	if match := r.Header.Get("If-None-Match"); match != "" && strings.Contains(match, f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if acceptsGzip(r) {
		if packed := f.packed(); packed != nil {
			header.Set("Content-Encoding", "gzip")
			body = packed
		}
	}
	reply(w, f.contentType, body)
}
