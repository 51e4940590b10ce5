package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"atelier/action"
	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
	"atelier/run/operations"
)

// fail ends a run that had started and cannot continue, for example because its agent no longer exists.
func (p player) fail(ctx context.Context, req agent.Request, reason error) {
	ctx = context.WithoutCancel(ctx)
	read, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	row, err := p.ledger.Run(read, req.Owner, req.RunID)
	if err != nil {
		return // it had not started: its caller gets the error
	}
	status := agent.StatusFailed
	if media.CodeOf(reason) == media.CodeCancelled {
		status = agent.StatusCancelled
	}
	p.closeOpen(ctx, req, status) // has its own time limit
	save, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	p.endAs(save, row, status, reason)
}

// endAs ends a run, and its acts in progress, outside of its agent. Its counts are kept.
func (p player) endAs(ctx context.Context, row ledger.Run, status agent.Status, reason error) {
	problem := action.Problem{Code: media.CodeOf(reason), Message: media.ErrorText(reason.Error()), Retryable: media.Retryable(reason)}
	row.Status, row.FinishedAt = ledger.Status(status), p.now()
	row.Failure = ledger.Failure{Code: string(problem.Code), Message: problem.Message, Retryable: problem.Retryable}
	if err := errors.Join(p.ledger.FinishRun(ctx, row), p.endSteps(ctx, row)); err != nil {
		slog.WarnContext(ctx, "end of run not saved", slog.String("run", row.ID), slog.String("error", media.ErrorText(err.Error())))
	}
	if row.Parent != "" {
		return
	}
	kind := agent.EventRunFailed
	if status == agent.StatusCancelled {
		kind = agent.EventRunCancelled
	}
	ctx = media.WithScope(ctx, media.Scope{Owner: row.Owner, Tree: row.Tree, Run: row.ID, AgentPath: row.AgentPath})
	p.observer.Emit(ctx, agent.Event{
		Type: kind, Tree: row.Tree, RunID: row.ID, AgentPath: row.AgentPath, At: row.FinishedAt,
		Data: agent.RunFinished{Status: status, Error: &problem},
	})
}

// endSteps ends the acts of a run that ended while they waited or were in progress.
func (p player) endSteps(ctx context.Context, row ledger.Run) error {
	steps, err := ledger.AllOf(ctx, p.ledger.ListSteps, row.Owner, row.ID)
	for _, s := range steps {
		if s.FinishedAt.IsZero() {
			s.Status, s.Code, s.Message, s.FinishedAt = row.Status, row.Failure.Code, row.Failure.Message, row.FinishedAt
			err = errors.Join(err, p.ledger.SaveStep(ctx, s))
		}
	}
	return err
}

// End cancels a run in any process. A run in progress stops within a second; a run that waits, or whose process has
// died, is ended here. Its media are kept. The errors are those of [Service.Resume], except for a run in progress.
func (s *Service) End(ctx context.Context, owner, runID string) error {
	row, st, err := s.history.find(ctx, owner, runID)
	if err != nil {
		return err
	}
	if st.Status == ledger.WaitPaused {
		return s.player.endPaused(ctx, st)
	}
	if s.Cancel(row.Tree) == nil {
		return nil
	}
	if s.cfg.Engine == nil {
		_, err := s.continueRun(ctx, row, st)
		return err
	}
	id := partID(row.Tree, st.Number)
	state, _, err := s.cfg.Engine.State(id)
	if code := media.CodeOf(err); code == media.CodeNotFound || code == media.CodeCorrupt || state == durable.StateFinished {
		return s.EndLost(ctx, owner, runID)
	}
	if err != nil {
		return err
	}
	if err := s.cfg.Engine.Cancel(ctx, id); err != nil || state != durable.StateOrphaned {
		return err
	}
	// Its process has died: it ends here, as in any process that adopts it.
	r := newRun(ctx, row.Tree)
	r.part = st.Number
	if r, err = s.adoptRun(ctx, r); err == nil {
		_, err = r.Wait(ctx)
	}
	if code := media.CodeOf(err); code == media.CodeCancelled || code == media.CodeConflict {
		return nil
	}
	return err
}

// EndLost cancels, only in the ledger, a run whose work is in no engine because the engine's database was lost. Its
// media are kept. A process that still executes the run loses its work at its next check of the database. For a run
// that has ended, the error has code media.CodeConflict.
func (s *Service) EndLost(ctx context.Context, owner, runID string) error {
	row, st, err := s.history.root(ctx, owner, runID)
	switch {
	case err != nil:
		return err
	case st.Status == ledger.WaitPaused:
		return s.player.endPaused(ctx, st)
	case !row.FinishedAt.IsZero():
		return endedError(row)
	}
	v := saved{State: agent.State{Request: agent.Request{RunID: row.ID, Owner: row.Owner, Agent: row.Agent}}}
	if st.Status == ledger.WaitAnswered {
		if v, err = readSaved(st); err != nil {
			return err
		}
		st.Status = ledger.WaitFinished
		if err := s.cfg.Ledger.ChangeRunState(ctx, ledger.WaitAnswered, st); err != nil {
			return err
		}
	}
	reason := media.Errorf(media.CodeCancelled, "the run was cancelled; its steps were lost with the durable engine's database; what it made is kept")
	return s.player.endRows(ctx, row.Owner, v, reason, ledger.StatusRunning, ledger.StatusPaused)
}

// endRows ends the runs of a tree that have one of the given states, outside of their agents, even if the caller leaves.
func (p player) endRows(ctx context.Context, owner string, v saved, reason error, states ...ledger.Status) error {
	req := v.State.Request
	p.closeOpen(ctx, req, agent.StatusCancelled) // has its own time limit
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	rows, err := ledger.All(func(page ledger.Page) (ledger.List[ledger.Run], error) {
		return p.ledger.ListRuns(ctx, owner, ledger.RunQuery{Tree: req.RunID, Page: page})
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if slices.Contains(states, row.Status) {
			p.endAs(ctx, row, agent.StatusCancelled, reason)
		}
	}
	if v.Thread != nil {
		p.threads.Answer(ctx, v.Thread, req, nil, reason)
	}
	return p.observer.Flush(ctx)
}

// endPaused ends a run that waits for a person.
func (p player) endPaused(ctx context.Context, st ledger.RunState) error {
	v, err := readSaved(st)
	if err != nil {
		return err
	}
	st.Status, st.Pending = ledger.WaitFinished, nil
	if err := p.ledger.ChangeRunState(ctx, ledger.WaitPaused, st); err != nil {
		return err
	}
	reason := media.Errorf(media.CodeCancelled, "the run was cancelled while it was waiting for an answer; what it made is kept")
	return p.endRows(ctx, st.Owner, v, reason, ledger.StatusPaused)
}

// closeOpen ends the open generations of a run that ends: an act in a killed process may have started them, and the act
// is not repeated. Unless the run was cancelled, tasks whose results are to be fetched later stay open.
func (p player) closeOpen(ctx context.Context, req agent.Request, status agent.Status) (made []media.Output) {
	if p.gateway == nil {
		return nil
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	open, err := p.open(save, req, status)
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID})
	ended, failed := make([]*generate.Result, len(open)), make([]error, len(open))
	var all sync.WaitGroup
	for i, op := range open { // together, because to take one from another process takes seconds
		end := p.gateway.Abandon
		if operations.OfSubAction(op) { // a living server executes it, and must not finish what the person cancels
			end = p.gateway.Cancel
		}
		all.Go(func() { ended[i], failed[i] = end(ctx, op.ID) })
	}
	all.Wait()
	for i, res := range ended {
		switch {
		case failed[i] == nil:
			made = append(made, res.Outputs()...)
		case media.CodeOf(failed[i]) != media.CodeConflict: // otherwise another process is working on it
			err = errors.Join(err, failed[i])
		}
	}
	if err != nil {
		slog.WarnContext(ctx, "open generations of a run not cancelled", slog.String("run", req.RunID), slog.String("error", media.ErrorText(err.Error())))
	}
	return made
}

// open lists the open generations of a run that will not be continued, oldest first. Those of sub-actions stay open
// unless the run was cancelled: the answer to the interaction decides about them.
func (p player) open(ctx context.Context, req agent.Request, status agent.Status) ([]ledger.Operation, error) {
	ops, err := ledger.All(func(page ledger.Page) (ledger.List[ledger.Operation], error) {
		return p.ledger.ListOperations(ctx, req.Owner, ledger.OperationQuery{Tree: req.RunID, Page: page})
	})
	slices.Reverse(ops)
	return slices.DeleteFunc(ops, func(op ledger.Operation) bool {
		stays := status != agent.StatusCancelled && (op.Status == string(generate.StatusRunning) || operations.OfSubAction(op))
		return stays || !op.FinishedAt.IsZero()
	}), err
}
