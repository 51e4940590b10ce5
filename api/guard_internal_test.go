package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestForeignHostsAreRefused: a request for a foreign host name is refused, even if the name resolves to this machine
// (DNS rebinding).
func TestForeignHostsAreRefused(t *testing.T) {
	t.Parallel()
	s := New(Config{Hosts: []string{"atelier.example"}})
	for host, want := range map[string]int{
		"127.0.0.1:8484": 200, "localhost:8484": 200, "LOCALHOST": 200, "[::1]:8484": 200, "127.9.9.9": 200, "atelier.example": 200, "atelier.example:443": 200,
		"evil.example": 403, "evil.example:8484": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "10.0.0.1": 403, "0.0.0.0": 403, "[::]": 403, "localhost@evil.example": 403, "a:b:c": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", host, w.Code, want)
		}
	}
}

// TestForeignPagesAreRefused: a page of another origin can neither read nor send; it may link to a page here and show a
// picture.
func TestForeignPagesAreRefused(t *testing.T) {
	t.Parallel()
	s := New(Config{Media: fixedService{b: []byte("x")}})
	for _, row := range []struct {
		name, method, path string
		headers            map[string]string
		want               int
	}{
		{"a program", "POST", "/api/media", nil, 415},
		{"its own page", "POST", "/api/media", map[string]string{"Origin": "http://127.0.0.1:8484", "Sec-Fetch-Site": "same-origin"}, 415},
		{"an old browser, its own page", "POST", "/api/media", map[string]string{"Origin": "http://127.0.0.1:8484"}, 415},
		{"another origin", "POST", "/api/media", map[string]string{"Origin": "https://evil.example"}, 403},
		{"another port", "POST", "/api/media", map[string]string{"Origin": "http://127.0.0.1:8485"}, 403},
		{"a sandbox", "POST", "/api/media", map[string]string{"Origin": "null"}, 403},
		{"a form", "POST", "/api/media", map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
		{"a read", "GET", "/openapi.json", map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403},
		{"a script", "GET", "/openapi.json", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403},
		{"a frame", "GET", "/openapi.json", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		{"a link", "GET", "/openapi.json", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		{"a picture", "GET", "/media/x", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 200},
		{"a picture in a sandboxed frame", "GET", "/media/x", map[string]string{"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 200},
		{"a picture that is read", "GET", "/media/x", map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403},
	} {
		r := httptest.NewRequest(row.method, row.path, nil)
		r.Host = "127.0.0.1:8484"
		for k, v := range row.headers {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != row.want {
			t.Errorf("%s: %d, want %d: %s", row.name, w.Code, row.want, w.Body)
		}
	}
}

// TestWhatCouldRunHasASandbox: markup and scripts are served in a sandbox, without an origin, and load nothing.
func TestWhatCouldRunHasASandbox(t *testing.T) {
	t.Parallel()
	for kind, open := range map[string]bool{
		"image/png": true, "image/webp": true, "audio/wav": true, "video/mp4": true, "application/pdf": true,
		"image/svg+xml": false, "text/html": false, "text/plain": false, "application/xml": false, "application/octet-stream": false, "text/javascript": false,
	} {
		s := New(Config{Media: typedService{fixedService{b: []byte("x")}, kind}})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/media/x", nil))
		if boxed := strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none'"); boxed == open || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", kind, w.Header())
		}
	}
}
