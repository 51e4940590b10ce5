package run

import (
	"context"
	"log/slog"

	"atelier/action"
	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// fail ends a run that could not go on, where it had begun before: its agent is not
// there any more, for instance.
func (s *Service) fail(ctx context.Context, req agent.Request, why error) {
	ctx = context.WithoutCancel(ctx)
	read, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	row, err := s.cfg.Ledger.Run(read, req.Owner, req.RunID)
	if err != nil {
		return // it had not begun: its caller is told
	}
	status := agent.StatusFailed
	if media.CodeOf(why) == media.CodeCancelled {
		status = agent.StatusCancelled
	}
	s.closeOpen(ctx, req, status) // which takes time of its own
	save, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	s.endAs(save, row, status, why)
}

// endAs ends a run outside of its agent. What it had counted stays.
func (s *Service) endAs(ctx context.Context, row ledger.Run, status agent.Status, why error) {
	p := action.Problem{Code: media.CodeOf(why), Message: media.ErrorText(why.Error()), Retryable: media.Retryable(why)}
	row.Status, row.FinishedAt = ledger.Status(status), s.cfg.Now()
	row.Failure = ledger.Failure{Code: string(p.Code), Message: p.Message, Retryable: p.Retryable}
	if err := s.cfg.Ledger.FinishRun(ctx, row); err != nil {
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
	s.cfg.Observer.Emit(ctx, agent.Event{
		Type: kind, Tree: row.Tree, RunID: row.ID, AgentPath: row.AgentPath, At: row.FinishedAt,
		Data: agent.RunFinished{Status: status, Error: &p},
	})
}

// End cancels a run wherever it is: one of another process stops there within a second,
// one that waits or whose process has ended is ended here. What it made is kept. The
// errors are those of [Service.Resume], but for a run that is under way.
func (s *Service) End(ctx context.Context, owner, runID string) error {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return err
	}
	st, err := s.state(ctx, row)
	if err != nil {
		return err
	}
	if st.Status == ledger.WaitPaused {
		return s.endPaused(ctx, st)
	}
	if s.Cancel(row.Tree) == nil {
		return nil
	}
	if s.cfg.Engine == nil {
		_, err := s.goOn(ctx, row, st)
		return err
	}
	id := partID(row.Tree, st.Number)
	state, _, err := s.cfg.Engine.State(id)
	if code := media.CodeOf(err); code == media.CodeNotFound || code == media.CodeCorrupt {
		return s.EndLost(ctx, owner, runID)
	}
	if err != nil || state == durable.StateOver && !untold(row, state) {
		_, err = s.goOn(ctx, row, st) // says why not
		return err
	}
	if err := s.cfg.Engine.Cancel(ctx, id); err != nil || state == durable.StateUnderWay { // what is queued begins nowhere any more
		return err
	}
	return s.endHere(ctx, row, st)
}

// EndLost cancels a run whose work is in no engine any more, because the engine's database was
// lost: in the ledger alone. What it made is kept. A process that still works on it loses its own
// work when it looks for the database. A run that is over is media.CodeConflict.
func (s *Service) EndLost(ctx context.Context, owner, runID string) error {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err == nil && row.Tree != row.ID {
		row, err = s.cfg.Ledger.Run(ctx, owner, row.Tree)
	}
	if err != nil {
		return err
	}
	st, err := s.state(ctx, row)
	switch {
	case err != nil:
		return err
	case st.Status == ledger.WaitPaused:
		return s.endPaused(ctx, st)
	case !row.FinishedAt.IsZero():
		return isOver(row)
	}
	v := saved{State: agent.State{Request: agent.Request{RunID: row.ID, Owner: row.Owner, Agent: row.Agent}}}
	if st.Status == ledger.WaitAnswered {
		if v, err = readSaved(st); err != nil {
			return err
		}
		st.Status = ledger.WaitOver
		if err := s.cfg.Ledger.ChangeRunState(ctx, ledger.WaitAnswered, st); err != nil {
			return err
		}
	}
	why := media.Errorf(media.CodeCancelled, "the run was cancelled; its steps were lost with the database of the durable engine, and what it made is kept")
	return s.endRows(ctx, row.Owner, v, why, ledger.StatusRunning, ledger.StatusPaused)
}

// endRows ends the runs of a tree that have one of these states, outside of their agents.
func (s *Service) endRows(ctx context.Context, owner string, v saved, why error, states ...ledger.Status) error {
	req := v.State.Request
	s.closeOpen(ctx, req, agent.StatusCancelled)
	for _, state := range states {
		for p := (ledger.Page{Limit: ledger.MaxLimit}); ; {
			list, err := s.cfg.Ledger.ListRuns(ctx, owner, ledger.RunQuery{Tree: req.RunID, Status: state, Page: p})
			if err != nil {
				return err
			}
			for _, row := range list.Items {
				s.endAs(ctx, row, agent.StatusCancelled, why)
			}
			if p.After = list.Next; p.After == "" {
				break
			}
		}
	}
	if v.Thread != nil {
		s.answer(ctx, v.Thread, req, nil, why)
	}
	return s.cfg.Observer.Flush(ctx)
}

// untold reports whether a run was cancelled and its process ended before it heard of that.
func untold(row ledger.Run, state durable.State) bool {
	return state == durable.StateOver && row.Status == ledger.StatusRunning && row.FinishedAt.IsZero()
}

// endHere ends a run that was cancelled and whose process has ended. Another process that takes it
// over does the same.
func (s *Service) endHere(ctx context.Context, row ledger.Run, st ledger.RunState) error {
	r := newRun(ctx, row.Tree)
	r.part = st.Number
	r, err := s.take(ctx, r)
	if err == nil {
		_, err = r.Wait(ctx)
	}
	if code := media.CodeOf(err); code == media.CodeCancelled || code == media.CodeConflict {
		return nil
	}
	return err
}

// endPaused ends a run that waits for a person.
func (s *Service) endPaused(ctx context.Context, st ledger.RunState) error {
	v, err := readSaved(st)
	if err != nil {
		return err
	}
	st.Status, st.Pending = ledger.WaitOver, nil
	if err := s.cfg.Ledger.ChangeRunState(ctx, ledger.WaitPaused, st); err != nil {
		return err
	}
	why := media.Errorf(media.CodeCancelled, "the run was cancelled while it waited for an answer; what it made is kept")
	return s.endRows(ctx, st.Owner, v, why, ledger.StatusPaused)
}
