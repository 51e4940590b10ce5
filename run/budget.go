package run

import (
	"context"
	"log/slog"
	"math/big"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// BudgetConfig bounds what generations may cost, in US dollars as decimal text ("5",
// "0.25"); empty means no bound.
type BudgetConfig struct {
	// Run bounds one run with its sub-agents, or one operation outside a run.
	Run string
	// Day bounds what an owner spends on one day, in UTC.
	Day string
	// Owner bounds what an owner spends at all.
	Owner string
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Budget bounds the gateway's operations by the ledger. It is safe for concurrent use,
// also by several processes.
type Budget struct {
	store           ledger.Budgets
	run, day, owner *ledger.Pico
	now             func() time.Time
}

var _ generate.Budget = (*Budget)(nil)

// NewBudget reads the amounts. The error has code media.CodeInvalid and names the
// field.
func NewBudget(store ledger.Budgets, c BudgetConfig) (*Budget, error) {
	b := &Budget{store: store, now: c.Now}
	if b.now == nil {
		b.now = time.Now //nolint:forbidigo // The default clock.
	}
	for _, f := range []struct {
		name, usd string
		to        **ledger.Pico
	}{{"run", c.Run, &b.run}, {"day", c.Day, &b.day}, {"owner", c.Owner, &b.owner}} {
		if f.usd == "" {
			continue
		}
		p, err := ledger.ParsePico(f.usd)
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "budget of a %s: %w", f.name, err)
		}
		*f.to = &p
	}
	return b, nil
}

// Reserve holds the estimate against the budgets that are set.
func (b *Budget) Reserve(ctx context.Context, op generate.Operation) error {
	scope := media.ScopeOf(ctx)
	var limits []ledger.Limit
	for _, l := range []struct {
		name string
		most *ledger.Pico
	}{
		{"run:" + scope.Tree, b.run},
		{"day:" + scope.Owner + ":" + b.now().UTC().Format(time.DateOnly), b.day},
		{"owner:" + scope.Owner, b.owner},
	} {
		if l.most != nil {
			limits = append(limits, ledger.Limit{Name: l.name, Most: *l.most})
		}
	}
	free := op.Cost.EstimatedUSD != nil && amount(op.Cost.EstimatedUSD) == 0
	if len(limits) == 0 || free {
		return nil
	}
	return b.store.ReserveMoney(ctx, op.ID, amount(op.Cost.EstimatedUSD), limits)
}

// Settle counts what the operation cost. A failure is logged: the reservation stays,
// which errs on the side of spending less.
func (b *Budget) Settle(ctx context.Context, op generate.Operation) {
	if b.run == nil && b.day == nil && b.owner == nil {
		return
	}
	if err := b.store.SettleMoney(ctx, op.ID, spent(op)); err != nil {
		slog.WarnContext(ctx, "budget not settled", slog.String("operation", op.ID), slog.String("error", media.Scrub(err.Error())))
	}
}

// spent is what the provider reported; else the estimate's share of the results that
// were made or may have been billed.
func spent(op generate.Operation) ledger.Pico {
	if op.Cost.ReportedUSD != nil {
		return amount(op.Cost.ReportedUSD)
	}
	made := op.Usage.Images
	if op.Usage.Unsettled > 0 {
		made = op.N
	}
	if op.N == 0 || op.Cost.EstimatedUSD == nil || made == 0 {
		return 0
	}
	whole := amount(op.Cost.EstimatedUSD)
	share := new(big.Rat).SetFrac64(int64(whole)*int64(min(made, op.N)), int64(op.N))
	part := new(big.Int).Quo(share.Num(), share.Denom())
	return ledger.Pico(part.Int64())
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
