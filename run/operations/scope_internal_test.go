package operations

import (
	"testing"

	"atelier/ledger"
)

// TestScopeOfASubAction: an operation continued by another process still belongs to its sub-action.
func TestScopeOfASubAction(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"gm_1": "gm_1", "0198a000": "", "": ""} {
		if got := scopeOf(ledger.Operation{ID: "op", Owner: "local", Key: key}).SubAction; got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
