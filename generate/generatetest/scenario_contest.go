package generatetest

import (
	"context"
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// conflictFallsBack: a provider with a lasting conflict is called twice, then the next model is. Without
// one, the result fails as in an outage, with no unsettled call.
func conflictFallsBack(t *testing.T, h Harness, in sim.Injection) {
	t.Helper()
	b := h.newBench(t, nil)
	b.sim.Inject(in, in, in)
	alone := b.mustGenerateN(t, 1)
	if s := alone.Slots[0]; alone.Status != generate.StatusFailed || s.Error == nil || s.Error.Code != media.CodeUnavailable || !s.Error.Retryable || alone.Usage.Unsettled > 0 {
		t.Errorf("without another model: %s, %+v", alone.Status, s.Error)
	}
	if b.model.Modality != media.ModalityImage {
		return // the substitute makes pictures
	}
	b = h.newBench(t, func(b *bench, c *gateway.Config) { c.Drivers = append(c.Drivers, b.newSubstituteDriver(t)) })
	b.sim.Inject(in, in, in)
	r := b.request(t, 1)
	r.Fallback = []string{"Atelier Offline"}
	got := b.mustGenerate(t, r)
	if got.Status != generate.StatusSucceeded || got.Provider != "offline" || len(b.sim.Captured()) != 2 {
		t.Errorf("with another model: %s by %s (%v), %d calls", got.Status, got.Provider, got.Err(), len(b.sim.Captured()))
	}
	for _, a := range b.log.Attempts()[:2] {
		if a.Status != generate.StatusFailed || a.Error == nil || a.Error.Code != media.CodeUnavailable {
			t.Errorf("attempt %d is %s: %+v", a.Number, a.Status, a.Error)
		}
	}
}

// newSubstituteDriver returns a scripted driver that substitutes for the bench's provider.
func (b *bench) newSubstituteDriver(t *testing.T) *Driver {
	t.Helper()
	return &Driver{Name: "offline", Make: func(ctx context.Context, task driver.Task, _ int) (media.Blob, error) {
		return Stored(ctx, t, b.codec, PNG(max(task.Width, 96), max(task.Height, 64), 1)), nil
	}}
}
