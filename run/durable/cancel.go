package durable

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/ledger"
	"atelier/media"
)

// watchEvery is the interval at which work is checked for a cancel by another process.
const watchEvery = 500 * time.Millisecond

// cancelMark is the attribute of work that was cancelled and has not ended yet. Unlike the state of the work, it
// survives adoption.
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
			rows, _ := e.list(e.root, dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterStatus(dbos.WorkflowStatusCancelled)) // the next look reports an error
			for _, r := range rows {
				e.flows.stop(cancelled(), r.ID)
			}
		}
		e.settled()
	}
}

// cancelled returns the cause with which cancelled work ends.
func cancelled() error { return media.Errorf(media.CodeCancelled, "the run was cancelled") }

// note sets or removes an attribute of work. Other attributes stay.
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
		return e.failure("mark work "+row.ID+" as "+attribute, err)
	}
	return nil
}

// cancelPending reports whether work was cancelled and has not ended yet.
func cancelPending(row dbos.WorkflowStatus) bool { return row.Attributes[cancelMark] == true }

// cancelledOrphans lists cancelled work whose process died before it noticed.
func (e *Engine) cancelledOrphans(ctx context.Context, living map[string]ledger.Lease) (out []Orphan, err error) {
	e.mu.Lock()
	since := e.cancelled
	e.mu.Unlock()
	rows, err := e.list(ctx, dbos.WithFilterName(workflowName), dbos.WithFilterStatus(dbos.WorkflowStatusCancelled), dbos.WithFilterCompletedAfter(since))
	if err != nil {
		return nil, e.failure("list cancelled work", err)
	}
	var newest, open time.Time
	for _, r := range rows {
		if r.CompletedAt.After(newest) {
			newest = r.CompletedAt
		}
		if !cancelPending(r) {
			continue
		}
		if open.IsZero() || r.CompletedAt.Before(open) {
			open = r.CompletedAt
		}
		if _, lives := living[r.ID]; lives {
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

// commitLimit is the maximum delay between the timestamp of a cancel and its commit.
const commitLimit = time.Minute
