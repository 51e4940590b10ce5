package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// TestPages: files have their type, length and policy, and are compressed if the client accepts that; page paths return
// the page; API paths never do.
func TestPages(t *testing.T) {
	t.Parallel()
	s := New(Config{Pages: fstest.MapFS{
		"index.html": {Data: []byte("<p>whole")}, "assets/a-1.js": {Data: []byte("let a")}, "assets/a-1.js.gz": {Data: []byte("packed")}, "icon.svg": {Data: []byte("<svg/>")},
	}})
	for _, row := range []struct{ path, accept, body, encoding, kind, cache string }{
		{"/", "", "<p>whole", "", "text/html", "no-cache"},
		{"/c/0198a000", "", "<p>whole", "", "text/html", "no-cache"},
		{"/workflows/broken.yaml", "", "<p>whole", "", "text/html", "no-cache"},
		{"/assets/a-1.js", "br, gzip", "packed", "gzip", "text/javascript", "public, max-age=31536000, immutable"},
		{"/assets/a-1.js", "", "let a", "", "text/javascript", "public, max-age=31536000, immutable"},
		{"/icon.svg", "gzip", "<svg/>", "", "image/svg+xml", "no-cache"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+row.path, nil)
		r.Header.Set("Accept-Encoding", row.accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != http.StatusOK || w.Body.String() != row.body || h.Get("Content-Encoding") != row.encoding || !strings.HasPrefix(h.Get("Content-Type"), row.kind) ||
			h.Get("Cache-Control") != row.cache || h.Get("Content-Length") == "" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'self'; ") {
			t.Errorf("%s: %d %q %v", row.path, w.Code, w.Body, h)
		}
	}
	for _, path := range []string{"/api/x", "/api/", "/media/", "/nothing.js", "/assets", "/assets/../../x.html"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.URL.Path = path
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if path != "/assets" && w.Code == http.StatusOK {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}
