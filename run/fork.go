package run

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// guardrailStep and givenStep are steps before the first turn that depend on the message
// and on the run.
const (
	guardrailStep = "guardrail"
	givenStep     = "given"
)

// namedSteps is how many steps an error names at most.
const namedSteps = 40

// Fork is a run that repeats another one from a step on.
type Fork struct {
	// From is the name of the first step that is done anew, as [Service.Steps] lists them,
	// or of a sub-agent's part (turn-2-agent-1-helper), which is then done anew from its
	// beginning. What was done before, or at once with it, is kept.
	From string
	// Message goes in the place of the run's; empty leaves it.
	Message string
	Again
}

// Fork begins a new run that keeps what another one did before a step; any run of the
// tree names it, and it may be under way. The new run has the media of the kept steps
// under the same refs, and the ledger tells where it was forked from. It is outside of
// the run's conversation, of which it knows what the run knew. The kept model calls count
// in its usage; its generations are its own alone. Errors: media.CodeNotFound for an
// unknown run or somebody else's, media.CodeInvalid for an unknown step,
// media.CodeUnsupported for a run whose steps are not kept.
func (s *Service) Fork(ctx context.Context, owner, runID string, f Fork) (*Run, error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, row)
	if err != nil {
		return nil, err
	}
	p, err := s.past(row, st)
	if err != nil {
		return nil, err
	}
	if err := p.cut(f); err != nil {
		return nil, err
	}
	if _, err := s.outfit(ctx, p.setting); err != nil {
		return nil, err
	}
	id := s.cfg.NewID()
	if err := s.transplant(ctx, &p, owner, row.Tree, id); err != nil {
		return nil, err
	}
	p.inTime(s.cfg.Now())
	p.Forked = &origin{Run: row.Tree, Step: f.From}
	state, err := json.Marshal(p.saved)
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "write the state of run %s: %w", id, err)
	}
	next := ledger.RunState{
		RunID: id, Owner: owner, Status: ledger.WaitAnswered, State: state, Setting: p.setting, AnsweredAt: s.cfg.Now(),
	}
	r := newRun(ctx, id)
	if err := s.enter(r); err != nil {
		return nil, err
	}
	if err := s.cfg.Ledger.SaveRunState(ctx, next); err != nil {
		s.leave(r)
		return nil, err
	}
	return s.beginPart(ctx, r, next)
}

// cut leaves out what the fork does anew.
func (p *past) cut(f Fork) error {
	known := func(name string) bool { return name == f.From || strings.HasPrefix(name, f.From+"/") }
	names := p.names()
	if !slices.ContainsFunc(names, known) {
		e := media.Errorf(media.CodeInvalid, "the run has no finished step %.80q: it has %s", media.Scrub(f.From), strings.Join(names[:min(len(names), namedSteps)], ", "))
		e.Valid = names
		return e
	}
	kept := map[string]json.RawMessage{}
	for _, name := range names {
		anew := name == givenStep || f.Message != "" && strings.HasPrefix(name, guardrailStep)
		if !anew && p.precedes(name, f.From) {
			kept[name] = p.steps[name]
		}
	}
	p.steps = kept
	req := p.State.Request
	if f.Message != "" {
		req.Message = f.Message
	}
	if p.Thread != nil {
		req.History = p.Thread.History
		req.Granted = slices.Concat(p.Thread.Inherited, req.Granted)
	}
	req.Conversation, p.Thread = "", nil
	p.State = agent.State{Version: max(p.State.Version, agent.StateVersion), Request: req, Steps: p.steps}
	p.allow(f.Again)
	return nil
}

// transplant gives the new run its id, and the media that what is kept names.
func (s *Service) transplant(ctx context.Context, p *past, owner, tree, id string) error {
	text, err := json.Marshal(p.State)
	if err != nil {
		return media.Errorf(media.CodeInternal, "write the state of run %s: %w", id, err)
	}
	var ids []string
	query := ledger.MediaQuery{Tree: tree, Page: ledger.Page{Limit: ledger.MaxLimit}}
	for {
		list, err := s.cfg.Ledger.ListMedia(ctx, owner, query)
		if err != nil {
			return err
		}
		for _, rec := range slices.Backward(list.Items) {
			if !bytes.Contains(text, []byte(rec.Ref)) {
				continue
			}
			granted, warnings := s.grant(ctx, agent.Request{Owner: owner, RunID: id}, []media.Output{rec.Output})
			if len(granted) == 0 {
				return media.Errorf(media.CodeUnavailable, "hand %s to the new run: %s", rec.Ref, strings.Join(warnings, "; "))
			}
			ids = append(ids, rec.ID, granted[0].ID)
		}
		if query.After = list.Next; query.After == "" {
			break
		}
	}
	// Records have ids that nothing else has.
	moved := strings.NewReplacer(append(ids, tree, id)...).Replace(string(text))
	p.State = agent.State{}
	if err := json.Unmarshal([]byte(moved), &p.State); err != nil {
		return media.Errorf(media.CodeInternal, "write the state of run %s: %w", id, err)
	}
	return nil
}
