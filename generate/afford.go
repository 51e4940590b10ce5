package generate

import (
	"context"
	"math/big"

	"atelier/media"
)

// charge is what the plan's calls may use.
func (p *Plan) charge(act string) Charge {
	c := Charge{ID: act, USD: p.EstimatedUSD}
	if p.req.Modality == media.ModalityImage {
		c.Images = int64(p.Makes)
	}
	return c
}

// Rehearse works out what [Gateway.Generate] would do with the request now, with its
// budgets: which model of the chain it would ask, how often and for how much. It makes no
// call, holds nothing and writes nothing; pictures are not converted. Where every model of
// the chain lacks its key, the plan is that of the first one, with a warning that names the key.
//
// Errors: those of [Gateway.Plan] but media.CodeMissingKey for a model that is named, and
// media.CodeOverBudget, with the plan, where no model of the chain fits into what is left.
func (g *Gateway) Rehearse(ctx context.Context, r Request) (*Plan, error) {
	p, err := g.first(ctx, r)
	if media.CodeOf(err) == media.CodeMissingKey {
		r.keyless = true
		p, err = g.first(ctx, r)
	}
	if err != nil {
		return p, err
	}
	return g.afford(ctx, p, func(q *Plan) error {
		_, err := g.config.Budget.Room(ctx, q.charge(""))
		return err
	})
}

// Room reports whether the budgets have room for all these plans together. The error has
// code media.CodeOverBudget.
func (g *Gateway) Room(ctx context.Context, plans ...*Plan) error {
	sum, usd := Charge{}, new(big.Rat)
	unknown := false
	for _, p := range plans {
		c := p.charge("")
		sum.Images += c.Images
		unknown = unknown || c.USD == nil
		usd.Add(usd, accountOf(c).usd)
	}
	if text := decimal(usd); !unknown || usd.Sign() > 0 {
		sum.USD = &text
	}
	_, err := g.config.Budget.Room(ctx, sum)
	return err
}

// reserve holds what the plan may use, else what the first of its next models may use
// that fits, which then takes its place.
func (g *Gateway) reserve(ctx context.Context, p *Plan, operation string) (*Plan, error) {
	return g.afford(ctx, p, func(q *Plan) error {
		if q != p {
			if err := g.prepare(ctx, q); err != nil {
				return err
			}
		}
		return g.config.Budget.Reserve(ctx, q.charge(operation))
	})
}

// afford gives the plan if fits says nothing against it, else that of the first of its
// next models that fits. Over budget, the plan comes with the error.
func (g *Gateway) afford(ctx context.Context, p *Plan, fits func(*Plan) error) (*Plan, error) {
	dear := fits(p)
	if media.CodeOf(dear) != media.CodeOverBudget || p.req.Strict {
		g.unpriced(ctx, p)
		return p, dear
	}
	warnings := []string{p.Model.Name + " was passed over: " + asError(dear).Message}
	for i, name := range p.req.Fallback {
		r := p.req
		r.Model, r.Substitute, r.Fallback, r.Prefer = name, false, p.req.Fallback[i+1:], nil
		q, err := g.Plan(ctx, r)
		if err == nil {
			err = fits(q)
		}
		if err != nil {
			warnings = append(warnings, passedOver(name, err))
			continue
		}
		q.Dispositions = stoodIn(q.Dispositions, p.asked(), q.Model.Name, asError(dear).Message)
		q.Warnings = append(warnings, q.Warnings...)
		g.unpriced(ctx, q)
		return q, nil
	}
	return p, dear
}

// unpriced warns of a plan whose price nobody knows, where money is bounded: then the
// bound does not hold it back.
func (g *Gateway) unpriced(ctx context.Context, p *Plan) {
	if p.EstimatedUSD != nil {
		return
	}
	if bounded, err := g.config.Budget.Room(ctx, Charge{}); bounded && err == nil {
		p.Warnings = append(p.Warnings, "nobody knows beforehand what "+p.Model.Name+
			" costs here: budgets of money let it pass while something is left, and count what its provider reports")
	}
}

// reserve holds what a model that stands in may use. What was reserved for calls that
// are over is counted first.
func (x *execution) reserve(ctx context.Context, p *Plan) error {
	x.mu.Lock()
	working := x.running
	x.mu.Unlock()
	if !working {
		x.settleActs(ctx)
	}
	first, begun := x.nextPast()
	switch {
	case begun && (first.Provider != p.Model.Provider || first.APIModel != p.Model.APIModel):
		return media.Errorf(media.CodeConflict, "an earlier process went on to %s", first.APIModel)
	case !begun: // else the earlier process reserved it, and perhaps settled it
		if err := x.g.config.Budget.Reserve(ctx, p.charge(p.act)); err != nil {
			return asError(err)
		}
	}
	x.acts = append(x.acts, p.act)
	x.g.unpriced(ctx, p)
	return nil
}

// nextPast is the first attempt of an earlier process that this one has not come to.
func (x *execution) nextPast() (first Attempt, ok bool) {
	for number, past := range x.past {
		if number > x.numbered && (!ok || number < first.Call) {
			first, ok = past[0], true
		}
	}
	return first, ok
}

// tooDear tells the results that nobody gave that there was a model, and no money for it.
func (x *execution) tooDear(ctx context.Context, dear *media.Error) {
	missing, _ := x.missing()
	save, done := saving(ctx)
	defer done()
	for _, index := range missing {
		x.mu.Lock()
		s := x.slots[index-1]
		s.Status = StatusFailed
		s.Error = &SlotError{Code: dear.Code, Message: dear.Message + "; before that: " + s.Error.Message}
		x.slots[index-1] = s
		x.mu.Unlock()
		if err := x.g.config.Operations.SlotDone(save, x.op.ID, s); err != nil {
			x.warn("a result could not be journalled: " + asError(err).Message)
		}
		x.emit(save, Event{Kind: EventSlot, Slot: s.Index, Status: s.Status, Error: s.Error, Progress: -1})
	}
}
