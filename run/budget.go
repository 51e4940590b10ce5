package run

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

// BudgetConfig limits what runs and generations use: money, tokens of chat models and pictures. Usage is counted while
// a limit is set.
type BudgetConfig struct {
	// Run limits one run with its sub-agents, or one operation outside of runs. The
	// generate.Allowance of a context lowers it.
	Run generate.Bounds
	// Day limits an owner's usage per day in UTC.
	Day generate.Bounds
	// Owner limits an owner's total usage.
	Owner generate.Bounds
	// OnSettle receives the usage of each act once it is counted; it may be nil. It must not block.
	OnSettle func(c generate.Charge)
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Budget limits operations and calls of chat models by accounts in the ledger. It is safe for concurrent use, even by
// several processes.
type Budget struct {
	store           ledger.Budgets
	run, day, owner bounds
	settled         func(generate.Charge)
	now             func() time.Time
}

var _ generate.Budget = (*Budget)(nil)

// bounds are limits by unit, without names.
type bounds map[ledger.Unit]ledger.Limit

// readBounds parses bounds; money, tokens and images name the settings that they come from.
func readBounds(b generate.Bounds, money, tokens, images string) (bounds, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	out := bounds{}
	if b.USD != "" {
		p, err := ledger.ParsePico(b.USD)
		if err != nil {
			return nil, err
		}
		out[ledger.UnitMoney] = ledger.Limit{Unit: ledger.UnitMoney, Max: int64(p), Setting: money}
	}
	if b.Tokens > 0 {
		out[ledger.UnitTokens] = ledger.Limit{Unit: ledger.UnitTokens, Max: b.Tokens, Setting: tokens}
	}
	if b.Images > 0 {
		out[ledger.UnitImages] = ledger.Limit{Unit: ledger.UnitImages, Max: b.Images, Setting: images}
	}
	return out, nil
}

// limits returns the budgets of a name that an act counts against. A free act does not count against money, and an act
// without a chat model does not count against tokens.
func (b bounds) limits(name string, c generate.Charge) (out []ledger.Limit) {
	if l, ok := b[ledger.UnitMoney]; ok && (c.USD == nil || ledger.PicoOf(c.USD) > 0) {
		l.Name = name
		out = append(out, l)
	}
	if l, ok := b[ledger.UnitTokens]; ok && c.Tokens > 0 {
		l.Name = "tokens:" + name
		out = append(out, l)
	}
	if l, ok := b[ledger.UnitImages]; ok {
		l.Name = "images:" + name
		out = append(out, l)
	}
	return out
}

// NewBudget parses the limits. The error has code media.CodeInvalid and names the field.
func NewBudget(store ledger.Budgets, c BudgetConfig) (*Budget, error) {
	b := &Budget{store: store, settled: c.OnSettle, now: c.Now}
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
		if *f.to, err = readBounds(f.from, f.variable, f.variable+"_TOKENS", f.variable+"_IMAGES"); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "budget of a %s: %w", f.name, err)
		}
	}
	return b, nil
}

// Reserve reserves a charge in all budgets that are set.
func (b *Budget) Reserve(ctx context.Context, c generate.Charge) error {
	limits, err := b.limits(ctx, c)
	if err != nil || len(limits) == 0 {
		return err
	}
	return b.store.Reserve(ctx, c.ID, amountOf(c), limits)
}

// CheckRemaining reports whether the charge is bounded; the error says that a budget does not allow it.
func (b *Budget) CheckRemaining(ctx context.Context, c generate.Charge) (bounded bool, err error) {
	limits, err := b.limits(ctx, c)
	if err != nil {
		return false, err
	}
	for _, l := range limits {
		have, err := b.store.Budget(ctx, l.Name)
		if err != nil {
			return true, err
		}
		if err := l.CheckRemaining(amountOf(c).Of(l.Unit), have.Spent, have.Reserved); err != nil {
			return true, err
		}
		bounded = bounded || l.Unit == ledger.UnitMoney || amountOf(c).Of(l.Unit) > 0
	}
	return bounded, nil
}

// limits returns the budgets that a charge counts against.
func (b *Budget) limits(ctx context.Context, c generate.Charge) ([]ledger.Limit, error) {
	scope, run := media.ScopeOf(ctx), b.run
	if a := generate.AllowanceOf(ctx); a != nil {
		most, err := readBounds(a.Bounds, "--max-cost", "--max-tokens", "--max-images")
		if err != nil {
			return nil, err
		}
		run = maps.Clone(run)
		for unit, l := range most { // the lower limit applies
			if have, ok := run[unit]; !ok || l.Max < have.Max {
				run[unit] = l
			}
		}
	}
	limits := run.limits("run:"+scope.Tree, c)
	limits = append(limits, b.day.limits("day:"+scope.Owner+":"+b.now().UTC().Format(time.DateOnly), c)...)
	return append(limits, b.owner.limits("owner:"+scope.Owner, c)...), nil
}

// Settle books the usage of an act. A failure is logged, and the reservation stays.
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
	return ledger.Amount{Money: ledger.PicoOf(c.USD), Tokens: c.Tokens, Images: c.Images}
}

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
