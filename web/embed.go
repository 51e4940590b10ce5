// Package web holds the built pages of the web UI, so that the one binary serves them and Go
// alone builds it. Their sources are beside it, in TypeScript; `make web` builds dist again.
// It imports nothing of the project.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Pages returns the built pages: index.html at the root, everything else in assets under names
// that hold digests. A file that compresses well has its gzip form beside it, NAME.gz.
func Pages() fs.FS {
	pages, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant that is valid
	}
	return pages
}
