package record

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"atelier/ledger"
)

// TestSortedBatch: records come first, each in its newest state and in the order of these states; events keep their
// order within their tree.
func TestSortedBatch(t *testing.T) {
	t.Parallel()
	save := func(context.Context) error { return nil }
	event := func(tree, kind string) entry { return entry{event: ledger.Event{Tree: tree, Kind: kind}} }
	passing := func(tree, kind string) entry {
		return entry{transient: true, event: ledger.Event{Tree: tree, Kind: kind}}
	}
	records, groups := sorted([]entry{
		event("a", "1"),
		{what: "begun", key: "step 1", save: save},
		{what: "other", save: save},
		event("b", "2"),
		{what: "ended", key: "step 1", save: save},
		event("a", "3"),
		passing("a", "4"),
		event("a", "5"),
		{what: "more", save: save},
	})
	got := ""
	for _, r := range records {
		got += r.what + " "
	}
	for _, g := range groups {
		for _, e := range g.list {
			if got += e.Tree + e.Kind + " "; g.passing != (e.Kind == "4") {
				t.Errorf("%s%s: passing %v", e.Tree, e.Kind, g.passing)
			}
		}
	}
	if want := "other ended more a1 a3 b2 a4 a5 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// endless is a ledger that gets another event with each one that it saves.
type endless struct {
	ledger.Store
	more func(ctx context.Context)
}

func (e endless) AppendEvents(ctx context.Context, events []ledger.Event) ([]ledger.Event, error) {
	e.more(ctx)
	return events, nil
}

func (e endless) InTransaction(ctx context.Context, fn func(context.Context) error) error {
	return fn(ctx)
}

// TestFlushOfABusyLog: a flush waits for what was added before it, not for what other runs add meanwhile.
func TestFlushOfABusyLog(t *testing.T) {
	t.Parallel()
	var over atomic.Bool
	l := &eventLog{}
	more := func(ctx context.Context) {
		if !over.Load() {
			l.add(ctx, entry{event: ledger.Event{Tree: "a", Kind: "k"}})
		}
	}
	l.store = endless{more: more}
	defer over.Store(true)
	more(t.Context())
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if err := l.flush(ctx); err != nil {
		t.Error(err)
	}
}

// TestSubscribeMissesNothing: an event that is published while a subscription begins is received.
func TestSubscribeMissesNothing(t *testing.T) {
	t.Parallel()
	var f feed
	published := make(chan struct{})
	events, stop := f.subscribe("a", func(string) []ledger.Event {
		go func() {
			defer close(published)
			f.publish([]ledger.Event{{Tree: "a", Kind: "2"}})
		}()
		select { // the event must not be published before the reader is there
		case <-published:
		case <-time.After(50 * time.Millisecond):
		}
		return []ledger.Event{{Tree: "a", Kind: "1"}}
	})
	<-published
	stop()
	got := ""
	for e := range events {
		got += e.Kind
	}
	if got != "12" {
		t.Errorf("got %s", got)
	}
}
