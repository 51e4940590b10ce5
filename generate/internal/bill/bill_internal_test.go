package bill

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/money"
	"atelier/generate/operation"
	"atelier/generate/plan"
)

// broken is a budget that cannot be written; it counts the tries.
type broken struct {
	generate.Budget
	tries int
}

func (b *broken) Settle(context.Context, generate.Charge) error {
	b.tries++
	return errors.New("no disk")
}

// TestSettleOnce: an act of several calls is settled once, also if the budget cannot be written.
func TestSettleOnce(t *testing.T) {
	t.Parallel()
	budget, p := &broken{}, &plan.Plan{}
	b := New(p, operation.Operation{ID: "op"}, budget)
	for call := range 3 {
		b.Count(p, operation.Attempt{Call: call + 1, Usage: generate.Usage{Images: 1}})
	}
	if b.SettleAll(t.Context()) || budget.tries != 1 {
		t.Errorf("settled, or %d tries", budget.tries)
	}
}

func TestDecimalIsExact(t *testing.T) {
	t.Parallel()
	m := catalog.Model{Prices: []catalog.Price{
		{Unit: "token_text_in", USD: "5"},
		{Unit: "token_image_out", USD: "30"},
	}}
	got := sumOf([]receipt{
		{model: m, usage: generate.Usage{InputTokens: 1, OutputTokens: 2058, ImageOutputTokens: 2058}},
		{model: m, reportedUSD: "0.1"},
		{model: m, reportedUSD: "0.2"},
	}, receipt.known)
	if got == nil || *got != "0.361745" {
		t.Errorf("settle returns %v, want 0.361745", got)
	}
	if got := sumOf([]receipt{{model: m, reportedUSD: "0.1"}, {model: m, usage: generate.Usage{OutputTokens: 5}}}, receipt.known); got != nil {
		t.Errorf("an unpriced kind of token costs %s, want unknown", *got)
	}
	if got := sumOf([]receipt{{model: m, reportedUSD: "lots"}}, receipt.known); got != nil {
		t.Errorf("an unreadable amount costs %s, want unknown", *got)
	}
	if got := sumOf(nil, receipt.known); got != nil {
		t.Errorf("no call costs %s, want unknown", *got)
	}
	if got := money.Text(big.NewRat(100, 1)); got != "100" {
		t.Errorf("100 is written %s", got)
	}
}
