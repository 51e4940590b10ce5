package durable_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
	"atelier/run/durable"
)

// named returns a step name that the program does not use itself.
func named(text string) step.Name { return step.Name{Label: text} }

// TestWorkBeginsAgain: work whose databases are unavailable for longer than its patience is abandoned, and begins again in
// the same engine when they are back; its completed steps are kept.
func TestWorkBeginsAgain(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	var away atomic.Bool
	gone := errors.New("the ledger is away")
	c.Adopts, c.Patience = true, 10*time.Millisecond
	c.Healthy = func(context.Context) error {
		if away.Load() {
			return gone
		}
		return nil
	}
	var lives, steps atomic.Int64
	ended := make(chan struct{})
	e := open(t, c, func(ctx context.Context, j journal.Journal, _ string, _ []byte) error {
		life := lives.Add(1)
		_, err := j.Step(ctx, named("one"), func(context.Context) ([]byte, error) { steps.Add(1); return []byte("1"), nil })
		if err != nil {
			return err
		}
		if life > 1 {
			close(ended)
			return nil
		}
		away.Store(true)
		<-ctx.Done()
		if adopted, reason := durable.Abandoned(ctx); adopted || !errors.Is(reason, gone) || !journal.HandedOver(ctx) {
			t.Errorf("left because of %v", reason)
		}
		away.Store(false)
		return journal.ErrHandedOver
	})
	defer killEngine(t, e)
	if err := e.Start(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	<-ended
	if lives.Load() != 2 || steps.Load() != 1 {
		t.Errorf("%d lives, %d steps", lives.Load(), steps.Load())
	}
	eventually(t, func() bool { s, _, err := e.State("a"); return err == nil && s == durable.StateFinished })
}

// TestWorkIsNotAdopted: an engine that does not adopt leaves such work to others.
func TestWorkIsNotAdopted(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	var away atomic.Bool
	c.Healthy = func(context.Context) error {
		if away.Load() {
			return media.Errorf(media.CodeUnavailable, "the ledger: %w", durable.ErrGone)
		}
		return nil
	}
	c.Patience = time.Hour // a missing file is not waited for
	left := make(chan error, 1)
	e := open(t, c, func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
		away.Store(true)
		<-ctx.Done()
		_, reason := durable.Abandoned(ctx)
		left <- reason
		return journal.ErrHandedOver
	})
	if err := e.Start(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-left; !errors.Is(err, durable.ErrGone) {
		t.Errorf("left because of %v", err)
	}
	killEngine(t, e)
	away.Store(false)
	database{c}.Run(t, "a", func(context.Context, journal.Journal) error { return nil })
}

// TestBegunStepsEnd: when the work is lost, a step in progress may end its call before the work is abandoned, and no other
// step begins.
func TestBegunStepsEnd(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	var away atomic.Bool
	gone := errors.New("the ledger is away")
	c.Healthy = func(context.Context) error {
		if away.Load() {
			return gone
		}
		return nil
	}
	inside := make(chan struct{})
	var ended, late atomic.Bool
	e := open(t, c, func(ctx context.Context, j journal.Journal, _ string, _ []byte) error {
		go func() {
			<-inside
			away.Store(true)
		}()
		_, err := j.Step(ctx, named("one"), func(step context.Context) ([]byte, error) {
			call, over := journal.WithHandOverGrace(step)
			defer over()
			close(inside)
			<-step.Done() // the work is abandoned
			ended.Store(call.Err() == nil)
			return nil, step.Err()
		})
		if !journal.HandedOver(ctx) || !errors.Is(err, journal.ErrHandedOver) || !ended.Load() {
			t.Errorf("the step gave %v before it ended (%v)", err, ended.Load())
		}
		if _, err := j.Step(ctx, named("two"), func(context.Context) ([]byte, error) { late.Store(true); return nil, nil }); err == nil {
			t.Error("a step began in work that was left")
		}
		return journal.ErrHandedOver
	})
	if err := e.Start(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, ended.Load)
	killEngine(t, e)
	if late.Load() {
		t.Error("a step ran in work that was left")
	}
}
