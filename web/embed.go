// Package web holds the built web page, embedded, so that the API server carries it
// with it. The page itself is written in TypeScript; `make page` builds it.
package web

import (
	"embed"
	"io/fs"
)

// The folder has a committed .gitkeep, so that Go builds without Node; "all:" takes it.
//
//go:embed all:dist
var dist embed.FS

// Page returns the files of the built page: index.html, assets and the like. Without
// index.html it was not built.
func Page() fs.FS {
	page, err := fs.Sub(dist, "dist")
	if err != nil {
		// Sub fails for names alone that are no paths.
		panic(err)
	}
	return page
}
