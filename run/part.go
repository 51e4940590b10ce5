package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"

	"atelier/agent"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
)

// work is a part of a run as the engine keeps it: from its beginning, or from where a
// person answered, to its end or the next question.
type work struct {
	Request agent.Request   `json:"request"`
	Thread  *thread         `json:"thread,omitempty"`
	Setting json.RawMessage `json:"setting,omitempty"`
	// Part counts the parts before. Kept says that the ledger has the state that the part
	// goes on from; Request then only names the run.
	Part int  `json:"part,omitempty"`
	Kept bool `json:"kept,omitempty"`

	forked *origin
	// taken tells that another process may have begun the part.
	taken bool
}

// origin is where a run was forked from.
type origin struct {
	Run  string `json:"run"`
	Step string `json:"step"`
}

// saved is what the ledger keeps of a run that goes on later.
type saved struct {
	State  agent.State `json:"state"`
	Thread *thread     `json:"thread,omitempty"`
	Forked *origin     `json:"forked,omitempty"`
}

// partID is the id of the durable work of a part: the first one has the run's.
func partID(run string, part int) string {
	if part == 0 {
		return run
	}
	return run + "." + strconv.Itoa(part)
}

// readSaved reads a state back.
func readSaved(st ledger.RunState) (saved, error) {
	var v saved
	if err := json.Unmarshal(st.State, &v); err != nil {
		return v, media.Errorf(media.CodeCorrupt, "read the state of run %s: %w", st.RunID, err)
	}
	return v, nil
}

// recallPart reads what a part goes on from. ended tells that the part came to its end
// before, with the result.
func (s *Service) recallPart(ctx context.Context, w *work, begun bool) (ended *agent.Result, err error) {
	if !begun && !w.Kept {
		return nil, nil
	}
	st, err := s.cfg.Ledger.RunState(ctx, w.Request.Owner, w.Request.RunID)
	if media.CodeOf(err) == media.CodeNotFound && !w.Kept {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := readSaved(st)
	if err != nil {
		return nil, err
	}
	if st.Number != w.Part || st.Status != ledger.WaitAnswered {
		return &agent.Result{RunID: st.RunID, Agent: v.State.Request.Agent, Status: statusOf(st.Status), Pending: v.State.Pending, State: &v.State}, nil
	}
	w.Request, w.Thread, w.forked = v.State.Request, v.Thread, v.Forked
	w.Request.State = &v.State
	return nil, s.carry(ctx, *w)
}

func statusOf(st ledger.WaitStatus) agent.Status {
	if st == ledger.WaitPaused {
		return agent.StatusPaused
	}
	return agent.StatusRunning
}

// remembering is the journal of a part: it knows what the parts before did, and keeps
// what this one does for the next.
func (w *work) remembering(j journal.Journal) {
	if j == nil {
		j = journal.Memory{}
	}
	var known map[string][]byte
	if w.Request.State != nil {
		known = w.Request.State.Known()
	}
	w.Request.Journal = journal.Remember(j, known)
}

// play runs a part and keeps how it ended.
func (s *Service) play(ctx context.Context, agents Agents, w work) (*agent.Result, error) {
	if w.forked != nil {
		ctx = context.WithValue(ctx, forkKey{}, w.forked)
	}
	w.Request.Begun, w.Request.Closing = w.taken, s.closing(w)
	res, err := s.execute(ctx, agents, w.Request, w.Thread)
	if journal.Left(ctx) {
		return res, err
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	if res != nil && res.Status == agent.StatusPaused {
		return res, s.pause(save, w, res)
	}
	if w.Kept {
		st := ledger.RunState{RunID: w.Request.RunID, Owner: w.Request.Owner, Number: w.Part, Status: ledger.WaitOver}
		if err := s.cfg.Ledger.ChangeRunState(save, ledger.WaitAnswered, st); err != nil {
			slog.WarnContext(ctx, "end of a run's state not saved", slog.String("run", w.Request.RunID), slog.String("error", media.ErrorText(err.Error())))
		}
	}
	return res, err
}

// pause keeps a run that waits. Where that fails the run has not paused: it is replayed.
func (s *Service) pause(ctx context.Context, w work, res *agent.Result) error {
	if res.State == nil {
		return media.Errorf(media.CodeInternal, "run %s paused without a state: the runner of run.Config.Agents has to give one", res.RunID)
	}
	kept := *res.State
	kept.Emitted = nil // the ledger has each event once, also where this process dies before it is saved
	state, err := json.Marshal(saved{State: kept, Thread: w.Thread, Forked: w.forked})
	if err != nil {
		return media.Errorf(media.CodeInternal, "write the state of run %s: %w", res.RunID, err)
	}
	err = s.cfg.Ledger.SaveRunState(ctx, ledger.RunState{
		RunID: w.Request.RunID, Owner: w.Request.Owner, Number: w.Part + 1, Status: ledger.WaitPaused,
		Pending: encode(res.Pending), State: state, Setting: w.Setting, AskedAt: s.cfg.Now(),
	})
	if err != nil && media.CodeOf(err) != media.CodeConflict { // a conflict is that it is kept already
		return &unsaved{err}
	}
	return nil
}

// unsaved is that a pause could not be kept.
type unsaved struct{ cause error }

func (e *unsaved) Error() string { return "keep the paused run: " + e.cause.Error() }
func (e *unsaved) Unwrap() error { return e.cause }

// forkKey is under which a context holds the origin of a run that begins.
type forkKey struct{}

func originOf(ctx context.Context) origin {
	if o, ok := ctx.Value(forkKey{}).(*origin); ok {
		return *o
	}
	return origin{}
}
