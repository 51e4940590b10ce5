package gateway_test

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// fixedBudget is a budget of a fixed amount of dollars.
type fixedBudget struct {
	ledgerBudget
	most string
	held map[string]*big.Rat
	left *big.Rat
}

func (a *fixedBudget) Reserve(ctx context.Context, c generate.Charge) error {
	_ = a.ledgerBudget.Reserve(ctx, c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == nil {
		a.left, _ = new(big.Rat).SetString(a.most)
		a.held = map[string]*big.Rat{}
	}
	want, _ := new(big.Rat).SetString(text(c.USD))
	if want.Cmp(a.left) > 0 {
		return media.Errorf(media.CodeOverBudget, "the account has $%s left", a.left.FloatString(3))
	}
	a.left.Sub(a.left, want)
	a.held[c.ID] = want
	return nil
}

func (a *fixedBudget) Settle(ctx context.Context, c generate.Charge) error {
	if err := a.ledgerBudget.Settle(ctx, c); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if held := a.held[c.ID]; held != nil {
		used, _ := new(big.Rat).SetString(text(c.USD))
		a.left.Add(a.left, held).Sub(a.left, used)
		delete(a.held, c.ID)
	}
	return nil
}

// TestFallbackKeepsWithinTheBudget: a fallback model is paid from the same budget as the first; a model that does not
// fit is passed over, even the first one.
func TestFallbackKeepsWithinTheBudget(t *testing.T) {
	t.Parallel()
	broke := media.Errorf(media.CodeQuotaExceeded, "no credit left")
	for name, c := range map[string]struct {
		most     string
		refuses  bool // whether the first model fails
		chain    []string
		model    string // the model that answers, or empty for none
		calls    int    // to Google
		left     string
		warnings []string
	}{
		"fits because the first cost nothing": {"0.14", true, []string{"Nano Banana Pro"}, "Nano Banana Pro", 1, "0.006", nil},
		"too dear":                            {"0.07", true, []string{"Nano Banana Pro"}, "", 0, "0.070", []string{"the next model Nano Banana Pro was passed over"}},
		"too dear, then one that is free":     {"0.07", true, []string{"Nano Banana Pro", "Atelier Offline"}, "Atelier Offline", 0, "0.070", []string{"the next model Nano Banana Pro was passed over"}},
		"the first is too dear":               {"0.01", false, []string{"Nano Banana Pro", "Atelier Offline"}, "Atelier Offline", 0, "0.010", []string{"GPT Image 2 was passed over", "the next model Nano Banana Pro was passed over"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			money := &fixedBudget{most: c.most}
			h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Budget = money })
			if c.refuses {
				h.openai.OnStart = refusing(t, h, broke)
			}
			got := h.must(t, generate.Request{Model: "gpt-image-2", Size: "1024x1024", Fallback: c.chain})
			if n := len(h.gemini.Tasks()); n != c.calls || money.left.FloatString(3) != c.left || len(money.held) != 0 {
				t.Errorf("%d calls, %s remaining, %d held", n, money.left.FloatString(3), len(money.held))
			}
			for i, want := range c.warnings {
				if i >= len(got.Warnings) || !strings.Contains(got.Warnings[i], want) {
					t.Errorf("warnings %q, want %q", got.Warnings, want)
				}
			}
			d := disposition(got.Dispositions, "model")
			switch {
			case c.model == "":
				if e := got.Slots[0].Error; e == nil || e.Code != media.CodeOverBudget || !strings.Contains(e.Message, "no credit left") {
					t.Errorf("slot 1: %+v", got.Slots[0])
				}
			case got.Model != c.model || got.Status != generate.StatusSucceeded || d.Applied != c.model || d.Asked != "gpt-image-2" || d.Outcome != generate.OutcomeSubstituted:
				t.Errorf("%s by %s, %+v", got.Status, got.Model, d)
			}
		})
	}
}

// TestFirstModelOverBudget: without a fallback that fits, the request ends before it is journalled; strict mode
// substitutes nothing.
func TestFirstModelOverBudget(t *testing.T) {
	t.Parallel()
	for _, r := range []generate.Request{
		{Fallback: []string{"Nano Banana Pro"}},
		{Fallback: []string{"Atelier Offline"}, Strict: true},
	} {
		h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Budget = &fixedBudget{most: "0.01"} })
		r.Model, r.Prompt, r.Size = "gpt-image-2", "a house", "1024x1024"
		if _, err := h.Generate(t.Context(), r); media.CodeOf(err) != media.CodeOverBudget || len(h.log.IDs()) != 0 {
			t.Errorf("%v with %d operations", err, len(h.log.IDs()))
		}
	}
}

// TestFallbackAfterDeath: what an earlier process reserved for a fallback model is not reserved again, and is settled
// once with the usage of all its calls.
func TestFallbackAfterDeath(t *testing.T) {
	t.Parallel()
	money := &fixedBudget{most: "1"}
	h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Budget = money })
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit"))
	h.gemini.OnStart = priced(t, h, "0.11")
	op := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house", N: 2, Background: "opaque", Fallback: []string{"Nano Banana Pro"}},
		operation.Attempt{ID: "a", Call: 1, Number: 1, APIModel: "gpt-image-2", Status: generate.StatusFailed, Error: &generate.SlotError{Code: media.CodeQuotaExceeded, Message: "no credit"}, FinishedAt: day(11, 21)})
	b := operation.Attempt{ID: "b", Operation: op, Call: 2, Number: 1, Slots: []int{1}, Provider: "gemini", APIModel: "gemini-3-pro-image", Status: generate.StatusSubmitted}
	if err := h.log.Attempt(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	before := len(money.reserved)
	got, err := h.successor(t, func(c *gateway.Config) { c.Budget = money }).Resume(t.Context(), op)
	if err != nil || got.Slots[1].Output == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if d := disposition(got.Dispositions, "background"); d.Outcome != generate.OutcomeDropped {
		t.Errorf("%+v", d)
	}
	var ids []string
	for _, c := range money.settled {
		if c.USD != nil && *c.USD != "0" {
			ids = append(ids, strings.TrimPrefix(c.ID, op)+" "+*c.USD)
		}
	}
	if len(money.reserved) != before || !slices.Equal(ids, []string{"/1/1 0.244"}) {
		t.Errorf("reserved %+v, settled %q", money.reserved[before:], ids)
	}
}
