package run_test

import (
	"context"
	"io"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/provider/bfl"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/operations"
)

// TestDeliveryHostIsDown: a FLUX task that is finished and paid for stays open while its picture cannot be fetched. A
// retry fetches it, without a second task and without a new charge.
func TestDeliveryHostIsDown(t *testing.T) {
	t.Parallel()
	h := build(t)
	sim := bflsim.New(bflsim.Config{Pending: -1})
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	must(t, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}}, Register: h.store.RegisterBlob,
	})
	must(t, err)
	drv, err := bfl.New(bfl.Config{APIKey: sim.Key(), BaseURL: server.URL, Codec: codec})
	must(t, err)
	budget, err := run.NewBudget(h.store, run.BudgetConfig{Owner: generate.Bounds{USD: "5"}})
	must(t, err)
	var up atomic.Bool
	newGateway := func() *gateway.Gateway {
		g, err := gateway.New(gateway.Config{
			Drivers: []driver.Driver{drv}, Storage: codec, Recorder: h.store, Operations: operations.NewLog(h.store, nil), Budget: budget,
			Journal: &generatetest.Journal{}, Fetch: func(ctx context.Context, url string) (io.ReadCloser, string, error) {
				if !up.Load() {
					return nil, "", media.Errorf(media.CodeUnavailable, "connection refused")
				}
				return fetchLoopback(ctx, url)
			},
		})
		must(t, err)
		return g
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree"})
	first, err := newGateway().Generate(ctx, generate.Request{Model: "FLUX.2 Pro", Prompt: "a pier"})
	must(t, err)
	op, _, _, err := h.store.Operation(ctx, owner, first.Operation)
	must(t, err)
	if first.Status != generate.StatusRunning || !op.FinishedAt.IsZero() || op.Status != "running" {
		t.Fatalf("%+v; kept as %s", first, op.Status)
	}
	if b, err := h.store.Budget(ctx, "owner:"+owner); err != nil || b.Reserved == 0 || b.Spent != 0 {
		t.Errorf("meanwhile %+v, %v", b, err)
	}
	up.Store(true)
	again, err := newGateway().Retry(ctx, gateway.RetryOptions{Operation: first.Operation})
	must(t, err)
	if again.Status != generate.StatusSucceeded || len(again.Outputs()) != 1 || len(sim.Captured()) != 1 {
		t.Errorf("%+v; %d tasks", again, len(sim.Captured()))
	}
	if b, err := h.store.Budget(ctx, "owner:"+owner); err != nil || b.Reserved != 0 || b.Spent != 30_000_000_000 {
		t.Errorf("in the end %+v, %v", b, err)
	}
}
