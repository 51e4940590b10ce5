//go:build unix

package relay

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"atelier/internal/safehttp"
	"atelier/journal"
)

// TestTheSocketIsGone: a program that runs for weeks finds its socket tidied away, and begins anew.
func TestTheSocketIsGone(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	t.Cleanup(srv.Close)
	r, err := New(Config{Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare("a"); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	first := r.other
	r.mu.Unlock()
	if err := os.RemoveAll(first.folder); err != nil {
		t.Fatal(err)
	}
	ctx := journal.WithCarried(t.Context(), &journal.Carried{ID: "a"})
	req, err := http.NewRequestWithContext(safehttp.WithTrusted(ctx, srv.URL), http.MethodPost, srv.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Transport(nil).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(res.Body); string(b) != "x" || err != nil || res.Body.Close() != nil {
		t.Errorf("%q, %v", b, err)
	}
	<-first.ended // it was let go
	r.mu.Lock()
	second := r.other
	r.mu.Unlock()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	<-second.ended
}
