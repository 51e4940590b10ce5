package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"

	"atelier/ledger"
	"atelier/ledger/internal/sqlstore"
	"atelier/media"
)

// queue contains the waiting writes. One caller at a time leads: it executes all of them in one transaction, so that
// one sync serves many callers, notifies each, and passes the lead to the first of those that arrived meanwhile. Each
// caller still returns only when its rows are on disk, and a failed write undoes only itself. A batch of only relaxed
// writes is not synced.
type queue struct {
	mu      sync.Mutex // guards waiting and led
	waiting []*write
	led     bool

	relaxed bool // whether the connection does not sync; only the leader uses it
}

// write is one caller's part of a transaction.
type write struct {
	ctx  context.Context //nolint:containedctx // the leader's goroutine uses it
	what string
	fn   func(context.Context, *sql.Tx) error
	err  error     // read after turn
	turn chan bool // true: lead; false: done
}

// Commit runs fn in a transaction and returns when it is synced. fn may be called a second time, in a new transaction,
// and may share the first one with other callers' writes.
func (d *dialect) Commit(ctx context.Context, db *sql.DB, what string, fn func(context.Context, *sql.Tx) error) error {
	w := &write{ctx: ctx, what: what, fn: fn, turn: make(chan bool, 1)}
	if lead := d.writes.join(w) || <-w.turn; lead {
		d.writes.lead(db)
	}
	return w.err
}

// join queues a write and reports whether the caller must lead, because no other caller does.
func (q *queue) join(w *write) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, w)
	lead := !q.led
	q.led = true
	return lead
}

// lead executes the waiting writes, including the leader's own, and passes the lead on.
func (q *queue) lead(db *sql.DB) {
	q.mu.Lock()
	batch := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	defer q.handOver(batch)
	if err := q.prepare(db, batch); err != nil {
		for _, w := range batch {
			w.err = err
		}
		return
	}
	for _, w := range batch { // each write has an outcome in all cases
		w.err = media.Errorf(media.CodeInternal, "%s: another write of the same batch panicked", w.what)
	}
	if len(batch) > 1 && writeTogether(db, batch) {
		return
	}
	for _, w := range batch {
		w.err = writeOne(db, w)
	}
}

// prepare enables or disables the sync of a batch's commits.
func (q *queue) prepare(db *sql.DB, batch []*write) error {
	relaxed := !slices.ContainsFunc(batch, func(w *write) bool { return !ledger.IsRelaxed(w.ctx) })
	if relaxed == q.relaxed {
		return nil
	}
	level := "FULL"
	if relaxed {
		level = "NORMAL"
	}
	if _, err := db.ExecContext(batch[0].ctx, "PRAGMA synchronous = "+level); err != nil {
		return err
	}
	q.relaxed = relaxed
	return nil
}

// handOver ends the turn of a batch, even if one of its writes panicked. The leader is notified too but does not
// receive: its channel is buffered.
func (q *queue) handOver(batch []*write) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].turn <- true
	}
	for _, w := range batch {
		w.turn <- false
	}
}

func writeOne(db *sql.DB, w *write) error {
	tx, err := db.BeginTx(w.ctx, nil)
	if err != nil {
		return err
	}
	if err := w.fn(w.ctx, tx); err != nil {
		_ = tx.Rollback() // fn's error is returned
		return err
	}
	return tx.Commit()
}

// writeTogether executes the batch in one transaction. If that fails as a whole, it returns false and nothing is
// written; each write is then executed alone, so that a write that breaks the transaction affects no other.
func writeTogether(db *sql.DB, batch []*write) bool {
	first := batch[0]
	tx, err := db.BeginTx(first.ctx, nil)
	if err != nil {
		for _, w := range batch { // another process holds the file: no write needs to wait again
			w.err = err
		}
		return true
	}
	for _, w := range batch {
		var broken error
		if w.err, broken = sqlstore.Savepoint(w.ctx, tx, "one_write", (*dialect)(nil).Retryable, func() error { return w.fn(w.ctx, tx) }); broken != nil {
			_ = tx.Rollback() // the error appears when the writes are executed one by one
			return false
		}
	}
	return tx.Commit() == nil
}
