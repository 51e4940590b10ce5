package generatetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/media"
)

// grid: the picture with all results is stored and recorded, and every result names
// it as the picture from which it was cut.
func grid(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	got := b.mustGenerateN(t, 1)
	records := b.recorder.Records()
	if got.Status != generate.StatusSucceeded || len(got.Slots) != h.PerCall || len(records) != h.PerCall+1 {
		t.Fatalf("status %s, %d slots, %d records", got.Status, len(got.Slots), len(records))
	}
	whole := records[0]
	for _, o := range got.Outputs() {
		if !slices.ContainsFunc(o.Lineage, func(p media.Parent) bool { return p.Ref == whole.Ref && p.Role == "tile" }) {
			t.Errorf("%s was made from %v, want %s", o, o.Lineage, whole.Ref)
		}
		if 2*o.Width != whole.Width || 2*o.Height != whole.Height {
			t.Errorf("%s was cut out of %s", o, whole)
		}
	}
}

// previewBench is a bench that requests previews and records the events.
type previewBench struct {
	*bench
	mu     sync.Mutex // guards events
	events []generate.Event
}

func (h Harness) watch(t *testing.T) *previewBench {
	t.Helper()
	w := &previewBench{}
	w.bench = h.newBench(t, func(_ *bench, c *gateway.Config) {
		c.Partials = true
		c.Events = func(_ context.Context, e generate.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		}
	})
	return w
}

// frames returns the previews of a slot; their sequence must count from 1.
func (w *previewBench) frames(t *testing.T, slot int) []media.Blob {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []media.Blob
	for _, e := range w.events {
		if e.Kind == generate.EventPartial && e.Slot == slot {
			if out = append(out, *e.Partial); e.Sequence != len(out) {
				t.Errorf("preview %d of slot %d has the sequence %d", len(out), slot, e.Sequence)
			}
		}
	}
	return out
}

// previewedResults returns the numbers of results that the previews show, each number once.
func (w *previewBench) previewedResults() (all []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Kind == generate.EventPartial {
			all = append(all, e.Shows)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// previews: frames arrive as events with slot and sequence, are not recorded, and precede
// the picture.
func previews(t *testing.T, h Harness) {
	t.Helper()
	w := h.watch(t)
	w.preview(t, h, w.request(t, 1))
}

// previewsOfAnEdit: the same for an edit, with a mask if the model accepts one.
func previewsOfAnEdit(t *testing.T, h Harness) {
	t.Helper()
	w := h.watch(t)
	r := w.edits(t)
	if masks(w.model) && h.Masked == nil {
		r.Mask = w.mask(t, r.Inputs[0])
	}
	w.preview(t, h, r)
}

// preview requests one result and its previews.
func (w *previewBench) preview(t *testing.T, h Harness, r generate.Request) {
	t.Helper()
	if h.Simulator == nil { // the driver calls no provider: an option makes it show previews
		r.Options = map[string]map[string]any{w.model.Provider: {"partials": 2}}
	}
	got := w.mustGenerate(t, r)
	frames := w.frames(t, 1)
	if got.Status != generate.StatusSucceeded || len(frames) == 0 || len(w.recorder.Records()) != h.results(1)+grids(got.Outputs()) {
		t.Fatalf("status %s, %d previews, %d records; %v", got.Status, len(frames), len(w.recorder.Records()), got.Err())
	}
	if shows := w.previewedResults(); !slices.Equal(shows, []int{len(got.Slots)}) {
		t.Errorf("previews are said to show %v of %d results", shows, len(got.Slots))
	}
	o := got.Slots[0].Output
	if o.Partial || slices.ContainsFunc(frames, func(f media.Blob) bool { return f.Digest == o.Digest }) {
		t.Errorf("%s is a preview", o)
	}
}

// streamWithoutResult: a stream that ends without its picture fails the slot, is not repeated, and
// the newest preview is kept and marked as such.
func streamWithoutResult(t *testing.T, h Harness) {
	t.Helper()
	w := h.watch(t)
	w.sim.Inject(sim.Injection{Fault: sim.FaultPartialsThenError})
	got := w.mustGenerateN(t, 1)
	frames, records := w.frames(t, 1), w.recorder.Records()
	if got.Status != generate.StatusFailed || len(frames) == 0 || len(records) != 1 || len(w.sim.Captured()) != 1 {
		t.Fatalf("status %s, %d previews, %d records, %d calls", got.Status, len(frames), len(records), len(w.sim.Captured()))
	}
	kept := records[0]
	if !kept.Partial || kept.Digest != frames[len(frames)-1].Digest || !strings.Contains(got.Slots[0].Error.Message, string(kept.Ref)) {
		t.Errorf("kept %s, want the newest preview, named in %q", kept, got.Slots[0].Error.Message)
	}
	if grid := h.PerCall > 1; grid != strings.Contains(kept.Label, "(grid)") {
		t.Errorf("kept as %q", kept.Label)
	}
}

// previewLost: previews that cannot be fetched or are not pictures are ignored: the result
// arrives without a warning and without another call.
func previewLost(t *testing.T, h Harness, in sim.Injection) {
	t.Helper()
	w := h.watch(t)
	w.sim.Inject(in)
	got := w.mustGenerateN(t, 1)
	if frames := w.frames(t, 1); got.Status != generate.StatusSucceeded || len(frames) != 0 || len(got.Warnings) > 0 || len(w.sim.Captured()) != 1 {
		t.Errorf("status %s (%v), %d previews, warnings %q, %d calls", got.Status, got.Err(), len(frames), got.Warnings, len(w.sim.Captured()))
	}
}
