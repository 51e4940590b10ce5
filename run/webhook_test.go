package run_test

import (
	"net/http/httptest"
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/provider/bfl"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/operations"
)

// TestWebhookOfAnAbandonedCall: a FLUX call whose answer was lost is given up. The webhook, which knows no owner, finds
// the call in the ledger, and the picture that was paid for is stored.
func TestWebhookOfAnAbandonedCall(t *testing.T) {
	t.Parallel()
	const secret = "hush"
	h := build(t)
	service := bflsim.New(bflsim.Config{})
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	must(t, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}}, Register: h.store.RegisterBlob,
	})
	must(t, err)
	drv, err := bfl.New(bfl.Config{APIKey: service.Key(), BaseURL: server.URL, NotifySecret: secret, Codec: codec})
	must(t, err)
	budget, err := run.NewBudget(h.store, run.BudgetConfig{})
	must(t, err)
	g, err := gateway.New(gateway.Config{
		Drivers: []driver.Driver{drv}, Storage: codec, Recorder: h.store, Operations: operations.NewLog(h.store, nil), Budget: budget,
		Journal: &generatetest.Journal{}, Notify: func(string) (string, string) { return "https://atelier.example/hooks/bfl", secret },
		Fetch: safehttp.New(safehttp.Config{TrustedPaths: []string{server.URL}}).Fetch,
	})
	must(t, err)
	service.Inject(sim.Injection{Fault: sim.FaultAnswerLost})
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree"})
	lost, err := g.Generate(ctx, generate.Request{Model: "FLUX.2 Pro", Prompt: "a fox"})
	must(t, err)
	if lost.Status != generate.StatusFailed || lost.Usage.Unsettled != 1 {
		t.Fatalf("%+v", lost)
	}
	for _, n := range service.Notifications(service.TaskIDs()[0]) {
		must(t, g.Notify(t.Context(), "bfl", n))
	}
	op, slots, calls, err := h.store.Operation(t.Context(), owner, lost.Operation)
	must(t, err)
	if op.Status != "succeeded" || len(slots) != 1 || slots[0].Ref == "" || len(calls) != 1 || calls[0].TaskID == "" {
		t.Errorf("%+v, %+v, %+v", op, slots, calls)
	}
	if sent := service.Sent(); len(sent) != 1 || slots[0].Digest != sent[0] {
		t.Errorf("the picture is %s, sent were %v", slots[0].Digest, sent)
	}
}
