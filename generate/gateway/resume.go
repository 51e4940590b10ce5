package gateway

import (
	"context"
	"slices"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// Asking says how often [Gateway.Resume] asks for tasks that are under way.
type Asking int

const (
	// AskUntilDone asks as long as the wait of the model lasts; the default.
	AskUntilDone Asking = iota
	// AskOnce asks once for each task, and leaves those that still run: for operations that are past their
	// wait. While another caller works on the operation, the error has code media.CodeConflict.
	AskOnce
)

// Resume continues an operation that an earlier process left, or that runs past
// its wait, and waits for it as [Gateway.Generate] does. Calls that were never made
// are made; tasks are polled; a call that was sent and not answered is never made again: it is
// looked for where its provider is [driver.Listed]; else what arrived of it is kept and the rest fails as
// unsettled. An operation that lacks only answers that could not be stored is returned as it stands. A finished operation gives its result. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeUnsupported if the
// log cannot resume, media.CodeMissingKey for a provider without its key, ctx's own
// while another process holds the operation; under [ErrHandedOver] it is given as it stands.
func (g *Gateway) Resume(ctx context.Context, id string, asking ...Asking) (*generate.Result, error) {
	if slices.Contains(asking, AskOnce) {
		return g.resume(ctx, ctx, id, operation.EventResume, true)
	}
	res, err := await(ctx, func() (*generate.Result, error) { return g.resume(ctx, ctx, id, operation.EventResume, false) })
	switch {
	case media.CodeOf(err) != media.CodeConflict:
		return res, err
	case handedOver(ctx):
		return g.standing(ctx, id)
	}
	return nil, fault.Of(ctx.Err())
}

// standing is what is known of an operation that another process works on.
func (g *Gateway) standing(ctx context.Context, id string) (*generate.Result, error) {
	save, done := saving(ctx)
	defer done()
	saved, err := g.config.Operations.(operation.Resumer).Saved(save, id)
	if err != nil {
		return nil, err
	}
	res := saved.Result()
	if !saved.Over() {
		res.Status, err = operation.Advance(operation.SubjectOperation, saved.Status(), operation.EventLeave)
	}
	return res, err
}

// resume continues an operation that is under way. The log is read under a context of its own.
func (g *Gateway) resume(read, ctx context.Context, id string, e operation.Event, once bool) (*generate.Result, error) {
	return g.enter(read, id, e, func(c *claim) (*generate.Result, error) {
		if e == operation.EventResume && c.undecided() {
			return c.leave(ctx)
		}
		return c.work(ctx, once)
	})
}

// recollect makes the execution of a saved operation by its plan.
func (g *Gateway) recollect(ctx context.Context, p *plan.Plan, saved *operation.Saved) *execution {
	op := saved.Operation
	op.Status = saved.Status()
	if p.Dispositions == nil {
		p.Dispositions = op.Dispositions
	}
	p.Warnings, p.EstimatedUSD = op.Warnings, op.Cost.EstimatedUSD
	x := g.newExecution(p, op)
	x.notes.add(op.Metadata)
	x.history.blobs = saved.Unassigned
	x.remember(ctx, saved)
	return x
}

// remember takes over what earlier processes and earlier rounds did.
func (x *execution) remember(ctx context.Context, saved *operation.Saved) {
	for _, s := range saved.Slots {
		x.board.extend(s.Index)
		if s.Status != generate.StatusRunning {
			x.board.put(s)
		}
	}
	x.history.add(saved.Attempts)
	for _, a := range saved.Attempts {
		p := x.chain.planOf(ctx, a)
		for _, index := range a.Slots {
			if index <= len(x.board.all()) && x.board.slot(index).Output != nil {
				x.board.credit(index, p)
			}
		}
		if a.FinishedAt.IsZero() {
			continue
		}
		x.bill.Count(p, a)
		if a.Usage.Unsettled > 0 && (x.plan.Round == nil || a.Call >= x.plan.Round.First) {
			x.board.doubt(a.Slots)
		}
	}
}

// rejoin continues an operation that ended because its caller cancelled it, as a run that was
// cancelled: tasks at the provider are asked for again instead of being begun, and calls
// that were never made are made. What was answered by then, and synchronous calls that were
// cut off, stay as they are.
func (c *claim) rejoin(ctx context.Context) (*generate.Result, error) {
	if !c.Over() {
		return c.work(ctx, false)
	}
	g, slots := c.g, c.CutOff()
	p, err := g.Load(c.Operation.Request)
	switch {
	case err != nil:
		return nil, err
	case !alone(p, c.Attempts):
		return c.leave(ctx)
	}
	p.Round = nil
	before := g.newExecution(p, c.Operation)
	before.remember(ctx, c.Saved)
	counted := before.bill.Charge(c.id)
	p.Round, p.Frames = &plan.Round{First: 1, Slots: upTo(c.Operation.N), Before: &counted}, p.Frames || g.config.Partials
	money := outstanding(p, c.Saved, slots)
	if err := c.queue(ctx, again{event: operation.EventRejoin, plan: p, slots: slots, money: &money, tasks: c.Tasks(slots)}); err != nil {
		return nil, err
	}
	return c.work(ctx, false)
}

// alone reports whether the model of a plan made all attempts, and none of them in a round
// that a person asked for: else what was cut off cannot be told apart.
func alone(p *plan.Plan, attempts []operation.Attempt) bool {
	if p.Round != nil && p.Round.Before == nil {
		return false
	}
	return !slices.ContainsFunc(attempts, func(a operation.Attempt) bool {
		return a.Provider != p.Model.Provider || a.APIModel != p.Model.APIModel
	})
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// outstanding is what slots may use from now on: tasks that were begun are paid for, and those
// that their provider may have billed are counted.
func outstanding(p *plan.Plan, saved *operation.Saved, slots []int) generate.Charge {
	c := generate.Charge{ID: saved.Operation.ID}
	calls := 0
	for _, index := range slots {
		last := saved.Last(index)
		if saved.Operation.Modality == media.ModalityImage && last.Usage.Unsettled == 0 {
			c.Images++
		}
		if last.Task == (driver.Handle{}) {
			calls++
		}
	}
	free := "0"
	if c.USD = &free; calls > 0 {
		c.USD = p.Estimate(calls)
	}
	return c
}
