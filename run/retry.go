package run

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"atelier/agent"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// Retry continues a run that failed or was cancelled from its last successful step. The run keeps its id, and nothing
// that succeeded is repeated or paid for again. Steps that a cancel or a timeout interrupted are repeated, and results
// that the provider has are fetched. A deadline that has passed is ignored. Any run of its tree identifies the run.
// Errors: media.CodeNotFound for an unknown run or another owner's, media.CodeConflict for one with another status,
// media.CodeInvalid for invalid limits, media.CodeUnsupported for one whose steps are not recorded.
func (s *Service) Retry(ctx context.Context, owner, runID string, a ContinueOptions) (*Run, error) {
	row, st, err := s.history.root(ctx, owner, runID)
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
		s.local.leave(r)
		if media.CodeOf(err) == media.CodeConflict {
			err = media.Errorf(media.CodeConflict, "run %s is already being retried", row.ID)
		}
		return nil, err
	}
	return s.beginPart(ctx, r, next)
}

// retried returns the state of a retry, without the steps to repeat and with the changes. It saves nothing.
func (s *Service) retried(ctx context.Context, row ledger.Run, st ledger.RunState, a ContinueOptions) (next ledger.RunState, err error) {
	p, err := s.history.readRecorded(row, st)
	if err != nil {
		return next, err
	}
	p.dropRetriedSteps(failureCause{badAnswer: row.Failure.Code == string(media.CodeBadResponse), budgetExhausted: row.Failure.Code == string(media.CodeOverBudget)})
	p.State.Version = max(p.State.Version, agent.StateVersion)
	p.State.Worked = time.Duration(row.Usage.WorkedMS) * time.Millisecond
	if p.State.Runs == nil {
		p.State.Runs = map[string]agent.Span{"": {StartedAt: row.StartedAt}}
	}
	p.State.Steps, p.State.Pending = p.steps, nil
	p.State.Part++
	p.dropExpiredDeadline(s.cfg.Now())
	a.Apply(&p.State.Request)
	state, err := json.Marshal(p.saved)
	if err != nil {
		return next, media.Errorf(media.CodeInternal, "write the state of run %s: %w", row.ID, err)
	}
	agents, err := s.agentsBySetting.forSetting(ctx, p.setting)
	if err != nil {
		return next, err
	}
	if err := agents.Check(p.State.Request); err != nil {
		return next, err
	}
	return ledger.RunState{
		RunID: row.ID, Owner: row.Owner, Number: st.Number + 1, Status: ledger.WaitAnswered, State: state, Setting: p.setting, AnsweredAt: s.cfg.Now(),
	}, nil
}

// retryable refuses a run that has not ended or that succeeded.
func (s *Service) retryable(ctx context.Context, row ledger.Run, st ledger.RunState) error {
	switch row.Status {
	case ledger.StatusFailed, ledger.StatusCancelled:
	case ledger.StatusPaused:
		return needsAnswer(st)
	case ledger.StatusRunning:
		return media.Errorf(media.CodeConflict, "run %s has not ended: wait for it, or continue it if its process has died (atelier resume %[1]s)", row.ID)
	default:
		return media.Errorf(media.CodeConflict, "run %s %s: there is nothing to retry; to execute some of its steps again, use atelier runs fork %[1]s", row.ID, row.Status)
	}
	if s.cfg.Engine == nil {
		return media.Errorf(media.CodeUnsupported, "run %s cannot be retried: this service has no durable engine", row.ID)
	}
	state, err := s.history.ending(ctx, partID(row.ID, st.Number))
	if err == nil && state != durable.StateFinished {
		return media.Errorf(media.CodeConflict, "run %s has not finished ending: continue it first (atelier resume %[1]s)", row.ID)
	}
	if media.CodeOf(err) == media.CodeNotFound && st.Status != ledger.WaitFinished {
		return media.Errorf(media.CodeUnsupported, "run %s cannot be retried: %s; start a new run", row.ID, s.history.notResumableReason())
	}
	if media.CodeOf(err) == media.CodeNotFound {
		return nil // it was cancelled while waiting
	}
	return err
}

// ending returns the state of the work of a run that has ended; it waits, because the work may end a moment later.
func (h history) ending(ctx context.Context, id string) (durable.State, error) {
	wait, stop := context.WithTimeout(ctx, leaveWithin)
	defer stop()
	for {
		state, _, err := h.engine.State(id)
		if err != nil || state != durable.StateRunning || (journal.Memory{}).Sleep(wait, endingPoll) != nil {
			return state, cmp.Or(err, ctx.Err())
		}
	}
}

// endingPoll is the interval at which work that is about to end is checked.
const endingPoll = 2 * time.Millisecond
