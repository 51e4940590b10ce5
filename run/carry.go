package run

import (
	"context"
	"math"

	"atelier/agent"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

// carry charges the usage of a run's earlier parts to the money and picture limits of the next one: accounts exist only
// for limits, and the run may have had none. Usage that is already counted is not counted again.
func (p player) carry(ctx context.Context, w work) error {
	req := w.Request
	b := bounds{}
	if req.MaxCost != "" {
		b[ledger.UnitMoney] = ledger.Limit{Unit: ledger.UnitMoney, Max: math.MaxInt64}
	}
	if req.MaxImages > 0 {
		b[ledger.UnitImages] = ledger.Limit{Unit: ledger.UnitImages, Max: math.MaxInt64}
	}
	limits := b.limits("run:"+req.RunID, generate.Charge{})
	if w.Part == 0 || len(limits) == 0 {
		return nil
	}
	used, err := p.usedBefore(ctx, w)
	if err != nil {
		return err
	}
	for _, l := range limits {
		have, err := p.ledger.Budget(ctx, l.Name)
		if err != nil {
			return err
		}
		missing := used.Of(l.Unit) - have.Spent - have.Reserved
		if missing <= 0 {
			continue
		}
		act, more := p.threads.NewID(), ledger.Amount{Images: missing}
		if l.Unit == ledger.UnitMoney {
			more = ledger.Amount{Money: ledger.Pico(missing)}
		}
		if err := p.ledger.Reserve(ctx, act, more, []ledger.Limit{l}); err != nil {
			return err
		}
		if err := p.ledger.Settle(ctx, act, more); err != nil {
			return err
		}
	}
	return nil
}

// usedBefore returns the money and the number of pictures that a run used up to the end of its previous part: the
// values of its row, or more according to the steps, because the process that ended the part may not have read them.
// Steps that a fork keeps from another run do not count.
func (p player) usedBefore(ctx context.Context, w work) (used ledger.Amount, err error) {
	row, err := p.ledger.Run(ctx, w.Request.Owner, w.Request.RunID)
	if media.CodeOf(err) == media.CodeNotFound {
		return used, nil
	}
	if err != nil {
		return used, err
	}
	cost, err := p.observer.Total(ctx, row.Owner, row.Tree, row.Tree, agent.Cost{})
	if err != nil {
		return used, err
	}
	used.Money = ledger.PicoOf(cost.EstimatedUSD)
	ops, err := ledger.All(func(page ledger.Page) (ledger.List[ledger.Operation], error) {
		return p.ledger.ListOperations(ctx, row.Owner, ledger.OperationQuery{Tree: row.Tree, Page: page})
	})
	if err != nil {
		return used, err
	}
	for _, op := range ops {
		used.Images += operations.Pictures(op)
	}
	for full, result := range w.Request.State.Steps {
		call, ok := agent.ReadCall(step.ParsePath(full).Own(), result)
		if !ok || call.Ended.Before(row.StartedAt) {
			continue
		}
		used.Money += ledger.PicoOf(call.Response.CostUSD)
		for _, o := range call.Response.Media {
			if o.Modality == media.ModalityImage {
				used.Images++
			}
		}
	}
	if row.ForkedFrom == "" {
		used.Money, used.Images = max(used.Money, ledger.PicoOf(row.Cost.EstimatedUSD)), max(used.Images, row.Usage.Images)
	}
	return used, nil
}
