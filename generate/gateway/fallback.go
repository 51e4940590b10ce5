package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// fallBack asks the request's fallback models, one after the other, for the results that failed. Results of a call that
// may have been billed are not requested: they could be paid for twice.
func (x *execution) fallBack(ctx context.Context) {
	var overBudget error
	before, reasons := x.plan.Model.Name, []string(nil)
	for k, name := range x.plan.Request.Fallback {
		missing, reason := x.board.missing()
		if len(missing) == 0 || x.departure.halted(ctx) {
			return
		}
		p, err := x.chain.substitute(ctx, k, len(missing))
		if err == nil {
			err = x.g.Prepare(ctx, p)
		}
		if err == nil {
			err = x.reserve(ctx, p)
		}
		if err != nil {
			x.notes.warn(plan.SkippedModelWarning(name, err))
			if media.CodeOf(err) == media.CodeOverBudget {
				overBudget = cmp.Or(overBudget, err)
			}
			continue
		}
		reasons = append(reasons, before+": "+reason.Message)
		if p.FallbackReason = reason.Message; len(reasons) > 1 {
			p.FallbackReason = strings.Join(reasons, "; ")
		}
		before = p.Model.Name
		x.op.Dispositions = plan.Substituted(x.op.Dispositions, x.plan.Asked(), p.Model.Name, p.FallbackReason)
		for _, w := range p.Warnings {
			x.notes.warn(w)
		}
		if x.board.failure() != nil {
			x.op.Model, x.op.APIModel, x.op.Provider = p.Model.Name, p.Model.APIModel, p.Model.Provider
		}
		x.emit(ctx, generate.Event{Kind: generate.EventFallback, Status: generate.StatusRunning, Error: reason, Progress: -1})
		x.run(ctx, x.history.nextCalls(p, missing))
	}
	if overBudget != nil && ctx.Err() == nil {
		x.failUnaffordable(ctx, fault.Of(overBudget))
	}
}

// chain plans for the models that an operation may ask: its own, then its fallback, in order. It calls no provider and
// reserves nothing.
type chain struct {
	g         *Gateway
	plan      *plan.Plan // the operation's own plan
	operation string
	history   *history
}

// substitute plans n results with a fallback model, given by its index from 0.
func (k *chain) substitute(ctx context.Context, number, n int) (*plan.Plan, error) {
	r := k.plan.Request
	r.Model, r.Substitute, r.Fallback, r.Prefer, r.N = r.Fallback[number], false, nil, nil, n
	p, err := k.g.Plan(ctx, r)
	if err == nil {
		p.Act, p.FallbackReason = k.actOf(number), "the model before it could not give them"
	}
	return p, err
}

// actOf returns the budget act of a fallback model, given by its index from 0, in this round. It starts with the
// operation's id, from which a ledger knows that the act is not over.
func (k *chain) actOf(number int) string {
	first := 1
	if k.plan.Round != nil {
		first = k.plan.Round.First
	}
	return fmt.Sprintf("%s/%d/%d", k.operation, first, number+1)
}

// planOf returns the plan of an attempt: the operation's own, or that of a fallback model.
func (k *chain) planOf(ctx context.Context, a operation.Attempt) *plan.Plan {
	m := k.modelOf(a)
	if m.Provider == k.plan.Model.Provider && m.APIModel == k.plan.Model.APIModel {
		return k.plan
	}
	for number, name := range k.plan.Request.Fallback {
		row, _ := k.g.config.Catalogue.Lookup(name)
		living, ok := k.g.config.Catalogue.Successor(row, k.g.config.Now())
		if !ok || living.Provider != m.Provider || living.APIModel != m.APIModel {
			continue
		}
		if p, err := k.substitute(ctx, number, max(len(a.Slots), 1)); err == nil {
			p.FallbackReason = cmp.Or(k.history.reason(a), p.FallbackReason)
			return p
		}
		return &plan.Plan{Model: m, Act: k.actOf(number)}
	}
	return &plan.Plan{Model: m}
}

// modelOf returns the model that an attempt asked: the plan's, or a fallback model.
func (k *chain) modelOf(a operation.Attempt) catalog.Model {
	m := k.plan.Model
	if other, ok := k.g.config.Catalogue.LookupForProvider(a.Provider, a.APIModel); ok && (a.Provider != m.Provider || a.APIModel != m.APIModel) {
		return other.PricedOn(k.g.config.Now())
	}
	return m
}

// first returns the plan of a round's first calls: the operation's, or that of the model whose call was found.
func (k *chain) first(ctx context.Context) *plan.Plan {
	r := k.plan.Round
	if r == nil || !r.Found || len(k.history.attempts[r.First]) == 0 {
		return k.plan
	}
	if p := k.planOf(ctx, k.history.attempts[r.First][0]); p.Driver != nil {
		return p
	}
	return k.plan
}

// framed reports whether blobs that arrived for the operation may be preview frames.
func (k *chain) framed() bool {
	for _, all := range k.history.attempts {
		if k.plan.Frames && slices.ContainsFunc(all, func(a operation.Attempt) bool { return k.modelOf(a).Streams() }) {
			return true
		}
	}
	return false
}
