package api

import (
	"io"
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

// page responds with a file of the web UI. For the paths of pages, the file is index.html.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if path.Ext(name) == "" {
		name = "index.html"
	}
	h := w.Header()
	f, packed := s.file(r, name)
	if f == nil {
		writeProblem(w, r, media.Errorf(media.CodeNotFound, "there is nothing at %.200s", media.ErrorText(r.URL.Path)))
		return
	}
	defer func() { _ = f.Close() }() // read-only
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		writeProblem(w, r, media.Errorf(media.CodeNotFound, "there is nothing at %.200s", media.ErrorText(r.URL.Path)))
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = "application/octet-stream"
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", pagePolicy)
	if packed {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") { // the file names contain digests
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Method == http.MethodHead {
		return
	}
	_, _ = io.Copy(w, f) // the client may have disconnected
}

// file opens a file of the web UI. It prefers the compressed form if it exists and the browser accepts it.
func (s *Server) file(r *http.Request, name string) (f fs.File, packed bool) {
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if f, err := s.cfg.Pages.Open(name + ".gz"); err == nil {
			return f, true
		}
	}
	f, err := s.cfg.Pages.Open(name)
	if err != nil {
		return nil, false
	}
	return f, false
}
