package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "modernc.org/sqlite"

	"atelier/ledger"
	"atelier/ledger/ledgertest"
	"atelier/media"
)

// together lets all writes queue before the first begins, and gives their errors in order.
func together(t *testing.T, s *Store, writes ...func() error) []error {
	t.Helper()
	errs := make([]error, len(writes))
	var all sync.WaitGroup
	s.writes.lead.Lock()
	for i, w := range writes {
		all.Go(func() { errs[i] = w() })
	}
	for queued := 0; queued < len(writes); runtime.Gosched() {
		s.writes.mu.Lock()
		queued = len(s.writes.waiting)
		s.writes.mu.Unlock()
	}
	s.writes.lead.Unlock()
	all.Wait()
	return errs
}

// commits counts the transactions that s commits from here on.
func commits(t *testing.T, s *Store) *atomic.Int64 {
	t.Helper()
	n := &atomic.Int64{}
	c, err := s.write.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Raw(func(raw any) error {
		raw.(driver.HookRegisterer).RegisterCommitHook(func() int32 { n.Add(1); return 0 })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func begin(t *testing.T, s *Store, id string) func() error {
	t.Helper()
	return func() error {
		return s.BeginOperation(t.Context(), ledger.Operation{ID: id, Owner: "ann", Tree: "t", Status: "queued"})
	}
}

func saved(t *testing.T, s *Store, id string) bool {
	t.Helper()
	_, _, _, err := s.Operation(t.Context(), "ann", id)
	if err != nil && media.CodeOf(err) != media.CodeNotFound {
		t.Fatal(err)
	}
	return err == nil
}

// TestWaitingWritesShareOneCommit proves that one that fails undoes only itself.
func TestWaitingWritesShareOneCommit(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "a.db"), ledgertest.Deps{})
	defer s.Close()
	if err := begin(t, s, "there")(); err != nil {
		t.Fatal(err)
	}
	n := commits(t, s)
	writes := []func() error{begin(t, s, "there")} // a conflict
	for i := range 20 {
		writes = append(writes, begin(t, s, fmt.Sprint(i)))
	}
	for i, err := range together(t, s, writes...) {
		if i == 0 {
			if media.CodeOf(err) != media.CodeConflict {
				t.Errorf("the conflict gave %v", err)
			}
			continue
		}
		if err != nil || !saved(t, s, fmt.Sprint(i-1)) {
			t.Errorf("write %d: %v, saved %v", i, err, saved(t, s, fmt.Sprint(i-1)))
		}
	}
	if n.Load() != 1 {
		t.Errorf("%d commits, want 1", n.Load())
	}
}

// TestBrokenTransactionCostsOthersNothing ends the shared transaction inside one write.
func TestBrokenTransactionCostsOthersNothing(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "a.db"), ledgertest.Deps{})
	defer s.Close()
	odd := errors.New("odd")
	errs := together(t, s, begin(t, s, "1"), func() error {
		return s.commit(t.Context(), "break it", func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "ROLLBACK")
			return errors.Join(odd, err)
		})
	}, begin(t, s, "2"))
	if errs[0] != nil || !errors.Is(errs[1], odd) || errs[2] != nil {
		t.Errorf("errors: %v", errs)
	}
	if !saved(t, s, "1") || !saved(t, s, "2") {
		t.Error("a write was lost")
	}
	if err := begin(t, s, "3")(); err != nil {
		t.Errorf("the store does not go on: %v", err)
	}
}

// TestHeldLockEndsEveryWaitingWrite proves that the queue waits for another process once.
func TestHeldLockEndsEveryWaitingWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	holder := open(t, path, ledgertest.Deps{})
	defer holder.Close()
	s, err := Open(t.Context(), Config{Path: path, BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx, err := holder.write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range together(t, s, begin(t, s, "1"), begin(t, s, "2")) {
		if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := begin(t, s, "1")(); err != nil {
		t.Error(err)
	}
}

// BenchmarkWrites64 begins operations from 64 goroutines.
func BenchmarkWrites64(b *testing.B) {
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "a.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var n atomic.Int64
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.BeginOperation(b.Context(), ledger.Operation{ID: itoa(n.Add(1)), Owner: "ann", Tree: "t", Status: "queued"}); err != nil {
				b.Error(err)
			}
		}
	})
}
