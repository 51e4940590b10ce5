package run_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/provider/bfl"
	"atelier/generate/provider/offline"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/operations"
)

// fullDiskLedger is a ledger whose disk is full when pictures are recorded and, unless ends is set, at the end of their
// operation.
type fullDiskLedger struct {
	store
	ends bool
}

func (fullDiskLedger) Record(context.Context, media.Output) (media.Output, error) {
	return media.Output{}, errFull
}

func (f fullDiskLedger) FinishOperation(ctx context.Context, o ledger.Operation) error {
	if f.ends {
		return f.store.FinishOperation(ctx, o)
	}
	return errFull
}

// TestWhatCouldNotBeRecordedIsKept: pictures that were paid for and stored, but whose records could not be saved, are
// recorded by the process that continues the operation; they are not requested again.
func TestWhatCouldNotBeRecordedIsKept(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"nothing fits": false, "the receipt would fit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recordedLater(t, ends)
		})
	}
}

func recordedLater(t *testing.T, ends bool) {
	t.Helper()
	h := build(t)
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	must(t, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}}, Register: h.store.RegisterBlob,
	})
	must(t, err)
	drv, err := offline.New(offline.Config{Store: codec})
	must(t, err)
	gateway := func(s ledger.Store) *gateway.Gateway {
		g, err := gateway.New(gateway.Config{
			Drivers: []driver.Driver{drv}, Storage: codec, Recorder: s, Operations: operations.NewLog(s, nil),
		})
		must(t, err)
		return g
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree"})
	first, err := gateway(fullDiskLedger{h.store, ends}).Generate(ctx, generate.Request{Prompt: "a pier", Size: "64x64", N: 2})
	must(t, err)
	second, err := gateway(h.store).Resume(ctx, first.Operation)
	must(t, err)
	list, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{})
	must(t, err)
	if second.Status != generate.StatusSucceeded || len(second.Outputs()) != 2 || len(list.Items) != 2 {
		t.Fatalf("%s: %v; %d results, %d records", second.Status, second.Err(), len(second.Outputs()), len(list.Items))
	}
	for i, o := range second.Outputs() {
		if o.ID == "" || o.Digest != first.Outputs()[i].Digest {
			t.Errorf("result %d is %s, was %s", i+1, o, first.Outputs()[i])
		}
	}
	if again, err := gateway(h.store).Resume(ctx, first.Operation); err != nil || again.Usage.Calls != first.Usage.Calls {
		t.Errorf("in the end %+v, %v", again, err)
	}
}

// nearlyFullLedger is a ledger whose disk is full when the second result and its call are saved, or when the money is
// settled; the end of the operation fits.
type nearlyFullLedger struct {
	store
	money bool
}

var errFull = media.Errorf(media.CodeDiskFull, "the disk is full")

func (c nearlyFullLedger) SaveSlot(ctx context.Context, s ledger.Slot) error {
	if s.Index == 2 && !c.money {
		return errFull
	}
	return c.store.SaveSlot(ctx, s)
}

func (c nearlyFullLedger) SaveTask(ctx context.Context, t ledger.Task) error {
	if t.Call == 2 && !t.FinishedAt.IsZero() && !c.money {
		return errFull
	}
	return c.store.SaveTask(ctx, t)
}

func (c nearlyFullLedger) Settle(ctx context.Context, act string, spent ledger.Amount) error {
	if c.money {
		return errFull
	}
	return c.store.Settle(ctx, act, spent)
}

// TestWhatCouldNotBeSavedStaysOpen: an operation whose results or calls could not be saved, or whose money could not be
// settled, stays open, although its end would fit. The process that continues it saves everything, and requests nothing
// again.
func TestWhatCouldNotBeSavedStaysOpen(t *testing.T) {
	t.Parallel()
	for name, money := range map[string]bool{"a result and its call": false, "the money": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			savedLater(t, money)
		})
	}
}

func savedLater(t *testing.T, money bool) {
	t.Helper()
	h := build(t)
	sim := bflsim.New(bflsim.Config{Pending: -1})
	gateway := fluxGateway(t, h, sim)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "tree"})
	first, err := gateway(nearlyFullLedger{h.store, money}).Generate(ctx, generate.Request{Model: "FLUX.2 Pro", Prompt: "a pier", N: 2})
	must(t, err)
	op, _, _, err := h.store.Operation(ctx, owner, first.Operation)
	must(t, err)
	if !op.FinishedAt.IsZero() {
		t.Errorf("over as %s, and not all of it is saved", op.Status)
	}
	second, err := gateway(h.store).Resume(ctx, first.Operation)
	must(t, err)
	op, slots, tasks, err := h.store.Operation(ctx, owner, first.Operation)
	must(t, err)
	list, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{})
	must(t, err)
	if second.Status != generate.StatusSucceeded || op.FinishedAt.IsZero() || len(slots) != 2 || len(list.Items) != 2 || len(sim.Captured()) != 2 {
		t.Errorf("%s: %v; %d results, %d records, %d calls", second.Status, second.Err(), len(slots), len(list.Items), len(sim.Captured()))
	}
	for _, k := range tasks {
		if k.FinishedAt.IsZero() {
			t.Errorf("call %d is %s", k.Call, k.Status)
		}
	}
	if b, err := h.store.Budget(ctx, "owner:"+owner); err != nil || b.Reserved != 0 || b.Spent != 60_000_000_000 {
		t.Errorf("%+v, %v", b, err)
	}
}

// fluxGateway returns a function that makes gateways to one provider, each with its own ledger.
func fluxGateway(t *testing.T, h *testService, sim *bflsim.Simulator) func(ledger.Store) *gateway.Gateway {
	t.Helper()
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	must(t, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}}, Register: h.store.RegisterBlob,
	})
	must(t, err)
	drv, err := bfl.New(bfl.Config{APIKey: sim.Key(), BaseURL: srv.URL, Codec: codec})
	must(t, err)
	return func(s ledger.Store) *gateway.Gateway {
		budget, err := run.NewBudget(s, run.BudgetConfig{Owner: generate.Bounds{USD: "5"}})
		must(t, err)
		g, err := gateway.New(gateway.Config{
			Drivers: []driver.Driver{drv}, Storage: codec, Recorder: s, Operations: operations.NewLog(s, nil), Budget: budget, Fetch: fetchLoopback,
		})
		must(t, err)
		return g
	}
}

// fetchLoopback downloads from loopback.
func fetchLoopback(ctx context.Context, url string) (io.ReadCloser, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	return res.Body, res.Header.Get("Content-Type"), nil
}
