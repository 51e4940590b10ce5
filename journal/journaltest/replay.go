package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/journal"
	"atelier/media"
)

func replay(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	for range 2 {
		p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
			for _, name := range []string{"one", "two", "three"} {
				ran.must(ctx, t, j, name, `"`+name+`"`)
			}
			return nil
		})
	}
	if ran.Load() != 3 {
		t.Errorf("%d steps ran, want 3", ran.Load())
	}
}

// replayInAnyOrder checks that results of concurrent steps are replayed by name, in any order.
func replayInAnyOrder(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		many(ctx, t, j, 30, &ran)
		return nil
	})
	p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		for i := 39; i >= 0; i-- {
			ran.must(ctx, t, j, fmt.Sprintf("step-%d", i), fmt.Sprintf(`"%d"`, i))
		}
		return nil
	})
	if ran.Load() != 40 {
		t.Errorf("%d steps ran, want 30 and then 10", ran.Load())
	}
}

func errorsAreForgotten(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		ran.must(ctx, t, j, "before", `1`)
		if _, err := j.Step(ctx, named("one"), func(context.Context) ([]byte, error) { return nil, errors.New("no") }); err == nil {
			t.Error("no error")
		}
		ran.must(ctx, t, j, "after", `2`)
		return nil
	})
	p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		ran.must(ctx, t, j, "before", `1`)
		ran.must(ctx, t, j, "one", `"now"`)
		ran.must(ctx, t, j, "after", `2`)
		return nil
	})
	if ran.Load() != 3 {
		t.Errorf("%d steps ran, want 3", ran.Load())
	}
}

// panics checks that a panic is an error of its step, and not recorded.
func panics(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		if _, err := j.Step(ctx, named("one"), func(context.Context) ([]byte, error) { panic("index out of range") }); media.CodeOf(err) != media.CodeInternal || !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("got %v", err)
		}
		ran.must(ctx, t, j, "after", `2`)
		return nil
	})
	p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		ran.must(ctx, t, j, "one", `"now"`)
		return nil
	})
	if ran.Load() < 2 {
		t.Errorf("%d steps ran, want 2", ran.Load())
	}
}

func children(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	for range 2 {
		p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
			for _, name := range []string{"x", "y"} {
				child, err := j.Child(ctx, named(name))
				if err != nil {
					return err
				}
				grandchild, err := child.Child(ctx, named("x"))
				if err != nil {
					return err
				}
				ran.must(ctx, t, child, "one", `"`+name+`"`)
				ran.must(ctx, t, grandchild, "one", `"x of `+name+`"`)
			}
			ran.must(ctx, t, j, "one", `"top"`)
			return nil
		})
	}
	if ran.Load() != 5 {
		t.Errorf("%d steps ran, want 5", ran.Load())
	}
}

func apart(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	for _, id := range []string{"a", "b", "a"} {
		p.Run(t, id, func(ctx context.Context, j journal.Journal) error {
			ran.must(ctx, t, j, "one", `"`+id+`"`)
			return nil
		})
	}
	if ran.Load() != 2 {
		t.Errorf("%d steps ran, want 2", ran.Load())
	}
}

func sleepRemembered(t *testing.T, c Config) {
	t.Helper()
	p := c.Open(t)
	for i := range 2 {
		p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
			start := time.Now() //nolint:forbidigo // the engine sleeps by the real clock
			if err := j.Sleep(ctx, 300*time.Millisecond); err != nil {
				t.Error(err)
			}
			if d := time.Since(start); i == 1 && d > 250*time.Millisecond {
				t.Errorf("the replay slept again, %s", d)
			}
			return nil
		})
	}
}

func sizes(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	large := make([]byte, 0, 300_000)
	for i := 0; len(large) < 290_000; i++ {
		large = fmt.Appendf(large, "row %d of a long table; ", i)
	}
	p := c.Open(t)
	for range 2 {
		p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
			ran.must(ctx, t, j, "empty", "")
			ran.must(ctx, t, j, "large", string(large))
			return nil
		})
	}
	if ran.Load() != 2 {
		t.Errorf("%d steps ran, want 2", ran.Load())
	}
}

func threeReplays(t *testing.T, c Config) {
	t.Helper()
	var ran counter
	p := c.Open(t)
	for n := 1; n <= 4; n++ {
		p.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
			if got := many(ctx, t, j, 5*n, &ran); !slices.Equal(got, wanted(5*n)) {
				t.Errorf("results %v", got)
			}
			return nil
		})
	}
	if ran.Load() != 20 {
		t.Errorf("%d steps ran, want 20", ran.Load())
	}
}
