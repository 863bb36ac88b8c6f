package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"strings"
)

func webFolderCommand(args []string) (string, http.Handler, error) {
	flags := flag.NewFlagSet("webfolder", flag.ContinueOnError)
	addr := flags.String("addr", ":8080", "address to listen on")
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	return *addr, http.HandlerFunc(serveFolder), nil
}

// serveFolder serves images by their exact path. It neither redirects nor normalizes paths, so a client that requests
// `//images/sample.png` gets 404, as from many real folders.
func serveFolder(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "read only", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	content, err := read(name, "images/")
	if err != nil {
		http.Error(w, fmt.Sprintf("no %q here", r.URL.Path), http.StatusNotFound)
		return
	}
	http.ServeContent(w, r, name, drawnAt, bytes.NewReader(content))
}
