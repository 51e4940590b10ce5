package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestManyRequestsAreLimited: requests are limited per token, or per address without a valid one, and a refusal has
// Retry-After; a server on loopback has no limit.
func TestManyRequestsAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	known := secrets{"a": {Name: "a", Scope: ScopeRead}, "b": {Name: "b", Scope: ScopeRead}}
	s := New(Config{Tokens: known, RequestsPerSecond: 2, Now: func() time.Time { return now }})
	ask := func(s *Server, secret, address string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/openapi.json", nil)
		r.RemoteAddr = address + ":1000"
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	for i := range 20 {
		if w := ask(s, "a", fmt.Sprintf("10.0.0.%d", i)); w.Code != http.StatusOK {
			t.Fatalf("request %d: %d", i, w.Code)
		}
		if w := ask(s, "", "10.0.0.1"); w.Code != http.StatusUnauthorized {
			t.Fatalf("request %d without a token: %d", i, w.Code)
		}
	}
	w := ask(s, "a", "10.9.9.9")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || w.Header().Get("Content-Type") != problemType {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	for name, row := range map[string]struct {
		secret, address string
		want            int
	}{
		"the same address": {"", "10.0.0.1", 429}, "another address": {"", "10.0.0.2", 401}, "another token": {"b", "10.0.0.1", 200}, "an unknown token": {"x", "10.0.0.1", 429},
	} {
		if w := ask(s, row.secret, row.address); w.Code != row.want {
			t.Errorf("%s: %d, want %d", name, w.Code, row.want)
		}
	}
	now = now.Add(500 * time.Millisecond)
	if first, second := ask(s, "a", "10.0.0.1"), ask(s, "a", "10.0.0.1"); first.Code != http.StatusOK || second.Code != http.StatusTooManyRequests {
		t.Errorf("half a second later: %d and %d", first.Code, second.Code)
	}
	for i := range maxClients + 10 {
		s.access.rates.throttle(fmt.Sprint(i))
	}
	if n := len(s.access.rates.clients); n > maxClients {
		t.Errorf("%d clients are remembered", n)
	}
	for name, open := range map[string]*Server{"loopback": New(Config{RequestsPerSecond: 1}), "no limit": New(Config{Tokens: known, RequestsPerSecond: -1})} {
		for range 50 {
			if w := ask(open, "a", "10.0.0.1"); w.Code != http.StatusOK {
				t.Fatalf("%s: %d", name, w.Code)
			}
		}
	}
}
