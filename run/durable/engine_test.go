package durable_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/internal/everyday"
	"atelier/journal"
	"atelier/journal/journaltest"
	"atelier/ledger"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/run/durable"
	"atelier/run/lease"
)

// open launches an engine that does work.
func open(tb testing.TB, c durable.Config, work durable.Work) *durable.Engine {
	tb.Helper()
	e, err := durable.Open(tb.Context(), nextProcess(c))
	if err != nil {
		tb.Fatal(err)
	}
	if err := e.Launch(work); err != nil {
		tb.Fatal(err)
	}
	return e
}

// stores holds the stores of the leases by the configuration's keeper.
var stores sync.Map

// nextProcess returns the configuration for one more process.
func nextProcess(c durable.Config) durable.Config {
	s, _ := stores.Load(c.Leases)
	c.Leases = lease.NewKeeper(s.(ledger.Leases))
	return c
}

// withLeases returns the configuration with a new database of leases.
func withLeases(tb testing.TB, c durable.Config) durable.Config {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), sqlite.Config{Path: filepath.Join(tb.TempDir(), "ledger.db")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	c.Leases = lease.NewKeeper(s)
	stores.Store(c.Leases, s)
	return c
}

// killEngine ends an engine as if its process were gone: no work in progress is finished.
func killEngine(tb testing.TB, e *durable.Engine) {
	tb.Helper()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := e.Close(gone); err != nil {
		tb.Fatal(err)
	}
}

// database runs workflows on one database, each time in its own engine. A run ends without finishing its workflow, as
// in a process that is then killed.
type database struct{ config durable.Config }

func (p database) Run(t *testing.T, id string, work journaltest.Work) {
	t.Helper()
	done := make(chan error, 1)
	c := p.config
	c.Adopts = true
	e := open(t, c, func(ctx context.Context, j journal.Journal, got string, input []byte) error {
		if got != id {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if len(input) > 0 && string(input) != "input of "+id {
			t.Errorf("input %q", input)
		}
		done <- work(ctx, j)
		return journal.ErrHandedOver
	})
	defer killEngine(t, e)
	err := e.Start(t.Context(), id, []byte("input of "+id))
	if media.CodeOf(err) == media.CodeConflict {
		err = e.Adopt(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func sqliteConfig(tb testing.TB) durable.Config {
	tb.Helper()
	return withLeases(tb, durable.Config{Path: filepath.Join(tb.TempDir(), "engine.db")})
}

func TestJournalOnSQLite(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, journaltest.Config{Remembers: true, Open: func(t *testing.T) journaltest.Place {
		t.Helper()
		return database{sqliteConfig(t)}
	}})
}

// TestWorkEndsOnce: finished work is not adopted, and its id cannot be used again.
func TestWorkEndsOnce(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	c.Adopts = true
	var ran atomic.Int64
	ended := make(chan struct{}, 2)
	e := open(t, c, func(context.Context, journal.Journal, string, []byte) error {
		ran.Add(1)
		ended <- struct{}{}
		return nil
	})
	defer killEngine(t, e)
	if err := e.Start(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	<-ended
	eventually(t, func() bool { s, _, err := e.State("a"); return err == nil && s == durable.StateFinished })
	if err := e.Start(t.Context(), "a", nil); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("started again: %v", err)
	}
	if err := e.Adopt(t.Context(), "a"); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("taken over: %v", err)
	}
	if err := e.Adopt(t.Context(), "unknown"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("unknown work: %v", err)
	}
	if ran.Load() != 1 {
		t.Errorf("ran %d times", ran.Load())
	}
}

// TestStartAfterTheEndOfItsContext: a caller who has left starts nothing, now or in the process that adopts work.
func TestStartAfterTheEndOfItsContext(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	e := open(t, newConfig(t), func(context.Context, journal.Journal, string, []byte) error {
		ran.Add(1)
		return nil
	})
	defer killEngine(t, e)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Start(gone, "a", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("started: %v", err)
	}
	if s, _, err := e.State("a"); media.CodeOf(err) != media.CodeNotFound || ran.Load() != 0 {
		t.Errorf("%s after %d runs, %v", s, ran.Load(), err)
	}
	if err := e.Start(t.Context(), "a", nil); err != nil {
		t.Errorf("started again: %v", err)
	}
	eventually(t, func() bool { return ran.Load() == 1 })
}

// TestEndIsSaved: work that has just ended when its engine closes is saved as finished.
func TestEndIsSaved(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	for i := range 10 {
		ended := make(chan struct{})
		e := open(t, c, func(context.Context, journal.Journal, string, []byte) error { close(ended); return nil })
		id := fmt.Sprintf("w%d", i)
		if err := e.Start(t.Context(), id, nil); err != nil {
			t.Fatal(err)
		}
		<-ended
		if i%2 == 0 {
			killEngine(t, e)
		} else if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		look := open(t, c, nil)
		if s, _, err := look.State(id); err != nil || s != durable.StateFinished {
			t.Errorf("%s is %s, %v", id, s, err)
		}
		killEngine(t, look)
	}
}

// eventually polls until ok returns true; it fails the test after a time that only a hang takes.
func eventually(tb testing.TB, ok func() bool) {
	tb.Helper()
	for range 60_000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	tb.Fatal("it never came")
}

// TestLivingProcessKeepsItsWork: no engine adopts the work of a live process.
func TestLivingProcessKeepsItsWork(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	began := make(chan string, 2)
	wait := func(name string) durable.Work {
		return func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
			began <- name
			<-ctx.Done()
			return context.Cause(ctx)
		}
	}
	first := open(t, c, wait("first"))
	if err := first.Start(t.Context(), "a", []byte("in")); err != nil {
		t.Fatal(err)
	}
	<-began
	c.Adopts = true
	second := open(t, c, wait("second"))
	defer killEngine(t, second)
	if err := second.Adopt(t.Context(), "a"); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("taken from a living process: %v", err)
	}
	if list, err := second.Orphans(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("orphans %v, %v", list, err)
	}
	if s, _, err := second.State("a"); s != durable.StateRunning || err != nil {
		t.Errorf("state %s, %v", s, err)
	}
	killEngine(t, first)
	list, err := second.Orphans(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != "a" || string(list[0].Input) != "in" {
		t.Errorf("orphans %v, %v", list, err)
	}
	for range 2 { // the second time it is already adopted
		if err := second.Adopt(t.Context(), "a"); err != nil && media.CodeOf(err) != media.CodeConflict {
			t.Fatal(err)
		}
	}
	if who := <-began; who != "second" {
		t.Errorf("%s went on", who)
	}
}

// TestProcessesMakeTheTables: several processes may find an empty database at the same time.
func TestProcessesMakeTheTables(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			e, err := durable.Open(t.Context(), nextProcess(c))
			if err != nil {
				t.Error(err)
				return
			}
			defer killEngine(t, e)
			if err := e.Launch(func(context.Context, journal.Journal, string, []byte) error { return nil }); err != nil {
				t.Error(err)
				return
			}
			if err := e.Start(t.Context(), fmt.Sprintf("w%d", i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestCloseHandsOver: a step in progress ends and is kept; no new step begins.
func TestCloseHandsOver(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	inside, release := make(chan struct{}), make(chan struct{})
	var late atomic.Bool
	e := open(t, c, func(ctx context.Context, j journal.Journal, id string, _ []byte) error {
		if id != "a" {
			return nil // begun just before the engine closed
		}
		_, err := j.Step(ctx, named("one"), func(context.Context) ([]byte, error) {
			close(inside)
			<-release
			return []byte(`"kept"`), nil
		})
		if err != nil {
			return err
		}
		_, err = j.Step(ctx, named("two"), func(context.Context) ([]byte, error) { late.Store(true); return nil, nil })
		return err
	})
	if err := e.Start(t.Context(), "a", []byte("input of a")); err != nil {
		t.Fatal(err)
	}
	<-inside
	closed := make(chan error, 1)
	go func() { closed <- e.Close(t.Context()) }()
	eventually(t, func() bool {
		return media.CodeOf(e.Start(t.Context(), "b", nil)) == media.CodeUnavailable
	})
	close(release)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if late.Load() {
		t.Error("a step began while the engine closed")
	}
	database{c}.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
		b, err := j.Step(ctx, named("one"), func(context.Context) ([]byte, error) { return nil, fmt.Errorf("ran again") })
		if err != nil || string(b) != `"kept"` {
			t.Errorf("step gave %q, %v", b, err)
		}
		return nil
	})
}

// TestTextPassesUnchanged: input and steps are returned byte for byte, in the process that saved them and in a replay
// by another one.
func TestTextPassesUnchanged(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	for n := range 2 {
		database{c}.Run(t, "a", func(ctx context.Context, j journal.Journal) error {
			for i, s := range everyday.Strings() {
				b, err := j.Step(ctx, named(fmt.Sprint("step-", i)), func(context.Context) ([]byte, error) {
					if n > 0 {
						t.Errorf("%s: the step ran again", s.Kind)
					}
					return []byte(s.Text), nil
				})
				if err != nil || string(b) != s.Text {
					t.Errorf("%s: step gave %.80q, %v", s.Kind, b, err)
				}
			}
			return nil
		})
	}
	var got string
	ended := make(chan struct{})
	e := open(t, newConfig(t), func(_ context.Context, _ journal.Journal, _ string, input []byte) error {
		got = string(input)
		close(ended)
		return nil
	})
	defer killEngine(t, e)
	if err := e.Start(t.Context(), "a", []byte(everyday.Text())); err != nil {
		t.Fatal(err)
	}
	if <-ended; got != everyday.Text() {
		t.Errorf("the input lacks %q", everyday.Missing(got))
	}
}

func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	e := open(t, c, func(context.Context, journal.Journal, string, []byte) error { return nil })
	defer killEngine(t, e)
	for name, test := range map[string]struct {
		config durable.Config
		code   media.Code
	}{
		"nothing":   {durable.Config{}, media.CodeInvalid},
		"no leases": {durable.Config{Path: c.Path}, media.CodeInvalid},
	} {
		if got, err := durable.Open(t.Context(), test.config); media.CodeOf(err) != test.code {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if err := e.Adopt(t.Context(), "a"); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("an engine that takes nothing over took: %v", err)
	}
	if _, _, err := e.State("a"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("state of unknown work: %v", err)
	}
}

// BenchmarkWork measures one workflow of three steps: two model calls and an action.
func BenchmarkWork(b *testing.B) {
	done := make(chan struct{}, 1)
	e := open(b, newConfig(b), func(ctx context.Context, j journal.Journal, _ string, _ []byte) error {
		for _, name := range []string{"turn-1-model", "turn-1-action-1", "turn-2-model"} {
			if _, err := j.Step(ctx, named(name), func(context.Context) ([]byte, error) { return []byte(`{"text":"done"}`), nil }); err != nil {
				return err
			}
		}
		done <- struct{}{}
		return nil
	})
	defer killEngine(b, e)
	n := 0
	for b.Loop() {
		n++
		if err := e.Start(b.Context(), fmt.Sprintf("w%d", n), []byte("{}")); err != nil {
			b.Fatal(err)
		}
		<-done
	}
}

// TestSteps: the finished steps of work are listed in order with their results.
func TestSteps(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 1)
	e := open(t, sqliteConfig(t), func(ctx context.Context, j journal.Journal, _ string, _ []byte) error {
		defer func() { ended <- struct{}{} }()
		gives := func(b string) func(context.Context) ([]byte, error) {
			return func(context.Context) ([]byte, error) { return []byte(b), nil }
		}
		part, err := j.Child(ctx, named("part"))
		if err != nil {
			return err
		}
		_, err = j.Step(ctx, named("first"), gives("1"))
		_, failed := j.Step(ctx, named("fails"), func(context.Context) ([]byte, error) { return nil, fmt.Errorf("no") })
		_, inner := part.Step(ctx, named("second"), gives("2"))
		if err != nil || failed == nil || inner != nil {
			t.Errorf("%v, %v, %v", err, failed, inner)
		}
		return nil
	})
	defer killEngine(t, e)
	if err := e.Start(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	<-ended
	steps, err := e.Steps("a")
	if err != nil || len(steps) != 2 {
		t.Fatalf("%+v, %v", steps, err)
	}
	for i, want := range []string{"first=1", "part/second=2"} {
		if got := steps[i].Name + "=" + string(steps[i].Result); got != want || steps[i].FinishedAt.IsZero() {
			t.Errorf("step %s at %v, want %s", got, steps[i].FinishedAt, want)
		}
	}
	if steps, err := e.Steps("unknown"); err != nil || len(steps) != 0 {
		t.Errorf("of unknown work: %+v, %v", steps, err)
	}
}
