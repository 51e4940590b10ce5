package run

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// leaveWithin bounds how long a part of a run may take to end in this process after its state was saved.
const leaveWithin = 5 * time.Second

// Questions returns the open questions of a run, oldest first; none if it does not wait. Any run of its tree identifies
// it. For an unknown run or another owner's, the error has code media.CodeNotFound.
func (s *Service) Questions(ctx context.Context, owner, runID string) ([]agent.Question, error) {
	_, st, err := s.history.find(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	return Questions(st)
}

// Questions reads the open questions of a state, oldest first; none unless the run waits.
func Questions(st ledger.RunState) (open []agent.Question, err error) {
	if st.Status != ledger.WaitPaused || len(st.Pending) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(st.Pending, &open); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the questions of run %s: %w", st.RunID, err)
	}
	return open, nil
}

// Resume continues a run; any run of its tree identifies it. A run that waits for a person requires a reply, which is
// saved before the run continues; of several concurrent replies, one is accepted. A run whose process has died
// continues from its last finished step, without a reply. A run that was cancelled, and whose process died before it
// noticed, ends as cancelled.
//
// Errors: media.CodeNotFound for an unknown run or another owner's; media.CodeConflict for a run that has ended or is
// in progress, for one that waits if reply is nil, and for a reply to a question that is not open or to a run whose
// deadline has passed; media.CodeInvalid for a reply that does not match the question; media.CodeUnsupported for a run
// that was not started durably and did not pause. After an error the run does not continue; pictures of a rejected
// reply remain recorded for the run.
func (s *Service) Resume(ctx context.Context, owner, runID string, reply *agent.Reply) (*Run, error) {
	return s.ResumeWith(ctx, owner, runID, reply, ContinueOptions{})
}

// ResumeWith is [Service.Resume] with other limits, for a run that is answered, or, like [Service.Retry], for one that
// failed or was cancelled. A run that continues after its process died keeps its limits: new ones are refused with
// media.CodeUnsupported.
func (s *Service) ResumeWith(ctx context.Context, owner, runID string, reply *agent.Reply, a ContinueOptions) (*Run, error) {
	row, st, err := s.history.find(ctx, owner, runID)
	switch {
	case err != nil:
		return nil, err
	case st.Status == ledger.WaitPaused && reply != nil:
		return s.reply(ctx, st, *reply, a)
	case st.Status == ledger.WaitPaused:
		return nil, needsAnswer(st)
	case reply != nil && row.Status == ledger.StatusPaused:
		return nil, media.Errorf(media.CodeConflict, "the question of run %s is not saved yet: if its process has died, continue the run up to the question with atelier resume %[1]s", row.ID)
	case reply != nil:
		return nil, media.Errorf(media.CodeConflict, "run %s is not waiting for an answer: it is %s (see atelier runs show %[1]s)", row.ID, row.Status)
	}
	if a != (ContinueOptions{}) {
		if row.Status == ledger.StatusFailed || row.Status == ledger.StatusCancelled {
			return s.Retry(ctx, owner, runID, a)
		}
		if row.FinishedAt.IsZero() {
			return nil, media.Errorf(media.CodeUnsupported, "run %s keeps its limits when it is resumed: new limits need an answer, a retry or a fork (atelier runs cancel %[1]s, then atelier runs retry %[1]s with the new limits)", row.Tree)
		}
	}
	return s.continueRun(ctx, row, st)
}

// needsAnswer returns an error that says what a run waits for.
func needsAnswer(st ledger.RunState) error {
	open, err := Questions(st)
	if err != nil || len(open) == 0 {
		return media.Errorf(media.CodeConflict, "run %s is waiting for a person: answer it with atelier resume %[1]s --answer", st.RunID)
	}
	q := open[0]
	return media.Errorf(media.CodeConflict, "run %s is waiting for an answer to question %s, %q: atelier resume %[1]s shows how to answer", st.RunID, q.ID, q.Question)
}

// reply saves an answer and starts the next part of the run.
func (s *Service) reply(ctx context.Context, st ledger.RunState, reply agent.Reply, allow ContinueOptions) (*Run, error) {
	agents, err := s.agentsBySetting.forSetting(ctx, st.Setting)
	if err != nil {
		return nil, err
	}
	v, err := readSaved(st)
	if err != nil {
		return nil, err
	}
	allow.Apply(&v.State.Request)
	if err := agents.Check(v.State.Request); err != nil {
		return nil, err
	}
	if end := v.State.Request.Deadline; !end.IsZero() && !end.After(s.cfg.Now()) {
		return nil, media.Errorf(media.CodeConflict, "the time limit of run %s ended at %s: give a new one with the answer (ContinueOptions.Deadline, or --timeout), or cancel the run (atelier runs cancel %[1]s)", st.RunID, end.UTC().Format(time.DateTime))
	}
	if v.State, err = agents.Answered(ctx, v.State, reply); err != nil {
		return nil, suggestOtherRun(ctx, s.cfg.Ledger, st.Owner, err)
	}
	state, err := json.Marshal(v)
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "write the state of run %s: %w", st.RunID, err)
	}
	pending, err := json.Marshal(v.State.Pending)
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "write the questions of run %s: %w", st.RunID, err)
	}
	r, err := s.enterNext(ctx, st)
	if err != nil {
		return nil, err
	}
	st.Status, st.State, st.Pending, st.AnsweredAt = ledger.WaitAnswered, state, pending, s.cfg.Now()
	if err := s.cfg.Ledger.ChangeRunState(ctx, ledger.WaitPaused, st); err != nil {
		s.local.leave(r)
		if media.CodeOf(err) == media.CodeConflict {
			err = media.Errorf(media.CodeConflict, "run %s was already answered: this answer was not saved", st.RunID)
		}
		return nil, err
	}
	return s.beginPart(ctx, r, st)
}

// enterNext admits the next part of a run once the previous part, whose state is saved, has left.
func (s *Service) enterNext(ctx context.Context, st ledger.RunState) (*Run, error) {
	before := s.local.find(st.RunID)
	if before != nil && before.part < st.Number {
		wait, stop := context.WithTimeout(ctx, leaveWithin)
		defer stop()
		select {
		case <-before.released:
		case <-wait.Done():
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	r := newRun(ctx, st.RunID)
	r.part, r.setting = st.Number, string(st.Setting)
	return r, s.local.enter(r)
}

// beginPart starts, in this process, the part whose state the ledger has, with or without an engine; r was admitted for
// it.
func (s *Service) beginPart(ctx context.Context, r *Run, st ledger.RunState) (*Run, error) {
	r.fresh = true
	w := work{Request: agent.Request{RunID: st.RunID, Owner: st.Owner}, Setting: st.Setting, Part: st.Number, Kept: true}
	if s.cfg.Engine == nil {
		if _, err := s.local.claim(ctx, w); err != nil {
			return nil, err
		}
		go func() { _ = s.execute(r.stop, r, w, nil) }() // its error is for the engine
		return s.local.awaitStart(ctx, r)
	}
	if err := s.beginDurably(ctx, r, w); err != nil {
		s.local.abandon(r)
		if errors.Is(err, ErrInProgress) {
			return nil, inProgressError(st.RunID, err)
		}
		return nil, media.Errorf(media.CodeOf(err), "run %s is saved, but cannot continue here: %w (continue it with atelier resume %[1]s)", st.RunID, err)
	}
	return s.local.awaitStart(ctx, r)
}

// continueRun continues a run that needs no answer.
func (s *Service) continueRun(ctx context.Context, row ledger.Run, st ledger.RunState) (*Run, error) {
	if st.Status == ledger.WaitFinished {
		return nil, endedError(row)
	}
	if r := s.local.claimAdopted(row.Tree, st.Number); r != nil {
		return s.local.awaitStart(ctx, r)
	}
	if s.local.find(row.Tree) != nil {
		return nil, media.Errorf(media.CodeConflict, "run %s is already running: wait for it (atelier runs events %[1]s)", row.ID)
	}
	if s.cfg.Engine == nil && st.Status == ledger.WaitAnswered {
		return s.restart(ctx, st)
	}
	if s.cfg.Engine == nil {
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be resumed: this service has no durable engine", row.ID)
	}
	input, err := s.history.orphanedInput(row, st)
	if err != nil {
		return nil, err
	}
	if input == nil {
		return s.restart(ctx, st) // the process died between the answer and the next part
	}
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read run %s: %w", row.Tree, err)
	}
	if _, err := s.agentsBySetting.forSetting(ctx, w.Setting); err != nil {
		return nil, err
	}
	r := newRun(ctx, row.Tree)
	r.part = st.Number
	took, err := s.adoptRun(ctx, r)
	if media.CodeOf(err) == media.CodeConflict { // the engine may have adopted it in the meantime
		if r := s.local.claimAdopted(row.Tree, st.Number); r != nil {
			return s.local.awaitStart(ctx, r)
		}
	}
	return took, err
}

func endedError(row ledger.Run) error {
	return media.Errorf(media.CodeConflict, "run %s has already ended (%s): see atelier runs show %[1]s", row.ID, row.Status)
}

// orphanedInput returns the input of work that a dead process left; nil if the part was answered and has not started.
// The error says why there is no work to continue.
func (h history) orphanedInput(row ledger.Run, st ledger.RunState) ([]byte, error) {
	state, input, err := h.engine.State(partID(row.Tree, st.Number))
	unknown := media.CodeOf(err) == media.CodeNotFound
	switch {
	case unknown && st.Status == ledger.WaitAnswered:
		return nil, nil
	case unknown && row.FinishedAt.IsZero():
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be resumed: %s. Restore it from a backup, or cancel the run (atelier runs cancel %[1]s), which keeps what it made, and start a new one", row.ID, h.notResumableReason())
	case unknown || err == nil && state == durable.StateFinished:
		return nil, endedError(row)
	case err != nil:
		return nil, err
	case state == durable.StateRunning, state == durable.StateQueued:
		if err := h.engine.InProgress(partID(row.Tree, st.Number)); err != nil {
			return nil, inProgressError(row.ID, err)
		}
	}
	return input, nil
}

// notResumableReason returns the reason why a run in the ledger cannot be continued.
func (h history) notResumableReason() string {
	return "its steps are missing: " + h.engine.Place() + " does not have them, so it was lost or is not the database that the run started with"
}

// restart starts a part whose state is in the ledger and that has not started.
func (s *Service) restart(ctx context.Context, st ledger.RunState) (*Run, error) {
	if _, err := s.agentsBySetting.forSetting(ctx, st.Setting); err != nil {
		return nil, err
	}
	r, err := s.enterNext(ctx, st)
	if err != nil {
		return nil, err
	}
	return s.beginPart(ctx, r, st)
}
