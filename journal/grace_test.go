package journal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier/journal"
	"atelier/journal/step"
)

// named returns a step name that the program does not use itself.
func named(text string) step.Name { return step.Name{Label: text} }

// knows returns a transcript with the given steps.
func knows(names ...string) *journal.Transcript {
	known := map[string][]byte{}
	for _, n := range names {
		known[n] = []byte(`"known"`)
	}
	return journal.NewTranscript(journal.Memory{}, known)
}

// TestGrace: known steps are replayed although the caller has ended; the first new step is not begun, and from then on
// the context has ended with the caller's error and cause.
func TestGrace(t *testing.T) {
	t.Parallel()
	over := errors.New("the time was over")
	caller, stop := context.WithDeadlineCause(t.Context(), time.Unix(1, 0), over)
	defer stop()
	ctx, done := journal.WithGrace(caller)
	defer done()
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	j := knows("first")
	if b, err := j.Step(ctx, named("first"), nil); err != nil || string(b) != `"known"` || ctx.Err() != nil || context.Cause(ctx) != nil {
		t.Errorf("%s, %v; the context: %v", b, err, ctx.Err())
	}
	began := false
	_, err := j.Step(ctx, named("second"), func(context.Context) ([]byte, error) {
		began = true
		return nil, nil
	})
	if !errors.Is(err, over) || began {
		t.Errorf("a new step gave %v, began: %v", err, began)
	}
	<-below.Done()
	for _, c := range []context.Context{ctx, below} {
		if !errors.Is(c.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(c), over) {
			t.Errorf("ended with %v because of %v", c.Err(), context.Cause(c))
		}
	}
}

// TestGraceSleeps: a sleep of an earlier process does not end the replay of what followed it; a new one does.
func TestGraceSleeps(t *testing.T) {
	t.Parallel()
	caller, cancel := context.WithCancel(t.Context())
	cancel()
	ctx, done := journal.WithGrace(caller)
	defer done()
	j := journal.NewTranscript(knows("sleep-1", "after"), nil)
	if err := j.Sleep(ctx, time.Hour); err != nil {
		t.Errorf("a finished sleep gave %v", err)
	}
	if b, err := j.Step(ctx, named("after"), nil); err != nil || string(b) != `"known"` {
		t.Errorf("the step after it gave %s, %v", b, err)
	}
	if err := j.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a new sleep gave %v", err)
	}
}

// TestForkKeepsTheEnds: a part ends also with a context between it and the context with grace, which its code has
// cancelled, and then does not end the whole.
func TestForkKeepsTheEnds(t *testing.T) {
	t.Parallel()
	ctx, done := journal.WithGrace(t.Context())
	defer done()
	over := errors.New("it took too long")
	between, stop := context.WithCancelCause(ctx)
	part, join := journal.Fork(between)
	inner, joinInner := journal.Fork(part)
	stop(over)
	for _, c := range []context.Context{part, inner} {
		select {
		case <-c.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("the part continues")
		}
		if !errors.Is(c.Err(), context.Canceled) || !errors.Is(context.Cause(c), over) {
			t.Errorf("it ended with %v because of %v", c.Err(), context.Cause(c))
		}
	}
	joinInner()
	if join(); ctx.Err() != nil {
		t.Errorf("the whole ended: %v", ctx.Err())
	}
}

// TestGraceContinues: while the caller lives, new steps run; its later end ends the context.
func TestGraceContinues(t *testing.T) {
	t.Parallel()
	caller, cancel := context.WithCancel(t.Context())
	ctx, done := journal.WithGrace(caller)
	defer done()
	if b, err := knows().Step(ctx, named("new"), func(context.Context) ([]byte, error) { return []byte("1"), nil }); err != nil || string(b) != "1" {
		t.Errorf("%s, %v", b, err)
	}
	cancel()
	if <-ctx.Done(); !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("ended with %v", ctx.Err())
	}
}

// TestHandoverEndsTheGrace: a handover ends the context at once, because the process that continues replays the work
// again.
func TestHandoverEndsTheGrace(t *testing.T) {
	t.Parallel()
	caller, leave := context.WithCancelCause(t.Context())
	ctx, done := journal.WithGrace(caller)
	defer done()
	leave(journal.ErrHandedOver)
	if <-ctx.Done(); !journal.HandedOver(ctx) {
		t.Errorf("ended because of %v", context.Cause(ctx))
	}
}

// TestGraceHasALimit: code that reaches no new step is still ended.
func TestGraceHasALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caller, cancel := context.WithCancel(t.Context())
		ctx, done := journal.WithGrace(caller)
		defer done()
		cancel()
		synctest.Wait()
		if ctx.Err() != nil {
			t.Errorf("ended at once: %v", ctx.Err())
		}
		<-ctx.Done() // takes a minute on the bubble's clock
	})
}

// TestFork: of parallel parts, each one ends by itself when it reaches a new step; the whole ends when the first such
// part is joined.
func TestFork(t *testing.T) {
	t.Parallel()
	caller, cancel := context.WithCancel(t.Context())
	cancel()
	ctx, done := journal.WithGrace(caller)
	defer done()
	first, joinFirst := journal.Fork(ctx)
	second, joinSecond := journal.Fork(ctx)
	if journal.Live(first) == nil || first.Err() == nil {
		t.Error("the part with a new step continues")
	}
	if second.Err() != nil || ctx.Err() != nil {
		t.Errorf("the other part: %v, the whole: %v", second.Err(), ctx.Err())
	}
	joinSecond()
	if ctx.Err() != nil {
		t.Errorf("a part that was known ended the whole: %v", ctx.Err())
	}
	if joinFirst(); ctx.Err() == nil {
		t.Error("the whole continues after a part with a new step")
	}
	if same, _ := journal.Fork(ctx); same != ctx {
		t.Error("what has come to something new has parts of its own")
	}
	if same, _ := journal.Fork(caller); same != caller || journal.Live(caller) != nil {
		t.Error("a context that does not lag is not given back")
	}
}

// TestRecalled: a transcript lists the steps that were known when it began, its own and those of the journal within; a
// part lists its share of them.
func TestRecalled(t *testing.T) {
	t.Parallel()
	inner := knows("b", "child/inner")
	outer := journal.NewTranscript(inner, map[string][]byte{"a": nil, "child/deep": nil})
	if _, err := outer.Step(t.Context(), named("now"), func(context.Context) ([]byte, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	child, err := outer.Part(t.Context(), named("child"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   *journal.Transcript
		want []string
	}{{outer, []string{"a", "b"}}, {child, []string{"deep", "inner"}}} {
		if got := c.of.Recalled(); len(got) != 2 || got[0].String() != c.want[0] || got[1].String() != c.want[1] {
			t.Errorf("recalled %v, want %q", got, c.want)
		}
	}
	if !outer.Knows(named("b")) || !outer.Knows(named("now")) || outer.Knows(named("c")) || !child.Knows(named("deep")) {
		t.Error("recalled steps are not distinguished")
	}
}
