package run

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"atelier/agent"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// Step is a finished step of a run, which a fork keeps or repeats.
type Step struct {
	// Name is the full name: a sub-agent's step is prefixed with the names of the agents' calls.
	Name string `json:"name"`
	// Failed marks a model call whose failure was recorded, or an act that the end of the run interrupted; a retry
	// repeats them.
	Failed bool `json:"failed,omitempty"`
	// FinishedAt is the end of the step in UTC; zero if unknown.
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// Steps lists the finished steps of a run in order. Any run of its tree identifies it. Errors: media.CodeNotFound for
// an unknown run or another owner's, media.CodeUnsupported for one whose steps are not recorded.
func (s *Service) Steps(ctx context.Context, owner, runID string) ([]Step, error) {
	row, st, err := s.history.find(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	past, err := s.history.readRecorded(row, st)
	if err != nil {
		return nil, err
	}
	names := past.names()
	steps := make([]Step, len(names))
	for i, n := range names {
		call, _ := agent.ReadCall(step.ParsePath(n).Own(), past.steps[n])
		steps[i] = Step{Name: n, Failed: call.Failed() || wasInterrupted(n, past.steps[n]), FinishedAt: past.finishedAt[n]}
	}
	return steps, nil
}

// recordedRun is everything that is known about a run.
type recordedRun struct {
	saved
	setting    json.RawMessage
	steps      map[string]json.RawMessage
	finishedAt map[string]time.Time
}

// history reads finished and paused runs.
type history struct {
	ledger ledger.Store
	engine *durable.Engine // nil: only the state of paused runs is available
}

// find reads a run and the state of its tree's root run; the state is empty if there is none.
func (h history) find(ctx context.Context, owner, runID string) (row ledger.Run, st ledger.RunState, err error) {
	if row, err = h.ledger.Run(ctx, owner, runID); err != nil {
		return row, st, err
	}
	st, err = h.ledger.RunState(ctx, owner, row.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return row, ledger.RunState{RunID: row.Tree, Owner: owner}, nil
	}
	return row, st, err
}

// root is find for the root run of a run's tree.
func (h history) root(ctx context.Context, owner, runID string) (ledger.Run, ledger.RunState, error) {
	row, st, err := h.find(ctx, owner, runID)
	if err == nil && row.Tree != row.ID {
		row, err = h.ledger.Run(ctx, owner, row.Tree)
	}
	return row, st, err
}

// readRecorded reads the steps of a run: the earlier ones from its state, the later ones from the engine.
func (h history) readRecorded(row ledger.Run, st ledger.RunState) (recordedRun, error) {
	p := recordedRun{setting: st.Setting, steps: map[string]json.RawMessage{}, finishedAt: map[string]time.Time{}}
	var err error
	if len(st.State) > 0 {
		if p.saved, err = readSaved(st); err != nil {
			return p, err
		}
	} else if err = h.startedWith(&p, row); err != nil {
		return p, err
	}
	maps.Copy(p.steps, p.State.Steps)
	// A step that only records the repetition of a model call does not count.
	defer maps.DeleteFunc(p.steps, func(name string, _ json.RawMessage) bool { return step.ParsePath(name).Own().Has(step.TailAgain) })
	if h.engine == nil {
		return p, nil
	}
	for part := range st.Number + 1 {
		done, err := h.engine.Steps(partID(row.Tree, part))
		if err != nil {
			return p, err
		}
		for _, d := range done {
			p.finishedAt[d.Name] = d.FinishedAt
			if part == st.Number { // steps of older parts are in the state, except forgotten ones
				p.steps[d.Name] = d.Result
			}
		}
	}
	return p, nil
}

// startedWith reads the request of a run that never paused from the engine.
func (h history) startedWith(p *recordedRun, row ledger.Run) error {
	if h.engine == nil {
		return media.Errorf(media.CodeUnsupported, "the steps of run %s are not recorded: this service has no durable engine", row.ID)
	}
	_, input, err := h.engine.State(row.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return media.Errorf(media.CodeUnsupported, "run %s cannot be continued: %s", row.ID, h.notResumableReason())
	}
	if err != nil {
		return err
	}
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return media.Errorf(media.CodeCorrupt, "read run %s: %w", row.Tree, err)
	}
	p.setting, p.Thread, p.State.Request = w.Setting, w.Thread, w.Request
	return nil
}

// names lists the steps in order.
func (p recordedRun) names() []string {
	return slices.SortedFunc(maps.Keys(p.steps), compareSteps)
}

// place locates a step among the steps of its agent.
type place struct {
	// turn is 0 for steps before the first turn.
	turn int
	kind stepKind
	// index is the index of an act.
	index int
	// rank orders the steps with an index: the approval of an act comes before its step, that of the message after it.
	rank int
	of   step.Kind
}

// stepKind orders the steps of a turn: the model's steps first, then its acts, then the person's answer.
type stepKind int

const (
	kindBefore stepKind = iota
	kindSummary
	kindModel
	kindAct
	kindAsk
)

// placeOf returns the place of a step. A question asked by Go code is one of its acts.
func placeOf(n step.Name) place {
	p := place{turn: n.Turn, of: n.Kind}
	if n.Ends(step.TailApproval) {
		p.rank = -1
	}
	switch n.Kind {
	case step.KindCodeQuestion:
		p.turn, p.kind, p.index = 1, kindAct, n.Index
	case step.KindSummary:
		p.kind = kindSummary
	case step.KindModel:
		p.kind = kindModel
	case step.KindQuestion:
		p.kind = kindAsk
	case step.KindAction, step.KindAgent, step.KindCode, step.KindStageAsk:
		p.kind, p.index = kindAct, n.Index
	case step.KindBudget, step.KindView, step.KindShow, step.KindAnswer:
		p.kind = kindAct
	default:
		p.turn, p.rank = 0, len(n.Tail)
	}
	return p
}

// order compares the places of two steps: acts of one model answer are concurrent, those of Go code (inTurn) are
// sequential.
func (p place) order(q place, inTurn bool) int {
	c := cmp.Or(cmp.Compare(p.turn, q.turn), cmp.Compare(p.kind, q.kind))
	if c == 0 && inTurn {
		c = cmp.Compare(p.index, q.index)
	}
	if c != 0 || p.index != q.index || p.kind == kindBefore && p.of != q.of {
		return c
	}
	return cmp.Compare(p.rank, q.rank)
}

// compareSteps orders full names chronologically, and concurrent steps in request order.
func compareSteps(a, b string) int {
	as, bs := step.ParsePath(a), step.ParsePath(b)
	for i := range min(len(as), len(bs)) {
		if c := cmp.Or(placeOf(as[i]).order(placeOf(bs[i]), true), cmp.Compare(as[i].String(), bs[i].String())); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// precedes reports whether a step was executed before the step that from names, or concurrently with it, and so did not
// depend on it.
func (p recordedRun) precedes(name, from string) bool {
	ns, fs := step.ParsePath(name), step.ParsePath(from)
	within := step.Root
	for i := range min(len(ns), len(fs)) {
		if ns[i].String() != fs[i].String() {
			return placeOf(ns[i]).order(placeOf(fs[i]), !modelled(p.steps, within)) <= 0
		}
		within = within.Part(ns[i])
	}
	return false
}

// modelled reports whether the agent of a place uses a model. Otherwise it is Go code, whose steps are sequential.
func modelled(steps map[string]json.RawMessage, at step.Place) bool {
	for own := range ownSteps(steps, at) {
		if own.Kind == step.KindModel {
			return true
		}
	}
	return false
}
