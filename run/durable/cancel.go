package durable

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/media"
)

// watchEvery is how soon work learns that it was cancelled from another process.
const watchEvery = 500 * time.Millisecond

// Cancel ends work that is under way, here or in another process: the context of the
// work ends with the cause media.CodeCancelled. Work that is over stays as it is.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	row, err := e.status(id)
	if err != nil {
		return err
	}
	if row == nil {
		return media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.Scrub(id))
	}
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	if err := dbos.CancelWorkflow(root, id); err != nil {
		return e.failure("cancel work "+id, err)
	}
	return nil
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
		e.mu.Lock()
		ids := slices.Collect(maps.Keys(e.flows))
		e.mu.Unlock()
		if len(ids) > 0 {
			e.look()
		} else {
			e.away = time.Time{}
		}
		if e.away.IsZero() {
			e.stopCancelled(ids)
			e.settled()
		}
	}
}

func (e *Engine) stopCancelled(ids []string) {
	if len(ids) == 0 {
		return
	}
	root, stop := e.bounded()
	defer stop()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterStatus(dbos.WorkflowStatusCancelled),
		dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return // the next look will tell
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range rows {
		if f, ok := e.flows[r.ID]; ok {
			f.stop(media.Errorf(media.CodeCancelled, "the run was cancelled"))
		}
	}
}
