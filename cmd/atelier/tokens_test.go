package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokensOfTheCommandLine: a server on all addresses starts only with a token, accepts it, and refuses it as soon as
// it is revoked. Only the output of create contains the secret.
func TestTokensOfTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	refused := s.start("serve", "--listen", "0.0.0.0:0").wait()
	if refused.code != exitInput || !strings.Contains(refused.stderr, "atelier tokens create") || strings.Contains(refused.stderr, "serving on") {
		t.Errorf("without a token: %d %s", refused.code, refused.stderr)
	}
	secret := strings.TrimSpace(s.must("tokens", "create", "phone", "--days", "7").stdout)
	if !strings.HasPrefix(secret, "atl_") {
		t.Fatalf("%q", secret)
	}
	_, url := s.startServer(t, "--listen", "0.0.0.0:0")
	ask := func(token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	if got := ask(secret); got != http.StatusOK {
		t.Errorf("with the token: %d", got)
	}
	if got := ask(""); got != http.StatusUnauthorized {
		t.Errorf("without: %d", got)
	}
	list := s.must("tokens", "list", "--json").stdout
	if !strings.Contains(list, `"phone"`) || strings.Contains(list, secret) || strings.Contains(list, "sha256") {
		t.Errorf("%s", list)
	}
	if o := s.start("tokens", "create", "phone").wait(); o.code != exitInput || !strings.Contains(o.stderr, "revoke") {
		t.Errorf("twice: %d %s", o.code, o.stderr)
	}
	if o := s.start("tokens", "create", filepath.Join("..", "x")).wait(); o.code != exitInput {
		t.Errorf("a path: %d %s", o.code, o.stderr)
	}
	s.must("tokens", "revoke", "phone")
	if got := ask(secret); got != http.StatusUnauthorized {
		t.Errorf("revoked: %d", got)
	}
	if o := s.start("tokens", "revoke", "phone").wait(); o.code != exitInput {
		t.Errorf("revoked twice: %d %s", o.code, o.stderr)
	}
}

// TestRequestsAreLogged: the log has one JSON object per request, with its route, status and token, and nothing of its
// URL, its headers or its body.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	secret := strings.TrimSpace(s.must("tokens", "create", "phone").stdout)
	s.env["ATELIER_PUBLIC_URL"] = "https://atelier.example"
	proc, url := s.startServer(t, "--log-json")
	for _, path := range []string{"/api/runs?status=hidden-query", "/api/runs/hidden-id"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(`{"agent":"hidden-agent","message":"hidden-message"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Cookie", "a=hidden-cookie")
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	eventually(t, "the lines", func() bool { return strings.Count(proc.stderr.String(), `"method":"POST"`) == 2 })
	out := proc.stderr.String()
	for _, want := range []string{`"route":"/api/runs"`, `"status":4`, `"token":"phone"`, `"route":"/readyz"`, `"ms":`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	for _, bad := range []string{"hidden", strings.TrimPrefix(secret, "atl_")} {
		if strings.Contains(out, bad) {
			t.Errorf("%s is in %s", bad, out)
		}
	}
	for line := range strings.Lines(out) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%s", line)
		}
	}
}
