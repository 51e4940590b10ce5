package relay_test

import (
	"net/http"
	"strings"
	"testing"

	"atelier/journal"
)

// TestOnlyTheProvidersOwnOriginIsReached: what the relay's process carries is guarded there.
func TestOnlyTheProvidersOwnOriginIsReached(t *testing.T) {
	t.Parallel()
	r := open(t, t.TempDir())
	p := serve(t, func(http.ResponseWriter, *http.Request) {})
	req, err := http.NewRequestWithContext(carried(t, r, "stray"), http.MethodPost, p.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if o := ask(r.Transport(nil), req); o.Err == nil || !strings.Contains(o.Err.Error(), "not on the public internet") || o.Sent || p.calls.Load() > 0 {
		t.Errorf("%d calls, sent %v: %v", p.calls.Load(), o.Sent, o.Err)
	}
	fate(t, r, "stray", journal.FateAnswered)
	if o := ask(r.Transport(nil), post(t, carried(t, r, "own"), p.URL, "x")); o.Err != nil || p.calls.Load() != 1 {
		t.Errorf("%d calls: %v", p.calls.Load(), o.Err)
	}
}
