package generatetest

import (
	"sync"
	"sync/atomic"
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// refused makes several calls, the second of which the provider refuses.
func (h Harness) refused(t *testing.T, f sim.Fault) (*bench, *generate.Result) {
	t.Helper()
	b, r := h.split(t)
	b.sim.Inject(sim.Injection{}, sim.Injection{Fault: f, Variant: 1}) // variant 0 of a quota may ask to wait
	got := b.mustGenerate(t, r)
	if got.Status != generate.StatusPartial {
		t.Fatalf("status %s, %v", got.Status, got.Err())
	}
	return b, got
}

// newSecondGateway returns a gateway of another process on the same ledger.
func (b *bench) newSecondGateway(t *testing.T) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Config{
		Drivers: []driver.Driver{b.driver}, Storage: b.codec, Recorder: b.recorder, Journal: &Journal{},
		Operations: b.log, Now: now, Fetch: b.fetch, Catalogue: b.catalogue, Budget: b.money,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// retriesFailedSlots: a result that failed without cost is retried in the same operation, by one call
// even if two processes try, and existing results are kept.
func retriesFailedSlots(t *testing.T, h Harness) {
	t.Helper()
	b, first := h.refused(t, sim.FaultQuota)
	before := len(b.sim.Captured())
	again := gateway.RetryOptions{Operation: first.Operation}
	var all sync.WaitGroup
	var done atomic.Int32
	for _, g := range []*gateway.Gateway{b.gateway, b.newSecondGateway(t)} {
		all.Go(func() {
			got, err := g.Retry(scoped(t.Context()), again)
			switch {
			case err == nil && got.Status == generate.StatusSucceeded:
				done.Add(1)
			case media.CodeOf(err) != media.CodeConflict:
				t.Errorf("Retry: %+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := len(b.sim.Captured()); done.Load() == 0 || n != before+1 {
		t.Errorf("%d calls, want %d; %d processes have the result", n, before+1, done.Load())
	}
	got, err := b.gateway.Retry(scoped(t.Context()), again) // nothing is missing
	if err != nil || len(b.sim.Captured()) != before+1 {
		t.Fatalf("Retry of what is whole: %v, %d calls", err, len(b.sim.Captured()))
	}
	b.checkMerged(t, first, got)
	if !b.money.times(got.Operation, 2) {
		t.Error("the money of each round was not reserved and settled once")
	}
}

// checkMerged checks that a result is complete and contains what the first one had.
func (b *bench) checkMerged(t *testing.T, first, got *generate.Result) {
	t.Helper()
	if got.Operation != first.Operation || got.Status != generate.StatusSucceeded || len(got.Slots) < len(first.Slots) || got.Err() != nil {
		t.Fatalf("%s %s with %d slots, want %s with %d; %v", got.Operation, got.Status, len(got.Slots), first.Operation, len(first.Slots), got.Err())
	}
	for i, s := range got.Slots {
		if s.Index != i+1 || s.Output == nil {
			t.Errorf("slot %d: %+v", i+1, s)
			continue
		}
		if i < len(first.Slots) && first.Slots[i].Output != nil && first.Slots[i].Output.ID != s.Output.ID {
			t.Errorf("slot %d was made twice", s.Index)
		}
	}
	keys := map[string]bool{}
	for _, a := range b.log.Attempts() {
		if keys[a.Key] || a.Operation != got.Operation {
			t.Errorf("call %d of %s has the key of another: %s", a.Call, a.Operation, a.Key)
		}
		keys[a.Key] = true
	}
}

// retriesModeratedOnRequest: a moderated result is retried only on request.
func retriesModeratedOnRequest(t *testing.T, h Harness) {
	t.Helper()
	b, first := h.refused(t, sim.FaultModerated)
	before := len(b.sim.Captured())
	if _, err := b.gateway.Retry(scoped(t.Context()), gateway.RetryOptions{Operation: first.Operation}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("Retry: %v, want %s", err, media.CodeInvalid)
	}
	if n := len(b.sim.Captured()); n != before || !b.money.once(first.Operation) {
		t.Errorf("%d calls, want %d, and no money", n, before)
	}
	got, err := b.gateway.Retry(scoped(t.Context()), gateway.RetryOptions{Operation: first.Operation, All: true})
	if err != nil {
		t.Fatal(err)
	}
	b.checkMerged(t, first, got)
	if n := len(b.sim.Captured()); n != before+1 {
		t.Errorf("%d calls, want %d", n, before+1)
	}
}
