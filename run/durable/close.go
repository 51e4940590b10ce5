package durable

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/journal"
	"atelier/media"
)

// shutdownLimit bounds the wait for work that unwinds.
const shutdownLimit = 10 * time.Second

// Close hands over what is under way: no step begins any more, those that have begun
// may end while ctx lasts, and the rest is left to whoever takes it over.
// Closing it again does nothing.
func (e *Engine) Close(ctx context.Context) (err error) {
	e.closing.Do(func() { err = e.close(ctx) })
	return err
}

func (e *Engine) close(ctx context.Context) error {
	select {
	case <-e.gate.close():
	case <-ctx.Done():
	}
	e.mu.Lock()
	for _, f := range e.flows {
		f.stop(journal.ErrLeft)
	}
	e.mu.Unlock()
	close(e.ended)
	e.watching.Wait()
	e.settle(ctx)
	if e.cfg.TakesOver && e.work != nil {
		root, stop := e.bounded()
		_ = dbos.DeleteQueue(root, e.queue()) // one that stays is swept later
		stop()
	}
	err := dbos.Shutdown(e.root, shutdownLimit)
	if err != nil {
		err = media.Errorf(media.CodeInternal, "close the durable engine: %w", legible(err))
	}
	return errors.Join(err, e.lock.release(true))
}

// settleLimit bounds the wait for the engine to save the ends of work.
const (
	settleLimit = 5 * time.Second
	settlePause = 2 * time.Millisecond
)

// settle waits until all work has returned and the rows of what ended say so: otherwise
// it would count as left when the process ends.
func (e *Engine) settle(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer stop()
	for !e.settled() {
		if (journal.Memory{}).Sleep(ctx, settlePause) != nil {
			return
		}
	}
}

// settled forgets the work whose end is saved, and reports whether all is. What was cancelled has
// heard of it.
func (e *Engine) settled() bool {
	e.mu.Lock()
	ids, under := slices.Collect(maps.Keys(e.done)), len(e.flows)
	e.mu.Unlock()
	if len(ids) == 0 {
		return under == 0
	}
	root, stop := e.bounded()
	defer stop()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusCancelled),
		dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return false
	}
	open := map[string]bool{}
	for _, r := range rows {
		if r.ExecutorID != e.root.GetExecutorID() {
			continue
		}
		open[r.ID] = r.Status == dbos.WorkflowStatusPending || marked(r) && e.note(r, cancelMark, false) != nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		if !open[id] {
			delete(e.done, id)
		}
	}
	return len(e.done) == 0 && len(e.flows) == 0
}

// isClosed reports whether the gate is closed.
func (g *gate) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}
