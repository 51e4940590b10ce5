package generate

import (
	"context"
	"math/big"
	"sync"

	"atelier/generate/money"
	"atelier/media"
)

// Charge is what one billable act may use, or has used: an operation, or a call of a chat model.
type Charge struct {
	// ID identifies the act in every process that works on it. For an operation it is the operation's id; for a
	// fallback model it starts with that id and a slash.
	ID string
	// Images is the number of pictures that it makes.
	Images int64
	// Tokens is the number of tokens of a chat model, in and out; operations have none.
	Tokens int64
	// USD is money in US dollars as exact decimal text; nil means unknown, "0" means free.
	USD *string
}

// Budget limits what acts may use. Implementations are safe for concurrent use.
type Budget interface {
	// Reserve reserves the estimate of an act in every budget of the scope and the [Allowance] of ctx (its run, its
	// day, its owner), all or none. The error has code media.CodeOverBudget and names the budget and the remainder. An
	// unknown amount of money reserves nothing, and is allowed while any money remains. Reserving again for the same
	// act has no effect.
	Reserve(ctx context.Context, c Charge) error
	// CheckRemaining reports whether Reserve would succeed, and reserves nothing. bounded is false if no budget counts
	// what the act uses; unknown money is counted, money of "0" is not. The error is that of Reserve.
	CheckRemaining(ctx context.Context, c Charge) (bounded bool, err error)
	// Settle releases the reservation and counts what the act used. It is called when the act is over, perhaps in a
	// later process, and again if a process dies before it saved the end: the second call has no effect. After an error
	// the reservation remains; the operation stays open, so that the process that continues it settles it.
	Settle(ctx context.Context, c Charge) error
}

// Bounds are the limits that a person or a program sets. The zero value limits nothing.
type Bounds struct {
	// USD is money in US dollars as decimal text ("5", "0.25"); empty means no limit, "0" allows only what is free; at
	// most 4 million.
	USD string `json:"usd,omitempty"`
	// Tokens limits the tokens of chat models, in and out together; 0 means no limit.
	Tokens int64 `json:"tokens,omitempty"`
	// Images limits the pictures that models make; 0 means no limit.
	Images int64 `json:"images,omitempty"`
}

// maxUSD is the largest amount that a ledger can count.
const maxUSD = 4_000_000

// Validate returns an error with code media.CodeInvalid for an invalid bound.
func (b Bounds) Validate() error {
	usd, ok := money.Parse(b.USD)
	if b.USD != "" && (!ok || len(b.USD) > 60) {
		return media.Errorf(media.CodeInvalid, "%.20q is not an amount in dollars: write it like 0.25", b.USD)
	}
	if ok && usd.Cmp(big.NewRat(maxUSD, 1)) > 0 {
		return media.Errorf(media.CodeInvalid, "%.20q dollars are too many: at most 4 million", b.USD)
	}
	if b.Tokens < 0 || b.Images < 0 {
		return media.Errorf(media.CodeInvalid, "a bound of tokens or images must not be negative: leave it out for none")
	}
	return nil
}

// Allowance limits one run tree, in addition to the configured budgets. It is passed in the context, see
// [WithAllowance]. It counts in memory, for a [Budget] without storage; a budget that keeps accounts uses its Bounds
// and counts itself. It is safe for concurrent use.
type Allowance struct {
	Bounds Bounds

	mu   sync.Mutex // guards acts
	acts map[string]actCharge
}

// actCharge is what an act has reserved, or used if it is settled.
type actCharge struct {
	Charge
	settled bool
}

// set sets what an act has reserved or used; the caller holds mu.
func (a *Allowance) set(c Charge, settled bool) {
	if a.acts == nil {
		a.acts = map[string]actCharge{}
	}
	a.acts[c.ID] = actCharge{c, settled}
}

// usdOf returns the money of a charge; 0 if it is unknown.
func usdOf(c Charge) *big.Rat {
	if c.USD != nil {
		if known, ok := money.Parse(*c.USD); ok {
			return known
		}
	}
	return new(big.Rat)
}

type allowanceKey struct{}

// WithAllowance returns a context whose acts the allowance limits.
func WithAllowance(ctx context.Context, a *Allowance) context.Context {
	return context.WithValue(ctx, allowanceKey{}, a)
}

// AllowanceOf returns the allowance of the context; nil if there is none.
func AllowanceOf(ctx context.Context) *Allowance {
	a, _ := ctx.Value(allowanceKey{}).(*Allowance)
	return a
}

// InMemory limits acts by the allowance of their context, which counts in memory. It is the default budget of a gateway
// or a runner.
type InMemory struct{}

var _ Budget = InMemory{}

// Reserve reserves a charge in the allowance.
func (InMemory) Reserve(ctx context.Context, c Charge) error {
	a := AllowanceOf(ctx)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.acts[c.ID]; known {
		return nil
	}
	if err := a.checkRemaining(c); err != nil {
		return err
	}
	a.set(c, false)
	return nil
}

// CheckRemaining reports whether the allowance has room for a charge.
func (InMemory) CheckRemaining(ctx context.Context, c Charge) (bool, error) {
	a := AllowanceOf(ctx)
	if a == nil {
		return false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b, free := a.Bounds, c.USD != nil && usdOf(c).Sign() == 0
	applies := b.USD != "" && !free || b.Tokens > 0 && c.Tokens > 0 || b.Images > 0 && c.Images > 0
	return applies, a.checkRemaining(c)
}

// checkRemaining returns nil if a charge fits beside everything spent and reserved; the caller holds mu.
func (a *Allowance) checkRemaining(c Charge) error {
	var all Charge
	usd, wants := new(big.Rat), usdOf(c)
	for _, act := range a.acts {
		all.Images, all.Tokens = all.Images+act.Images, all.Tokens+act.Tokens
		usd.Add(usd, usdOf(act.Charge))
	}
	b := a.Bounds
	if left := b.Images - all.Images; b.Images > 0 && c.Images > max(left, 0) {
		return media.Errorf(media.CodeOverBudget, "the run may make %d images and has %d left, and this makes %d: raise it or ask for less", b.Images, max(left, 0), c.Images)
	}
	if left := b.Tokens - all.Tokens; b.Tokens > 0 && c.Tokens > max(left, 0) {
		return media.Errorf(media.CodeOverBudget, "the run may use %d tokens and has %d left, and this needs %d", b.Tokens, max(left, 0), c.Tokens)
	}
	most, bounded := money.Parse(b.USD)
	if free := c.USD != nil && wants.Sign() == 0; !bounded || free {
		return nil
	}
	if left := most.Sub(most, usd); left.Sign() <= 0 || left.Cmp(wants) < 0 {
		if left.Sign() < 0 {
			left = new(big.Rat)
		}
		price := "an unknown amount"
		if c.USD != nil {
			price = "$" + *c.USD
		}
		return media.Errorf(media.CodeOverBudget, "the run may cost $%s and has $%s left, and this needs %s: raise it or ask for less", b.USD, money.Text(left), price)
	}
	return nil
}

// Settle counts what an act used.
func (InMemory) Settle(ctx context.Context, c Charge) error {
	a := AllowanceOf(ctx)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if act, known := a.acts[c.ID]; known && !act.settled {
		a.set(c, true)
	}
	return nil
}

// Recall counts what an act of an earlier process used, unless the act is already known.
func (a *Allowance) Recall(c Charge) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.acts[c.ID]; !known {
		a.set(c, true)
	}
}
