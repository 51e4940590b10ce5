package run

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
)

// carry counts what a run used in the parts before against the limits of money and pictures
// of the one that begins: accounts are kept only where there is a limit, and it may have
// had none. What is counted by now is not counted again.
func (s *Service) carry(ctx context.Context, w work) error {
	req := w.Request
	var b bounds
	if most := ledger.Pico(math.MaxInt64); req.MaxCost != "" {
		b.money = &most
	}
	if req.MaxImages > 0 {
		b.images = math.MaxInt64
	}
	limits := b.limits("run:"+req.RunID, generate.Charge{})
	if w.Part == 0 || len(limits) == 0 {
		return nil
	}
	used, err := s.usedBefore(ctx, w)
	for _, l := range limits {
		if err == nil {
			err = s.countUpTo(ctx, l, used)
		}
	}
	return err
}

// countUpTo makes an account count at least what was used of its unit.
func (s *Service) countUpTo(ctx context.Context, l ledger.Limit, used ledger.Amount) error {
	have, err := s.cfg.Ledger.Budget(ctx, l.Name)
	missing := used.Of(l.Unit) - have.Spent - have.Reserved
	if err != nil || missing <= 0 {
		return err
	}
	act, more := s.cfg.NewID(), ledger.Amount{Images: missing}
	if l.Unit == ledger.UnitMoney {
		more = ledger.Amount{Money: ledger.Pico(missing)}
	}
	if err := s.cfg.Ledger.Reserve(ctx, act, more, []ledger.Limit{l}); err != nil {
		return err
	}
	return s.cfg.Ledger.Settle(ctx, act, more)
}

// usedBefore is the money and the pictures of a run when its part before ended: what its row
// says, or more by the steps, because whoever ended it may not have looked at them. What a
// fork keeps of another run was not used by it.
func (s *Service) usedBefore(ctx context.Context, w work) (used ledger.Amount, err error) {
	row, err := s.cfg.Ledger.Run(ctx, w.Request.Owner, w.Request.RunID)
	if media.CodeOf(err) == media.CodeNotFound {
		return used, nil
	}
	if err != nil {
		return used, err
	}
	cost, err := s.cfg.Observer.total(ctx, row.Owner, row.Tree, row.Tree, agent.Cost{})
	if err != nil {
		return used, err
	}
	used.Money = amount(cost.EstimatedUSD)
	if used.Images, err = s.drawn(ctx, row); err != nil {
		return used, err
	}
	for full, result := range w.Request.State.Steps {
		paid, drawn := stepUse(full, result, row.StartedAt)
		used.Money, used.Images = used.Money+paid, used.Images+drawn
	}
	if row.ForkedFrom == "" {
		used.Money, used.Images = max(used.Money, amount(row.Cost.EstimatedUSD)), max(used.Images, row.Usage.Images)
	}
	return used, nil
}

// drawn counts the pictures of a run's generations, with those that a provider may have billed
// though none came.
func (s *Service) drawn(ctx context.Context, row ledger.Run) (n int64, err error) {
	p := ledger.Page{Limit: ledger.MaxLimit}
	for {
		list, err := s.cfg.Ledger.ListOperations(ctx, row.Owner, ledger.OperationQuery{Tree: row.Tree, Page: p})
		if err != nil {
			return n, err
		}
		for _, op := range list.Items {
			if op.Modality != media.ModalityImage {
				continue
			}
			var in intent
			u := usageOf(op)
			if u.Unsettled > 0 && json.Unmarshal(op.Request, &in) == nil {
				u.Images = max(u.Images, in.N)
			}
			n += int64(u.Images)
		}
		if p.After = list.Next; p.After == "" {
			return n, nil
		}
	}
}

// stepUse is the money of a model call that ended since a time, and the pictures that the
// model made by itself.
func stepUse(full string, result json.RawMessage, since time.Time) (money ledger.Pico, pictures int64) {
	did, ok := agent.ReadCall(step.ParsePath(full).Own(), result)
	if !ok || did.Ended.Before(since) {
		return 0, 0
	}
	for _, o := range did.Response.Media {
		if o.Modality == media.ModalityImage {
			pictures++
		}
	}
	return amount(did.Response.CostUSD), pictures
}
