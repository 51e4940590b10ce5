package gateway_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/media"
)

func charge(id string, images int64, usd string) generate.Charge {
	c := generate.Charge{ID: id, Images: images}
	if usd != "" {
		c.USD = &usd
	}
	return c
}

func TestAllowanceInMemory(t *testing.T) {
	t.Parallel()
	var budget generate.InMemory
	ctx := generate.WithAllowance(t.Context(), &generate.Allowance{Bounds: generate.Bounds{USD: "1", Images: 3, Tokens: 10}})
	reserve := func(c generate.Charge, says string) {
		t.Helper()
		for range 2 { // the second time changes nothing
			_, room := budget.CheckRemaining(ctx, c)
			err := budget.Reserve(ctx, c)
			if says == "" && err == nil {
				continue
			}
			if says == "" || media.CodeOf(err) != media.CodeOverBudget || !strings.Contains(err.Error(), says) || media.CodeOf(room) != media.CodeOverBudget {
				t.Errorf("%s: %v, want %q", c.ID, err, says)
			}
		}
	}
	reserve(charge("a", 2, "0.5"), "")
	reserve(charge("b", 2, "0.1"), "may make 3 images and has 1 left, and this makes 2")
	reserve(charge("b", 1, "0.6"), "may cost $1 and has $0.5 left, and this needs $0.6")
	reserve(generate.Charge{ID: "b", Tokens: 11}, "may use 10 tokens and has 10 left, and this needs 11")
	for range 2 {
		budget.Settle(ctx, charge("a", 1, "1.25")) // more expensive than estimated
		budget.Settle(ctx, charge("nobody's", 1, "1"))
	}
	reserve(charge("c", 0, ""), "has $0 left, and this needs an unknown amount")
	reserve(charge("c", 2, "0"), "") // free
	reserve(charge("d", 1, "0"), "has 0 left")
	budget.Settle(ctx, generate.Charge{ID: "c"})
	generate.AllowanceOf(ctx).Recall(charge("step-1", 2, "0"))
	generate.AllowanceOf(ctx).Recall(charge("step-1", 2, "0"))
	reserve(charge("e", 1, "0"), "has 0 left")
	if bounded, err := budget.CheckRemaining(t.Context(), charge("f", 100, "100")); bounded || err != nil {
		t.Errorf("without an allowance: %t, %v", bounded, err)
	}
	if err := budget.Reserve(t.Context(), charge("f", 100, "100")); err != nil {
		t.Error(err)
	}
	budget.Settle(t.Context(), charge("f", 100, "100"))
}

func TestAllowanceAtOnce(t *testing.T) {
	t.Parallel()
	var budget generate.InMemory
	ctx := generate.WithAllowance(t.Context(), &generate.Allowance{Bounds: generate.Bounds{USD: "1", Images: 100}})
	var passed atomic.Int32
	var all sync.WaitGroup
	for i := range 30 {
		c := charge(fmt.Sprint(i), 1, "0.1")
		all.Go(func() {
			if budget.Reserve(ctx, c) == nil {
				passed.Add(1)
				budget.Settle(ctx, c)
			}
		})
	}
	all.Wait()
	if passed.Load() != 10 {
		t.Errorf("ten cents fit %d times into a dollar", passed.Load())
	}
}

// TestWhatAnOperationCharges: pictures are reserved before the calls and counted afterwards.
func TestWhatAnOperationCharges(t *testing.T) {
	t.Parallel()
	p := &recordingBudget{}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Budget = p })
	ctx := generate.WithAllowance(t.Context(), &generate.Allowance{Bounds: generate.Bounds{Images: 1}})
	h.must(t, generate.Request{Model: "Nano Banana Pro", N: 3})
	if len(p.settled) != 1 || p.settled[0].Images != 3 || p.settled[0].Tokens != 0 {
		t.Errorf("settled %+v", p.settled)
	}
	h = build(t, nil)
	_, err := h.Generate(ctx, generate.Request{Model: "Nano Banana Pro", Prompt: "a house", N: 2})
	if media.CodeOf(err) != media.CodeOverBudget || len(h.gemini.Tasks()) != 0 || len(h.log.IDs()) != 0 {
		t.Errorf("%v after %d calls", err, len(h.gemini.Tasks()))
	}
	if _, err := h.Generate(ctx, generate.Request{Model: "Nano Banana Pro", Prompt: "a house", N: 1}); err != nil {
		t.Error(err)
	}
}
