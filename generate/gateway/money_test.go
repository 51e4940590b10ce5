package gateway_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// priced makes a driver answer with one picture per result, at the given price per call.
func priced(t *testing.T, h *testGateway, usd string) func(context.Context, driver.Task, int) (driver.Update, error) {
	t.Helper()
	return func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		u := driver.Update{Done: true, ReportedUSD: usd}
		for i := range task.N {
			u.Items = append(u.Items, h.picture(ctx, t, uint8(10*number+i)))
		}
		return u, nil
	}
}

// TestEachCallCountsItsOwnMoney: a call without a reported price counts with its own model's estimate; the whole
// operation is not counted with the first model's.
func TestEachCallCountsItsOwnMoney(t *testing.T) {
	t.Parallel()
	unsettled := media.Errorf(media.CodeUnavailable, "lost")
	unsettled.Cause = driver.ErrUnsettled
	for name, c := range map[string]struct {
		openai, gemini  func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error)
		n               int
		estimated, paid string
	}{
		"the first was moderated and the second reports": {
			func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error) {
				return refusing(t, h, media.Errorf(media.CodeModerated, "no"))
			},
			func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error) {
				return priced(t, h, "0.03")
			}, 1, "0.03", "0.03",
		},
		"the second does not report": {
			func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error) {
				return refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit"))
			},
			func(*testGateway) func(context.Context, driver.Task, int) (driver.Update, error) { return nil }, 1, "0.134", "0.134",
		},
		"nothing is known of one result of two": {
			func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error) {
				return refusing(t, h, nil, 2)
			},
			func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error) {
				return priced(t, h, "0.1")
			}, 2, "0.162", "0.162",
		},
		"one that may have been billed counts whole": {
			func(h *testGateway) func(context.Context, driver.Task, int) (driver.Update, error) {
				return refusing(t, h, unsettled)
			},
			func(*testGateway) func(context.Context, driver.Task, int) (driver.Update, error) { return nil }, 2, "0.124", "0.124",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			money := &ledgerBudget{}
			h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Budget = money })
			h.openai.OnStart, h.gemini.OnStart = c.openai(h), c.gemini(h)
			got := h.must(t, generate.Request{Model: "gpt-image-2", N: c.n, Fallback: []string{"Nano Banana Pro"}})
			if cost := got.Cost; cost.ReportedUSD != nil || cost.EstimatedUSD == nil || *cost.EstimatedUSD != c.estimated {
				t.Errorf("cost %v reported, %v estimated, want about %s", text(cost.ReportedUSD), text(cost.EstimatedUSD), c.estimated)
			}
			if paid := money.paid(t); paid != c.paid {
				t.Errorf("the budget counts %s, want %s", paid, c.paid)
			}
		})
	}
}

// paid returns the sum of the settled amounts; each act may settle only once.
func (b *ledgerBudget) paid(t *testing.T) string {
	t.Helper()
	sum, known := new(big.Rat), map[string]bool{}
	for _, c := range b.settled {
		part, ok := new(big.Rat).SetString(text(c.USD))
		if !ok || known[c.ID] {
			t.Errorf("settled %+v", c)
			continue
		}
		known[c.ID] = true
		sum.Add(sum, part)
	}
	return strings.TrimRight(sum.FloatString(9), "0")
}

func text(usd *string) string {
	if usd == nil {
		return "unknown"
	}
	return *usd
}
