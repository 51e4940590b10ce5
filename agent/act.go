package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"atelier/action"
	"atelier/generate"
	"atelier/journal"
	"atelier/media"
	"atelier/wire"
)

// doAll runs the actions and sub-agents of a step at once and gives their results in
// the order asked. It returns when all have ended, also when ctx ended.
func (r *run) doAll(ctx context.Context, s *Step) results {
	res := results{Actions: make([]action.Outcome, len(s.Actions)), Agents: make([]agentOutcome, len(s.Agents))}
	children := make([]*run, len(s.Agents))
	uses := make([]AgentUse, len(s.Agents))
	var g errgroup.Group
	g.SetLimit(r.r.cfg.Parallel)
	begin := func(do func(ctx context.Context)) {
		part, join := journal.Fork(ctx)
		g.Go(func() error {
			defer join()
			do(part)
			return nil
		})
	}
	for i, call := range s.Actions {
		begin(func(ctx context.Context) {
			res.Actions[i] = r.act(ctx, call, callIndex{turn: r.turns, index: i + 1})
		})
	}
	for i, call := range s.Agents {
		begin(func(ctx context.Context) {
			res.Agents[i], children[i], uses[i] = r.delegate(ctx, call, callIndex{turn: r.turns, index: len(s.Actions) + i + 1})
		})
	}
	_ = g.Wait() // failures are in the results
	for i, child := range children {
		if child == nil {
			continue
		}
		r.absorb(ctx, child)
		if res.Agents[i].Success || res.Agents[i].overBudget() {
			r.payload = placeAt(r.payload, uses[i].PayloadKey, child.payload)
		}
	}
	r.set.Arrange(res.madeInOrder())
	if res.waits() {
		return res // it is made anew when the answer is there
	}
	var changes []media.Change
	for i := range res.Actions {
		changes = append(changes, res.Actions[i].Changes...)
		res.Actions[i].Outputs, _ = bounded(res.Actions[i].Outputs).(map[string]any)
		// The result has them; the model is told once, with the outcome.
		r.warn(ctx, res.Actions[i].Warnings...)
		r.drew(res.Actions[i])
	}
	r.look(ctx, &res, changes)
	r.offer(ctx, &res)
	return res
}

// waits reports whether an act of the step waits for a person.
func (r *results) waits() bool {
	return slices.ContainsFunc(r.Actions, func(o action.Outcome) bool { return errors.Is(o.Err, ErrPaused) }) ||
		slices.ContainsFunc(r.Agents, func(a agentOutcome) bool { return a.waits })
}

// madeInOrder lists the refs of what a step made, in the order asked, whichever act
// was ready first.
func (r *results) madeInOrder() []media.Ref {
	var refs []media.Ref
	for _, a := range r.Actions {
		refs = append(refs, refsOf(a.Media)...)
	}
	return refs
}

// ActResult is what the durable step of an act keeps.
type ActResult struct {
	Outcome action.Outcome `json:"outcome"`
	Media   []media.Output `json:"media,omitempty"`
	Changes []media.Change `json:"changes,omitempty"`
	// Substituted is that of the outcome, whose JSON leaves it out.
	Substituted *action.Substitution `json:"substituted,omitempty"`

	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Cut tells that the run was ended while the act was under way, so that it did not come
	// to its own end: whoever tries the run again does it anew.
	Cut bool `json:"cut,omitempty"`
}

// act runs one action.
func (r *run) act(ctx context.Context, call ActionCall, at callIndex) action.Outcome {
	rec := r.begin(StepAction, call.Name, at)
	rec.Params = plain(call.Params)
	r.saveStep(ctx, rec)
	r.emit(ctx, EventActionStarted, ActionStarted{StepID: rec.ID, Name: rec.Name, Turn: at.turn})
	scope := media.ScopeOf(ctx)
	scope.Step = rec.ID
	done := r.invoke(media.WithScope(ctx, scope), call, at, rec.ID)
	out := done.Outcome
	if errors.Is(out.Err, ErrPaused) {
		r.hold(ctx, rec, nil)
		return out
	}
	if !done.Ended.IsZero() {
		rec.StartedAt, rec.FinishedAt = done.Began, done.Ended
	}
	rec.Status, rec.Code, rec.Message = StatusSucceeded, out.Code, out.Message
	if !out.Success {
		rec.Status = StatusFailed
		if done.Cut {
			rec.Status = StatusCancelled
		}
	}
	if out.Outputs != nil {
		rec.Outputs = plain(out.Outputs)
	}
	rec.Media = out.Media
	if out.Error != nil && out.Error.Code == media.CodeDiskFull {
		r.mu.Lock()
		r.unstored = cmp.Or(r.unstored, out.Error.Message)
		r.mu.Unlock()
	}
	r.end(ctx, rec)
	r.stored(ctx, out.Media)
	r.emit(ctx, EventActionFinished, ActionFinished{
		StepID: rec.ID, Name: rec.Name, Turn: at.turn, Success: out.Success, Code: out.Code, Message: out.Message, Refs: refsOf(out.Media), Cut: done.Cut,
	})
	return out
}

// invoke calls the registry through the journal.
func (r *run) invoke(ctx context.Context, call ActionCall, at callIndex, stepID string) ActResult {
	if err := r.allowed(call.Name); err != nil {
		return ActResult{Outcome: refused(call.Name, err)}
	}
	name, env := at.name(), r.env(ctx, stepID)
	if ctx.Err() == nil { // one that is refused by a person is not begun either
		if err := r.approve(ctx, call, at, env); err != nil {
			return ActResult{Outcome: refused(call.Name, err), Cut: ctx.Err() != nil}
		}
	}
	if err := r.begins(ctx, name); err != nil {
		return r.closed(ctx, call, env, err)
	}
	own := &Context{Task: r.task, Input: r.input, run: r, act: name}
	ctx = context.WithValue(ctx, contextKey{}, own)
	live := false
	b, err := r.journal.Step(ctx, name.String(), func(ctx context.Context) ([]byte, error) {
		live = true
		return r.perform(ctx, call, env, own)
	})
	var k ActResult
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil {
		return ActResult{Outcome: refused(call.Name, fmt.Errorf("run action: %w", err)), Cut: ctx.Err() != nil}
	}
	r.countAct(k.Began, k.Ended, live, generate.Charge{ID: stepID, Images: generated(k.Media)})
	k.Outcome.Media = k.Media
	if err := r.set.Merge(k.Media); err != nil {
		k.Outcome.Warnings = append(k.Outcome.Warnings, err.Error())
	}
	k.Outcome.Changes, k.Outcome.Substituted = k.Changes, k.Substituted
	r.decide(ctx, k.Changes)
	return k
}

// perform runs an action within its step, and gives what the journal remembers of it.
func (r *run) perform(ctx context.Context, call ActionCall, env action.Env, own *Context) ([]byte, error) {
	began := r.r.cfg.Now()
	defer r.meter.begin(r.r.cfg.Now)()
	o := r.r.cfg.Actions.Invoke(ctx, call.Name, call.Params, env)
	if journal.Left(ctx) {
		return nil, journal.ErrLeft // what it gives now is not what it gives when it is not disturbed
	}
	if own.waits.Load() {
		return nil, ErrPaused // it begins again when the answer is there
	}
	cut := ctx.Err() != nil && o.Code != action.Success
	return json.Marshal(ActResult{Outcome: o, Media: o.Media, Changes: o.Changes, Substituted: o.Substituted, Began: began, Ended: r.r.cfg.Now(), Cut: cut})
}

// env is what the run lends to an act.
func (r *run) env(ctx context.Context, stepID string) action.Env {
	env := action.Env{
		Media: r.set, Agent: r.spec.slug, Prefer: r.imageModels(), See: r.canSee, InUse: r.inUse,
		Progress: func(note string) {
			r.emit(ctx, EventOperationProgress, OperationProgress{StepID: stepID, Note: clip(wire.NameMedia(note), 300)})
		},
	}
	if r.spec.def != nil {
		env.Threshold = r.spec.def.InterceptionThreshold
	}
	return env
}

// closed is an act that is not begun any more. What an earlier process began of it and left
// is ended as if that process had been told, and what came of it is kept.
func (r *run) closed(ctx context.Context, call ActionCall, env action.Env, why error) ActResult {
	k := ActResult{Outcome: refused(call.Name, why), Cut: true}
	if journal.Left(ctx) || !r.r.cfg.Actions.Left(ctx, call.Name) {
		return k
	}
	o := r.r.cfg.Actions.Invoke(ctx, call.Name, call.Params, env)
	r.decide(ctx, o.Changes)
	return ActResult{Outcome: o, Media: o.Media, Changes: o.Changes, Cut: o.Code != action.Success}
}

// allowed checks that the agent may take the action.
func (r *run) allowed(name string) error {
	if r.spec.def == nil {
		return nil
	}
	names := r.r.actionNames(r.spec.def)
	if slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) }) {
		return nil
	}
	e := media.Errorf(media.CodeNotFound, "unknown action %q: this agent has %s", clip(name, 80), joined(names))
	e.Valid, e.Retryable = names, true
	return e
}

func refused(name string, err error) action.Outcome {
	p := problemOf(err)
	return action.Outcome{Name: clip(name, 80), Code: action.Failure, Message: p.Message, Error: &p, Err: err}
}

// imageModels is what the run prefers for pictures, best first.
func (r *run) imageModels() []string {
	if r.spec.def == nil {
		return r.prefer.image
	}
	return append(slices.Clone(r.prefer.image), r.spec.def.ImageModels...)
}

// begin makes the record of an act.
func (r *run) begin(kind StepKind, name string, at callIndex) StepRecord {
	return StepRecord{
		ID: r.newID("act", at), RunID: r.id, AgentPath: r.path, Turn: at.turn, Index: at.index, Kind: kind,
		Name: clip(name, 80), Status: StatusRunning, StartedAt: r.r.cfg.Now(),
	}
}

func (r *run) saveStep(ctx context.Context, rec StepRecord) {
	r.save(ctx, "step", func(ctx context.Context) error { return r.r.cfg.Observer.SaveStep(ctx, rec) })
}

// hold saves an act that waits for a person, by itself or by its sub-agent.
func (r *run) hold(ctx context.Context, rec StepRecord, child *run) {
	r.paused.Store(true)
	rec.Status, rec.FinishedAt = StatusPaused, time.Time{}
	r.wait.hold(r, heldAct{rec, child})
	r.saveStep(ctx, rec)
	r.mu.Lock()
	r.steps = append(r.steps, rec)
	r.mu.Unlock()
}

// end saves the finished act and puts it into the log.
func (r *run) end(ctx context.Context, rec StepRecord) {
	if rec.FinishedAt.IsZero() {
		rec.FinishedAt = r.r.cfg.Now()
	}
	r.saveStep(ctx, rec)
	r.mu.Lock()
	r.steps = append(r.steps, rec)
	r.mu.Unlock()
}
