// Package web embeds the built web page into the API server. The page itself is written in
// TypeScript; `make page` builds it.
package web

import (
	"embed"
	"io/fs"
)

// The folder contains a committed .gitkeep, so that Go builds without Node; "all:" includes
// it.
//
//go:embed all:dist
var dist embed.FS

// Page returns the files of the built page, such as index.html and assets. Without
// index.html the page was not built.
func Page() fs.FS {
	page, err := fs.Sub(dist, "dist")
	if err != nil {
		// Sub fails only if the name is not a valid path.
		panic(err)
	}
	return page
}
