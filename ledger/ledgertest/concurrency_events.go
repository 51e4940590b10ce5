package ledgertest

import (
	"slices"
	"sync"
	"testing"

	"atelier/ledger"
)

// eventsOfTrees appends batches for two trees in opposite order: no writer waits forever, and the log has neither gaps
// nor duplicates.
func eventsOfTrees(t *testing.T, f *fixture) {
	t.Helper()
	const writers, batches = 4, 5
	a, b := f.run(t, owner, nil), f.run(t, owner, nil)
	stores := []ledger.Store{f.Store, f.open(t)}
	var all sync.WaitGroup
	for w := range writers {
		batch := []ledger.Event{{Tree: a.ID, RunID: a.ID, Kind: "warning"}, {Tree: b.ID, RunID: b.ID, Kind: "warning"}}
		if w%2 == 1 {
			slices.Reverse(batch)
		}
		all.Go(func() {
			for range batches {
				if _, err := stores[w%2].AppendEvents(t.Context(), batch); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	all.Wait()
	var positions []int64
	for _, r := range []ledger.Run{a, b} {
		events, err := f.ListEvents(t.Context(), owner, r.ID, 0, ledger.MaxLimit)
		must(t, err)
		for i, e := range events {
			if e.Sequence != int64(i+1) {
				t.Errorf("event %d of %s has sequence %d", i, r.ID, e.Sequence)
			}
			positions = append(positions, e.Position)
		}
	}
	slices.Sort(positions)
	for i, p := range positions {
		if p != int64(i+1) {
			t.Fatalf("positions %v have gaps or repeats", positions)
		}
	}
	if len(positions) != 2*writers*batches {
		t.Errorf("%d events, want %d", len(positions), 2*writers*batches)
	}
}

// eventsSeen reads while others append: a reader that sees an event has seen all earlier ones.
func eventsSeen(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	stores := []ledger.Store{f.Store, f.open(t)}
	const writers, each = 4, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range each {
				if _, err := stores[w%2].AppendEvents(t.Context(), []ledger.Event{{Tree: r.ID, RunID: r.ID, Kind: "warning"}}); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	seen := int64(0)
	for seen < writers*each && !t.Failed() {
		events, err := f.ListEvents(t.Context(), owner, r.ID, seen, 0)
		must(t, err)
		for _, e := range events {
			if e.Sequence != seen+1 {
				t.Fatalf("event %d came after %d", e.Sequence, seen)
			}
			seen = e.Sequence
		}
	}
	all.Wait()
}
