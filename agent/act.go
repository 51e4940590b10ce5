package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/generate"
	"atelier/generate/money"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
	"atelier/media/wire"
)

// doAll runs the actions and sub-agents of a step at once and gives their results in
// the order asked. It returns when all have ended, also when ctx ended.
func (r *run) doAll(ctx context.Context, s *contract.Step) transcript.Results {
	res := transcript.Results{Actions: make([]action.Outcome, len(s.Actions)), Agents: make([]transcript.Agent, len(s.Agents))}
	children := make([]*run, len(s.Agents))
	uses := make([]definition.AgentUse, len(s.Agents))
	var g errgroup.Group
	alone := len(s.Actions)+len(s.Agents) == 1 // needs no goroutine, whose stack would have to grow
	begin := func(do func(ctx context.Context)) {
		part, join := journal.Fork(ctx)
		act := func() error {
			defer join()
			do(part)
			return nil
		}
		if alone {
			_ = act() // nil
			return
		}
		g.Go(act)
	}
	if !alone {
		g.SetLimit(r.r.cfg.Parallel)
	}
	for i, call := range s.Actions {
		begin(func(ctx context.Context) {
			res.Actions[i] = r.acts.do(ctx, call, callIndex{turn: r.turns, index: i + 1})
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
		if a := res.Agents[i]; a.Success || a.Error != nil && a.Error.Code == media.CodeOverBudget { // unfinished, and usable as it is
			r.draft.Payload = object.Place(r.draft.Payload, uses[i].PayloadKey, child.draft.Payload)
		}
	}
	var made []media.Ref // in the order asked, whichever act was ready first
	for _, a := range res.Actions {
		made = append(made, refsOf(a.Media)...)
	}
	r.set.Arrange(made)
	if waits(res) {
		return res // it is made anew when the answer is there
	}
	var changes []media.Change
	for i := range res.Actions {
		changes = append(changes, res.Actions[i].Changes...)
		res.Actions[i].Outputs, _ = transcript.Bounded(res.Actions[i].Outputs).(map[string]any)
		// The result has them; the model reads them once, with the outcome.
		r.warn(ctx, res.Actions[i].Warnings...)
		r.acts.drew(res.Actions[i])
	}
	r.sights.Look(ctx, r.turns, &res, changes)
	r.sights.Offer(ctx, r.turns, &r.history, &res)
	return res
}

// waits reports whether an act of the step waits for a person.
func waits(r transcript.Results) bool {
	return slices.ContainsFunc(r.Actions, func(o action.Outcome) bool { return errors.Is(o.Err, ErrPaused) }) ||
		slices.ContainsFunc(r.Agents, func(a transcript.Agent) bool { return a.Waits })
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
	// Cut is set where the run was ended while the act was under way, so that it did not come
	// to its own end: a process that tries the run again does it anew.
	Cut bool `json:"cut,omitempty"`
}

// acts runs actions of a run. Each is a durable step and on record; a person approves those that need
// it. It is safe for concurrent use.
type acts struct {
	log     *runLog
	journal *journal.Transcript
	past    *past
	pauses  *pauses
	runner  *Runner
	max     limits
	spec    spec
	// approveOver is the price, in US dollars, over which the caller of the run wants to approve; empty
	// leaves it to the definition.
	approveOver string
	// env is what the run lends to every act, but for Progress.
	env action.Env
	// newContext gives the code of an action what it uses of the run.
	newContext func(act step.Name) *Context
	index      atomic.Int64 // acts of Go code
}

// next numbers the acts of Go code. Those of an action, within an act, have no place
// by their number that a replay would find again.
func (a *acts) next(ctx context.Context) callIndex {
	return callIndex{turn: 1, index: int(a.index.Add(1)), nested: media.ScopeOf(ctx).Step != ""}
}

// do runs one action. What goes wrong is in the outcome.
func (a *acts) do(ctx context.Context, call contract.ActionCall, at callIndex) action.Outcome {
	rec := a.log.begin(StepAction, call.Name, at)
	rec.Params = plain.JSON(call.Params)
	a.log.saveStep(ctx, rec)
	a.log.emit(ctx, EventActionStarted, ActionStarted{StepID: rec.ID, Name: rec.Name, Turn: at.turn})
	scope := media.ScopeOf(ctx)
	scope.Step = rec.ID
	done := a.invoke(media.WithScope(ctx, scope), call, at, rec.ID)
	out := done.Outcome
	if errors.Is(out.Err, ErrPaused) {
		a.pauses.hold(ctx, rec, nil)
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
		rec.Outputs = plain.JSON(out.Outputs)
	}
	rec.Media = out.Media
	if out.Error != nil && out.Error.Code == media.CodeDiskFull {
		a.log.outcome.update(func(t *tally) { t.unstored = cmp.Or(t.unstored, out.Error.Message) })
	}
	a.log.end(ctx, rec)
	a.log.stored(ctx, out.Media)
	a.log.emit(ctx, EventActionFinished, ActionFinished{
		StepID: rec.ID, Name: rec.Name, Turn: at.turn, Success: out.Success, Code: out.Code, Message: out.Message, Refs: refsOf(out.Media), Cut: done.Cut,
	})
	return out
}

// invoke calls the registry through the journal.
func (a *acts) invoke(ctx context.Context, call contract.ActionCall, at callIndex, stepID string) ActResult {
	if err := a.runner.allowed(a.spec.def, call.Name); err != nil {
		return ActResult{Outcome: refused(call.Name, err)}
	}
	name, env := at.name(), a.env
	env.Progress = func(note string) {
		a.log.emit(ctx, EventOperationProgress, OperationProgress{StepID: stepID, Note: plain.Clip(wire.NameMedia(note), 300)})
	}
	if ctx.Err() == nil { // one that is refused by a person is not begun either
		if err := a.approve(ctx, call, at, env); err != nil {
			return ActResult{Outcome: refused(call.Name, err), Cut: ctx.Err() != nil}
		}
	}
	if err := a.past.begins(ctx, name); err != nil {
		return a.closed(ctx, call, env, err)
	}
	own := a.newContext(name)
	ctx = context.WithValue(ctx, contextKey{}, own)
	live := false
	b, err := a.journal.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		live = true
		return a.perform(ctx, call, env, own)
	})
	var k ActResult
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil {
		return ActResult{Outcome: refused(call.Name, fmt.Errorf("run action: %w", err)), Cut: ctx.Err() != nil}
	}
	a.log.meter.Add(k.Began, k.Ended)
	if !live { // counted where it was done, by an earlier process
		a.max.allowed.Recall(generate.Charge{ID: stepID, Images: generated(k.Media)})
	}
	k.Outcome.Media = k.Media
	if err := a.env.Media.Merge(k.Media); err != nil {
		k.Outcome.Warnings = append(k.Outcome.Warnings, err.Error())
	}
	k.Outcome.Changes, k.Outcome.Substituted = k.Changes, k.Substituted
	a.decide(ctx, k.Changes)
	return k
}

// perform runs an action within its step, and gives what the journal remembers of it.
func (a *acts) perform(ctx context.Context, call contract.ActionCall, env action.Env, own *Context) ([]byte, error) {
	began := a.runner.cfg.Now()
	defer a.log.meter.Begin(a.runner.cfg.Now)()
	o := a.runner.cfg.Actions.Invoke(ctx, call.Name, call.Params, env)
	if journal.HandedOver(ctx) {
		return nil, journal.ErrHandedOver // what it gives now is not what it gives when it is not disturbed
	}
	if own.waits.Load() {
		return nil, ErrPaused // it begins again when the answer is there
	}
	cut := ctx.Err() != nil && o.Code != action.Success
	return json.Marshal(ActResult{Outcome: o, Media: o.Media, Changes: o.Changes, Substituted: o.Substituted, Began: began, Ended: a.runner.cfg.Now(), Cut: cut})
}

// closed is an act that is not begun any more. What an earlier process began of it and left
// is ended as that process would have ended it, and its results are kept.
func (a *acts) closed(ctx context.Context, call contract.ActionCall, env action.Env, reason error) ActResult {
	k := ActResult{Outcome: refused(call.Name, reason), Cut: true}
	if journal.HandedOver(ctx) || !a.runner.cfg.Actions.Recoverable(ctx, call.Name) {
		return k
	}
	o := a.runner.cfg.Actions.Invoke(ctx, call.Name, call.Params, env)
	a.decide(ctx, o.Changes)
	return ActResult{Outcome: o, Media: o.Media, Changes: o.Changes, Cut: o.Code != action.Success}
}

// allowed checks that the agent may take the action.
func (r *Runner) allowed(d *definition.Agent, name string) error {
	isName := func(n string) bool { return plain.SameName(n, name) }
	if d == nil || slices.ContainsFunc(d.Actions, func(a definition.ActionUse) bool { return isName(a.Name) }) ||
		slices.ContainsFunc(mediaActions, isName) && r.cfg.Actions.Has(name) {
		return nil
	}
	names := r.actionNames(d)
	e := media.Errorf(media.CodeNotFound, "unknown action %q: this agent has %s", plain.Clip(name, 80), plain.Joined(names))
	e.Valid, e.Retryable = names, true
	return e
}

func refused(name string, err error) action.Outcome {
	p := transcript.Problem(err)
	return action.Outcome{Name: plain.Clip(name, 80), Code: action.Failure, Message: p.Message, Error: &p, Err: err}
}

// labeller is a recorder that can change the label of a record; the ledger is one.
type labeller interface {
	LabelMedia(ctx context.Context, owner, id, label, description string) error
}

// decide makes the changes of an act: again in the set, where a journal replayed it,
// then in the records and the events.
func (a *acts) decide(ctx context.Context, changes []media.Change) {
	for _, c := range changes {
		o, ok := a.env.Media.Apply(c)
		if !ok {
			continue
		}
		switch c.Kind {
		case media.ChangePrune:
			a.log.emit(ctx, EventMediaPruned, MediaEvent{Output: o})
		case media.ChangeLabel, media.ChangePromote:
			l, can := a.runner.cfg.Recorder.(labeller)
			if !can || o.ID == "" || c.Label == "" && c.Description == "" {
				continue
			}
			if err := l.LabelMedia(context.WithoutCancel(ctx), a.log.owner, o.ID, c.Label, c.Description); err != nil {
				a.log.warn(ctx, fmt.Sprintf("the new label of %s was not saved: %s", o.Ref, err))
			}
		case media.ChangeView:
		}
	}
}

// drew notes what became of an action that asks an image model for pictures.
func (a *acts) drew(out action.Outcome) {
	if errors.Is(out.Err, ErrPaused) {
		return
	}
	if s := out.Substituted; s != nil {
		a.log.outcome.dispose(generate.Disposition{Setting: ImageModelSetting, Asked: s.Asked, Applied: s.Applied, Outcome: generate.OutcomeSubstituted, Reason: s.Reason})
	}
	did, err := a.runner.cfg.Actions.Lookup(out.Name)
	if err != nil || !slices.Contains(did.Tags, action.TagPicture) {
		return
	}
	d := drawn{asked: true, made: slices.ContainsFunc(out.Media, func(o media.Output) bool { return o.Modality == media.ModalityImage })}
	if !d.made {
		d.why = did.Name + ": " + out.Message
	}
	a.log.outcome.update(func(t *tally) { t.drawn.add(d) })
}

// callIndex is the place of an act in its run.
type callIndex struct {
	turn, index int
	nested      bool
	// within names an act by what it is part of and what it does, where its number does not
	// tell; see [Context.callWithin].
	within step.Name
}

// name is that of the act's step in the journal of its run.
func (at callIndex) name() step.Name {
	if at.within.Kind != step.KindOther {
		return at.within
	}
	return step.Action(at.turn, at.index)
}

// shownParam is how many characters of each text of an action's parameters a person sees
// in an approval.
const shownParam = 500

// approve asks a person, where the agent's definition or the run says so, whether an
// action may be run. A no is media.CodeForbidden. What was approved once, or needed no
// approval, is not looked at again in a replay, and what was done needs none.
func (a *acts) approve(ctx context.Context, call contract.ActionCall, at callIndex, env action.Env) error {
	if _, done := a.journal.Known(at.name()); done {
		return nil
	}
	var use definition.ActionUse
	if a.spec.def != nil {
		use, _ = a.spec.def.Uses(call.Name)
	}
	over := use.ApprovalOver
	costs := a.runner.cfg.Actions.Costs(call.Name)
	if a.approveOver != "" && costs {
		over = a.approveOver
	}
	if use.Approval == "" && over == "" {
		return nil
	}
	name := at.name().With(step.TailApproval)
	p, err := a.pauses.awaitIf(ctx, name, at, func(ctx context.Context) (*Question, error) {
		return a.permissionFor(ctx, call, use.Approval, over, env)
	})
	if err != nil || p.Free {
		return err
	}
	if answer := p.approval(); !answer.Approve {
		return media.Errorf(media.CodeForbidden, "refused by a person%s", noted(p, answer))
	}
	return nil
}

// permissionFor is the question for an act, or nil if the act needs no approval: it costs
// little enough, or cannot be run as it was asked and will say so itself.
func (a *acts) permissionFor(ctx context.Context, call contract.ActionCall, approval, over string, env action.Env) (*Question, error) {
	price, err := a.runner.cfg.Actions.Price(ctx, call.Name, call.Params, env)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil //nolint:nilnil // the action will fail with the same error, and cost nothing
	}
	reason := "this agent may take the action only with approval"
	if approval == "" {
		limit, ok := definition.USD(over)
		if !ok {
			return nil, media.Errorf(media.CodeInvalid, "%q is not an amount in US dollars: give a plain decimal number, such as 0.05", plain.Clip(over, 40))
		}
		reason = "its price is not known"
		if price.USD != nil {
			cost, ok := new(big.Rat).SetString(*price.USD)
			if ok && cost.Cmp(limit) <= 0 {
				return nil, nil //nolint:nilnil // it needs none
			}
			reason = fmt.Sprintf("it would cost %s, more than $%s", money.About(*price.USD), over)
		}
	}
	short := object.MapStrings(any(call.Params), func(s string) string { return plain.Clip(s, shownParam) })
	return &Question{
		Kind: QuestionApproval, Question: fmt.Sprintf("May agent %s run %s? It needs approval: %s.", a.spec.name, plain.Clip(call.Name, 80), reason),
		Schema: json.RawMessage(approvalForm), Details: &Details{
			Action: plain.Clip(call.Name, 80), Params: plain.JSON(short), EstimatedUSD: price.USD, Estimate: price.Note, Reason: reason,
		},
	}, nil
}
