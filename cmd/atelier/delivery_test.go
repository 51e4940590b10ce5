package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/generate/generatetest/bflsim"
)

// TestDeliveryIsDown: a picture that is paid for and cannot be downloaded is fetched by a plain retry, and the provider
// is asked once. Before it is asked, there must be enough disk space.
func TestDeliveryIsDown(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	sim := bflsim.New(bflsim.Config{Pending: -1})
	var up atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/v1/") {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		sim.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"], p.env["ATELIER_CATALOGUE"] = sim.Key(), srv.URL, p.shortWaitCatalogue()
	p.env["ATELIER_MIN_FREE_MIB"] = "2000000000"
	if o := p.atelier("generate", "a fox", "-m", "FLUX.2 Pro"); o.code == exitOK || o.code == exitRunning || !strings.Contains(o.stderr, "MiB are needed") || len(sim.Captured()) > 0 {
		t.Fatalf("no room: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	p.env["ATELIER_MIN_FREE_MIB"] = "plenty"
	if o := p.atelier("models", "list"); o.code != exitInput || !strings.Contains(o.stderr, "ATELIER_MIN_FREE_MIB") {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	delete(p.env, "ATELIER_MIN_FREE_MIB")
	o := p.atelier("generate", "a fox", "-m", "FLUX.2 Pro")
	if o.code != exitRunning || !strings.Contains(o.stdout+o.stderr, "502") {
		t.Fatalf("down: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	_, rest, _ := strings.Cut(o.stdout, "generate --wait ")
	operation, _, _ := strings.Cut(rest, "\n")
	up.Store(true)
	if o := p.atelier("operations", "retry", operation); o.code != exitOK || len(p.mediaList().Items) != 1 || len(sim.Captured()) != 1 {
		t.Errorf("retry: exit %d, %d tasks\n%s%s", o.code, len(sim.Captured()), o.stdout, o.stderr)
	}
}
