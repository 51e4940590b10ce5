package run

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// BudgetConfig limits what runs and generations use: money, tokens of chat models and pictures. Use
// is counted while a limit is set.
type BudgetConfig struct {
	// Run limits one run with its sub-agents, or one operation outside of runs. The
	// generate.Allowance of a context lowers it.
	Run generate.Bounds
	// Day limits an owner's use per day, in UTC.
	Day generate.Bounds
	// Owner limits an owner's total use.
	Owner generate.Bounds
	// Settled receives what each act used, once it is counted; may be nil. It must not block.
	Settled func(c generate.Charge)
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Budget limits operations and calls of chat models by the ledger. It is safe for concurrent use,
// also by several processes.
type Budget struct {
	store           ledger.Budgets
	run, day, owner bounds
	settled         func(generate.Charge)
	now             func() time.Time
}

var _ generate.Budget = (*Budget)(nil)

// bounds are generate.Bounds as the ledger counts; nil money means no limit.
type bounds struct {
	money          *ledger.Pico
	tokens, images int64
	// set names what set each bound.
	set map[ledger.Unit]string
}

// named notes what set the bounds.
func (b bounds) named(money, tokens, images string) bounds {
	b.set = map[ledger.Unit]string{ledger.UnitMoney: money, ledger.UnitTokens: tokens, ledger.UnitImages: images}
	return b
}

func readBounds(b generate.Bounds) (bounds, error) {
	out := bounds{tokens: b.Tokens, images: b.Images}
	if err := b.Validate(); err != nil || b.USD == "" {
		return out, err
	}
	p, err := ledger.ParsePico(b.USD)
	out.money = &p
	return out, err
}

// within is the lower of two bounds.
func (b bounds) within(c bounds) bounds {
	b.set = maps.Clone(b.set)
	if c.money != nil && (b.money == nil || *c.money < *b.money) {
		b.money, b.set[ledger.UnitMoney] = c.money, c.set[ledger.UnitMoney]
	}
	narrow := func(u ledger.Unit, x, y int64) int64 {
		if y > 0 && (x == 0 || y < x) {
			b.set[u] = c.set[u]
			return y
		}
		return x
	}
	b.tokens, b.images = narrow(ledger.UnitTokens, b.tokens, c.tokens), narrow(ledger.UnitImages, b.images, c.images)
	return b
}

// limits are the budgets of a name that an act counts against. Free acts do not count against
// money, nor acts without a chat model against tokens.
func (b bounds) limits(name string, c generate.Charge) []ledger.Limit {
	var out []ledger.Limit
	free := c.USD != nil && amount(c.USD) == 0
	if b.money != nil && !free {
		out = append(out, ledger.Limit{Name: name, Unit: ledger.UnitMoney, Most: int64(*b.money), Setting: b.set[ledger.UnitMoney]})
	}
	if b.tokens > 0 && c.Tokens > 0 {
		out = append(out, ledger.Limit{Name: "tokens:" + name, Unit: ledger.UnitTokens, Most: b.tokens, Setting: b.set[ledger.UnitTokens]})
	}
	if b.images > 0 {
		out = append(out, ledger.Limit{Name: "images:" + name, Unit: ledger.UnitImages, Most: b.images, Setting: b.set[ledger.UnitImages]})
	}
	return out
}

// NewBudget parses the limits. The error has code media.CodeInvalid and names the field.
func NewBudget(store ledger.Budgets, c BudgetConfig) (*Budget, error) {
	b := &Budget{store: store, settled: c.Settled, now: c.Now}
	if b.now == nil {
		b.now = time.Now //nolint:forbidigo // The default clock.
	}
	for _, f := range []struct {
		name, variable string
		from           generate.Bounds
		to             *bounds
	}{
		{"run", "ATELIER_BUDGET_RUN", c.Run, &b.run}, {"day", "ATELIER_BUDGET_DAY", c.Day, &b.day}, {"owner", "ATELIER_BUDGET_OWNER", c.Owner, &b.owner},
	} {
		var err error
		if *f.to, err = readBounds(f.from); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "budget of a %s: %w", f.name, err)
		}
		*f.to = f.to.named(f.variable, f.variable+"_TOKENS", f.variable+"_IMAGES")
	}
	return b, nil
}

// Reserve reserves a charge from the budgets that are set.
func (b *Budget) Reserve(ctx context.Context, c generate.Charge) error {
	limits, err := b.limits(ctx, c)
	if err != nil || len(limits) == 0 {
		return err
	}
	return b.store.Reserve(ctx, c.ID, amountOf(c), limits)
}

// Room reports whether the budgets allow a charge.
func (b *Budget) Room(ctx context.Context, c generate.Charge) (bounded bool, err error) {
	limits, err := b.limits(ctx, c)
	if err != nil {
		return false, err
	}
	for _, l := range limits {
		have, err := b.store.Budget(ctx, l.Name)
		if err != nil {
			return true, err
		}
		if err := l.Room(amountOf(c).Of(l.Unit), have.Spent, have.Reserved); err != nil {
			return true, err
		}
		bounded = bounded || l.Unit == ledger.UnitMoney || amountOf(c).Of(l.Unit) > 0
	}
	return bounded, nil
}

// limits are the budgets that a charge counts against.
func (b *Budget) limits(ctx context.Context, c generate.Charge) ([]ledger.Limit, error) {
	scope, run := media.ScopeOf(ctx), b.run
	if a := generate.AllowanceOf(ctx); a != nil {
		most, err := readBounds(a.Bounds)
		if err != nil {
			return nil, err
		}
		run = run.within(most.named("--max-cost", "--max-tokens", "--max-images"))
	}
	limits := run.limits("run:"+scope.Tree, c)
	limits = append(limits, b.day.limits("day:"+scope.Owner+":"+b.now().UTC().Format(time.DateOnly), c)...)
	return append(limits, b.owner.limits("owner:"+scope.Owner, c)...), nil
}

// Settle books what an act used. A failure is logged, and the reservation stays.
func (b *Budget) Settle(ctx context.Context, c generate.Charge) error {
	err := b.store.Settle(ctx, c.ID, amountOf(c))
	if err != nil {
		slog.WarnContext(ctx, "budget not settled", slog.String("act", c.ID), slog.String("error", media.ErrorText(err.Error())))
		return err
	}
	if b.settled != nil {
		b.settled(c)
	}
	return nil
}

func amountOf(c generate.Charge) ledger.Amount {
	return ledger.Amount{Money: amount(c.USD), Tokens: c.Tokens, Images: c.Images}
}

func amount(usd *string) ledger.Pico {
	if usd == nil {
		return 0
	}
	p, err := ledger.ParsePico(*usd)
	if err != nil {
		return 0
	}
	return p
}
