package api

import (
	"cmp"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"atelier/media"
)

// pagePolicy lets pages load content only from this server.
const pagePolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; frame-src 'self' blob: about:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// isPageFile reports whether a path names a file of the web UI, and not a page. The id of a page may contain a dot.
func isPageFile(urlPath string) bool {
	return path.Ext(urlPath) != "" && !strings.HasPrefix(urlPath, "/workflows/")
}

// page responds with a file of the web UI: its compressed form, if it exists and the browser accepts it. For the paths of
// pages, the file is index.html.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if !isPageFile(r.URL.Path) {
		name = "index.html"
	}
	h := w.Header()
	b, err := fs.ReadFile(s.cfg.Pages, name+".gz")
	if err == nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else if b, err = fs.ReadFile(s.cfg.Pages, name); err != nil {
		writeProblem(w, r, media.Errorf(media.CodeNotFound, "there is nothing at %.200s", media.ErrorText(r.URL.Path)))
		return
	}
	h.Set("Content-Type", cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream"))
	h.Set("Content-Length", strconv.Itoa(len(b)))
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") { // the file names contain digests
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(b) //nolint:gosec // a file of the web UI; the client may have disconnected
}
