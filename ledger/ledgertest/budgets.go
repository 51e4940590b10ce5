package ledgertest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// budgetsOfUnits checks that each budget counts only its own unit.
func budgetsOfUnits(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	limits := []ledger.Limit{
		moneyLimit(t, "day", "1"), {Name: "tokens:day", Unit: ledger.UnitTokens, Max: 100}, {Name: "images:day", Unit: ledger.UnitImages, Max: 3},
	}
	must(t, f.Reserve(ctx, "op-1", ledger.Amount{Money: pico(t, "0.2"), Tokens: 40, Images: 2}, limits))
	want := func(usd, tokens, images [2]string) {
		t.Helper()
		f.wantBudget(t, "day", usd[0], usd[1])
		f.wantBudget(t, "tokens:day", tokens[0], tokens[1])
		f.wantBudget(t, "images:day", images[0], images[1])
	}
	want([2]string{"$0", "$0.2"}, [2]string{"0 tokens", "40 tokens"}, [2]string{"0 images", "2 images"})
	for name, a := range map[string]ledger.Amount{
		"tokens": {Money: 1, Tokens: 61}, "images": {Money: 1, Tokens: 1, Images: 2}, "all tokens of the world": {Money: 1, Tokens: 1 << 62},
	} {
		err := f.Reserve(ctx, "too-much", a, limits)
		if media.CodeOf(err) != media.CodeOverBudget {
			t.Errorf("%s: %v", name, err)
		}
	}
	want([2]string{"$0", "$0.2"}, [2]string{"0 tokens", "40 tokens"}, [2]string{"0 images", "2 images"})
	must(t, f.Settle(ctx, "op-1", ledger.Amount{Money: pico(t, "0.1"), Tokens: 130, Images: 3}))
	want([2]string{"$0.1", "$0"}, [2]string{"130 tokens", "0 tokens"}, [2]string{"3 images", "0 images"})
	// No images are left, and a request without images passes; no tokens are left, and no request for tokens passes.
	must(t, f.Reserve(ctx, "op-2", ledger.Amount{Money: 1}, []ledger.Limit{limits[0], limits[2]}))
	wantCode(t, f.Reserve(ctx, "op-3", ledger.Amount{Images: 1}, limits[2:]), media.CodeOverBudget)
	wantCode(t, f.Reserve(ctx, "op-3", ledger.Amount{Tokens: 1}, limits[1:2]), media.CodeOverBudget)
	wantCode(t, f.Reserve(ctx, "op-4", ledger.Amount{Tokens: -1}, limits), media.CodeInvalid)
	wantCode(t, f.Reserve(ctx, "op-4", ledger.Amount{Images: -1}, limits), media.CodeInvalid)
	must(t, f.Settle(ctx, "nobody's", ledger.Amount{Money: 1, Tokens: 1, Images: 1}))
	f.wantBudget(t, "tokens:day", "130 tokens", "0 tokens")
}

// modelCallHolds checks that a reservation for a chat model call with a row stays until it is settled, however long
// that takes.
func modelCallHolds(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	p := ledger.Prompt{ID: f.deps.NewID(), RunID: r.ID, Turn: 1, Model: "m", Status: ledger.StatusRunning}
	must(t, f.SavePrompt(ctx, p))
	limits := []ledger.Limit{{Name: "tokens:run", Unit: ledger.UnitTokens, Max: 100}}
	must(t, f.Reserve(ctx, p.ID, ledger.Amount{Tokens: 60}, limits))
	must(t, f.Reserve(ctx, "never-begun", ledger.Amount{Tokens: 10}, limits))
	for start := f.deps.Now(); f.deps.Now().Sub(start) < time.Minute; { // each reading advances the clock
	}
	must(t, f.Reserve(ctx, "op-1", ledger.Amount{Tokens: 1}, limits))
	f.wantBudget(t, "tokens:run", "0 tokens", "61 tokens")
	must(t, f.Reserve(ctx, p.ID, ledger.Amount{Tokens: 60}, limits)) // by the process that adopted the run
	must(t, f.Settle(ctx, p.ID, ledger.Amount{Tokens: 70}))
	f.wantBudget(t, "tokens:run", "70 tokens", "1 token")
}

// imagesAcrossProcesses reserves concurrently through several stores, and checks that the budget is never exceeded.
func imagesAcrossProcesses(t *testing.T, f *fixture) {
	t.Helper()
	stores := []ledger.Store{f.Store, f.open(t), f.open(t)}
	limits := []ledger.Limit{
		{Name: "images:owner", Unit: ledger.UnitImages, Max: 10}, {Name: "tokens:owner", Unit: ledger.UnitTokens, Max: 1000},
	}
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range 18 {
		id, n := f.deps.NewID(), int64(i%3+1)
		all.Go(func() {
			amount := ledger.Amount{Images: n, Tokens: 10}
			switch err := stores[i%3].Reserve(t.Context(), id, amount, limits); media.CodeOf(err) {
			case "":
				made.Add(n)
				if err := stores[(i+1)%3].Settle(t.Context(), id, amount); err != nil {
					t.Error(err)
				}
			case media.CodeOverBudget:
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, err := stores[1].Budget(t.Context(), "images:owner")
	if err != nil || b.Spent != made.Load() || b.Reserved != 0 || b.Spent > 10 || b.Spent < 8 {
		t.Errorf("%+v, %v: %d passed", b, err, made.Load())
	}
}
