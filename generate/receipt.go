package generate

import (
	"context"
	"math/big"
	"slices"

	"atelier/media"
)

// receipt is what one provider call was billed for.
type receipt struct {
	call        int
	act         string // whose reservation it counts against; empty for the operation's own
	model       Model
	makes       int // how many results come of it
	usage       Usage
	reportedUSD string
	// estimatedUSD is what its plan expects for the results that were made or may have been
	// billed; nil if the catalogue cannot tell.
	estimatedUSD *string
}

// receiptOf is the receipt of an attempt by a plan.
func receiptOf(p *Plan, a Attempt) receipt {
	r := receipt{call: a.Call, act: p.act, model: p.Model, makes: p.makes(len(a.Slots)), usage: a.Usage, reportedUSD: a.ReportedUSD}
	r.estimatedUSD = p.estimate(min(r.images(), r.makes))
	return r
}

// images are those that were made or may have been billed.
func (r receipt) images() int {
	if r.usage.Unsettled > 0 {
		return max(r.usage.Images, r.makes)
	}
	return r.usage.Images
}

// known is what the call cost by the provider's own count: the sum that it named, or its
// tokens at the catalogue's prices. A model whose every price is zero costs nothing.
func (r receipt) known() (*big.Rat, bool) {
	if sum, ok := dollars(r.reportedUSD); ok {
		return sum, true
	}
	if sum, ok := r.model.tokenCost(r.usage); ok {
		return sum, true
	}
	return new(big.Rat), r.model.free()
}

// expected is what the call cost as far as anybody knows: see known, else the estimate.
func (r receipt) expected() (*big.Rat, bool) {
	if sum, ok := r.known(); ok {
		return sum, true
	}
	if r.estimatedUSD == nil {
		return nil, false
	}
	return dollars(*r.estimatedUSD)
}

// settle is what calls cost by the provider's own count; nil if it is not known for every
// call.
func settle(calls []receipt) *string { return sumOf(calls, receipt.known) }

// sumOf adds up calls; nil if the price of one is unknown.
func sumOf(calls []receipt, price func(receipt) (*big.Rat, bool)) *string {
	sum := new(big.Rat)
	for _, c := range calls {
		part, ok := price(c)
		if !ok {
			return nil
		}
		sum.Add(sum, part)
	}
	if len(calls) == 0 {
		return nil
	}
	text := decimal(sum)
	return &text
}

// count adds what an attempt used; the caller holds mu.
func (x *execution) count(p *Plan, a Attempt) {
	x.usage.Add(a.Usage)
	if a.billed() {
		x.receipts = append(x.receipts, receiptOf(p, a))
	}
}

// cost sums up the calls. Where one's price is not known its own estimate counts, and the
// sum is an estimate; the caller holds mu.
func (x *execution) cost() Cost {
	c := Cost{EstimatedUSD: x.op.Cost.EstimatedUSD, ReportedUSD: settle(x.receipts)}
	made := slices.ContainsFunc(x.receipts, func(r receipt) bool { return r.images() > 0 || r.usage.InputTokens+r.usage.OutputTokens > 0 })
	if c.ReportedUSD == nil && made && !x.running {
		c.EstimatedUSD = sumOf(x.receipts, receipt.expected)
	}
	return c
}

// charge is what the calls of an act used in this round: what was reported, else the
// estimate for what was made or may have been billed. A call without either counts
// nothing; the money is unknown if none has any.
func (x *execution) charge(act string) Charge {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := Charge{ID: act}
	sum, calls, priced := new(big.Rat), 0, 0
	for _, r := range x.receipts {
		if r.act != act && (r.act != "" || act != x.op.ID) || x.plan.round != nil && r.call < x.plan.round.First {
			continue
		}
		calls++
		if x.op.Modality == media.ModalityImage {
			c.Images += int64(r.images())
		}
		if part, ok := r.expected(); ok {
			priced++
			sum.Add(sum, part)
		}
	}
	if calls == 0 || priced > 0 {
		text := decimal(sum)
		c.USD = &text
	}
	if r := x.plan.round; r != nil && r.Before != nil && act == x.op.ID {
		return c.without(*r.Before)
	}
	return c
}

// settleAll settles the operation itself and every model that stood in, also those of an
// earlier process. It reports whether it could.
func (x *execution) settleAll(ctx context.Context) bool {
	x.mu.Lock()
	for _, r := range x.receipts {
		if r.act != "" && (x.plan.round == nil || r.call >= x.plan.round.First) {
			x.acts = append(x.acts, r.act)
		}
	}
	x.mu.Unlock()
	return x.settleActs(ctx)
}

// settleActs gives back what is reserved and counts what was used, once for each act: the
// operation itself and the models that stood in so far. It reports whether it could.
func (x *execution) settleActs(ctx context.Context) bool {
	all := true
	for _, act := range append([]string{x.op.ID}, x.acts...) {
		if !x.counted[act] {
			x.counted[act] = x.g.config.Budget.Settle(ctx, x.charge(act)) == nil
			all = all && x.counted[act]
		}
	}
	return all
}
