package durable

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/ledger"
	"atelier/media"
)

// State is the state of work.
type State string

// The states.
const (
	// StateRunning is work that a living process is executing.
	StateRunning State = "under_way"
	// StateQueued is work queued in a living process.
	StateQueued State = "queued"
	// StateOrphaned is work whose process has died.
	StateOrphaned State = "orphaned"
	// StateFinished is work that has ended, with or without success.
	StateFinished State = "over"
)

// Orphan is work whose process has died.
type Orphan struct {
	ID    string
	Input []byte
}

// list reads rows of work without results and, unless an option requests it, without input.
func (e *Engine) list(ctx context.Context, options ...dbos.ListWorkflowsOption) ([]dbos.WorkflowStatus, error) {
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	return dbos.ListWorkflows(root, append([]dbos.ListWorkflowsOption{dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false)}, options...)...)
}

// status reads the row of work, or returns nil if there is none.
//
//nolint:contextcheck,nolintlint // called on behalf of the engine
func (e *Engine) status(id string) (*dbos.WorkflowStatus, error) {
	rows, err := e.list(e.root, dbos.WithFilterWorkflowIDs(id), dbos.WithFilterLoadInput(true))
	if err != nil {
		return nil, e.failure("read work "+id, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// State returns the state of work and its input. For unknown work, the error has code media.CodeNotFound.
func (e *Engine) State(id string) (State, []byte, error) {
	row, err := e.status(id)
	if err != nil {
		return "", nil, err
	}
	if row == nil {
		return "", nil, media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
	}
	living, err := e.living(id)
	input, _ := row.Input.(string)
	return state(*row, living), []byte(input), err
}

// living returns the leases of processes that may be alive, of the given work or of all work.
//
//nolint:contextcheck,nolintlint // called on behalf of the engine
func (e *Engine) living(works ...string) (map[string]ledger.Lease, error) {
	return e.cfg.Leases.LiveLeases(e.root, ledger.LeaseRun, works...)
}

// state returns the state of work according to living leases.
func state(row dbos.WorkflowStatus, living map[string]ledger.Lease) State {
	_, lives := living[row.ID]
	switch open := []dbos.WorkflowStatusType{dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusDelayed}; {
	case !slices.Contains(open, row.Status):
		return StateFinished
	case !lives:
		return StateOrphaned
	case row.Status == dbos.WorkflowStatusPending:
		return StateRunning
	}
	return StateQueued
}

// queue returns the name of the queue of work that this engine adopted.
func (e *Engine) queue() string { return queuePrefix + e.root.GetExecutorID() }

// ErrInProgress is wrapped by errors that name the process that executes work. These errors have code
// media.CodeConflict.
var ErrInProgress = errors.New("wait for it")

// InProgress returns an error that names the process that executes work, and its start time; nil if no process does.
func (e *Engine) InProgress(id string) error {
	living, err := e.living(id)
	if l, lives := living[id]; lives {
		return e.inProgress(l)
	}
	return err
}

func (e *Engine) inProgress(l ledger.Lease) error {
	who := l.Process()
	if l.Holder == e.cfg.Leases.ID() {
		who = "this process"
	}
	since := ""
	if !l.StartedAt.IsZero() {
		since = " since " + l.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return media.Errorf(media.CodeConflict, "%s has been working on it%s: %w", who, since, ErrInProgress)
}

// Orphans lists work whose process has died, oldest first. It includes cancelled work that has not ended.
func (e *Engine) Orphans(ctx context.Context) ([]Orphan, error) {
	rows, err := e.list(ctx, dbos.WithFilterName(workflowName), dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued), dbos.WithFilterLoadInput(true))
	if err != nil {
		return nil, e.failure("list orphaned work", err)
	}
	living, err := e.living()
	if err != nil {
		return nil, err
	}
	var out []Orphan
	for _, r := range rows {
		if state(r, living) == StateOrphaned {
			input, _ := r.Input.(string)
			out = append(out, Orphan{ID: r.ID, Input: []byte(input)})
		}
	}
	return out, nil
}

// Adopt adopts work of a dead process; if several processes try, one succeeds. The work starts when the engine has
// room. Cancelled work whose process died before it noticed is adopted in order to be ended, see [Engine.Cancel].
// Errors: media.CodeConflict if the work has ended, or, with [ErrInProgress], while a living process holds it;
// media.CodeNotFound; media.CodeInvalid for an engine that does not adopt work.
func (e *Engine) Adopt(ctx context.Context, id string) error {
	if !e.cfg.Adopts {
		return media.Errorf(media.CodeInvalid, "adopt work %s: this process does not adopt the work of dead processes: set Adopt in atelier.Config", id)
	}
	if !e.admission.TryRLock() {
		return media.Errorf(media.CodeUnavailable, "the engine is closing: adopt work %s later", id)
	}
	defer e.admission.RUnlock()
	return e.withLease(ctx, id, func() error {
		row, err := e.status(id)
		if err != nil {
			return err
		}
		if row == nil {
			return media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
		}
		if err := ended(row); err != nil {
			return err
		}
		return e.take(ctx, id)
	})
}

// withLease acquires the lease of work and calls begin. If begin fails, the lease is released.
func (e *Engine) withLease(ctx context.Context, id string, begin func() error) error {
	e.acquiring.Lock()
	defer e.acquiring.Unlock()
	if e.cfg.Leases.Holds(ledger.LeaseRun, id) { // it is executed here, or has just ended here
		row, err := e.status(id)
		if err == nil && row != nil {
			err = ended(row)
		}
		if err != nil {
			return err
		}
		living, err := e.living(id)
		return cmp.Or(err, e.inProgress(living[id]))
	}
	err := e.cfg.Leases.Acquire(ctx, ledger.LeaseRun, id, func(reason error) { e.stopAdopted(id, reason) })
	if media.CodeOf(err) == media.CodeConflict {
		if living, failed := e.living(id); failed == nil && living[id].Work != "" {
			return e.inProgress(living[id])
		}
		return media.Errorf(media.CodeConflict, "%w: %w", err, ErrInProgress)
	}
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return errors.Join(err, e.cfg.Leases.Release(context.WithoutCancel(ctx), ledger.LeaseRun, id))
	}
	return nil
}

// ended returns the error of adopting work that has ended; nil for other work.
func ended(row *dbos.WorkflowStatus) error {
	if state(*row, nil) != StateFinished {
		return nil
	}
	return media.Errorf(media.CodeConflict, "work %s has ended: it is %s", row.ID, row.Status)
}

// take adopts work while this engine holds its lease.
func (e *Engine) take(ctx context.Context, id string) error {
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	e.flows.settle(id) // work that ended here before is restarted
	if _, err := dbos.ResumeWorkflow[string](root, id, dbos.WithResumeQueue(e.queue())); err != nil {
		return e.failure("adopt work "+id, err)
	}
	return nil
}

// Full reports whether the engine has reached its limit of adopted work.
//
//nolint:contextcheck,nolintlint // called on behalf of the engine
func (e *Engine) Full() (bool, error) {
	if e.cfg.Limit == 0 {
		return false, nil
	}
	rows, err := e.list(e.root, dbos.WithFilterQueueName(e.queue()), dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued))
	if err != nil {
		return false, e.failure("count adopted work", err)
	}
	return len(rows) >= e.cfg.Limit, nil
}

// sweep removes the queues of dead executors, and old leases. What it cannot remove is removed by a later engine.
func (e *Engine) sweep() {
	_ = e.cfg.Leases.Sweep(e.root)
	queues, _ := dbos.ListQueues(e.root) // before the leases: each queue is newer than its process's lease
	left, err := e.cfg.Leases.Returning(e.root, ledger.LeaseEngine)
	if err != nil {
		return
	}
	for _, q := range queues {
		executor, ours := strings.CutPrefix(q.GetName(), queuePrefix)
		if ours && !left[executor] { // a suspended executor needs its queue when it continues
			_ = dbos.DeleteQueue(e.root, q.GetName())
		}
	}
}

// watchEvery is the interval at which work is checked for a cancel by another process.
const watchEvery = 500 * time.Millisecond

// cancelMark is the attribute of cancelled work. The work ends in the process that executes or adopts it.
const cancelMark = "cancelled"

// Cancel ends running work, here or in another process: its context is cancelled with the cause media.CodeCancelled. If
// its process has died, the process that adopts it starts with a cancelled context. Finished and unknown work stays unchanged.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	row, err := e.status(id)
	if err != nil || row == nil || state(*row, nil) == StateFinished {
		return err
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
