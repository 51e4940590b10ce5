package generate

import (
	"context"

	"atelier/media"
)

// charge is what the plan's calls may use.
func (p *Plan) charge(act string) Charge {
	return Operation{ID: act, Modality: p.req.Modality, N: p.N(), Cost: Cost{EstimatedUSD: p.EstimatedUSD}}.estimated()
}

// afford reserves what the plan may use, else what the first of its next models may use
// that fits, which then takes its place.
func (g *Gateway) afford(ctx context.Context, p *Plan, operation string) (*Plan, error) {
	dear := g.config.Budget.Reserve(ctx, p.charge(operation))
	if media.CodeOf(dear) != media.CodeOverBudget || p.req.Strict {
		return p, dear
	}
	warnings := []string{p.Model.Name + " was passed over: " + asError(dear).Message}
	for i, name := range p.req.Fallback {
		r := p.req
		r.Model, r.Fallback, r.Prefer = name, p.req.Fallback[i+1:], nil
		q, err := g.Plan(ctx, r)
		if err == nil {
			err = g.prepare(ctx, q)
		}
		if err == nil {
			err = g.config.Budget.Reserve(ctx, q.charge(operation))
		}
		if err != nil {
			warnings = append(warnings, passedOver(name, err))
			continue
		}
		q.Dispositions = stoodIn(q.Dispositions, p.asked(), q.Model.Name, asError(dear).Message)
		q.Warnings = append(warnings, q.Warnings...)
		return q, nil
	}
	return p, dear
}

// afford reserves what a model that stands in may use. What was reserved for calls that
// are over is counted first.
func (x *execution) afford(ctx context.Context, p *Plan) error {
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
			return wrap("reserve", err)
		}
	}
	x.acts = append(x.acts, p.act)
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
