package run

import (
	"context"
	"encoding/json"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// Retry goes on with a run that failed or was cancelled from its last good step: the run
// keeps its id, and nothing that succeeded is done or paid again; what a cancel or the time
// cut off is done again, and what a provider has of it is fetched. A deadline that has
// passed holds no more. Any run of its tree names it. Errors: media.CodeNotFound for an
// unknown run or somebody else's, media.CodeConflict for one that did not end so,
// media.CodeInvalid for limits that are none, media.CodeUnsupported for one whose steps are
// not kept.
func (s *Service) Retry(ctx context.Context, owner, runID string, a Again) (*Run, error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err == nil && row.Tree != row.ID {
		row, err = s.cfg.Ledger.Run(ctx, owner, row.Tree)
	}
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, row)
	if err != nil {
		return nil, err
	}
	if err := s.retryable(ctx, row, st); err != nil {
		return nil, err
	}
	next, err := s.retried(ctx, row, st, a)
	if err != nil {
		return nil, err
	}
	r, err := s.enterNext(ctx, next)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Ledger.SaveRunState(ctx, next); err != nil {
		s.leave(r)
		if media.CodeOf(err) == media.CodeConflict {
			err = media.Errorf(media.CodeConflict, "run %s is tried again already", row.ID)
		}
		return nil, err
	}
	return s.beginPart(ctx, r, next)
}

// retried makes the state that a run is tried again from: without what is done anew, and with
// what is different then. Nothing is saved.
func (s *Service) retried(ctx context.Context, row ledger.Run, st ledger.RunState, a Again) (next ledger.RunState, err error) {
	p, err := s.past(row, st)
	if err != nil {
		return next, err
	}
	p.forget(wrongOf(row.Failure))
	p.goneOn(row, st)
	p.inTime(s.cfg.Now())
	a.apply(&p.State.Request)
	state, err := json.Marshal(p.saved)
	if err != nil {
		return next, media.Errorf(media.CodeInternal, "write the state of run %s: %w", row.ID, err)
	}
	agents, err := s.outfit(ctx, p.setting)
	if err != nil {
		return next, err
	}
	if err := check(agents, p.State.Request); err != nil {
		return next, err
	}
	return ledger.RunState{
		RunID: row.ID, Owner: row.Owner, Number: st.Number + 1, Status: ledger.WaitAnswered, State: state, Setting: p.setting, AnsweredAt: s.cfg.Now(),
	}, nil
}

// retryable refuses a run that is not over, or that succeeded.
func (s *Service) retryable(ctx context.Context, row ledger.Run, st ledger.RunState) error {
	switch row.Status {
	case ledger.StatusFailed, ledger.StatusCancelled:
	case ledger.StatusPaused:
		return s.needsAnswer(st)
	case ledger.StatusRunning:
		return media.Errorf(media.CodeConflict, "run %s is not over: wait for it, or go on with it if its process has ended (atelier resume %[1]s)", row.ID)
	default:
		return media.Errorf(media.CodeConflict, "run %s %s: there is nothing to try again; atelier runs fork %[1]s does a part of it anew", row.ID, row.Status)
	}
	if s.cfg.Engine == nil {
		return media.Errorf(media.CodeUnsupported, "run %s cannot be tried again: this service has no durable engine", row.ID)
	}
	state, err := s.ending(ctx, partID(row.ID, st.Number))
	if err == nil && state != durable.StateOver {
		return media.Errorf(media.CodeConflict, "run %s has not quite ended: go on with it first (atelier resume %[1]s)", row.ID)
	}
	if media.CodeOf(err) == media.CodeNotFound && st.Status != ledger.WaitOver {
		return media.Errorf(media.CodeUnsupported, "run %s cannot be tried again: %s; start it anew", row.ID, s.notKept())
	}
	if media.CodeOf(err) == media.CodeNotFound {
		return nil // it was cancelled while it waited
	}
	return err
}

// ending is the state of work whose run has ended: it may take a moment to be over as well.
func (s *Service) ending(ctx context.Context, id string) (durable.State, error) {
	limit := time.NewTimer(leaveWithin)
	defer limit.Stop()
	for {
		state, _, err := s.cfg.Engine.State(id)
		if err != nil || state != durable.StateUnderWay {
			return state, err
		}
		select {
		case <-time.After(endingPoll):
		case <-limit.C:
			return state, nil
		case <-ctx.Done():
			return state, ctx.Err()
		}
	}
}

// endingPoll is how often work that is about to be over is looked at.
const endingPoll = 2 * time.Millisecond

// goneOn makes the state that the next part goes on from.
func (p *past) goneOn(row ledger.Run, st ledger.RunState) {
	if p.State.Version == 0 {
		p.State.Version = agent.StateVersion
	}
	began := row.StartedAt
	if !st.AnsweredAt.IsZero() {
		began = st.AnsweredAt
	}
	if row.FinishedAt.After(began) {
		p.State.Worked += row.FinishedAt.Sub(began)
	}
	if p.State.Runs == nil {
		p.State.Runs = map[string]agent.Span{"": {StartedAt: row.StartedAt}}
	}
	p.State.Steps, p.State.Pending = p.steps, nil
	p.State.Part++
}
