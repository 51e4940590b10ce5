package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"atelier/agent"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
)

// namedSteps is how many steps an error names at most.
const namedSteps = 40

// Fork is a run that repeats another one from a step on. Fields that are zero leave what the
// run had.
type Fork struct {
	// From is the name of the first step that is done anew, as [Service.Steps] lists them,
	// or of a sub-agent's part (turn-2-agent-1-helper), which is then done anew from its
	// beginning. What was done before, or at once with it, is kept. Required.
	From string `json:"from"`
	// Message goes in the place of the run's, Images in that of the pictures that came with
	// it, and Input in that of what stands beside it. A ref names an item of the run. Models
	// see them in the calls that are made anew; what was made of the others before is kept.
	Message string         `json:"message,omitempty"`
	Images  []agent.Image  `json:"images,omitempty"`
	Input   map[string]any `json:"input,omitempty"`
	// LenientImages leaves pictures out that the model does not take, as in agent.Request.
	LenientImages bool `json:"lenient_images,omitempty"`
	// ChatModels and ImageModels go before what the definitions prefer, Vision before their
	// policy, as in agent.Request.
	ChatModels  []string                   `json:"chat_models,omitempty"`
	ImageModels []string                   `json:"image_models,omitempty"`
	Vision      *agent.VisionContextPolicy `json:"vision,omitempty"`
	// Setting makes the fork's setting, see [Config], from that of the run; nil leaves it.
	Setting func(json.RawMessage) (json.RawMessage, error) `json:"-"`
	Again
}

// Fork begins a new run that keeps what another one did before a step; any run of the
// tree names it, and it may be under way. The new run has the media of the kept steps
// under the same refs, and the ledger tells where it was forked from. It is outside of
// the run's conversation, of which it knows what the run knew. The kept model calls count
// in its usage; its generations are its own alone. Errors: media.CodeNotFound for an
// unknown run or somebody else's, media.CodeInvalid for an unknown step and for limits that
// are none, media.CodeUnsupported for a run whose steps are not kept, and those of
// agent.Runner.Prepare. After an error there is no new run.
func (s *Service) Fork(ctx context.Context, owner, runID string, f Fork) (*Run, error) {
	p, tree, err := s.kept(ctx, owner, runID, f)
	if err != nil {
		return nil, err
	}
	id := s.cfg.NewID()
	with, err := s.furnish(ctx, &p, f, tree, id)
	if err != nil {
		return nil, err
	}
	p.Forked = &origin{Run: tree, Step: f.From}
	next := ledger.RunState{
		RunID: id, Owner: owner, Status: ledger.WaitAnswered, Setting: p.setting, AnsweredAt: s.cfg.Now(),
	}
	r := newRun(ctx, id)
	if err := s.enter(r); err != nil {
		return nil, err
	}
	if next, err = s.plant(ctx, p, tree, next, with); err != nil {
		s.leave(r)
		return nil, err
	}
	return s.beginPart(ctx, r, next)
}

// kept reads the run tree that a fork begins from, and leaves of it what the fork keeps and does not
// change.
func (s *Service) kept(ctx context.Context, owner, runID string, f Fork) (p past, tree string, err error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return p, "", err
	}
	st, err := s.state(ctx, row)
	if err != nil {
		return p, "", err
	}
	if p, err = s.past(row, st); err != nil {
		return p, "", err
	}
	if err := p.cut(f); err != nil {
		return p, "", err
	}
	if f.Setting != nil {
		if p.setting, err = f.Setting(p.setting); err != nil {
			return p, "", err
		}
	}
	p.inTime(s.cfg.Now())
	f.apply(&p.State.Request)
	return p, row.Tree, nil
}

// plant saves the state of a new run, the media that it brings and the media that what is kept
// names in one commit: there is no media of a run that does not exist.
func (s *Service) plant(ctx context.Context, p past, tree string, next ledger.RunState, with *unrecorded) (ledger.RunState, error) {
	text, err := json.Marshal(p.State)
	if err != nil {
		return next, media.Errorf(media.CodeInternal, "write the state of run %s: %w", next.RunID, err)
	}
	kept, err := s.named(ctx, text, next.Owner, tree)
	if err != nil {
		return next, err
	}
	save := func(ctx context.Context) error {
		ids, err := with.save(ctx, s.cfg.Ledger)
		if err != nil {
			return err
		}
		if err := s.transplant(ctx, kept, next); err != nil {
			return err
		}
		if p.State, err = moved(text, ids, tree, next.RunID); err != nil {
			return err
		}
		if next.State, err = json.Marshal(p.saved); err != nil {
			return media.Errorf(media.CodeInternal, "write the state of run %s: %w", next.RunID, err)
		}
		return s.cfg.Ledger.SaveRunState(ctx, next)
	}
	err = together(ctx, s.cfg.Ledger, save)
	return next, err
}

// cut leaves out what the fork does anew.
func (p *past) cut(f Fork) error {
	part := step.Root.Part(f.From)
	known := func(name string) bool { return name == f.From || part.Has(name) }
	names := p.names()
	if !slices.ContainsFunc(names, known) {
		e := media.Errorf(media.CodeInvalid, "the run has no finished step %.80q: it has %s", media.ErrorText(f.From), strings.Join(names[:min(len(names), namedSteps)], ", "))
		e.Valid = names
		return e
	}
	kept := map[string]json.RawMessage{}
	for _, name := range names {
		if !f.renews(step.ParsePath(name)) && p.precedes(name, f.From) {
			kept[name] = p.steps[name]
		}
	}
	p.steps = kept
	req := f.changed(p.State.Request)
	if p.Thread != nil {
		req.History = p.Thread.History
		req.Granted = slices.Concat(p.Thread.Inherited, req.Granted)
	}
	req.Conversation, p.Thread = "", nil
	p.State = agent.State{Version: max(p.State.Version, agent.StateVersion), Request: req, Steps: p.steps}
	return nil
}

// renews reports whether a step before the first turn depends on what the fork changes.
func (f Fork) renews(p step.Path) bool {
	if len(p) > 1 {
		return false
	}
	k := p.Own().Kind
	return k == step.KindGiven || f.Message != "" && k == step.KindGuardrail || f.sees() && k == step.KindImages
}

// sees reports whether the fork's model is shown other pictures, or is another one.
func (f Fork) sees() bool {
	return len(f.Images) > 0 || f.LenientImages || len(f.ChatModels) > 0 || f.Setting != nil
}

// changed gives a request as the fork changes it, but for its images.
func (f Fork) changed(req agent.Request) agent.Request {
	req.Message = cmp.Or(f.Message, req.Message)
	req.LenientImages = req.LenientImages || f.LenientImages
	if f.Input != nil {
		req.Input = f.Input
	}
	if len(f.ChatModels) > 0 {
		req.ChatModels = f.ChatModels
	}
	if len(f.ImageModels) > 0 {
		req.ImageModels = f.ImageModels
	}
	if f.Vision != nil {
		req.Vision = f.Vision
	}
	if f.sees() {
		req.Admitted, req.Fitted = false, nil
	}
	return req
}

// furnish stores the bytes of what a fork brings for the new run, and gives what is to be
// recorded; what its model does not take is refused.
func (s *Service) furnish(ctx context.Context, p *past, f Fork, tree, id string) (*unrecorded, error) {
	with := &unrecorded{newID: s.cfg.NewID}
	agents, err := s.outfit(ctx, p.setting)
	if err != nil {
		return nil, err
	}
	req := p.State.Request
	for _, i := range f.Images {
		if i.Ref == "" || slices.ContainsFunc(req.Granted, func(o media.Output) bool { return o.Ref == i.Ref }) {
			continue
		}
		list, err := s.cfg.Ledger.ListMedia(ctx, req.Owner, ledger.MediaQuery{Tree: tree, Ref: i.Ref, Page: ledger.Page{Limit: 1}})
		if err != nil {
			return nil, err
		}
		for _, rec := range list.Items {
			req.Granted = append(slices.Clip(req.Granted), rec.Output)
		}
	}
	if len(f.Images) > 0 {
		req.Images = f.Images
	}
	req.RunID = id
	if prepared, ok := agents.(preparer); ok {
		if req, err = prepared.PrepareWith(ctx, req, with); err != nil {
			return nil, s.elsewhere(ctx, req.Owner, err)
		}
	}
	p.State.Request = req
	return with, check(agents, req)
}

// named lists the media of a run that a text names, oldest first.
func (s *Service) named(ctx context.Context, text []byte, owner, tree string) (kept []media.Output, err error) {
	query := ledger.MediaQuery{Tree: tree, Page: ledger.Page{Limit: ledger.MaxLimit}}
	for {
		list, err := s.cfg.Ledger.ListMedia(ctx, owner, query)
		if err != nil {
			return nil, err
		}
		for _, rec := range slices.Backward(list.Items) {
			if bytes.Contains(text, []byte(rec.Ref)) {
				kept = append(kept, rec.Output)
			}
		}
		if query.After = list.Next; query.After == "" {
			return kept, nil
		}
	}
}

// transplant grants a new run the media that is kept.
func (s *Service) transplant(ctx context.Context, kept []media.Output, next ledger.RunState) error {
	for _, o := range kept {
		granted, warnings := s.grant(ctx, agent.Request{Owner: next.Owner, RunID: next.RunID}, []media.Output{o})
		if len(granted) == 0 {
			return media.Errorf(media.CodeUnavailable, "hand %s to the new run: %s", o.Ref, strings.Join(warnings, "; "))
		}
	}
	return nil
}

// moved is a state, which text is, with the id of the new run and other ids, each behind the one
// in whose place it comes.
func moved(text []byte, ids []string, tree, run string) (state agent.State, err error) {
	if err := json.Unmarshal(text, &state); err != nil {
		return state, media.Errorf(media.CodeInternal, "write the state of run %s: %w", run, err)
	}
	other := map[string]string{tree: run}
	for pair := range slices.Chunk(ids, 2) {
		other[pair[0]] = pair[1]
	}
	return state, state.Rename(other)
}
