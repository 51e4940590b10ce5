package durable

import (
	"context"
	"errors"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/media"
)

// State is how work stands.
type State string

// The states.
const (
	// StateUnderWay is work of a living process.
	StateUnderWay State = "under_way"
	// StateOrphaned is work whose process has ended.
	StateOrphaned State = "orphaned"
	// StateOver is work that ended, in whatever way.
	StateOver State = "over"
)

// Orphan is work whose process has ended.
type Orphan struct {
	ID    string
	Input []byte
}

// status reads the row of work; nil if there is none.
func (e *Engine) status(id string) (*dbos.WorkflowStatus, error) {
	root, stop := e.bounded()
	defer stop()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterWorkflowIDs(id), dbos.WithFilterLoadInput(true), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return nil, e.failure("read work "+id, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// State tells how work stands, and its input. Unknown work is media.CodeNotFound.
func (e *Engine) State(id string) (State, []byte, error) {
	row, err := e.status(id)
	if err != nil {
		return "", nil, err
	}
	if row == nil {
		return "", nil, media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
	}
	input, _ := row.Input.(string)
	switch row.Status {
	case dbos.WorkflowStatusPending:
		if e.lives(row.ExecutorID) {
			return StateUnderWay, []byte(input), nil
		}
		return StateOrphaned, []byte(input), nil
	case dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusDelayed:
		return StateOrphaned, []byte(input), nil
	default:
		return StateOver, []byte(input), nil
	}
}

// Elsewhere tells whether work is not for this engine: another living one has it, or it is
// over. Where the database cannot tell, it is not said to be.
func (e *Engine) Elsewhere(id string) bool {
	row, err := e.status(id)
	if err != nil || row == nil {
		return false
	}
	switch row.Status {
	case dbos.WorkflowStatusPending:
		return row.ExecutorID != e.root.GetExecutorID() && e.lives(row.ExecutorID)
	case dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusDelayed:
		return false
	default:
		return true
	}
}

// lives tells whether a process is there.
func (e *Engine) lives(executor string) bool {
	if executor == e.root.GetExecutorID() {
		return true
	}
	l, err := hold(e.cfg.Locks, executor)
	if err != nil {
		return true // it lives, or nobody can tell
	}
	_ = l.release(false) // it was only asked for
	return false
}

// Orphans lists work whose process has ended, oldest first; behind it what was cancelled, and whose
// process ended before it heard of that.
func (e *Engine) Orphans(ctx context.Context) ([]Orphan, error) {
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterName(workflowName), dbos.WithFilterStatus(dbos.WorkflowStatusPending),
		dbos.WithFilterLoadInput(true), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return nil, e.failure("list orphaned work", err)
	}
	known := map[string]bool{}
	lives := func(executor string) bool {
		if _, asked := known[executor]; !asked {
			known[executor] = e.lives(executor)
		}
		return known[executor]
	}
	var out []Orphan
	for _, r := range rows {
		if !lives(r.ExecutorID) {
			input, _ := r.Input.(string)
			out = append(out, Orphan{ID: r.ID, Input: []byte(input)})
		}
	}
	untold, err := e.untold(root, lives)
	return append(out, untold...), err
}

// TakeOver lets work of a process that has ended go on here, or in another engine that
// takes work over, whichever is first. Work that was cancelled, and whose process ended before
// it was told, is taken over too, to be ended, see [Engine.Cancel]. Errors: media.CodeConflict while its process lives
// or when the work is over, media.CodeNotFound, media.CodeInvalid for an engine that
// takes nothing over.
func (e *Engine) TakeOver(ctx context.Context, id string) error {
	if !e.cfg.TakesOver {
		return media.Errorf(media.CodeInvalid, "take work %s over: durable.Config.TakesOver is not set", id)
	}
	row, err := e.status(id)
	if err != nil {
		return err
	}
	if row == nil {
		return media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
	}
	if row.Status == dbos.WorkflowStatusEnqueued {
		return nil
	}
	under := media.Errorf(media.CodeConflict, "run %s is under way in another process: wait for it", id)
	if row.ExecutorID == e.root.GetExecutorID() {
		return under
	}
	held, err := hold(e.cfg.Locks, row.ExecutorID)
	if errors.Is(err, errHeld) {
		return under
	}
	if err != nil {
		return err
	}
	defer func() { _ = held.release(false) }()
	return e.takeHeld(ctx, *row)
}

// takeHeld takes over work whose process has ended, while nobody else can: its lock is held.
func (e *Engine) takeHeld(ctx context.Context, row dbos.WorkflowStatus) error {
	// Somebody may have taken it over before the lock was ours.
	now, err := e.status(row.ID)
	switch {
	case err != nil:
		return err
	case now == nil || now.ExecutorID != row.ExecutorID || now.Status == dbos.WorkflowStatusEnqueued:
		return nil
	case now.Status != dbos.WorkflowStatusPending && now.Status != dbos.WorkflowStatusCancelled:
		return media.Errorf(media.CodeConflict, "work %s is over: it is %s", row.ID, now.Status)
	}
	if now.Status == dbos.WorkflowStatusCancelled && !marked(*now) { // by an older program
		if err := e.note(*now, cancelMark, true); err != nil {
			return err
		}
	}
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	if _, err := dbos.ResumeWorkflow[string](root, row.ID, dbos.WithResumeQueue(queueName)); err != nil {
		return e.failure("take work "+row.ID+" over", err)
	}
	return nil
}
