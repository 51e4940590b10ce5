package generatetest

import (
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/media"
)

// calls is the number of calls that the requests of these scenarios need, lanes the limit of
// concurrent calls.
const calls, maxConcurrentCalls = 3, 2

// split requests more results than one call makes: they need calls calls, the last of which
// makes one result.
func (h Harness) split(t *testing.T) (*bench, generate.Request) {
	t.Helper()
	b := h.newBench(t, func(_ *bench, c *gateway.Config) { c.Concurrency = maxConcurrentCalls })
	most := min(b.model.MaxN, 100/calls)
	r := b.request(t, (calls-1)*most+1)
	if b.model.MaxN > most {
		r.N = calls // this model never needs a second call
	}
	return b, r
}

// splitCalls: a request that exceeds one call is split, made within the limit of concurrent
// calls, and merged by slot.
func splitCalls(t *testing.T, h Harness) {
	t.Helper()
	b, r := h.split(t)
	got := b.mustGenerate(t, r)
	if got.Status != generate.StatusSucceeded || len(got.Slots) != max(r.N, h.PerCall*got.Usage.Calls) {
		t.Fatalf("status %s, %d slots for %d, %v", got.Status, len(got.Slots), r.N, got.Err())
	}
	seen := map[media.Digest]bool{}
	for i, s := range got.Slots {
		if s.Index != i+1 {
			t.Errorf("slot %d stands at %d", s.Index, i+1)
		}
		seen[s.Output.Digest] = true
	}
	if len(seen) != len(got.Slots) {
		t.Errorf("%d different results in %d slots", len(seen), len(got.Slots))
	}
	want := (r.N + b.model.MaxN - 1) / b.model.MaxN
	if got.Usage.Calls != want || b.sim != nil && len(b.sim.Captured()) != want {
		t.Errorf("%d calls, want %d", got.Usage.Calls, want)
	}
	if n := b.traffic.maxConcurrent(); n > maxConcurrentCalls {
		t.Errorf("%d calls at once, want %d at most", n, maxConcurrentCalls)
	}
}

// repeated: of several calls, only the one that failed in a way that is safe to repeat is
// repeated.
func repeated(t *testing.T, h Harness) {
	t.Helper()
	b, r := h.split(t)
	b.sim.Inject(sim.Injection{}, sim.Injection{Fault: sim.FaultOverloaded})
	got := b.mustGenerate(t, r)
	want := (r.N+b.model.MaxN-1)/b.model.MaxN + 1
	if got.Status != generate.StatusSucceeded || len(b.sim.Captured()) != want {
		t.Errorf("status %s after %d calls, want %d; %v", got.Status, len(b.sim.Captured()), want, got.Err())
	}
	again := 0
	for _, a := range b.log.Attempts() {
		if a.Number == 2 {
			again++
		}
	}
	if again != 1 {
		t.Errorf("%d calls were repeated, want 1", again)
	}
}

// keepsOtherSlots: a permanently refused call fails its own slots and does not affect the others.
func keepsOtherSlots(t *testing.T, h Harness) {
	t.Helper()
	b, r := h.split(t)
	b.sim.Inject(sim.Injection{}, sim.Injection{Fault: sim.FaultInvalid})
	got := b.mustGenerate(t, r)
	if got.Status != generate.StatusPartial || got.Err() != nil || len(b.sim.Captured()) != (r.N+b.model.MaxN-1)/b.model.MaxN {
		t.Fatalf("status %s after %d calls, %v", got.Status, len(b.sim.Captured()), got.Err())
	}
	for _, a := range b.log.Attempts() {
		for _, index := range a.Slots {
			s := got.Slots[index-1]
			if failed := a.Status == generate.StatusFailed; failed != (s.Error != nil) || failed == (s.Output != nil) {
				t.Errorf("slot %d of a call that %s: %+v", index, a.Status, s)
			}
		}
	}
}
