package durable

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/media"
)

// State is how work stands.
type State string

// The states.
const (
	// StateUnderWay is work of a living process.
	StateUnderWay State = "under_way"
	// StateQueued is work that waits in a living process until that has room.
	StateQueued State = "queued"
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
	return e.state(*row), []byte(input), nil
}

func (e *Engine) state(row dbos.WorkflowStatus) State {
	switch row.Status {
	case dbos.WorkflowStatusPending:
		if e.lives(owner(row)) {
			return StateUnderWay
		}
		return StateOrphaned
	case dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusDelayed:
		if e.lives(owner(row)) {
			return StateQueued
		}
		return StateOrphaned
	default:
		return StateOver
	}
}

// queue is where work waits that this engine took over.
func (e *Engine) queue() string { return queuePrefix + e.root.GetExecutorID() }

// owner is the executor that has work: what waits is in its queue.
func owner(row dbos.WorkflowStatus) string {
	if row.Status == dbos.WorkflowStatusEnqueued {
		name, _ := strings.CutPrefix(row.QueueName, queuePrefix)
		return name
	}
	return row.ExecutorID
}

// lives reports whether a process is there.
func (e *Engine) lives(executor string) bool {
	if executor == e.root.GetExecutorID() {
		return true
	}
	_, ok := alive(e.cfg.Locks, executor)
	return ok
}

// ErrUnderWay is what errors wrap that say which process has work. Their code is media.CodeConflict.
var ErrUnderWay = errors.New("wait for it")

// UnderWay says which process has work, and since when; nil if none has.
func (e *Engine) UnderWay(id string) error {
	row, err := e.status(id)
	if err != nil || row == nil {
		return err
	}
	if s := e.state(*row); s == StateUnderWay || s == StateQueued {
		return e.underWay(*row)
	}
	return nil
}

func (e *Engine) underWay(row dbos.WorkflowStatus) error {
	since := row.StartedAt
	if since.IsZero() {
		since = row.UpdatedAt
	}
	who := "this process"
	if owner(row) != e.root.GetExecutorID() {
		p, _ := alive(e.cfg.Locks, owner(row))
		who = p.String()
	}
	return media.Errorf(media.CodeConflict, "%s has it since %s: %w", who, since.UTC().Format("2006-01-02 15:04:05 UTC"), ErrUnderWay)
}

// Orphans lists work whose process has ended, oldest first; behind it what was cancelled, and whose
// process ended before it heard of that.
func (e *Engine) Orphans(ctx context.Context) ([]Orphan, error) {
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterName(workflowName), dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued),
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
		if !lives(owner(r)) {
			input, _ := r.Input.(string)
			out = append(out, Orphan{ID: r.ID, Input: []byte(input)})
		}
	}
	untold, err := e.untold(root, lives)
	return append(out, untold...), err
}

// takeLimit bounds the wait for other processes that take work over. Each needs some milliseconds.
const takeLimit = 20 * time.Second

// TakeOver makes work of a process that has ended this engine's: of several that try, one wins. It
// begins when the engine has room. Work that was cancelled, and whose process ended before
// it was told, is taken over too, to be ended, see [Engine.Cancel]. Errors: media.CodeConflict, with
// [ErrUnderWay], while a process that lives has it, and when the work is over; media.CodeNotFound;
// media.CodeInvalid for an engine that takes nothing over.
func (e *Engine) TakeOver(ctx context.Context, id string) error {
	if !e.cfg.TakesOver {
		return media.Errorf(media.CodeInvalid, "take work %s over: durable.Config.TakesOver is not set", id)
	}
	if e.gate.isClosed() {
		return media.Errorf(media.CodeUnavailable, "the engine is closing: take work %s over later", id)
	}
	// Nobody else changes who has work while this lock is held: only who has it begins or ends it.
	wait, stop := context.WithTimeout(ctx, takeLimit)
	defer stop()
	alone, err := await(wait, e.cfg.Locks, ownerLock)
	if err != nil {
		return media.Errorf(media.CodeUnavailable, "take work %s over: other processes take work over for too long: %w", id, err)
	}
	defer func() { _ = alone.release(false) }()
	row, err := e.status(id)
	if err != nil {
		return err
	}
	if row == nil {
		return media.Errorf(media.CodeNotFound, "there is no durable work %.40q", media.ErrorText(id))
	}
	cancelled := row.Status == dbos.WorkflowStatusCancelled
	switch state := e.state(*row); {
	case state == StateUnderWay, state == StateQueued, cancelled && e.lives(owner(*row)):
		return e.underWay(*row)
	case state == StateOver && !cancelled:
		return media.Errorf(media.CodeConflict, "work %s is over: it is %s", row.ID, row.Status)
	}
	return e.take(ctx, *row)
}

// take makes work this engine's, while nobody else can.
func (e *Engine) take(ctx context.Context, row dbos.WorkflowStatus) error {
	if row.Status == dbos.WorkflowStatusCancelled && !marked(row) { // by an older program
		if err := e.note(row, cancelMark, true); err != nil {
			return err
		}
	}
	root, stop := e.bounded()
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	if _, err := dbos.ResumeWorkflow[string](root, row.ID, dbos.WithResumeQueue(e.queue())); err != nil {
		return e.failure("take work "+row.ID+" over", err)
	}
	return nil
}

// Full reports whether the engine has taken over as much work as it does at once.
func (e *Engine) Full() (bool, error) {
	if e.cfg.Limit == 0 {
		return false, nil
	}
	root, stop := e.bounded()
	defer stop()
	rows, err := dbos.ListWorkflows(root, dbos.WithFilterQueueName(e.queue()), dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued),
		dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return false, e.failure("count the work that was taken over", err)
	}
	return len(rows) >= e.cfg.Limit, nil
}

// sweep removes the queues of executors whose processes were killed.
func (e *Engine) sweep() {
	queues, err := dbos.ListQueues(e.root)
	for _, q := range queues {
		executor, ours := strings.CutPrefix(q.GetName(), queuePrefix)
		if ours && !e.lives(executor) {
			err = errors.Join(err, dbos.DeleteQueue(e.root, q.GetName()))
		}
	}
	if err != nil {
		e.cfg.Logger.WarnContext(e.root, "queues of ended processes not removed", slog.String("error", media.ErrorText(err.Error())))
	}
}
