package generate

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"atelier/generate/money"
	"atelier/media"
)

// Charge is what one billable act may use, or did use: an operation, or a call of a chat model.
type Charge struct {
	// ID is the act's, the same in every process that works on it. An operation's is its own;
	// that of a model that stands in for another begins with it and continues a slash.
	ID string
	// Images are the pictures that it makes.
	Images int64
	// Tokens are those of a chat model, in and out; operations have none.
	Tokens int64
	// USD is money in US dollars as exact decimal text; nil means unknown, "0" free.
	USD *string
}

// Budget bounds what acts may use. Implementations are safe for concurrent use.
type Budget interface {
	// Reserve holds what an act is estimated to use against every budget of the scope and the [Allowance] of ctx (its
	// run, its day, its owner), all or none. The error has code media.CodeOverBudget and names the budget and what is
	// left of it. Money that is unknown reserves nothing, and passes as long as something is left. Reserving again for
	// the same act changes nothing.
	Reserve(ctx context.Context, c Charge) error
	// Room reports whether an act would pass now, and holds nothing. bounded is false where no budget counts what it
	// uses; money that is unknown is counted, money of "0" is not. The error is that of Reserve.
	Room(ctx context.Context, c Charge) (bounded bool, err error)
	// Settle gives the reservation back and counts what the act used. It is called when the act is over, in a later
	// process perhaps, and once more if a process dies before it saved the end: the second time changes nothing. An
	// error leaves the reservation; the operation then stays open, so that the process that continues it settles it.
	Settle(ctx context.Context, c Charge) error
}

// Bounds are what a person or a program allows at most. The zero value bounds nothing.
type Bounds struct {
	// USD is money in US dollars as decimal text ("5", "0.25"); empty means no bound,
	// "0" that only what is free may be done; at most 4 million.
	USD string `json:"usd,omitempty"`
	// Tokens are those of chat models, in and out together; 0 means no bound.
	Tokens int64 `json:"tokens,omitempty"`
	// Images are pictures that models make; 0 means no bound.
	Images int64 `json:"images,omitempty"`
}

// maxUSD is what a ledger can count.
const maxUSD = 4_000_000

// Validate says which bound means nothing. The error has code media.CodeInvalid.
func (b Bounds) Validate() error {
	usd, ok := money.Parse(b.USD)
	if b.USD != "" && (!ok || len(b.USD) > 60) {
		return media.Errorf(media.CodeInvalid, "%.20q is no amount of dollars: write it like 0.25", b.USD)
	}
	if ok && usd.Cmp(big.NewRat(maxUSD, 1)) > 0 {
		return media.Errorf(media.CodeInvalid, "%.20q dollars are too many: at most 4 million", b.USD)
	}
	if b.Tokens < 0 || b.Images < 0 {
		return media.Errorf(media.CodeInvalid, "a bound of tokens or images must not be negative: leave it out for none")
	}
	return nil
}

// Allowance bounds one run tree, beside the budgets that are configured. It goes with the context, see [WithAllowance].
// It counts in memory, for a [Budget] that keeps nothing; one that keeps accounts takes its Bounds and counts itself.
// It is safe for concurrent use.
type Allowance struct {
	Bounds Bounds

	mu     sync.Mutex // guards what follows
	held   map[string]account
	over   map[string]bool // acts that were settled
	before account
}

type account struct {
	usd            *big.Rat
	tokens, images int64
}

func (a account) plus(b account) account {
	return account{usd: new(big.Rat).Add(a.usd, b.usd), tokens: a.tokens + b.tokens, images: a.images + b.images}
}

func accountOf(c Charge) account {
	usd := new(big.Rat)
	if c.USD != nil {
		if known, ok := money.Parse(*c.USD); ok {
			usd = known
		}
	}
	return account{usd: usd, tokens: c.Tokens, images: c.Images}
}

type allowanceKey struct{}

// WithAllowance bounds what is done under the context.
func WithAllowance(ctx context.Context, a *Allowance) context.Context {
	return context.WithValue(ctx, allowanceKey{}, a)
}

// AllowanceOf gives the allowance of the context; nil if there is none.
func AllowanceOf(ctx context.Context) *Allowance {
	a, _ := ctx.Value(allowanceKey{}).(*Allowance)
	return a
}

// InMemory bounds acts by the allowance of their context, which it keeps in memory. It
// is the budget of a gateway or a runner that is given none.
type InMemory struct{}

var _ Budget = InMemory{}

// Reserve holds a charge against the allowance.
func (InMemory) Reserve(ctx context.Context, c Charge) error {
	a := AllowanceOf(ctx)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.held[c.ID]; known || a.over[c.ID] {
		return nil
	}
	if err := a.room(c); err != nil {
		return err
	}
	if a.held == nil {
		a.held = map[string]account{}
	}
	a.held[c.ID] = accountOf(c)
	return nil
}

// Room reports whether the allowance has room for a charge.
func (InMemory) Room(ctx context.Context, c Charge) (bool, error) {
	a := AllowanceOf(ctx)
	if a == nil {
		return false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Bounds.count(c), a.room(c)
}

// count reports whether a bound counts what an act uses.
func (b Bounds) count(c Charge) bool {
	free := c.USD != nil && accountOf(c).usd.Sign() == 0
	return b.USD != "" && !free || b.Tokens > 0 && c.Tokens > 0 || b.Images > 0 && c.Images > 0
}

// room is nil if a charge fits beside all that is spent and held; the caller holds mu.
func (a *Allowance) room(c Charge) error {
	all := a.spent()
	for _, h := range a.held {
		all = all.plus(h)
	}
	return a.Bounds.room(all, accountOf(c), c)
}

// room is nil if what is wanted fits beside all that is spent and held.
func (b Bounds) room(all, wants account, c Charge) error {
	if left := b.Images - all.images; b.Images > 0 && wants.images > max(left, 0) {
		return media.Errorf(media.CodeOverBudget, "the run may make %d images and has %d left, and this makes %d: raise it or ask for less", b.Images, max(left, 0), wants.images)
	}
	if left := b.Tokens - all.tokens; b.Tokens > 0 && wants.tokens > max(left, 0) {
		return media.Errorf(media.CodeOverBudget, "the run may use %d tokens and has %d left, and this needs %d", b.Tokens, max(left, 0), wants.tokens)
	}
	most, bounded := money.Parse(b.USD)
	if free := c.USD != nil && wants.usd.Sign() == 0; !bounded || free {
		return nil
	}
	if left := most.Sub(most, all.usd); left.Sign() <= 0 || left.Cmp(wants.usd) < 0 {
		if left.Sign() < 0 {
			left = new(big.Rat)
		}
		return media.Errorf(media.CodeOverBudget, "the run may cost $%s and has $%s left, and this needs %s: raise it or ask for less", b.USD, money.Text(left), price(c))
	}
	return nil
}

func price(c Charge) string {
	if c.USD == nil {
		return "an unknown amount"
	}
	return fmt.Sprintf("$%s", *c.USD)
}

// Settle counts what an act used.
func (InMemory) Settle(ctx context.Context, c Charge) error {
	a := AllowanceOf(ctx)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, held := a.held[c.ID]; !held {
		return nil
	}
	delete(a.held, c.ID)
	a.settle(c)
	return nil
}

// Recall counts what an act of an earlier process used, unless it is known.
func (a *Allowance) Recall(c Charge) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, held := a.held[c.ID]; held || a.over[c.ID] {
		return
	}
	a.settle(c)
}

func (a *Allowance) settle(c Charge) {
	if a.over == nil {
		a.over = map[string]bool{}
	}
	a.over[c.ID] = true
	a.before = a.spent().plus(accountOf(c))
}

// spent is what settled acts used; the caller holds mu.
func (a *Allowance) spent() account {
	if a.before.usd == nil {
		return account{usd: new(big.Rat)}
	}
	return a.before
}
