package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"atelier/media"
)

// writeLimit bounds one write, whose context does not end with its caller's.
const writeLimit = time.Minute

// queue holds the writes that wait. Whoever comes to lead takes all of them into one
// transaction, so that one sync serves many callers; each still returns only when its
// rows are on the disk, and one that fails undoes only itself.
type queue struct {
	mu      sync.Mutex // guards waiting
	waiting []*write
	lead    sync.Mutex // held by the caller that writes; guards done and err of every write
}

// write is one caller's part of a transaction.
type write struct {
	ctx  context.Context //nolint:containedctx // it crosses to the goroutine that leads
	what string
	fn   func(context.Context, *sql.Tx) error
	done bool
	err  error
}

// commit runs fn in a transaction and returns when it is synced. fn may run a second
// time, in a new transaction, and it may share the first with other callers' writes. It outlives the
// caller's cancellation: what was made or paid is recorded whatever happens next.
func (s *Store) commit(ctx context.Context, what string, fn func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	w := &write{ctx: ctx, what: what, fn: fn}
	q := &s.writes
	q.mu.Lock()
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	q.lead.Lock()
	defer q.lead.Unlock()
	if !w.done {
		s.writeAll(q.take())
	}
	return failure(what, w.err)
}

func (q *queue) take() []*write {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting = nil
	return batch
}

// writeAll ends every write of the batch, whatever happens. The caller leads.
func (s *Store) writeAll(batch []*write) {
	for _, w := range batch {
		w.done, w.err = true, media.Errorf(media.CodeInternal, "%s: a write beside it broke off", w.what)
	}
	if len(batch) > 1 && s.writeTogether(batch) {
		return
	}
	for _, w := range batch {
		w.err = s.writeOne(w)
	}
}

func (s *Store) writeOne(w *write) error {
	tx, err := s.write.BeginTx(w.ctx, nil)
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
func (s *Store) writeTogether(batch []*write) bool {
	first := batch[0]
	tx, err := s.write.BeginTx(first.ctx, nil)
	if err != nil {
		for _, w := range batch { // another process holds the file: nobody needs to wait again
			w.err = err
		}
		return true
	}
	for _, w := range batch {
		if !writePart(tx, w) {
			_ = tx.Rollback() // the writes tell what is wrong when they are tried one by one
			return false
		}
	}
	return tx.Commit() == nil
}

// writePart runs one write inside the transaction; its failure undoes only itself. It
// reports false if the transaction is broken.
func writePart(tx *sql.Tx, w *write) bool {
	if _, err := tx.ExecContext(w.ctx, "SAVEPOINT one_write"); err != nil {
		return false
	}
	if w.err = w.fn(w.ctx, tx); w.err != nil {
		if _, err := tx.ExecContext(w.ctx, "ROLLBACK TO SAVEPOINT one_write"); err != nil {
			return false
		}
	}
	_, err := tx.ExecContext(w.ctx, "RELEASE SAVEPOINT one_write")
	return err == nil
}
