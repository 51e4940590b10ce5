package gateway

import (
	"context"
	"fmt"
	"math/big"

	"atelier/generate"
	"atelier/generate/internal/fault"
	"atelier/generate/money"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// DryRun returns what [Gateway.Generate] would do with the request at present, with its budgets: which model of the
// chain it would ask, how often and at what cost. It makes no call, reserves nothing and writes nothing; pictures are
// not converted. If every model of the chain lacks its key, the plan is that of the first one, with a warning that
// names the key.
//
// Errors: those of [Gateway.Plan] except media.CodeMissingKey for a named model, and media.CodeOverBudget, with the
// plan, if no model of the chain fits into the remaining budget.
func (g *Gateway) DryRun(ctx context.Context, r generate.Request) (*plan.Plan, error) {
	p, err := g.First(r, false)
	if media.CodeOf(err) == media.CodeMissingKey {
		p, err = g.First(r, true)
	}
	if err != nil {
		return p, err
	}
	return g.afford(ctx, p, func(q *plan.Plan) error {
		_, err := g.config.Budget.CheckRemaining(ctx, q.Charge(""))
		return err
	})
}

// CheckRemaining returns nil if the budgets have room for all plans together. The error has code media.CodeOverBudget.
func (g *Gateway) CheckRemaining(ctx context.Context, plans ...*plan.Plan) error {
	sum, usd := generate.Charge{}, new(big.Rat)
	unknown := false
	for _, p := range plans {
		c := p.Charge("")
		sum.Images += c.Images
		if c.USD == nil {
			unknown = true
			continue
		}
		if known, ok := money.Parse(*c.USD); ok {
			usd.Add(usd, known)
		}
	}
	if text := money.Text(usd); !unknown || usd.Sign() > 0 {
		sum.USD = &text
	}
	_, err := g.config.Budget.CheckRemaining(ctx, sum)
	return err
}

// reserve reserves the plan's charge. If that exceeds the budget, it reserves the charge of the first fallback model
// that fits and returns its plan.
func (g *Gateway) reserve(ctx context.Context, p *plan.Plan, operation string) (*plan.Plan, error) {
	return g.afford(ctx, p, func(q *plan.Plan) error {
		if q != p {
			if err := g.Prepare(ctx, q); err != nil {
				return err
			}
		}
		return g.config.Budget.Reserve(ctx, q.Charge(operation))
	})
}

// afford returns the plan if fits accepts it, else the plan of the first fallback model that it accepts. If all exceed
// the budget, it returns the plan with the error.
func (g *Gateway) afford(ctx context.Context, p *plan.Plan, fits func(*plan.Plan) error) (*plan.Plan, error) {
	refusal := fits(p)
	if media.CodeOf(refusal) != media.CodeOverBudget || p.Request.Strict {
		g.unpriced(ctx, p)
		return p, refusal
	}
	warnings := []string{p.Model.Name + " was passed over: " + fault.Of(refusal).Message}
	for i, name := range p.Request.Fallback {
		q, err := g.Alternative(p.Request, i, p.Keyless)
		if err == nil {
			err = fits(q)
		}
		if err != nil {
			warnings = append(warnings, plan.SkippedModelWarning(name, err))
			continue
		}
		q.Dispositions = plan.Substituted(q.Dispositions, p.Asked(), q.Model.Name, fault.Of(refusal).Message)
		q.Warnings = append(warnings, q.Warnings...)
		g.unpriced(ctx, q)
		return q, nil
	}
	return p, refusal
}

// unpriced adds a warning to a plan of unknown price if money is limited: the limit does not stop such a plan.
func (g *Gateway) unpriced(ctx context.Context, p *plan.Plan) {
	if p.EstimatedUSD != nil {
		return
	}
	if bounded, err := g.config.Budget.CheckRemaining(ctx, generate.Charge{}); bounded && err == nil {
		p.Warnings = append(p.Warnings, "the price of "+p.Model.Name+
			" is not known in advance: budgets of money allow it while something is left, and count what its provider reports")
	}
}

// reserve reserves the charge of a fallback model. Reservations of finished calls are settled first.
func (x *execution) reserve(ctx context.Context, p *plan.Plan) error {
	if !x.departure.running.Load() {
		x.bill.Settle(ctx)
	}
	first, started := x.history.next()
	switch {
	case started && (first.Provider != p.Model.Provider || first.APIModel != p.Model.APIModel):
		return media.Errorf(media.CodeConflict, "an earlier process continued with %s", first.APIModel)
	case !started: // else the earlier process reserved it and may have settled it
		if err := x.g.config.Budget.Reserve(ctx, p.Charge(p.Act)); err != nil {
			return fault.Of(err)
		}
	}
	x.bill.Reserved(p.Act)
	x.g.unpriced(ctx, p)
	return nil
}

// failUnaffordable adds to the errors of missing results that a model remained but its budget did not.
func (x *execution) failUnaffordable(ctx context.Context, overBudget *media.Error) {
	missing, _ := x.board.missing()
	save, done := saveContext(ctx)
	defer done()
	for _, index := range missing {
		s := x.board.slot(index)
		s.Status = x.notes.next(operation.SubjectSlot, s.Status, operation.EventFail)
		s.Error = &generate.SlotError{Code: overBudget.Code, Message: overBudget.Message + "; before that: " + s.Error.Message}
		x.board.put(s)
		if err := x.g.config.Operations.SlotDone(save, x.op.ID, s); err != nil {
			x.notes.warn("a result could not be journalled: " + fault.Of(err).Message)
		}
		x.emit(save, generate.Event{Kind: generate.EventSlot, Slot: s.Index, Status: s.Status, Error: s.Error, Progress: -1})
	}
}

// Reserver is an optional interface of a [generate.Storage]: it reserves disk space.
type Reserver interface {
	// Reserve reserves need bytes for results until release is called, if at least leave bytes remain free besides; a
	// need of 0 only checks. The error has code media.CodeDiskFull if there is too little space, and says how much is
	// needed; any other error means that the free space is unknown.
	Reserve(ctx context.Context, need, leave int64) (release func(), err error)
}

const (
	// DefaultMinFree is how many bytes a billable call leaves free for databases and logs.
	DefaultMinFree = 32 << 20
	// Bytes per pixel of a picture, and the size of results of unknown size.
	bytesPerPixel, usualResult = 3, 4 << 20
)

// reserveSpace reserves disk space for results before they are paid for, if leave bytes remain free besides; a need of
// 0 only checks. The error has code media.CodeDiskFull. The caller releases the space.
func (g *Gateway) reserveSpace(ctx context.Context, p *plan.Plan, need, leave int64) (release func(), failed *media.Error) {
	none := func() {}
	store, ok := g.config.Storage.(Reserver)
	if !ok || p.Model.Provider == plan.Offline {
		return none, nil
	}
	release, err := store.Reserve(ctx, need, leave)
	switch {
	case err == nil:
		return release, nil
	case media.CodeOf(err) != media.CodeDiskFull: // unknown: storing reports a full disk
		return none, nil
	}
	return nil, fault.Of(fault.Wrap(p.Model.Name+" was not asked", err))
}

func bytesOf(p *plan.Plan, n int) int64 {
	each := int64(usualResult)
	if size, _ := p.Expects(); size.W > 0 {
		each = max(1<<20, int64(size.Pixels())*bytesPerPixel)
	}
	return each * int64(max(n, 1))
}

// withRequiredSpace adds to the error of a full disk how much space the pending results need.
func (d *delivery) withRequiredSpace(err *media.Error) *media.Error {
	if err.Code != media.CodeDiskFull {
		return err
	}
	e := *err
	e.Retryable = true
	e.Message += fmt.Sprintf("; about %d MiB are needed for it", (bytesOf(d.call.plan, 1)+d.x.g.config.MinFree+1<<20-1)>>20)
	return &e
}
