package durable_test

import (
	"context"
	"testing"

	"atelier/journal"
	"atelier/media"
	"atelier/run/durable"
)

// TestCancelledWorkIsTakenOver: cancelled work whose process ended before it learned of the cancellation is an orphan
// until an engine has ended it; every engine that adopts it gets a cancelled context from the start, even if the
// previous one died too.
func TestCancelledWorkIsTakenOver(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	waits := func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	first := open(t, c, waits)
	if err := first.Start(t.Context(), "a", []byte("input of a")); err != nil {
		t.Fatal(err)
	}
	killEngine(t, first)
	c.Adopts = true
	causes := make(chan error, 1)
	killed := open(t, c, func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
		causes <- context.Cause(ctx)
		return journal.ErrHandedOver
	})
	if err := killed.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	adoptAll(t, killed, 1)
	if err := <-causes; media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("the cause was %v", err)
	}
	killEngine(t, killed)
	last := open(t, c, func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
		causes <- context.Cause(ctx)
		return nil
	})
	adoptAll(t, last, 1)
	if err := <-causes; media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("the cause was %v", err)
	}
	killEngine(t, last)
	last = open(t, c, waits)
	defer killEngine(t, last)
	adoptAll(t, last, 0)
}

// TestCancelOfEndedWork: work that ended by cancellation stays finished when it is cancelled again.
func TestCancelOfEndedWork(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	c.Adopts = true
	started, causes := make(chan struct{}, 1), make(chan error, 1)
	waits := func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
		started <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return context.Cause(ctx)
	}
	first := open(t, c, waits)
	if err := first.Start(t.Context(), "a", []byte("input of a")); err != nil {
		t.Fatal(err)
	}
	<-started
	if err := first.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := <-causes; media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("the cause was %v", err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		next := open(t, c, waits)
		adoptAll(t, next, 0)
		if err := next.Cancel(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		killEngine(t, next)
	}
}

// adoptAll adopts all orphans, and checks that there are n.
func adoptAll(t *testing.T, e *durable.Engine, n int) {
	t.Helper()
	list, err := e.Orphans(t.Context())
	if err != nil || len(list) != n {
		t.Fatalf("%d orphans, %v", len(list), err)
	}
	for _, o := range list {
		if string(o.Input) != "input of "+o.ID {
			t.Errorf("input %q", o.Input)
		}
		if err := e.Adopt(t.Context(), o.ID); err != nil {
			t.Fatal(err)
		}
	}
}
