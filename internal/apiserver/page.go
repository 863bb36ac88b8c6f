package apiserver

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

// pagePolicy is the Content-Security-Policy of the web page. It allows only files from this server and requests to it.
// PatternFly's arrows are data: URLs, and images are blobs. There are no inline scripts or styles: React and the YAML
// editor set styles through the DOM, to which the policy does not apply. Trusted Types prevent text from becoming HTML
// or a script.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: " +
	"blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// notBuilt is shown if the page was not built.
const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Darkrooms</title>
<h1>The web page is not built in</h1>
<p>Build it with <code>make page build</code>, which requires Node.js, and restart the server.
<p>The API works without it: see <a href="/openapi.json">/openapi.json</a>.
</html>
`

const (
	indexFile   = "index.html"
	assetFolder = "assets/"
)

// page serves the files of the web page, and index.html at all paths of the page.
type page struct {
	index *reply.File
	files map[string]*reply.File
}

// newPage reads the files of the page. Without index.html it serves notBuilt.
func newPage(files fs.FS) (*page, error) {
	out := &page{files: map[string]*reply.File{}}
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
		caching := reply.Checked
		// Names of assets contain a hash of the content.
		if strings.HasPrefix(name, assetFolder) {
			caching = reply.Immutable
		}
		out.files[name] = reply.NewFile(name, caching, content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the web page: %w", err)
	}
	out.index = out.files[indexFile]
	delete(out.files, indexFile)
	return out, nil
}

func (p *page) serveIndex(w http.ResponseWriter, r *http.Request) {
	if p.index == nil {
		reply.Send(w, "text/html; charset=utf-8", []byte(notBuilt))
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	p.index.ServeHTTP(w, r)
}
