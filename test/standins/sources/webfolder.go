package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"strings"
)

func webFolderCommand(args []string, _ func(string) string) (string, http.Handler, error) {
	flags := flag.NewFlagSet("webfolder", flag.ContinueOnError)
	addr := flags.String("addr", ":8080", "address to listen on")
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	images, err := newImages("images")
	return *addr, webFolder{images}, err
}

// webFolder serves images by their exact path. It redirects nothing and tidies
// nothing, so a client that asks for `//images/sample.png` gets 404, as many real
// folders answer.
type webFolder struct {
	images *images
}

func (f webFolder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "read only", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	content, err := f.images.read(name)
	if err != nil {
		http.Error(w, fmt.Sprintf("no %q here", r.URL.Path), http.StatusNotFound)
		return
	}
	http.ServeContent(w, r, name, drawnAt, bytes.NewReader(content))
}
