package run

import (
	"context"
	"testing"

	"atelier/ledger"
)

// TestSortedBatch: records come first, each in its newest state, in the order of these; events
// keep theirs within their tree.
func TestSortedBatch(t *testing.T) {
	t.Parallel()
	save := func(context.Context) error { return nil }
	event := func(tree, kind string) entry { return entry{event: ledger.Event{Tree: tree, Kind: kind}} }
	records, events := sorted([]entry{
		event("a", "1"),
		{what: "begun", key: "step 1", save: save},
		{what: "other", save: save},
		event("b", "2"),
		{what: "ended", key: "step 1", save: save},
		event("a", "3"),
		{what: "more", save: save},
	})
	got := ""
	for _, r := range records {
		got += r.what + " "
	}
	for _, tree := range events {
		for _, e := range tree {
			got += e.Tree + e.Kind + " "
		}
	}
	if want := "other ended more a1 a3 b2 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
