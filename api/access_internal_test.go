package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"atelier/media"
)

// secrets maps the secrets of tokens to identities.
type secrets map[string]Identity

func (s secrets) Identify(_ context.Context, secret string) (Identity, error) {
	id, ok := s[secret]
	if !ok {
		return id, media.Errorf(media.CodeUnauthorized, "unknown")
	}
	return id, nil
}

// TestPagesAskForTheToken: a page without a valid cookie redirects to the login; assets are public. The host may be any
// IP address, but no foreign name.
func TestPagesAskForTheToken(t *testing.T) {
	t.Parallel()
	s := New(Config{
		Pages:  fstest.MapFS{"index.html": {Data: []byte("<html>")}, "assets/a.js": {Data: []byte("1")}},
		Tokens: secrets{"s": {Name: "n", Owner: "o", Scope: ScopeRead}},
	})
	for _, row := range []struct {
		path, host, cookie string
		want               int
	}{
		{"/", "192.168.1.5:8484", "", 303},
		{"/c/1", "192.168.1.5:8484", "", 303},
		{"/c/1", "192.168.1.5:8484", "wrong", 303},
		{"/c/1", "192.168.1.5:8484", "s", 200},
		{"/assets/a.js", "[fd00::1]:8484", "", 200},
		{"/login", "192.168.1.5:8484", "", 200},
		{"/login", "evil.example", "", 403},
		{"/metrics", "192.168.1.5:8484", "", 401},
		{"/openapi.json", "192.168.1.5:8484", "", 401},
		{"//login", "192.168.1.5:8484", "", 307},
	} {
		r := httptest.NewRequest(http.MethodGet, row.path, nil)
		r.URL = &url.URL{Path: row.path}
		r.Host = row.host
		if row.cookie != "" {
			r.AddCookie(&http.Cookie{Name: cookieName, Value: row.cookie})
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != row.want {
			t.Errorf("%s at %s with %q: %d, want %d: %s", row.path, row.host, row.cookie, w.Code, row.want, w.Body)
		}
	}
}

// TestTheCookieIsSecureBehindTLS: the cookie is Secure only at the public URL, so that the same server can also be used
// on the machine itself.
func TestTheCookieIsSecureBehindTLS(t *testing.T) {
	t.Parallel()
	s := New(Config{Tokens: secrets{"s": {Name: "n", Scope: ScopeRead}}, PublicURL: "https://atelier.example"})
	for host, want := range map[string]bool{"atelier.example": true, "127.0.0.1:8484": false} {
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("token=s"))
		r.Host = host
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Set-Cookie"); w.Code != http.StatusSeeOther || strings.Contains(got, "; Secure") != want || !strings.Contains(got, "HttpOnly") {
			t.Errorf("%s: %d %s", host, w.Code, got)
		}
	}
}

// TestLinksExpire: links made within the same hour are equal and expire on time; without a key, no link is valid.
func TestLinksExpire(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 12, 10, 0, 0, time.UTC)
	s := New(Config{Media: fixedService{b: []byte("x")}, Tokens: secrets{}, LinkKey: []byte("key"), Now: func() time.Time { return now }})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	link := s.access.mediaURL(r)("x")
	now = now.Add(40 * time.Minute)
	if again := s.access.mediaURL(r)("x"); again != link {
		t.Errorf("%s and %s", link, again)
	}
	for after, want := range map[time.Duration]int{40 * time.Minute: 200, 109 * time.Minute: 200, 110 * time.Minute: 401} {
		now = time.Date(2030, 1, 1, 12, 10, 0, 0, time.UTC).Add(after)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+link, nil))
		if w.Code != want {
			t.Errorf("after %s: %d, want %d: %s", after, w.Code, want, w.Body)
		}
	}
	keyless := New(Config{Media: fixedService{b: []byte("x")}, Tokens: secrets{}})
	w := httptest.NewRecorder()
	keyless.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+keyless.access.mediaURL(r)("x"), nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("signed without a key: %d", w.Code)
	}
}
