//go:build unix

package relay_test

import (
	"testing"

	"atelier/journal"
)

// TestMadeAgain: a request that could not be sent is made again by its program; whoever recalls the
// call goes the same way, to the answer of the second.
func TestMadeAgain(t *testing.T) {
	t.Parallel()
	h := steps(t)
	folder := t.TempDir()
	r, other := open(t, folder), another(t, folder)
	ctx := carried(t, r, "a")
	fate(t, other, "a", journal.FateUnsent)
	if o := ask(r.Transport(nil), post(t, ctx, h.URL+"/1", "x")); o.Err == nil || o.Sent {
		t.Fatalf("given up: %+v", o)
	}
	if o := ask(r.Transport(nil), post(t, ctx, h.URL+"/1", "x")); o.Body != "one x" {
		t.Fatalf("made again: %+v", o)
	}
	fate(t, other, "a", journal.FateAnswered)
	ctx = recalled(t, "a")
	if o := ask(other.Transport(nil), post(t, ctx, h.URL+"/1", "x")); o.Err == nil || o.Sent {
		t.Errorf("recalled: %+v", o)
	}
	if o := ask(other.Transport(nil), post(t, ctx, h.URL+"/1", "x")); o.Body != "one x" || h.calls.Load() != 1 {
		t.Errorf("recalled again: %+v, %d calls", o, h.calls.Load())
	}
}
