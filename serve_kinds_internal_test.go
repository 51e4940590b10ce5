package atelier

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/lease"
	"atelier/run/runtest"
)

// extraKind is a third kind of work, with one lease per errand and a list of the unfinished ones.
type extraKind struct {
	leases *lease.Keeper
	start  func(work func())
	done   chan string

	mu   sync.Mutex // guards open
	open []string
}

const leaseErrand = ledger.LeaseKind("errand")

var _ run.Kind = (*extraKind)(nil)

func (e *extraKind) Adopt(ctx context.Context) (n int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range slices.Clone(e.open) {
		if e.leases.Holds(leaseErrand, id) {
			continue
		}
		err := e.leases.Acquire(ctx, leaseErrand, id, nil)
		if media.CodeOf(err) == media.CodeConflict {
			continue
		}
		if err != nil {
			return n, err
		}
		n++
		e.start(func() {
			e.mu.Lock()
			e.open = slices.DeleteFunc(e.open, func(other string) bool { return other == id })
			e.mu.Unlock()
			e.done <- id
		})
	}
	return n, nil
}

// broken is a kind whose work cannot be read.
type broken struct{}

func (broken) Adopt(context.Context) (int, error) { return 0, errors.New("no such table") }

// TestAThirdKindIsTakenOver: the server adopts work of any kind whose process has ended, once, and none whose process
// lives. A kind that fails does not prevent this for others, but keeps the server from being ready.
func TestAThirdKindIsTakenOver(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, err := Open(ctx, Config{Dir: runtest.Folder(t), Adopt: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	service, err := a.Runs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	living := lease.NewKeeper(a.Ledger)
	if err := living.Acquire(ctx, leaseErrand, "living", nil); err != nil {
		t.Fatal(err)
	}
	s := newServer(a, service)
	third := &extraKind{leases: a.leases, start: s.work.Go, done: make(chan string, 4), open: []string{"dead", "living"}}
	s.kinds = append(s.kinds, broken{}, third)
	s.adoptAll(ctx)
	s.adoptAll(ctx)
	s.work.Wait()
	if s.ready.Load() {
		t.Error("ready, with a kind that cannot be read")
	}
	if got := <-third.done; got != "dead" || len(third.done) != 0 || !slices.Equal(third.open, []string{"living"}) {
		t.Errorf("took %q and %d more over, open %v", got, len(third.done), third.open)
	}
	s.kinds = slices.Delete(s.kinds, len(s.kinds)-2, len(s.kinds)-1) // removes broken
	if s.adoptAll(ctx); !s.ready.Load() {
		t.Error("not ready without the kind that cannot be read")
	}
	if err := errors.Join(living.Release(ctx, leaseErrand, "living"), a.leases.Release(ctx, leaseErrand, "dead")); err != nil {
		t.Error(err)
	}
}
