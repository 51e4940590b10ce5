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

// doAll runs the actions and sub-agents of a step concurrently and returns their results in the
// requested order. It returns when all have ended, even after ctx was cancelled.
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
			_ = act() // always nil
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
		if a := res.Agents[i]; a.Success || a.Error != nil && a.Error.Code == media.CodeOverBudget { // unfinished, but usable
			r.draft.Payload = object.Place(r.draft.Payload, uses[i].PayloadKey, child.draft.Payload)
		}
	}
	var made []media.Ref // in the requested order, not the order of completion
	for _, a := range res.Actions {
		made = append(made, refsOf(a.Media)...)
	}
	r.set.Arrange(made)
	if hasWaitingAct(res) {
		return res // the result is built again once the answer exists
	}
	res.Bound(r.set)
	var changes []media.Change
	for i := range res.Actions {
		changes = append(changes, res.Actions[i].Changes...)
		// The run's result keeps all warnings; the model reads them once, with the outcome.
		r.warn(ctx, res.Actions[i].Warnings...)
		r.acts.recordImageOutcome(res.Actions[i])
	}
	r.sights.ShowRequested(ctx, r.turns, &res, changes)
	r.sights.ShowByPolicy(ctx, r.turns, &r.history, &res)
	return res
}

// hasWaitingAct reports whether an act of the step waits for a person.
func hasWaitingAct(r transcript.Results) bool {
	return slices.ContainsFunc(r.Actions, func(o action.Outcome) bool { return errors.Is(o.Err, ErrPaused) }) ||
		slices.ContainsFunc(r.Agents, func(a transcript.Agent) bool { return a.Waits })
}

// ActResult is the content of an act's step.
type ActResult = step.Act[action.Outcome, action.Substitution]

// acts runs the actions of a run. Each action is a durable step and recorded; a person approves
// those that require it. It is safe for concurrent use.
type acts struct {
	*core

	// env is the environment of every act, except for Progress.
	env action.Env
	// newContext returns the Context for the code of an action.
	newContext func(act step.Name) *Context
	index      atomic.Int64 // counts the acts of Go code
}

// next returns the next position for an act of Go code. For acts of an action's code, which run
// within an act, a replay cannot rely on these numbers.
func (a *acts) next(ctx context.Context) callIndex {
	return callIndex{turn: 1, index: int(a.index.Add(1)), nested: media.ScopeOf(ctx).Step != ""}
}

// do runs one action. Errors are reported in the outcome.
func (a *acts) do(ctx context.Context, call contract.ActionCall, at callIndex) action.Outcome {
	rec := a.begin(StepAction, call.Name, at)
	rec.Params = plain.JSON(call.Params)
	a.saveStep(ctx, rec)
	a.emit(ctx, EventActionStarted, ActionStarted{StepID: rec.ID, Name: rec.Name, Turn: at.turn})
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
		if done.Interrupted {
			rec.Status = StatusCancelled
		}
	}
	if out.Outputs != nil {
		rec.Outputs = plain.JSON(out.Outputs)
	}
	rec.Media = out.Media
	if out.Error != nil && out.Error.Code == media.CodeDiskFull {
		a.outcome.update(func(t *tally) { t.unstored = cmp.Or(t.unstored, out.Error.Message) })
	}
	a.end(ctx, rec)
	a.stored(ctx, out.Media)
	a.emit(ctx, EventActionFinished, ActionFinished{
		StepID: rec.ID, Name: rec.Name, Turn: at.turn, Success: out.Success, Code: out.Code, Message: out.Message, Refs: refsOf(out.Media), Interrupted: done.Interrupted,
	})
	return out
}

// invoke calls the registry through the journal.
func (a *acts) invoke(ctx context.Context, call contract.ActionCall, at callIndex, stepID string) ActResult {
	if err := a.r.allowed(a.spec.def, call.Name); err != nil {
		return ActResult{Outcome: refused(call.Name, err)}
	}
	name, env := at.name(), a.env
	env.Progress = func(note string) {
		a.emit(ctx, EventOperationProgress, OperationProgress{StepID: stepID, Note: plain.Clip(wire.NameMedia(note), 300)})
	}
	if ctx.Err() == nil { // an act that a person refuses does not begin either
		if err := a.approve(ctx, call, at, env); err != nil {
			return ActResult{Outcome: refused(call.Name, err), Interrupted: ctx.Err() != nil}
		}
	}
	if err := a.past.checkMayBegin(ctx, name); err != nil {
		if journal.HandedOver(ctx) || !a.r.cfg.Actions.Recoverable(ctx, call.Name) {
			return ActResult{Outcome: refused(call.Name, err), Interrupted: true}
		}
		// If an earlier process started the act, the action ends it as that process would have, and keeps its results.
		o := a.r.cfg.Actions.Invoke(ctx, call.Name, call.Params, env)
		a.applyChanges(ctx, o.Changes)
		return ActResult{Outcome: o, Media: o.Media, Changes: o.Changes, Interrupted: o.Code != action.Success}
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
		k, err = readAct(b)
	}
	if err != nil {
		return ActResult{Outcome: refused(call.Name, fmt.Errorf("run action: %w", err)), Interrupted: ctx.Err() != nil}
	}
	a.meter.Add(k.Began, k.Ended)
	if !live { // an earlier process executed and counted it
		spent := generate.Charge{ID: stepID}
		for _, o := range k.Media {
			if o.Modality == media.ModalityImage && o.Origin.Operation != "" {
				spent.Images++
			}
		}
		a.allowed.Recall(spent)
		for _, reply := range a.past.answersTo(name) {
			own.run.addAnswerMedia(ctx, reply)
		}
	}
	k.Outcome.Media = k.Media
	if err := a.env.Media.Merge(k.Media); err != nil {
		k.Outcome.Warnings = append(k.Outcome.Warnings, err.Error())
	}
	k.Outcome.Changes, k.Outcome.Substituted = k.Changes, k.Substituted
	a.applyChanges(ctx, k.Changes)
	return k
}

// perform executes an action within its step, and returns the result for the journal.
func (a *acts) perform(ctx context.Context, call contract.ActionCall, env action.Env, own *Context) ([]byte, error) {
	began := a.now()
	defer a.meter.Begin(a.now)()
	o := a.r.cfg.Actions.Invoke(ctx, call.Name, call.Params, env)
	if journal.HandedOver(ctx) {
		return nil, journal.ErrHandedOver // the result of an interrupted action must not be recorded
	}
	if own.pausePending.Load() {
		return nil, ErrPaused // it starts again once the answer exists
	}
	cut := ctx.Err() != nil && o.Code != action.Success
	return json.Marshal(ActResult{Outcome: o, Media: o.Media, Changes: o.Changes, Substituted: o.Substituted, Began: began, Ended: a.now(), Interrupted: cut})
}

// readAct decodes the result of an act's step. Large whole numbers, such as ids, stay exact.
func readAct(b []byte) (k ActResult, err error) {
	err = object.Decode(b, &k)
	k.Outcome.Outputs = object.Floats(k.Outcome.Outputs)
	k.EachMedia(func(o *media.Output) { o.Metadata = object.Floats(o.Metadata) })
	return k, err
}

// allowed checks that the agent may call the action.
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

// labeller is a recorder that can change the label of a record, such as the ledger.
type labeller interface {
	LabelMedia(ctx context.Context, owner, id string, label, description *string) error
}

// applyChanges applies the changes of an act: to the set, which repeats them after a replay, then to the
// records and the events.
func (a *acts) applyChanges(ctx context.Context, changes []media.Change) {
	for _, c := range changes {
		o, ok := a.env.Media.Apply(c)
		if !ok {
			continue
		}
		switch c.Kind {
		case media.ChangePrune:
			a.emit(ctx, EventMediaPruned, MediaEvent{Output: o})
		case media.ChangeLabel, media.ChangePromote:
			l, can := a.r.cfg.Recorder.(labeller)
			if !can || o.ID == "" || c.Label == "" && c.Description == "" {
				continue
			}
			var label, description *string // an act clears neither
			if c.Label != "" {
				label = &c.Label
			}
			if c.Description != "" {
				description = &c.Description
			}
			if err := l.LabelMedia(context.WithoutCancel(ctx), a.owner, o.ID, label, description); err != nil {
				a.warn(ctx, fmt.Sprintf("the new label of %s was not saved: %s", o.Ref, err))
			}
		case media.ChangeView:
		}
	}
}

// recordImageOutcome records whether an action that requests pictures from an image model made any.
func (a *acts) recordImageOutcome(out action.Outcome) {
	if errors.Is(out.Err, ErrPaused) {
		return
	}
	if s := out.Substituted; s != nil {
		a.outcome.addDisposition(generate.Disposition{Setting: ImageModelSetting, Asked: s.Asked, Applied: s.Applied, Outcome: generate.OutcomeSubstituted, Reason: s.Reason})
	}
	did, err := a.r.cfg.Actions.Lookup(out.Name)
	if err != nil || !slices.Contains(did.Tags, action.TagPicture) {
		return
	}
	d := drawn{asked: true, made: slices.ContainsFunc(out.Media, func(o media.Output) bool { return o.Modality == media.ModalityImage })}
	if !d.made {
		d.why = did.Name + ": " + out.Message
	}
	a.outcome.update(func(t *tally) { t.drawn.add(d) })
}

// callIndex is the position of an act in its run.
type callIndex struct {
	turn, index int
	nested      bool
	// within names an act by its enclosing act and its content, if its number does not identify it;
	// see [Context.callWithin].
	within step.Name
}

// name returns the name of the act's step in the journal of its run.
func (at callIndex) name() step.Name {
	if at.within.Kind != step.KindOther {
		return at.within
	}
	return step.Action(at.turn, at.index)
}

// shownParam is the number of characters of each text in an action's parameters that a person sees in an approval.
const shownParam = 500

// approve asks a person for permission to run an action, if the agent's definition or the run
// requires it. A refusal is media.CodeForbidden. A replay does not check again what was approved or
// needed no approval, and a finished act needs none.
func (a *acts) approve(ctx context.Context, call contract.ActionCall, at callIndex, env action.Env) error {
	if _, done := a.journal.Known(at.name()); done {
		return nil
	}
	var use definition.ActionUse
	if a.spec.def != nil {
		use, _ = a.spec.def.Uses(call.Name)
	}
	over := use.ApprovalOver
	costs := a.r.cfg.Actions.Costs(call.Name)
	if a.request.ApproveOver != "" && costs {
		over = a.request.ApproveOver
	}
	if use.Approval == "" && over == "" {
		return nil
	}
	name := at.name().With(step.TailApproval)
	p, err := a.pauses.awaitIf(ctx, name, at, func(ctx context.Context) (*Question, error) {
		return a.permissionFor(ctx, call, use.Approval, over, env)
	})
	if err != nil || p.NotNeeded {
		return err
	}
	if answer := approvalOf(p); !answer.Approve {
		return media.Errorf(media.CodeForbidden, "refused by a person%s", noteSuffix(p, answer))
	}
	return nil
}

// permissionFor returns the question for an act, or nil if the act needs no approval: it is cheap
// enough, or it cannot be run as requested and will report that itself.
func (a *acts) permissionFor(ctx context.Context, call contract.ActionCall, approval, over string, env action.Env) (*Question, error) {
	price, err := a.r.cfg.Actions.Price(ctx, call.Name, call.Params, env)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil //nolint:nilnil // the action will fail with the same error at no cost
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
				return nil, nil //nolint:nilnil // it needs no approval
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
