package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "modernc.org/sqlite"

	"atelier/ledger"
	"atelier/ledger/internal/sqlstore"
	"atelier/ledger/ledgertest"
	"atelier/media"
)

// together queues all writes before the first begins, and returns their errors in order.
func together(t *testing.T, db sqlstore.Config, writes ...func() error) []error {
	t.Helper()
	errs := make([]error, len(writes))
	var all sync.WaitGroup
	queue := &db.Dialect.(*dialect).writes
	queue.led = true
	for i, w := range writes {
		all.Go(func() { errs[i] = w() })
	}
	for queued := 0; queued < len(writes); runtime.Gosched() {
		queue.mu.Lock()
		queued = len(queue.waiting)
		queue.mu.Unlock()
	}
	queue.handOver(nil)
	all.Wait()
	return errs
}

// commits counts the transactions that are committed after the call.
func commits(t *testing.T, db *sql.DB) *atomic.Int64 {
	t.Helper()
	n := &atomic.Int64{}
	c, err := db.Conn(t.Context())
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

// TestWaitingWritesShareOneCommit checks that a failed write undoes only itself.
func TestWaitingWritesShareOneCommit(t *testing.T) {
	t.Parallel()
	s, db := openConfig(t, Config{Path: filepath.Join(t.TempDir(), "a.db")})
	defer s.Close()
	if err := begin(t, s, "there")(); err != nil {
		t.Fatal(err)
	}
	n := commits(t, db.Write)
	writes := []func() error{begin(t, s, "there")} // a conflict
	for i := range 20 {
		writes = append(writes, begin(t, s, fmt.Sprint(i)))
	}
	for i, err := range together(t, db, writes...) {
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

// TestBrokenTransactionCostsOthersNothing ends the shared transaction within one write.
func TestBrokenTransactionCostsOthersNothing(t *testing.T) {
	t.Parallel()
	s, db := openConfig(t, Config{Path: filepath.Join(t.TempDir(), "a.db")})
	defer s.Close()
	odd := errors.New("odd")
	errs := together(t, db, begin(t, s, "1"), func() error {
		return db.Dialect.Commit(t.Context(), db.Write, "break it", func(ctx context.Context, tx *sql.Tx) error {
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

// TestHeldLockEndsEveryWaitingWrite checks that the queue waits only once for another process.
func TestHeldLockEndsEveryWaitingWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	holder, other := openWith(t, path, ledgertest.Deps{})
	defer holder.Close()
	s, db := openConfig(t, Config{Path: path, BusyTimeout: time.Millisecond})
	defer s.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range together(t, db, begin(t, s, "1"), begin(t, s, "2")) {
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

// TestNobodyWaitsLongerThanTheirCommit: writers return when the commit with their rows ends, before the next one
// begins, even if another write panics.
func TestNobodyWaitsLongerThanTheirCommit(t *testing.T) {
	t.Parallel()
	s, db := openConfig(t, Config{Path: filepath.Join(t.TempDir(), "a.db")})
	defer s.Close()
	queue := &db.Dialect.(*dialect).writes
	commit := func(fn func()) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel() // as in the store: it ends the transaction that a panic leaves open
		return db.Dialect.Commit(ctx, db.Write, "try", func(context.Context, *sql.Tx) error { fn(); return nil })
	}
	queued := func(n int) {
		for have := -1; have < n; runtime.Gosched() {
			queue.mu.Lock()
			have = len(queue.waiting)
			queue.mu.Unlock()
		}
	}
	var all sync.WaitGroup
	entered, leave := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		defer func() { _ = recover() }()
		_ = commit(func() { close(entered); <-leave; panic("odd") })
	})
	<-entered
	second, held := make(chan error), make(chan struct{})
	all.Go(func() { second <- commit(func() {}) })
	queued(1)
	all.Go(func() { _ = commit(func() {}) }) // shares the second commit
	queued(2)
	close(leave)
	if err := <-second; err != nil {
		t.Errorf("the write behind the panic: %v", err)
	}
	all.Go(func() { _ = commit(func() { <-held }) })
	close(held)
	all.Wait()
	if queue.led {
		t.Error("there is still a leader")
	}
}

// TestOnlyRelaxedBatchesAreNotSynced: a single write that requires a sync has the whole batch synced.
func TestOnlyRelaxedBatchesAreNotSynced(t *testing.T) {
	t.Parallel()
	s, db := openConfig(t, Config{Path: filepath.Join(t.TempDir(), "a.db")})
	defer s.Close()
	const normal, full = 1, 2
	save := func(ctx context.Context, id string) func() error {
		return func() error {
			return s.BeginOperation(ctx, ledger.Operation{ID: id, Owner: "ann", Tree: "t", Status: "queued"})
		}
	}
	relaxed := ledger.Relaxed(t.Context())
	for i, step := range []struct {
		writes []func() error
		level  int
	}{
		{[]func() error{save(relaxed, "1"), save(relaxed, "2")}, normal},
		{[]func() error{save(relaxed, "3"), save(t.Context(), "4")}, full},
		{[]func() error{save(relaxed, "5")}, normal},
		{[]func() error{save(t.Context(), "6")}, full},
	} {
		if err := errors.Join(together(t, db, step.writes...)...); err != nil {
			t.Fatal(err)
		}
		var level int
		if err := db.Write.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&level); err != nil || level != step.level {
			t.Errorf("step %d: synchronous = %d, %v", i, level, err)
		}
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
			if err := s.BeginOperation(b.Context(), ledger.Operation{ID: strconv.FormatInt(n.Add(1), 10), Owner: "ann", Tree: "t", Status: "queued"}); err != nil {
				b.Error(err)
			}
		}
	})
}
