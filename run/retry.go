package run

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"time"

	"atelier/agent"
	"atelier/agent/vision"
	"atelier/journal"
	"atelier/journal/step"
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

// failureCause is why a run failed, as far as this decides what a retry repeats.
type failureCause struct {
	// badAnswer: the model's last answer was unusable.
	badAnswer bool
	// budgetExhausted: a budget ended the run, so that its last turn was the turn to finish in.
	budgetExhausted bool
}

// dropRetriedSteps removes from the steps of a run what a retry repeats: interrupted acts, and the model calls that
// made its agents fail. The usage of those calls still counts.
func (p *recordedRun) dropRetriedSteps(w failureCause) {
	before := maps.Clone(p.steps)
	for name, result := range p.steps {
		if wasInterrupted(name, result) {
			delete(p.steps, name)
		}
	}
	forgetCalls(p.steps, step.Root, w)
	redone, repeated := map[string]agent.Use{}, map[string]int{}
	maps.Copy(redone, p.State.Redone)
	maps.Copy(repeated, p.State.Repeated)
	for name, result := range before {
		own := step.ParsePath(name).Own()
		if _, stays := p.steps[name]; stays || !own.Calls() {
			continue
		}
		at := step.PlaceOf(name)
		use, ok := redone[string(at)]
		use.Cost.Complete = use.Cost.Complete || !ok
		use.Add(agent.UseOf(result))
		redone[string(at)] = use
		if own.Kind == step.KindModel {
			repeated[at.Full(step.In(own.Turn, step.KindModel))] = p.State.Part + 1 // the part that the retry starts
		}
	}
	p.State.Redone, p.State.Repeated = redone, repeated
}

// forgetCalls removes what made an agent fail: the failed model calls of its last turn, the turn in which a budget only
// let it finish, and those of the agents that it called last.
func forgetCalls(steps map[string]json.RawMessage, at step.Place, w failureCause) {
	last := 0
	for own := range ownSteps(steps, at) {
		if own.Kind == step.KindModel || own.Kind == step.KindCode {
			last = max(last, own.Turn)
		}
	}
	for own := range ownSteps(steps, at) {
		if own.Kind == step.KindBudget && (own.Turn > last || last == 0) {
			delete(steps, at.Full(own)) // its turn did not take place, or the agent did not begin
		}
	}
	// Go code gives no answers: those of the agent that it called last were unusable.
	badBelow := w.badAnswer && !modelled(steps, at)
	anew := w.badAnswer || w.budgetExhausted && endedByBudget(steps, at, last)
	forgotten := false
	for own, result := range ownSteps(steps, at) {
		call, _ := agent.ReadCall(own, result)
		if own.Turn == last && (call.Failed() || anew && own.Kind == step.KindModel) {
			delete(steps, at.Full(own))
			forgotten = true
		}
	}
	if forgotten {
		delete(steps, at.Full(step.In(last, step.KindBudget))) // it is decided again
		last--
	}
	parts, newest := map[step.Place]int{}, 0
	for name := range steps {
		if part, isPart, ok := at.Top(name); ok && isPart && part.Turn == last {
			parts[at.Part(part)], newest = part.Index, max(newest, part.Index)
		}
	}
	for part, index := range parts {
		forgetCalls(steps, part, failureCause{badAnswer: badBelow && index == newest, budgetExhausted: w.budgetExhausted})
	}
}

// endedByBudget reports whether a turn of an agent was its last one because of a budget, and the agent did not finish
// in it. An unreadable answer counts as not finished.
func endedByBudget(steps map[string]json.RawMessage, at step.Place, turn int) bool {
	budget := step.In(turn, step.KindBudget)
	if b, ok := steps[at.Full(budget)]; ok {
		if reason, ok := agent.ReadBudget(budget, b); !ok || reason == "" {
			return false
		}
	}
	for own, result := range ownSteps(steps, at) {
		if own.Turn != turn || own.Kind == step.KindBudget {
			continue
		}
		if k := placeOf(own).kind; k == kindAct || k == kindAsk {
			return false
		}
		if call, _ := agent.ReadCall(own, result); own.Kind == step.KindModel && call.Finishes() {
			return false
		}
	}
	return true
}

// ownSteps returns the steps of the agent of a place.
func ownSteps(steps map[string]json.RawMessage, at step.Place) iter.Seq2[step.Name, json.RawMessage] {
	return func(yield func(step.Name, json.RawMessage) bool) {
		for full, result := range steps {
			if own, ok := at.Own(full); ok && !yield(own, result) {
				return
			}
		}
	}
}

// wasInterrupted reports whether an act was interrupted by the end of the run.
func wasInterrupted(full string, result []byte) bool {
	act, _ := agent.ReadAct(step.ParsePath(full).Own(), result)
	return act.Interrupted
}

// ContinueOptions contains the changes with which a run is continued. Zero fields keep the run's values.
type ContinueOptions struct {
	// LostImages replaces the request's value.
	LostImages vision.LostImages `json:"lost_images,omitempty"`
	// MaxTurns, MaxTokens, MaxTime, MaxImages and MaxCost are limits as in agent.Request. They include earlier usage:
	// raise a limit that the run has reached.
	MaxTurns  int           `json:"max_turns,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxTime   time.Duration `json:"max_time_ns,omitempty"`
	MaxImages int64         `json:"max_images,omitempty"`
	MaxCost   string        `json:"max_cost,omitempty"`
	// Deadline is when the run ends, as in agent.Request. A retry or fork ignores a deadline of the run that has
	// passed; an answer requires a new one.
	Deadline time.Time `json:"deadline,omitzero"`
	// ApproveOver requires approval of expensive actions, as in agent.Request. Earlier approvals and results are kept.
	ApproveOver string `json:"approve_over,omitempty"`
}

// Apply applies the changes to a request.
func (a ContinueOptions) Apply(req *agent.Request) {
	req.LostImages = cmp.Or(a.LostImages, req.LostImages)
	req.MaxTurns, req.MaxTokens = cmp.Or(a.MaxTurns, req.MaxTurns), cmp.Or(a.MaxTokens, req.MaxTokens)
	req.MaxTime, req.MaxImages = cmp.Or(a.MaxTime, req.MaxTime), cmp.Or(a.MaxImages, req.MaxImages)
	req.MaxCost, req.ApproveOver = cmp.Or(a.MaxCost, req.MaxCost), cmp.Or(a.ApproveOver, req.ApproveOver)
	if !a.Deadline.IsZero() {
		req.Deadline = a.Deadline
	}
}

// dropExpiredDeadline removes a deadline that has passed.
func (p *recordedRun) dropExpiredDeadline(now time.Time) {
	if req := &p.State.Request; !req.Deadline.IsZero() && !req.Deadline.After(now) {
		req.Deadline = time.Time{}
	}
}
