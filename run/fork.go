package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"atelier/agent"
	"atelier/agent/definition"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/record"
)

// namedSteps is the maximum number of steps that an error names.
const namedSteps = 40

// Fork describes a run that repeats another run from a step on. Zero fields keep that run's values.
type Fork struct {
	// From is the name of the first step to execute again, as [Service.Steps] lists them, or the name of a sub-agent's
	// part (turn-2-agent-1-helper), which is executed again from its beginning. Earlier and concurrent steps are kept.
	// Required.
	From string `json:"from"`
	// ID is the id of the new run, see agent.Request.RunID; empty generates one.
	ID string `json:"-"`
	// Message replaces the run's message, Images the pictures that came with it, and Input the run's input. A ref names
	// an item of the run. Models receive the new values in repeated calls; the results of kept calls stay.
	Message string        `json:"message,omitempty"`
	Images  []agent.Image `json:"images,omitempty"`
	Input   agent.Input   `json:"input,omitempty"`
	// LenientImages omits pictures that the model does not accept, as in agent.Request.
	LenientImages bool `json:"lenient_images,omitempty"`
	// ChatModels and ImageModels take precedence over the definitions' models, Vision over their
	// policy, as in agent.Request.
	ChatModels  []string                        `json:"chat_models,omitempty"`
	ImageModels []string                        `json:"image_models,omitempty"`
	Vision      *definition.VisionContextPolicy `json:"vision,omitempty"`
	// Setting derives the fork's setting, see [Config], from the run's; nil keeps it.
	Setting func(json.RawMessage) (json.RawMessage, error) `json:"-"`
	ContinueOptions
}

// Fork starts a new run that keeps the steps of another run before a given step. Any run of the tree identifies the
// other run, which may still be in progress. The new run has the media of the kept steps under the same refs, and the
// ledger records its origin. It is outside of the run's conversation, but keeps its history. The kept model calls count
// in its usage; its generations are its own. Errors: media.CodeNotFound for an unknown run or another owner's,
// media.CodeInvalid for an unknown step, an invalid id and invalid limits, media.CodeConflict for the id of an existing run, media.CodeUnsupported for a run whose steps are not
// recorded, and those of agent.Runner.Prepare. After an error there is no new run.
func (s *Service) Fork(ctx context.Context, owner, runID string, f Fork) (*Run, error) {
	if f.ID != "" {
		if err := cmp.Or(checkID(f.ID), s.checkUnused(ctx, f.ID)); err != nil {
			return nil, err
		}
	}
	row, st, err := s.history.find(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	p, err := s.history.readRecorded(row, st)
	if err != nil {
		return nil, err
	}
	if err := p.applyFork(f); err != nil {
		return nil, err
	}
	if f.Setting != nil {
		if p.setting, err = f.Setting(p.setting); err != nil {
			return nil, err
		}
	}
	p.dropExpiredDeadline(s.cfg.Now())
	f.Apply(&p.State.Request)
	id := cmp.Or(f.ID, s.cfg.NewID())
	with, err := s.storeNewMedia(ctx, &p, f, row.Tree, id)
	if err != nil {
		return nil, err
	}
	p.Forked = &record.Origin{Run: row.Tree, Step: f.From}
	next := ledger.RunState{
		RunID: id, Owner: owner, Status: ledger.WaitAnswered, Setting: p.setting, AnsweredAt: s.cfg.Now(),
	}
	r := newRun(ctx, id)
	r.setting = string(next.Setting)
	if err := s.local.enter(r); err != nil {
		return nil, err
	}
	if next, err = p.fork(ctx, s.cfg.Ledger, row.Tree, next, with); err != nil {
		s.local.leave(r)
		return nil, err
	}
	return s.beginPart(ctx, r, next)
}

// fork saves the state of a new run, its own media and the media that the kept steps name, in one
// commit: media of a run that does not exist cannot exist.
func (p recordedRun) fork(ctx context.Context, l ledger.Store, tree string, next ledger.RunState, with *unrecorded) (ledger.RunState, error) {
	text, err := json.Marshal(p.State)
	if err != nil {
		return next, media.Errorf(media.CodeInternal, "write the state of run %s: %w", next.RunID, err)
	}
	all, err := ledger.All(func(page ledger.Page) (ledger.List[ledger.Record], error) {
		return l.ListMedia(ctx, next.Owner, ledger.MediaQuery{Tree: tree, Page: page})
	})
	if err != nil {
		return next, err
	}
	var kept []media.Output
	for _, rec := range slices.Backward(all) { // oldest first
		if bytes.Contains(text, []byte(rec.Ref)) {
			kept = append(kept, rec.Output)
		}
	}
	save := func(ctx context.Context) error {
		ids, err := with.save(ctx, l)
		if err != nil {
			return err
		}
		// An item that is deleted in this moment is omitted, as if it had been deleted before.
		if _, _, err := grant(ctx, l, agent.Request{Owner: next.Owner, RunID: next.RunID}, kept); err != nil {
			return err
		}
		p.State = agent.State{}
		if err := json.Unmarshal(text, &p.State); err != nil {
			return media.Errorf(media.CodeInternal, "write the state of run %s: %w", next.RunID, err)
		}
		other := map[string]string{tree: next.RunID}
		for pair := range slices.Chunk(ids, 2) {
			other[pair[0]] = pair[1]
		}
		if err := p.State.Rename(other); err != nil {
			return err
		}
		if next.State, err = json.Marshal(p.saved); err != nil {
			return media.Errorf(media.CodeInternal, "write the state of run %s: %w", next.RunID, err)
		}
		return l.SaveRunState(ctx, next)
	}
	err = l.InTransaction(ctx, save)
	return next, err
}

// applyFork removes the steps that the fork repeats, and applies its changes to the request, except the images.
func (p *recordedRun) applyFork(f Fork) error {
	part := step.ParsePath(f.From).Inside()
	known := func(name string) bool { return name == f.From || part.Has(name) }
	names := p.names()
	if !slices.ContainsFunc(names, known) {
		e := media.Errorf(media.CodeInvalid, "the run has no finished step %.80q: its finished steps are %s", media.ErrorText(f.From), strings.Join(names[:min(len(names), namedSteps)], ", "))
		e.Valid = names
		return e
	}
	kept := map[string]json.RawMessage{}
	for _, name := range names {
		if !f.invalidates(step.ParsePath(name)) && p.precedes(name, f.From) {
			kept[name] = p.steps[name]
		}
	}
	p.steps = kept
	req := p.State.Request
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
	req.Vision = cmp.Or(f.Vision, req.Vision)
	if f.changesModelInput() {
		req.Admitted, req.Fitted = false, nil
	}
	if p.Thread != nil {
		req.History = p.Thread.History
		req.Granted = slices.Concat(p.Thread.Inherited, req.Granted)
	}
	req.Conversation, p.Thread = "", nil
	p.State = agent.State{Version: max(p.State.Version, agent.StateVersion), Request: req, Steps: p.steps}
	return nil
}

// invalidates reports whether a step before the first turn depends on what the fork changes.
func (f Fork) invalidates(p step.Path) bool {
	if len(p) > 1 {
		return false
	}
	k := p.Own().Kind
	return k == step.KindGiven || f.Message != "" && k == step.KindGuardrail || f.changesModelInput() && k == step.KindImages
}

// changesModelInput reports whether the fork's model is another one or is shown other pictures.
func (f Fork) changesModelInput() bool {
	return len(f.Images) > 0 || f.LenientImages || len(f.ChatModels) > 0 || f.Setting != nil
}

// storeNewMedia stores the bytes of a fork's own media for the new run and returns the items to record. It refuses
// media that the model does not accept.
func (s *Service) storeNewMedia(ctx context.Context, p *recordedRun, f Fork, tree, id string) (*unrecorded, error) {
	with := &unrecorded{newID: s.cfg.NewID}
	agents, err := s.agentsBySetting.forSetting(ctx, p.setting)
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
	if req, err = agents.PrepareWith(ctx, req, with); err != nil {
		return nil, suggestOtherRun(ctx, s.cfg.Ledger, req.Owner, err)
	}
	p.State.Request = req
	return with, nil
}

// unrecorded contains items of a run that does not exist yet. Their records are saved with the run's state, in one
// commit; until then they have temporary ids.
type unrecorded struct {
	newID func() string

	mu    sync.Mutex // guards items
	items []item
}

// item is one of these items as recorded, with its scope and temporary id.
type item struct {
	scope  media.Scope
	output media.Output
	id     string
}

var _ media.Recorder = (*unrecorded)(nil)

// Record keeps an item as a ledger would record it; equal bytes are the same item.
func (u *unrecorded) Record(ctx context.Context, o media.Output) (media.Output, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	scope := media.ScopeOf(ctx)
	o.Origin.AgentPath = cmp.Or(o.Origin.AgentPath, scope.AgentPath)
	o.Origin.Operation = cmp.Or(o.Origin.Operation, scope.Operation)
	o.Origin.Direction = cmp.Or(o.Origin.Direction, "output")
	next := item{scope: scope, output: o}
	at := slices.IndexFunc(u.items, func(i item) bool { return i.output.Digest == o.Digest })
	if at >= 0 {
		next.id, o = u.items[at].id, u.items[at].output
	} else {
		next.id = u.newID()
	}
	u.items = append(u.items, next)
	o.ID = next.id
	return o, nil
}

// save saves the records and returns the temporary ids, each followed by the id of the record. It can be repeated, like
// the commit.
func (u *unrecorded) save(ctx context.Context, to ledger.Store) (ids []string, err error) {
	u.mu.Lock()
	items := slices.Clone(u.items)
	u.mu.Unlock()
	for _, i := range items {
		rec, err := to.Record(media.WithScope(ctx, i.scope), i.output)
		if err != nil {
			return nil, err
		}
		ids = append(ids, i.id, rec.ID)
	}
	return ids, nil
}
