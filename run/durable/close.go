package durable

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
)

// shutdownLimit bounds the wait for work to return.
const shutdownLimit = 10 * time.Second

// Close hands over running work: no further step starts, steps in progress may finish while ctx lasts, and the process
// that adopts the work continues it. A second Close does nothing.
func (e *Engine) Close(ctx context.Context) (err error) {
	e.closing.Do(func() { err = e.close(ctx) })
	return err
}

func (e *Engine) close(ctx context.Context) error {
	empty := make(chan struct{})
	go func() {
		e.admission.Lock()
		close(empty)
	}()
	select {
	case <-empty:
	case <-ctx.Done():
	}
	e.flows.stop(journal.ErrHandedOver, e.flows.ids()...)
	close(e.ended)
	e.watching.Wait()
	e.settle(ctx)
	if e.cfg.Adopts && e.work != nil {
		root, stop := e.bounded()
		_ = dbos.DeleteQueue(root, e.queue()) // a remaining queue is swept later
		stop()
	}
	err := dbos.Shutdown(e.root, shutdownLimit)
	if err != nil {
		err = media.Errorf(media.CodeInternal, "close the durable engine: %w", readableError(err))
	}
	save, stop := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer stop()
	return errors.Join(err, e.cfg.Leases.Release(save, ledger.LeaseRun, e.cfg.Leases.Works(ledger.LeaseRun)...),
		e.cfg.Leases.Release(save, ledger.LeaseEngine, e.cfg.Leases.ID()))
}

// settleLimit bounds the wait for the engine to save the outcome of work.
const (
	settleLimit = 5 * time.Second
	settlePause = 2 * time.Millisecond
)

// settle waits until all work has returned and its rows are final: otherwise finished work would count as orphaned.
func (e *Engine) settle(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer stop()
	for !e.settled() {
		if (journal.Memory{}).Sleep(ctx, settlePause) != nil {
			return
		}
	}
}

// settled forgets the work whose end is saved, and reports whether no other work remains.
//
//nolint:contextcheck,nolintlint // called on behalf of the engine
func (e *Engine) settled() bool {
	ids, running := e.flows.unsettled()
	if len(ids) == 0 {
		return running == 0
	}
	root, stop := e.bounded()
	defer stop()
	rows, err := e.list(root, dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterStatus(dbos.WorkflowStatusPending))
	if err != nil {
		return false
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(rows, func(r dbos.WorkflowStatus) bool { return r.ID == id })
	})
	if err := e.cfg.Leases.Release(root, ledger.LeaseRun, ids...); err != nil {
		return false
	}
	return e.flows.settle(ids...)
}
