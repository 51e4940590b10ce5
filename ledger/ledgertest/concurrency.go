package ledgertest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"atelier/ledger"
	"atelier/media"
)

// write saves n records and n events through one store.
func write(t *testing.T, s ledger.Store, r ledger.Run, who string, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.Record(scoped(t, r), picture(fmt.Sprint(who, i), media.Meta{})); err != nil {
			t.Errorf("record: %v", err)
		}
		if _, err := s.AppendEvents(t.Context(), []ledger.Event{{Tree: r.Tree, RunID: r.ID, Kind: "media-stored"}}); err != nil {
			t.Errorf("append: %v", err)
		}
	}
}

// checkAll checks that nothing was lost, duplicated or counted twice.
func checkAll(t *testing.T, f *fixture, r ledger.Run, n int) {
	t.Helper()
	links, err := f.ListPromptMedia(t.Context(), owner, r.ID, ledger.Page{Limit: ledger.MaxLimit})
	must(t, err)
	events, err := f.ListEvents(t.Context(), owner, r.ID, 0, ledger.MaxLimit)
	must(t, err)
	if len(links.Items) != n || len(events) != n {
		t.Fatalf("%d links and %d events, want %d", len(links.Items), len(events), n)
	}
	for i := range n {
		if links.Items[i].DisplayOrder != i+1 || events[i].Sequence != int64(i+1) {
			t.Errorf("row %d: display order %d, sequence %d", i, links.Items[i].DisplayOrder, events[i].Sequence)
		}
	}
}

func concurrentWriters(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() { write(t, f.Store, r, fmt.Sprint("writer", w), 5) })
	}
	wg.Go(func() {
		if _, err := f.ListMedia(t.Context(), owner, ledger.MediaQuery{}); err != nil {
			t.Errorf("read beside writers: %v", err)
		}
	})
	wg.Wait()
	checkAll(t, f, r, 40)
}

func twoHandles(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	second := f.open(t)
	var wg sync.WaitGroup
	for w, s := range []ledger.Store{f.Store, second, f.Store, second} {
		wg.Go(func() { write(t, s, r, fmt.Sprint("handle", w), 5) })
	}
	wg.Wait()
	checkAll(t, f, r, 20)
}

func openedAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := f.h.Open(t, "fresh", f.deps)
			v, err := s.Version(t.Context())
			if err != nil || v == 0 {
				t.Errorf("version %d, %v", v, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// recordedAtOnce records the same bytes many times concurrently: one record is kept.
func recordedAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	stores := []ledger.Store{f.Store, f.open(t)}
	const times = 8
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			if _, err := stores[i%2].Record(scoped(t, r), picture("same", media.Meta{})); err != nil {
				t.Errorf("record: %v", err)
			}
		})
	}
	all.Wait()
	list, err := f.ListMedia(t.Context(), owner, ledger.MediaQuery{Tree: r.Tree})
	must(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("%d records of the same bytes in one tree", len(list.Items))
	}
	edges := f.parents(t, list.Items[0].ID)
	if len(edges) != times-1 {
		t.Errorf("%d makings after the first, want %d", len(edges), times-1)
	}
}

// promotedAtOnce promotes items through two stores: the display order has neither gaps nor duplicates.
func promotedAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	stores := []ledger.Store{f.Store, f.open(t)}
	var all sync.WaitGroup
	for i := range 8 {
		o := f.record(scoped(t, r), t, picture(fmt.Sprint(i), media.Meta{}))
		all.Go(func() {
			if w, err := stores[i%2].PromoteMedia(t.Context(), owner, r.ID, []media.Output{o}); err != nil || len(w) > 0 {
				t.Error(w, err)
			}
		})
	}
	all.Wait()
	links, err := f.ListAgentMedia(t.Context(), owner, r.ID, ledger.Page{})
	must(t, err)
	for i, l := range links.Items {
		if l.DisplayOrder != i+1 {
			t.Errorf("row %d has display order %d", i, l.DisplayOrder)
		}
	}
	if len(links.Items) != 8 {
		t.Errorf("%d promoted, want 8", len(links.Items))
	}
}

// budgetsInAnyOrder reserves from two budgets in opposite order and settles twice concurrently: nothing waits forever,
// and nothing is counted twice.
func budgetsInAnyOrder(t *testing.T, f *fixture) {
	t.Helper()
	stores := []ledger.Store{f.Store, f.open(t)}
	limits := []ledger.Limit{moneyLimit(t, "day", "100"), moneyLimit(t, "owner", "100")}
	backwards := []ledger.Limit{limits[1], limits[0]}
	const operations = 8
	var all sync.WaitGroup
	for i := range operations {
		id, order := f.deps.NewID(), limits
		if i%2 == 1 {
			order = backwards
		}
		all.Go(func() {
			if err := stores[i%2].Reserve(t.Context(), id, ledger.Amount{Money: pico(t, "1")}, order); err != nil {
				t.Errorf("reserve: %v", err)
			}
			var both sync.WaitGroup
			for _, s := range stores {
				both.Go(func() {
					if err := s.Settle(t.Context(), id, ledger.Amount{Money: pico(t, "0.5")}); err != nil {
						t.Errorf("settle: %v", err)
					}
				})
			}
			both.Wait()
		})
	}
	all.Wait()
	for _, l := range limits {
		f.wantBudget(t, l.Name, "$4", "$0")
	}
}

// messageInTwoConversations saves a message with one id through two stores in different conversations: it is in one of
// them.
func messageInTwoConversations(t *testing.T, f *fixture) {
	t.Helper()
	stores := []ledger.Store{f.Store, f.open(t)}
	for range 5 {
		id := f.deps.NewID()
		var saved atomic.Int32
		var all sync.WaitGroup
		conversations := []ledger.Conversation{f.conversation(t, owner, "a"), f.conversation(t, owner, "b")}
		for i, c := range conversations {
			all.Go(func() {
				m := ledger.Message{ID: id, ConversationID: c.ID, Role: ledger.RoleUser, Text: "x"}
				switch err := stores[i].SaveMessage(t.Context(), owner, m); media.CodeOf(err) {
				case "":
					saved.Add(1)
				case media.CodeConflict:
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if saved.Load() != 1 {
			t.Errorf("saved in %d conversations, want one", saved.Load())
		}
	}
}
