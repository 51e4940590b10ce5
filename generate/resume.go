package generate

import (
	"context"
	"fmt"
	"slices"

	"atelier/journal"
	"atelier/media"
)

// Resume goes on with an operation that an earlier process left, or that runs past
// its wait, and waits for it as [Gateway.Generate] does. Calls that were never made
// are made; tasks are polled; a synchronous call that was sent and not answered is
// never made again: what arrived of it is kept, the rest fails as unsettled. A finished
// operation gives its result. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeUnsupported if the
// log cannot resume, media.CodeMissingKey for a provider without its key, ctx's own
// while another process holds the operation.
func (g *Gateway) Resume(ctx context.Context, operation string) (*Result, error) {
	for {
		res, err := g.resume(ctx, operation)
		if media.CodeOf(err) != media.CodeConflict {
			return res, err
		}
		if err := (journal.Memory{}).Sleep(ctx, holdTime/10); err != nil {
			return nil, asError(err)
		}
	}
}

// resume is [Gateway.Resume] without the wait for another process:
// media.CodeConflict.
func (g *Gateway) resume(ctx context.Context, operation string) (*Result, error) {
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "this gateway keeps no operations that can be resumed")
	}
	saved, err := log.Saved(ctx, operation)
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
	if err := log.Hold(ctx, operation, g.holder, g.config.Now().Add(holdTime)); err != nil {
		return nil, err
	}
	// What was read before the right to work on it may be old.
	if saved, err = log.Saved(ctx, operation); err != nil {
		return nil, err
	}
	return g.goOn(ctx, saved)
}

// goOn takes over an operation.
func (g *Gateway) goOn(ctx context.Context, saved *Saved) (*Result, error) {
	if !saved.Operation.FinishedAt.IsZero() {
		return resultOf(saved), nil
	}
	op := saved.Operation
	p, err := g.load(op.Request)
	if err != nil {
		return nil, wrap("resume "+op.ID, err)
	}
	if p.Dispositions == nil {
		p.Dispositions = op.Dispositions
	}
	p.Warnings, p.EstimatedUSD = op.Warnings, op.Cost.EstimatedUSD
	x := g.newExecution(p, op)
	x.metadata, x.lost = op.Metadata, saved.Adrift
	x.remember(ctx, saved)
	name := "resume-" + op.Key
	if p.round != nil {
		name = fmt.Sprintf("retry-%s-%d", op.Key, p.round.First)
	}
	if x.journal, err = g.config.Journal.Child(ctx, name); err != nil {
		return nil, wrap("open journal", err)
	}
	scope := saved.Scope
	scope.Operation = op.ID
	ctx = media.WithScope(ctx, scope)
	x.emit(ctx, Event{Kind: EventStarted, Status: StatusRunning, Progress: -1})
	return x.work(ctx), nil
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
			return p
		}
		return &Plan{Model: m, act: x.actOf(k)}
	}
	return &Plan{Model: m}
}

// modelOf is the model that an attempt asked: the plan's, or one that stood in for it.
func (x *execution) modelOf(a Attempt) Model {
	m := x.plan.Model
	if other, ok := x.g.config.Catalogue.Lookup(a.APIModel); ok && other.Provider == a.Provider && a.APIModel != m.APIModel {
		return other
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

// takeUp does what is left of a call that an earlier process began. It reports whether
// the call is over.
func (x *execution) takeUp(ctx context.Context, c call) (next int, over bool) {
	past := x.past[c.number]
	if len(past) == 0 {
		return 1, false
	}
	a := past[len(past)-1]
	switch {
	case a.Provider != c.plan.Model.Provider || !slices.Equal(a.Slots, c.slots):
		// An earlier process went another way: what it began cannot be told from here.
		x.fail(ctx, c, 0, attemptError(Attempt{}))
	case a.Status == StatusRunning && a.Task != (Handle{}):
		x.followTask(ctx, c, a)
	case a.Status == StatusSubmitted && a.Provider == offlineProvider:
		// What is made here costs nothing, so it is made again.
		a.Status, a.Error, a.FinishedAt = StatusFailed, slotError(attemptError(Attempt{})), x.g.config.Now().UTC()
		x.logAttempt(ctx, a)
		return len(past) + 1, false
	case a.Status == StatusSubmitted:
		x.adopt(ctx, c, a)
	case a.Error != nil && a.Error.Retryable && len(past) < x.g.config.MaxAttempts && !x.settled(c):
		return len(past) + 1, false
	case !x.settled(c):
		x.fail(ctx, c, 0, attemptError(a))
	}
	return 0, true
}

// attemptError is why an earlier process ended an attempt.
func attemptError(a Attempt) *media.Error {
	if a.Error == nil {
		return media.Errorf(media.CodeUnavailable, "the process ended before this result was saved: ask for it again")
	}
	return media.Errorf(a.Error.Code, "%s", a.Error.Message)
}

// settled tells whether every slot of a call is final.
func (x *execution) settled(c call) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, index := range c.slots {
		if s := x.slots[index-1]; s.Output == nil && s.Error == nil {
			return false
		}
	}
	return true
}

// followTask polls a task that an earlier process started.
func (x *execution) followTask(ctx context.Context, c call, a Attempt) {
	d := delivery{x: x, call: c}
	p := polling{call: c, task: x.task(ctx, c), handle: a.Task, step: fmt.Sprintf("call-%d-poll", c.number)}
	u, failed := x.poll(ctx, p, &d, func() {})
	d.end(ctx, a, u, failed)
	switch {
	case failed != nil:
		x.fail(ctx, c, d.got, failed)
	case d.got < c.n():
		x.short(ctx, c, d.got)
	}
}

// adopt gives a call that was sent and not answered what arrived for it.
func (x *execution) adopt(ctx context.Context, c call, a Attempt) {
	d := delivery{x: x, call: c}
	save, done := saving(ctx)
	defer done()
	for _, index := range c.slots {
		if x.filled(index) {
			d.got, d.given, d.made = d.got+1, d.given+1, d.made+1
			continue
		}
		b, ok := x.found()
		if !ok {
			break
		}
		if x.streams(c) {
			x.partial(save, c, d.got+1, b) // nobody knows whether it is the picture or a frame before it
			break
		}
		d.one(save, Item{Blob: &b}, nil)
	}
	u := Update{}
	failed := media.Errorf(media.CodeUnavailable,
		"the process ended while %s was at work: the call may have been billed, so it is not repeated; ask again if you accept that", c.plan.Model.Name)
	failed.Cause, failed.Retryable = ErrUnsettled, false
	if d.got >= c.n() {
		failed = nil
	} else {
		u.Usage.Unsettled = 1
	}
	d.end(ctx, a, u, failed)
	if failed != nil {
		x.fail(ctx, c, d.got, failed)
	}
}

// found gives one of the blobs of the earlier process.
func (x *execution) found() (media.Blob, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.lost) == 0 {
		return media.Blob{}, false
	}
	b := x.lost[0]
	x.lost = x.lost[1:]
	return b, true
}

// Notify takes a call of a provider's webhook. What it says is polled for, or believed
// where the provider signs; the operation ends once, whoever comes first. It is done
// when the operation was told, which may go on after it. Errors: media.CodeNotFound for
// an unknown provider or task, media.CodeUnsupported for a provider without
// notifications, those of [Notified], and media.CodeUnavailable when the operation
// belongs to another process that does not listen; such a provider may call again.
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
	id, scope, err := log.TaskOf(ctx, provider, u.Task.ID)
	if err != nil {
		return err
	}
	if g.here.has(id) {
		return nil // it is about to hear of the end by itself, or has
	}
	_, err = g.resume(media.WithScope(ctx, scope), id)
	if media.CodeOf(err) == media.CodeConflict {
		return media.Errorf(media.CodeUnavailable, "the operation belongs to another process: it polls")
	}
	return err
}
