package post_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/generate/internal/post"
	"atelier/media"
)

func TestClean(t *testing.T) {
	t.Parallel()
	c := &post.Client{Secret: "sk-very-secret"}
	for in, want := range map[string]string{
		"a\n  b\tc":                        "a b c",
		"key sk-very-secret is bad":        "key [key] is bad",
		"x " + strings.Repeat("iVBOR", 40): "x [base64, 200 characters]",
		strings.Repeat("ü ", 200):          strings.TrimSuffix(strings.Repeat("ü ", 100), "") + "…",
	} {
		if got := c.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/a", http.RedirectHandler("/b", http.StatusTemporaryRedirect))
	mux.HandleFunc("/b", func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c := &post.Client{Name: "X", Transport: http.DefaultTransport}
	a, err := c.Send(t.Context(), srv.URL+"/a", nil, "body")
	if err != nil || a.Status != http.StatusTemporaryRedirect || a.Broken != nil {
		t.Errorf("answer %+v, error %v", a, err)
	}
}

func TestUnusableCalls(t *testing.T) {
	t.Parallel()
	c := &post.Client{Name: "X", BaseVariable: "X_BASE_URL", Secret: "hush", Transport: http.DefaultTransport}
	for name, f := range map[string]func() error{
		"address": func() error { _, err := c.Send(t.Context(), "http://[hush", nil, 1); return err },
		"body":    func() error { _, err := c.Send(t.Context(), "http://localhost", nil, func() {}); return err },
	} {
		err := f()
		if media.CodeOf(err) != media.CodeInvalid || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
