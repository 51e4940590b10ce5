// Package journaltest is the conformance suite of journals.
//
// It may import only journal, journal/step and the testing packages.
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/journal"
	"atelier/journal/step"
)

// Work is the body of a workflow.
type Work func(ctx context.Context, j journal.Journal) error

// Place is where workflows are executed: one database, or the memory of one process.
type Place interface {
	// Run executes a workflow until work returns. A second call with the same id replays it, in its own process as far
	// as the place can tell. Its journal is not closed while work runs.
	Run(t *testing.T, id string, work Work)
}

// Config configures the suite.
type Config struct {
	// Open returns a new, empty place.
	Open func(t *testing.T) Place
	// Remembers reports whether the journal replays; other journals run every step again.
	Remembers bool
}

// Run runs the suite.
func Run(t *testing.T, c Config) {
	t.Helper()
	t.Helper()
	for name, test := range map[string]func(*testing.T, Config){
		"StepRunsAndGivesItsResult": stepRuns, "ErrorsAreHandedOn": errorsAreHandedOn, "StepWithinStep": stepWithinStep,
		"SleepWaits": sleepWaits, "SleepEndsEarly": sleepEndsEarly, "ContextReachesTheStep": contextReaches,
		"ConcurrentSteps": concurrentSteps, "PanicsAreErrors": panics,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
	if !c.Remembers {
		return
	}
	for name, test := range map[string]func(*testing.T, Config){
		"ReplayRunsNothingAgain": replay, "ReplayGoesOnInAnyOrder": replayInAnyOrder, "ErrorsAreNotRemembered": errorsAreForgotten,
		"ChildrenHaveTheirOwnNames": children, "WorkflowsAreApart": apart, "SleepIsRemembered": sleepRemembered,
		"EmptyAndLargeResults": sizes, "ThreeReplays": threeReplays,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// counter counts executed steps.
type counter struct{ atomic.Int64 }

// named returns a name that the program itself does not use.
func named(text string) step.Name { return step.Name{Label: text} }

// say executes a step that returns its text.
func (ran *counter) say(ctx context.Context, j journal.Journal, name, text string) (string, error) {
	b, err := j.Step(ctx, named(name), func(context.Context) ([]byte, error) {
		ran.Add(1)
		return []byte(text), nil
	})
	return string(b), err
}

// must calls say and checks the result.
func (ran *counter) must(ctx context.Context, t *testing.T, j journal.Journal, name, text string) {
	t.Helper()
	got, err := ran.say(ctx, j, name, text)
	if err != nil || got != text {
		t.Errorf("step %s gave %.80q, %v; want %.80q", name, got, err, text)
	}
}

func stepRuns(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	c.Open(t).Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		ran.must(ctx, t, j, "one", `{"a":"b"}`)
		ran.must(ctx, t, j, "two", `null`)
		return nil
	})
	if ran.Load() != 2 {
		t.Errorf("%d steps ran, want 2", ran.Load())
	}
}

func errorsAreHandedOn(t *testing.T, c Config) {
	t.Helper()
	own := errors.New("own")
	c.Open(t).Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		_, err := j.Step(ctx, named("one"), func(context.Context) ([]byte, error) { return nil, fmt.Errorf("wrapped: %w", own) })
		if !errors.Is(err, own) {
			t.Errorf("error %v does not wrap the step's own", err)
		}
		return nil
	})
}

func stepWithinStep(t *testing.T, c Config) {
	t.Helper()
	var inner counter
	var outer atomic.Int64
	work := func(ctx context.Context, j journal.Journal) error {
		b, err := j.Step(ctx, named("outer"), func(ctx context.Context) ([]byte, error) {
			outer.Add(1)
			got, err := inner.say(ctx, j, "inner", `"in"`)
			return []byte(got), err
		})
		if string(b) != `"in"` || err != nil {
			t.Errorf("outer gave %q, %v", b, err)
		}
		return nil
	}
	p := c.Open(t)
	p.Run(t, "a", work)
	if inner.Load() != 1 || outer.Load() != 1 {
		t.Errorf("inner ran %d times, outer %d, want 1 and 1", inner.Load(), outer.Load())
	}
}

func sleepWaits(t *testing.T, c Config) {
	t.Helper()
	const nap = 20 * time.Millisecond
	c.Open(t).Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		start := time.Now() //nolint:forbidigo // the engine sleeps by the real clock
		if err := j.Sleep(ctx, nap); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d < nap-time.Millisecond {
			t.Errorf("slept %s, want %s", d, nap)
		}
		return nil
	})
}

func sleepEndsEarly(t *testing.T, c Config) {
	t.Helper()
	c.Open(t).Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		if err := j.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("sleep ended with %v", err)
		}
		return nil
	})
}

type key struct{}

func contextReaches(t *testing.T, c Config) {
	t.Helper()
	c.Open(t).Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, key{}, "value"))
		defer cancel()
		_, err := j.Step(ctx, named("one"), func(ctx context.Context) ([]byte, error) {
			if ctx.Value(key{}) != "value" {
				t.Error("the step does not see the values of its context")
			}
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
		return nil
	})
}

// many executes n steps concurrently and returns their results.
func many(ctx context.Context, t *testing.T, j journal.Journal, n int, ran *counter) []string {
	t.Helper()
	out := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { out[i], _ = ran.say(ctx, j, fmt.Sprintf("step-%d", i), fmt.Sprintf(`"%d"`, i)) })
	}
	all.Wait()
	return out
}

func wanted(n int) []string {
	out := make([]string, n)
	for i := range n {
		out[i] = fmt.Sprintf(`"%d"`, i)
	}
	return out
}

func concurrentSteps(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	c.Open(t).Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		if got := many(ctx, t, j, 50, &ran); !slices.Equal(got, wanted(50)) {
			t.Errorf("results %v", got)
		}
		return nil
	})
	if ran.Load() != 50 {
		t.Errorf("%d steps ran, want 50", ran.Load())
	}
}
