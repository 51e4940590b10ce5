package generate

import (
	"cmp"
	"context"
	"slices"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// Resume goes on with an operation that an earlier process left, or that runs past
// its wait, and waits for it as [Gateway.Generate] does. Calls that were never made
// are made; tasks are polled; a call that was sent and not answered is never made again: it is
// looked for where its provider is [Listed]; else what arrived of it is kept and the rest fails as
// unsettled. A finished operation gives its result. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeUnsupported if the
// log cannot resume, media.CodeMissingKey for a provider without its key, ctx's own
// while another process holds the operation; under [ErrLeft] it is given as it stands.
func (g *Gateway) Resume(ctx context.Context, operation string) (*Result, error) {
	for {
		res, err := g.resume(ctx, operation, false)
		if media.CodeOf(err) != media.CodeConflict {
			return res, err
		}
		if err := (journal.Memory{}).Sleep(ctx, holdTime/10); err != nil {
			if left(ctx) {
				return g.elsewhere(ctx, operation)
			}
			return nil, asError(err)
		}
	}
}

// Look is [Gateway.Resume] that asks once for each task that is under way, and leaves what
// goes on: for operations that are past their wait. Its errors are those of Resume, and
// media.CodeConflict while somebody else works on the operation.
func (g *Gateway) Look(ctx context.Context, operation string) (*Result, error) {
	return g.resume(ctx, operation, true)
}

// elsewhere is what is known of an operation that another process works on.
func (g *Gateway) elsewhere(ctx context.Context, operation string) (*Result, error) {
	save, done := saving(ctx)
	defer done()
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return nil, asError(ctx.Err())
	}
	saved, err := log.Saved(save, operation)
	if err != nil {
		return nil, err
	}
	res := resultOf(saved)
	if saved.Operation.FinishedAt.IsZero() {
		res.Status = StatusRunning
	}
	return res, nil
}

// resume is [Gateway.Resume] without the wait for another process:
// media.CodeConflict. With once it is [Gateway.Look].
func (g *Gateway) resume(ctx context.Context, operation string, once bool) (*Result, error) {
	return g.resumeUnder(ctx, ctx, operation, once)
}

// resumeUnder is resume where the log is read under a context of its own.
func (g *Gateway) resumeUnder(read, ctx context.Context, operation string, once bool) (*Result, error) {
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "this gateway keeps no operations that can be resumed")
	}
	saved, err := log.Saved(read, operation)
	if err != nil {
		return nil, err
	}
	if !saved.Operation.FinishedAt.IsZero() {
		return resultOf(saved), nil
	}
	if err := g.here.enter(operation); err != nil {
		return nil, err
	}
	defer g.here.leave(operation)
	if err := log.Hold(read, operation, g.holder, g.config.Now().Add(holdTime)); err != nil {
		return nil, err
	}
	// What was read before the right to work on it may be old.
	if saved, err = log.Saved(read, operation); err != nil {
		return nil, g.release(read, log, operation, err)
	}
	res, err := g.goOn(ctx, saved, once)
	if err != nil { // nothing has begun
		return nil, g.release(read, log, operation, err)
	}
	return res, nil
}

// goOn takes over an operation, which the caller holds; with once it asks once for each task.
// After an error nothing has begun, and the caller gives the hold up.
func (g *Gateway) goOn(ctx context.Context, saved *Saved, once bool) (*Result, error) {
	if !saved.Operation.FinishedAt.IsZero() {
		return resultOf(saved), nil
	}
	op := saved.Operation
	p, err := g.load(op.Request)
	if err != nil {
		return nil, wrap("resume "+op.ID, err)
	}
	x := g.recollect(ctx, p, saved)
	x.once = once
	part := step.Name{Kind: step.KindResume, Label: op.Key}
	if p.round != nil {
		part.Kind, part.Index = step.KindRetry, p.round.First
		if p.round.Found {
			part.Kind = step.KindFound
		}
	}
	if x.journal, err = g.config.Journal.Child(ctx, part.String()); err != nil {
		return nil, wrap("open journal", err)
	}
	scope := saved.Scope
	scope.Operation = op.ID
	ctx = media.WithScope(ctx, inTree(scope))
	x.emit(ctx, Event{Kind: EventStarted, Status: StatusRunning, Progress: -1})
	return x.work(ctx), nil
}

// recollect makes the execution of a saved operation by its plan.
func (g *Gateway) recollect(ctx context.Context, p *Plan, saved *Saved) *execution {
	op := saved.Operation
	if p.Dispositions == nil {
		p.Dispositions = op.Dispositions
	}
	p.Warnings, p.EstimatedUSD = op.Warnings, op.Cost.EstimatedUSD
	x := g.newExecution(p, op)
	x.metadata, x.lost = op.Metadata, saved.Adrift
	x.remember(ctx, saved)
	return x
}

// remember takes over what earlier processes and earlier rounds did.
func (x *execution) remember(ctx context.Context, saved *Saved) {
	for _, s := range saved.Slots {
		for len(x.slots) < s.Index {
			x.slots = append(x.slots, Slot{Index: len(x.slots) + 1, Status: StatusQueued})
		}
		if s.Status != StatusRunning {
			x.slots[s.Index-1] = s
		}
	}
	for _, a := range saved.Attempts {
		x.past[a.Call] = append(x.past[a.Call], a)
	}
	for _, a := range saved.Attempts {
		p := x.planOf(ctx, a)
		for _, index := range a.Slots {
			if index <= len(x.slots) && x.slots[index-1].Output != nil {
				x.makers[index] = p
			}
		}
		if a.FinishedAt.IsZero() {
			continue
		}
		x.count(p, a)
		for _, index := range a.Slots {
			if x.plan.round == nil || a.Call >= x.plan.round.First {
				x.unsettled[index] = x.unsettled[index] || a.Usage.Unsettled > 0
			}
		}
	}
}

// planOf is the plan of an attempt: the operation's, or that of a model that stood in.
func (x *execution) planOf(ctx context.Context, a Attempt) *Plan {
	m := x.modelOf(a)
	if m.Provider == x.plan.Model.Provider && m.APIModel == x.plan.Model.APIModel {
		return x.plan
	}
	for k, name := range x.plan.req.Fallback {
		row, _ := x.g.config.Catalogue.Lookup(name)
		living, ok := x.g.config.Catalogue.successor(row, x.g.config.Now())
		if !ok || living.Provider != m.Provider || living.APIModel != m.APIModel {
			continue
		}
		if p, err := x.standIn(ctx, k, max(len(a.Slots), 1)); err == nil {
			p.why = cmp.Or(x.whyAsked(a), p.why)
			return p
		}
		return &Plan{Model: m, act: x.actOf(k)}
	}
	return &Plan{Model: m}
}

// whyAsked is why an attempt was made at results that another model was asked for before;
// empty if nobody knows.
func (x *execution) whyAsked(a Attempt) string {
	var before Attempt
	for number, past := range x.past {
		last := past[len(past)-1]
		shared := slices.ContainsFunc(last.Slots, func(index int) bool { return slices.Contains(a.Slots, index) })
		if number < a.Call && number > before.Call && shared && last.Error != nil {
			before = last
		}
	}
	if before.Error == nil {
		return ""
	}
	return before.Error.Message
}

// modelOf is the model that an attempt asked: the plan's, or one that stood in for it.
func (x *execution) modelOf(a Attempt) Model {
	m := x.plan.Model
	if other, ok := x.g.config.Catalogue.of(a.Provider, a.APIModel); ok && (a.Provider != m.Provider || a.APIModel != m.APIModel) {
		return other.on(x.g.config.Now())
	}
	return m
}

// resultOf is the result of a finished operation.
func resultOf(s *Saved) *Result {
	op := s.Operation
	r := &Result{
		Operation: op.ID, Status: op.Status, Model: op.Model, Provider: op.Provider, Slots: slices.Clone(s.Slots),
		Dispositions: op.Dispositions, Usage: op.Usage, Cost: op.Cost, Warnings: op.Warnings, Metadata: op.Metadata,
	}
	slices.SortFunc(r.Slots, func(a, b Slot) int { return a.Index - b.Index })
	return r
}

// Notify takes a call of a provider's webhook. What it says is polled for, or believed
// where the provider signs; the operation ends once, whoever comes first. It is done
// when the operation was told, which may go on after it. Errors: media.CodeNotFound for
// an unknown provider or task, media.CodeUnsupported for a provider without
// notifications, those of [Notified], and media.CodeUnavailable when the operation
// belongs to another process that does not listen; such a provider may call again.
//
// A task that nobody knows is that of the call that the address names: its answer was lost. Where
// the provider signs, it is gone on with, also if the operation ended without it. The end of ctx
// cancels nothing, nor does it that half a minute is over: what goes on is left for [Gateway.Resume].
func (g *Gateway) Notify(ctx context.Context, provider string, n Notification) error {
	d, ok := g.drivers[provider]
	if !ok {
		return media.Errorf(media.CodeNotFound, "there is no provider %q", clip(provider))
	}
	listener, ok := d.(Notified)
	if !ok {
		return media.Errorf(media.CodeUnsupported, "%s sends no notifications", provider)
	}
	u, err := listener.Notification(ctx, n)
	if err != nil {
		return asError(err)
	}
	if g.notices.ring(provider, u.clean()) {
		return nil
	}
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return media.Errorf(media.CodeNotFound, "no operation waits for this task")
	}
	ctx, done := listening(ctx)
	defer done()
	id, scope, err := log.TaskOf(ctx, provider, u.Task.ID)
	switch {
	case media.CodeOf(err) == media.CodeNotFound:
		err = g.heard(ctx, log, provider, n, u)
	case err != nil:
	case g.here.has(id): // it is about to hear of the end by itself, or has
	default:
		_, err = g.resume(media.WithScope(ctx, scope), id, false)
	}
	if media.CodeOf(err) == media.CodeConflict {
		return media.Errorf(media.CodeUnavailable, "the operation belongs to another process: it polls")
	}
	return err
}
