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

// queue holds the writes that wait. One caller at a time leads: it takes all of them into
// one transaction, so that one sync serves many callers, tells each that it is done, and
// lets the first of those that came meanwhile lead. Each caller still returns only when its
// rows are on the disk, and a write that fails undoes only itself. A batch that is relaxed
// as a whole is not synced.
type queue struct {
	mu      sync.Mutex // guards waiting and led
	waiting []*write
	led     bool

	relaxed bool // the connection does not sync; the one that leads uses it
}

// write is one caller's part of a transaction.
type write struct {
	ctx  context.Context //nolint:containedctx // it crosses to the goroutine that leads
	what string
	fn   func(context.Context, *sql.Tx) error
	err  error     // read after turn
	turn chan bool // true: lead; false: done
}

// Commit runs fn in a transaction and returns when it is synced. fn may run a second
// time, in a new transaction, and it may share the first with other callers' writes.
func (d *dialect) Commit(ctx context.Context, db *sql.DB, what string, fn func(context.Context, *sql.Tx) error) error {
	w := &write{ctx: ctx, what: what, fn: fn, turn: make(chan bool, 1)}
	if lead := d.writes.join(w) || <-w.turn; lead {
		d.writes.lead(db)
	}
	return w.err
}

// join reports whether nobody leads: then the caller does.
func (q *queue) join(w *write) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, w)
	lead := !q.led
	q.led = true
	return lead
}

// lead writes what waits, the leader's own write too, and hands the lead over.
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
	writeAll(db, batch)
}

// prepare sets whether the commits of a batch are synced.
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

// handOver ends the turn of a batch, also when a write of it panicked. The leader is told
// too, and does not listen: its channel holds one word.
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

// writeAll ends every write of the batch, whatever happens. The caller leads.
func writeAll(db *sql.DB, batch []*write) {
	for _, w := range batch {
		w.err = media.Errorf(media.CodeInternal, "%s: another write of the same batch panicked", w.what)
	}
	if len(batch) > 1 && writeTogether(db, batch) {
		return
	}
	for _, w := range batch {
		w.err = writeOne(db, w)
	}
}

func writeOne(db *sql.DB, w *write) error {
	tx, err := db.BeginTx(w.ctx, nil)
	if err != nil {
		return err
	}
	if err := w.fn(w.ctx, tx); err != nil {
		_ = tx.Rollback() // fn's error is the one to tell
		return err
	}
	return tx.Commit()
}

// writeTogether runs the batch in one transaction. It reports false, and nothing is written,
// if that fails as a whole: then each is tried by itself, and a write that breaks
// the transaction costs no other its rows.
func writeTogether(db *sql.DB, batch []*write) bool {
	first := batch[0]
	tx, err := db.BeginTx(first.ctx, nil)
	if err != nil {
		for _, w := range batch { // another process holds the file: nobody needs to wait again
			w.err = err
		}
		return true
	}
	for _, w := range batch {
		var broken error
		if w.err, broken = sqlstore.Savepoint(w.ctx, tx, "one_write", (*dialect)(nil).Again, func() error { return w.fn(w.ctx, tx) }); broken != nil {
			_ = tx.Rollback() // the writes tell what is wrong when they are tried one by one
			return false
		}
	}
	return tx.Commit() == nil
}
