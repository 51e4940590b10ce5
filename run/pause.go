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

// answerer is a runner that can answer a paused run; *agent.Runner is one.
type answerer interface {
	Answered(ctx context.Context, s agent.State, a agent.Reply) (agent.State, error)
}

// leaveWithin is how long a part of a run may take to end in this process after its
// state was saved.
const leaveWithin = 5 * time.Second

// Questions gives the open questions of a run, the oldest first; none if it does not
// wait. Any run of its tree names it. An unknown run or somebody else's is
// media.CodeNotFound.
func (s *Service) Questions(ctx context.Context, owner, runID string) ([]agent.Question, error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	st, err := s.cfg.Ledger.RunState(ctx, owner, row.Tree)
	switch {
	case media.CodeOf(err) == media.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return Questions(st)
}

// Questions reads the open questions of a state, the oldest first; none unless the run waits.
func Questions(st ledger.RunState) (open []agent.Question, err error) {
	if st.Status != ledger.WaitPaused || len(st.Pending) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(st.Pending, &open); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the questions of run %s: %w", st.RunID, err)
	}
	return open, nil
}

// Resume goes on with a run; any run of its tree names it. A run that waits for a person
// needs a reply, which is kept before the run goes on: of several at once one is taken.
// A run whose process has ended goes on from its last finished step, without a reply; one that
// was cancelled, and whose process ended before it heard of that, ends as such.
//
// Errors: media.CodeNotFound for an unknown run or somebody else's; media.CodeConflict for
// one that is over or under way, for one that waits where reply is nil, and for a reply
// to a question that is not open or of a run whose deadline has passed; media.CodeInvalid for a reply that does not fit the
// question; media.CodeUnsupported for a run that was not begun durably and did not pause.
// None of them makes the run go on; pictures of a reply that another one was taken before stay on
// record as the run's.
func (s *Service) Resume(ctx context.Context, owner, runID string, reply *agent.Reply) (*Run, error) {
	return s.ResumeWith(ctx, owner, runID, reply, Again{})
}

// ResumeWith is [Service.Resume] with other limits: of a run that is answered, or, as
// [Service.Retry], of one that failed or was cancelled. A run that goes on after its
// process ended keeps its own: media.CodeUnsupported.
func (s *Service) ResumeWith(ctx context.Context, owner, runID string, reply *agent.Reply, a Again) (*Run, error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, row)
	switch {
	case err != nil:
		return nil, err
	case st.Status == ledger.WaitPaused && reply != nil:
		return s.reply(ctx, st, *reply, a)
	case st.Status == ledger.WaitPaused:
		return nil, s.needsAnswer(st)
	case reply != nil && row.Status == ledger.StatusPaused:
		return nil, media.Errorf(media.CodeConflict, "the question of run %s is not kept yet: if its process has ended, atelier resume %[1]s goes on to the question", row.ID)
	case reply != nil:
		return nil, media.Errorf(media.CodeConflict, "run %s waits for no answer, it is %s: atelier runs show %[1]s tells how it stands", row.ID, row.Status)
	}
	if a != (Again{}) {
		if row.Status == ledger.StatusFailed || row.Status == ledger.StatusCancelled {
			return s.Retry(ctx, owner, runID, a)
		}
		if row.FinishedAt.IsZero() {
			return nil, unchangeable(row.Tree)
		}
	}
	return s.goOn(ctx, row, st)
}

// state reads the state of a run; the zero value if it never had one.
func (s *Service) state(ctx context.Context, row ledger.Run) (ledger.RunState, error) {
	st, err := s.cfg.Ledger.RunState(ctx, row.Owner, row.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return ledger.RunState{RunID: row.Tree, Owner: row.Owner}, nil
	}
	return st, err
}

// needsAnswer says what a run waits for.
func (s *Service) needsAnswer(st ledger.RunState) error {
	open, err := Questions(st)
	if err != nil || len(open) == 0 {
		return media.Errorf(media.CodeConflict, "run %s waits for a person: answer it with atelier resume %[1]s --answer", st.RunID)
	}
	q := open[0]
	return media.Errorf(media.CodeConflict, "run %s waits for an answer to question %s, %q: give JSON that fits %s", st.RunID, q.ID, q.Question, q.Schema)
}

// reply keeps an answer and lets the next part begin.
func (s *Service) reply(ctx context.Context, st ledger.RunState, reply agent.Reply, allow Again) (*Run, error) {
	agents, err := s.outfit(ctx, st.Setting)
	if err != nil {
		return nil, err
	}
	a, ok := agents.(answerer)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be answered: the runner of run.Config.Agents takes no answers", st.RunID)
	}
	v, err := readSaved(st)
	if err != nil {
		return nil, err
	}
	allow.apply(&v.State.Request)
	if err := check(agents, v.State.Request); err != nil {
		return nil, err
	}
	if end := v.State.Request.Deadline; !end.IsZero() && !end.After(s.cfg.Now()) {
		return nil, outOfTime(st.RunID, end)
	}
	if v.State, err = a.Answered(ctx, v.State, reply); err != nil {
		return nil, s.elsewhere(ctx, st.Owner, err)
	}
	state, err := json.Marshal(v)
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "write the state of run %s: %w", st.RunID, err)
	}
	r, err := s.enterNext(ctx, st)
	if err != nil {
		return nil, err
	}
	st.Status, st.State, st.Pending, st.AnsweredAt = ledger.WaitAnswered, state, encode(v.State.Pending), s.cfg.Now()
	if err := s.cfg.Ledger.ChangeRunState(ctx, ledger.WaitPaused, st); err != nil {
		s.leave(r)
		if media.CodeOf(err) == media.CodeConflict {
			err = media.Errorf(media.CodeConflict, "run %s was answered before: this answer was not taken", st.RunID)
		}
		return nil, err
	}
	return s.beginPart(ctx, r, st)
}

// enterNext admits the next part of a run, when the part before, whose state is saved,
// has left.
func (s *Service) enterNext(ctx context.Context, st ledger.RunState) (*Run, error) {
	s.mu.Lock()
	before := s.here[st.RunID]
	s.mu.Unlock()
	if before != nil && before.part < st.Number {
		limit := time.NewTimer(leaveWithin)
		defer limit.Stop()
		select {
		case <-before.left:
		case <-limit.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r := newRun(ctx, st.RunID)
	r.part = st.Number
	return r, s.enter(r)
}

// beginPart begins the part whose state the ledger has; r was admitted for it. It works
// in this process, with an engine or without.
func (s *Service) beginPart(ctx context.Context, r *Run, st ledger.RunState) (*Run, error) {
	r.fresh = true
	w := work{Request: agent.Request{RunID: st.RunID, Owner: st.Owner}, Setting: st.Setting, Part: st.Number, Kept: true}
	if s.cfg.Engine == nil {
		go s.workAlone(r, w)
		return r, nil
	}
	if err := s.beginDurably(ctx, r, w); err != nil {
		s.abandon(r)
		if errors.Is(err, ErrUnderWay) {
			return nil, underWay(st.RunID, err)
		}
		return nil, media.Errorf(media.CodeOf(err), "run %s is kept, but does not go on here: %w (atelier resume %[1]s goes on with it)", st.RunID, err)
	}
	return s.begun(ctx, r)
}

// workAlone plays a part that ends with its process.
func (s *Service) workAlone(r *Run, w work) {
	defer s.leave(r)
	defer close(r.done)
	agents, err := s.outfit(r.stop, w.Setting)
	if err != nil {
		r.err = err
		return
	}
	if r.result, r.err = s.recallPart(r.stop, &w, true); r.result != nil || r.err != nil {
		return
	}
	r.setConversation(w)
	w.remembering(nil)
	r.result, r.err = s.play(r.stop, agents, w)
}

// goOn goes on with a run that nobody has to answer.
func (s *Service) goOn(ctx context.Context, row ledger.Run, st ledger.RunState) (*Run, error) {
	if st.Status == ledger.WaitOver {
		return nil, isOver(row)
	}
	if r := s.brought(row.Tree, st.Number); r != nil {
		return r, nil
	}
	s.mu.Lock()
	_, here := s.here[row.Tree]
	s.mu.Unlock()
	if here {
		return nil, media.Errorf(media.CodeConflict, "run %s is under way: wait for it (atelier runs events %[1]s)", row.ID)
	}
	if s.cfg.Engine == nil && st.Status == ledger.WaitAnswered {
		return s.again(ctx, st)
	}
	if s.cfg.Engine == nil {
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be resumed: this service has no durable engine", row.ID)
	}
	input, err := s.leftWork(row, st)
	if err != nil {
		return nil, err
	}
	if input == nil {
		return s.again(ctx, st) // its process ended between the answer and the next part
	}
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read run %s: %w", row.Tree, err)
	}
	if _, err := s.outfit(ctx, w.Setting); err != nil {
		return nil, err
	}
	r := newRun(ctx, row.Tree)
	r.part = st.Number
	took, err := s.take(ctx, r)
	if media.CodeOf(err) == media.CodeConflict { // the engine may have brought it meanwhile
		if r := s.brought(row.Tree, st.Number); r != nil {
			return r, nil
		}
	}
	return took, err
}

func isOver(row ledger.Run) error {
	return media.Errorf(media.CodeConflict, "run %s is over (%s): atelier runs show %[1]s tells what it made", row.ID, row.Status)
}

// leftWork gives the input of the work that a process which ended left of a run; nil where the
// part was answered and not begun. The error is why there is none to go on with.
func (s *Service) leftWork(row ledger.Run, st ledger.RunState) ([]byte, error) {
	state, input, err := s.cfg.Engine.State(partID(row.Tree, st.Number))
	unknown := media.CodeOf(err) == media.CodeNotFound
	switch {
	case unknown && st.Status == ledger.WaitAnswered:
		return nil, nil
	case unknown && row.FinishedAt.IsZero():
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be resumed: %s. Put that back from a backup, or end the run, which keeps what it made (atelier runs cancel %[1]s), and start it anew", row.ID, s.notKept())
	case unknown || err == nil && state == durable.StateOver && !untold(row, state):
		return nil, isOver(row)
	case err != nil:
		return nil, err
	case state == durable.StateUnderWay, state == durable.StateQueued:
		if err := s.cfg.Engine.UnderWay(partID(row.Tree, st.Number)); err != nil {
			return nil, underWay(row.ID, err)
		}
	}
	return input, nil
}

// notKept is why there is nothing to go on from with a run that the ledger knows.
func (s *Service) notKept() string {
	return "its steps are gone: " + s.cfg.Engine.Place() + " does not have them, so it was lost or is another one than the run began with"
}

// again begins a part whose state is in the ledger and that nobody has begun.
func (s *Service) again(ctx context.Context, st ledger.RunState) (*Run, error) {
	if _, err := s.outfit(ctx, st.Setting); err != nil {
		return nil, err
	}
	r, err := s.enterNext(ctx, st)
	if err != nil {
		return nil, err
	}
	return s.beginPart(ctx, r, st)
}
