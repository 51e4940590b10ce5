// Package bill adds up the cost of an operation's provider calls and settles it with the budget.
//
// Amounts are exact decimals in US dollars (package money). It stores no records and returns no errors: if the budget
// cannot be written, the act stays unsettled.
//
// It may import media, generate, catalog, money, operation and plan.
package bill

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"sync"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/money"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

type receipt struct {
	call        int
	act         string // the act whose reservation it uses
	model       catalog.Model
	resultCount int // number of results
	usage       generate.Usage
	reportedUSD string
	// estimatedUSD is its plan's estimate for the results that were made or may have been billed; nil if the catalogue
	// cannot tell.
	estimatedUSD *string
}

// images returns the number of images that were made or may have been billed.
func (r receipt) images() int {
	if r.usage.Unsettled > 0 {
		return max(r.usage.Images, r.resultCount)
	}
	return r.usage.Images
}

// known returns the actual cost of the call: the amount that the provider reported, or its tokens at the catalogue's
// prices. A model whose prices are all zero costs nothing.
func (r receipt) known() (*big.Rat, bool) {
	if sum, ok := money.Parse(r.reportedUSD); ok {
		return sum, true
	}
	if sum, ok := r.model.TokenCost(r.usage); ok {
		return sum, true
	}
	return new(big.Rat), r.model.Free()
}

// expected returns the actual cost of the call if known, else its estimate.
func (r receipt) expected() (*big.Rat, bool) {
	if sum, ok := r.known(); ok {
		return sum, true
	}
	if r.estimatedUSD == nil {
		return nil, false
	}
	return money.Parse(*r.estimatedUSD)
}

// sumOf adds up calls; nil if there are none or the price of one is unknown.
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
	return new(money.Text(sum))
}

// Bill holds the cost of an operation's calls, and the acts that money is reserved for: the operation itself and each
// fallback model that was asked. Each act is settled once. It is safe for concurrent use.
type Bill struct {
	plan      *plan.Plan // the operation's
	operation string     // its id, which is also the act of its own calls
	pictures  bool       // budgets count its results
	budget    generate.Budget

	mu       sync.Mutex // guards all below
	receipts []receipt
	usage    generate.Usage
	acts     []string        // the operation, and the acts of fallback models
	settled  map[string]bool // acts that the budget has counted
}

// New creates the bill of an operation without calls.
func New(p *plan.Plan, op operation.Operation, b generate.Budget) *Bill {
	return &Bill{plan: p, operation: op.ID, pictures: op.Modality == media.ModalityImage, budget: b, acts: []string{op.ID}, settled: map[string]bool{}}
}

// Count adds the usage of an attempt.
func (b *Bill) Count(p *plan.Plan, a operation.Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.usage.Add(a.Usage)
	if a.Billed() {
		r := receipt{call: a.Call, act: cmp.Or(p.Act, b.operation), model: p.Model, resultCount: p.ResultCountFor(len(a.Slots)), usage: a.Usage, reportedUSD: a.ReportedUSD}
		r.estimatedUSD = p.Estimate(min(r.images(), r.resultCount))
		b.receipts = append(b.receipts, r)
	}
}

// Used returns the usage that the providers counted so far.
func (b *Bill) Used() generate.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usage
}

// Cost returns the cost of the calls and the estimate made before them. If a price is unknown and no task still runs
// (over), the sum of the calls' own costs or estimates replaces that estimate.
func (b *Bill) Cost(estimated *string, over bool) generate.Cost {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := generate.Cost{EstimatedUSD: estimated, ReportedUSD: sumOf(b.receipts, receipt.known)}
	made := slices.ContainsFunc(b.receipts, func(r receipt) bool { return r.images() > 0 || r.usage.InputTokens+r.usage.OutputTokens > 0 })
	if c.ReportedUSD == nil && made && over {
		c.EstimatedUSD = sumOf(b.receipts, receipt.expected)
	}
	return c
}

// Charge returns what the calls of an act used in this round: the actual cost, else the estimate for what was made or
// may have been billed. A call without either counts nothing; the money is unknown if no call has any. What the budgets
// counted before this round is subtracted.
func (b *Bill) Charge(act string) generate.Charge {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.charge(act)
}

// charge is Charge; the caller holds mu.
func (b *Bill) charge(act string) generate.Charge {
	c := generate.Charge{ID: act}
	sum, calls, priced := new(big.Rat), 0, 0
	for _, r := range b.receipts {
		if r.act != act || !b.thisRound(r) {
			continue
		}
		calls++
		if b.pictures {
			c.Images += int64(r.images())
		}
		if part, ok := r.expected(); ok {
			priced++
			sum.Add(sum, part)
		}
	}
	if round := b.plan.Round; round != nil && round.Before != nil && act == b.operation {
		c.Images = max(0, c.Images-round.Before.Images)
		if usd := round.Before.USD; usd != nil {
			if before, ok := money.Parse(*usd); ok && sum.Sub(sum, before).Sign() < 0 {
				sum.SetInt64(0)
			}
		}
	}
	if calls == 0 || priced > 0 {
		c.USD = new(money.Text(sum))
	}
	return c
}

// thisRound reports whether a call belongs to the current round.
func (b *Bill) thisRound(r receipt) bool {
	return b.plan.Round == nil || r.call >= b.plan.Round.First
}

// Reserved records that money was reserved for a fallback model.
func (b *Bill) Reserved(act string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.acts = append(b.acts, act)
}

// SettleAll settles the operation and every fallback model, including those of an earlier process. It reports whether
// it succeeded.
func (b *Bill) SettleAll(ctx context.Context) bool {
	b.mu.Lock()
	for _, r := range b.receipts {
		if b.thisRound(r) && !slices.Contains(b.acts, r.act) {
			b.acts = append(b.acts, r.act)
		}
	}
	b.mu.Unlock()
	return b.Settle(ctx)
}

// Settle releases reservations and counts what was used, once for each act: the operation and the fallback models so
// far. It reports whether it succeeded.
func (b *Bill) Settle(ctx context.Context) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := true
	for _, act := range b.acts {
		b.settled[act] = b.settled[act] || b.budget.Settle(ctx, b.charge(act)) == nil
		all = all && b.settled[act]
	}
	return all
}
