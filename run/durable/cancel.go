package durable

import (
	"context"
	"maps"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/media"
)

// watchEvery is the interval at which work is checked for a cancel by another process.
const watchEvery = 500 * time.Millisecond

// cancelMark is the attribute of cancelled work. The work ends in the process that executes or adopts it.
const cancelMark = "cancelled"

// Cancel ends running work, here or in another process: its context is cancelled with the cause media.CodeCancelled. If
// its process has died, the process that adopts it starts with a cancelled context. Finished work stays unchanged.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	row, err := e.status(id)
	if err != nil {
		return err
	}
	if row == nil {
		return media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
	}
	if state(*row, nil) == StateFinished {
		return nil
	}
	return e.mark(ctx, *row, cancelMark)
}

// watch stops work that was cancelled from outside, or whose database is lost.
func (e *Engine) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.ended:
			return
		case <-tick.C:
		}
		ids := e.flows.ids()
		if len(ids) > 0 {
			e.checkHealth()
		} else {
			e.lostSince = time.Time{}
		}
		if !e.lostSince.IsZero() {
			continue
		}
		if len(ids) > 0 {
			rows, _ := e.list(e.root, dbos.WithFilterWorkflowIDs(ids...)) // the next look reports an error
			for _, r := range rows {
				if isCancelled(r) {
					e.flows.stop(cancelled(), r.ID)
				}
			}
		}
		e.settled()
	}
}

// cancelled returns the cause with which cancelled work ends.
func cancelled() error { return media.Errorf(media.CodeCancelled, "the run was cancelled") }

// isCancelled reports whether work was cancelled.
func isCancelled(row dbos.WorkflowStatus) bool { return row.Attributes[cancelMark] == true }

// mark sets an attribute of work. Other attributes stay.
func (e *Engine) mark(ctx context.Context, row dbos.WorkflowStatus, attribute string) error {
	all := map[string]any{attribute: true}
	maps.Copy(all, row.Attributes)
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	if err := dbos.SetWorkflowAttributes(root, row.ID, all); err != nil {
		return e.failure("mark work "+row.ID+" as "+attribute, err)
	}
	return nil
}
