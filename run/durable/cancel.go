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

// cancelMark is the attribute of work that was cancelled and has not ended as such. Unlike its
// state it stays when the work is taken over.
const cancelMark = "cancelled"

// Cancel ends work that is under way, here or in another process: the context of the
// work ends with the cause media.CodeCancelled. Where its process has ended, that of whoever takes
// it over has ended so from the beginning. Work that is over stays as it is.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	row, err := e.status(id)
	if err != nil {
		return err
	}
	if row == nil {
		return media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
	}
	if over := []dbos.WorkflowStatusType{dbos.WorkflowStatusSuccess, dbos.WorkflowStatusError, dbos.WorkflowStatusCancelled}; slices.Contains(over, row.Status) {
		return nil
	}
	if err := e.note(*row, cancelMark, true); err != nil {
		return err
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
			f.stop(cancelled())
		}
	}
}

// cancelled is why work that somebody cancelled ends.
func cancelled() error { return media.Errorf(media.CodeCancelled, "the run was cancelled") }

// note sets an attribute of work or takes it away. The others stay.
func (e *Engine) note(row dbos.WorkflowStatus, attribute string, on bool) error {
	all := maps.Clone(row.Attributes)
	if all == nil {
		all = map[string]any{}
	}
	delete(all, attribute)
	if on {
		all[attribute] = true
	}
	root, stop := e.bounded()
	defer stop()
	if err := dbos.SetWorkflowAttributes(root, row.ID, all); err != nil {
		return e.failure("note of work "+row.ID+" that it is "+attribute, err)
	}
	return nil
}

// marked reports whether work was cancelled and has not ended as such.
func marked(row dbos.WorkflowStatus) bool { return row.Attributes[cancelMark] == true }

// untold lists work that was cancelled, and whose process ended before it heard of that.
func (e *Engine) untold(root dbos.Context, lives func(executor string) bool) (out []Orphan, err error) {
	e.mu.Lock()
	since := e.cancelled
	e.mu.Unlock()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterName(workflowName), dbos.WithFilterStatus(dbos.WorkflowStatusCancelled),
		dbos.WithFilterCompletedAfter(since), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return nil, e.failure("list cancelled work", err)
	}
	var newest, open time.Time
	for _, r := range rows {
		if r.CompletedAt.After(newest) {
			newest = r.CompletedAt
		}
		if !marked(r) {
			continue
		}
		if open.IsZero() || r.CompletedAt.Before(open) {
			open = r.CompletedAt
		}
		if lives(r.ExecutorID) {
			continue
		}
		_, input, err := e.State(r.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, Orphan{ID: r.ID, Input: input})
	}
	if open.IsZero() {
		open = newest
	}
	if !open.IsZero() {
		e.mu.Lock()
		e.cancelled = open.Add(-commitLimit)
		e.mu.Unlock()
	}
	return out, nil
}

// commitLimit is how much later than its time a cancel may be seen at most.
const commitLimit = time.Minute
