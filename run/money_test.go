package run_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

func TestIdempotencyKeyIsRecalled(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree"})
	req := generate.Request{
		Prompt: "a pier", N: 2, Size: "64x64", IdempotencyKey: "mine",
		Options: map[string]map[string]any{"offline": {"fail_slots": []int{2}}},
	}
	one, err := h.gateway.Generate(ctx, req)
	must(t, err)
	two, err := h.gateway.Generate(ctx, req)
	must(t, err)
	if two.Operation != one.Operation || two.Status != one.Status || len(two.Slots) != 2 || two.Slots[0].Output == nil ||
		two.Slots[0].Output.Ref != one.Slots[0].Output.Ref || two.Slots[1].Error == nil || two.Usage != one.Usage {
		t.Errorf("recalled %+v, want %+v", two, one)
	}
	if d := cmp.Diff(one.Dispositions, two.Dispositions); d != "" {
		t.Error(d)
	}
	must(t, h.store.DeleteMedia(ctx, owner, two.Slots[0].Output.ID))
	three, err := h.gateway.Generate(ctx, req)
	must(t, err)
	if three.Slots[0].Output != nil || three.Slots[0].Error.Code != media.CodeNotFound {
		t.Errorf("slot of a deleted item = %+v", three.Slots[0])
	}
	must(t, h.store.BeginOperation(ctx, ledger.Operation{ID: "o", Owner: owner, Tree: "tree", Key: "interrupted", Status: "queued"}))
	req.IdempotencyKey = "interrupted"
	if _, err := h.gateway.Generate(ctx, req); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("interrupted operation: %v", err)
	}
	if _, err := h.gateway.Generate(t.Context(), generate.Request{Prompt: "x"}); media.CodeOf(err) != media.CodeForbidden {
		t.Errorf("no scope: %v", err)
	}
}

// TestOneKeyIsPaidOnce: of concurrent requests with one idempotency key, only one is executed; the others are refused
// with a conflict, or get its result.
func TestOneKeyIsPaidOnce(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree"})
	var racers sync.WaitGroup
	for range 8 {
		racers.Go(func() {
			_, err := h.gateway.Generate(ctx, generate.Request{Prompt: "a pier", Size: "64x64", IdempotencyKey: "one"})
			if code := media.CodeOf(err); code != "" && code != media.CodeConflict {
				t.Errorf("got %v", err)
			}
		})
	}
	racers.Wait()
	list, err := h.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: "tree"})
	must(t, err)
	if len(list.Items) != 1 || list.Items[0].Status != "succeeded" {
		t.Errorf("operations %+v", list.Items)
	}
	_, _, tasks, err := h.store.Operation(ctx, owner, list.Items[0].ID)
	must(t, err)
	if len(tasks) != 1 {
		t.Errorf("%d provider calls", len(tasks))
	}
}

// TestCostCountsGenerations checks exact amounts: a generation counts with the reported cost, or else with its
// estimate. An unknown price makes the sum incomplete; a refused generation costs nothing; if nothing was paid, the
// cost is known.
func TestCostCountsGenerations(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"done","done":true}`)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree", Run: "tree"})
	price := func(s string) *string { return &s }
	total := func(id string) agent.Cost {
		res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", Owner: owner, RunID: id})
		must(t, err)
		return res.Cost
	}
	for _, op := range []ledger.Operation{
		{ID: "o1", Tree: "tree", Status: "succeeded", EstimatedUSD: price("0.134"), ReportedUSD: price("0.1")},
		{ID: "o2", Tree: "tree", RunID: "child", Status: "partial", EstimatedUSD: price("0.04")},
		{ID: "o3", Tree: "tree", Status: "moderated", EstimatedUSD: price("9")},
		{ID: "o4", Tree: "other", Status: "succeeded"},
		{ID: "o6", Tree: "cut", Status: "cancelled", EstimatedUSD: price("0.2"), Usage: json.RawMessage(`{"calls":2,"images":1}`)},
		{ID: "o7", Tree: "cut", Status: "cancelled", EstimatedUSD: price("9"), Usage: json.RawMessage(`{"calls":1,"images":0}`)},
		{ID: "o8", Tree: "lost", Status: "failed", EstimatedUSD: price("0.3"), Usage: json.RawMessage(`{"calls":1,"unsettled_calls":1}`)},
		{ID: "o5", Tree: "other", Status: "failed", EstimatedUSD: price("9"), ReportedUSD: price("0.02")},
	} {
		op.Owner = owner
		must(t, h.store.BeginOperation(ctx, op))
	}
	if d := cmp.Diff(agent.Cost{EstimatedUSD: price("0.14"), ReportedUSD: price("0.1"), Complete: true}, total("tree")); d != "" {
		t.Error(d)
	}
	// A picture made before Ctrl-C was paid for; a call without an answer may have been.
	if d := cmp.Diff(agent.Cost{EstimatedUSD: price("0.2"), Complete: true}, total("cut")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(agent.Cost{EstimatedUSD: price("0.3")}, total("lost")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(agent.Cost{EstimatedUSD: price("0"), Complete: true}, total("free")); d != "" {
		t.Error(d)
	}
	if got := total("other"); got.Complete || got.ReportedUSD == nil || *got.ReportedUSD != "0.02" {
		t.Errorf("cost with an unknown price = %+v", got)
	}
}
