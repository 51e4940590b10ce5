package generatetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// ready: a driver without a key says so, names the variable and makes no call.
func ready(t *testing.T, h Harness) {
	t.Helper()
	if err := h.newBench(t, nil).driver.Ready(); err != nil {
		t.Errorf("Ready with a key: %v", err)
	}
	without := h.Driver(t, "http://127.0.0.1:1", "", wiretest.NewCodec(t))
	err := without.Ready()
	switch {
	case h.NoKeyReason != "" && err != nil:
		t.Errorf("Ready without a key: %v, but %s", err, h.NoKeyReason)
	case h.NoKeyReason == "" && media.CodeOf(err) != media.CodeMissingKey:
		t.Errorf("Ready without a key: %v, want %s", err, media.CodeMissingKey)
	case h.NoKeyReason == "" && !variable.MatchString(err.Error()):
		t.Errorf("Ready without a key: %q does not name the variable", err)
	}
	if a, b := without.Provider(), without.Provider(); a == "" || a != b {
		t.Errorf("Provider gives %q and %q", a, b)
	}
}

// variable matches the name of an environment variable.
var variable = regexp.MustCompile(`[A-Z]+_(API_KEY|KEY|URL)`)

// results returns how many results one call makes if n are requested.
func (h Harness) results(n int) int { return max(n, h.PerCall) }

// grids counts the pictures from which outputs were cut.
func grids(outputs []media.Output) int {
	refs := map[media.Ref]bool{}
	for _, o := range outputs {
		for _, p := range o.Lineage {
			if p.Role == "tile" {
				refs[p.Ref] = true
			}
		}
	}
	return len(refs)
}

// singleResult: a result arrives, is stored, sniffed and recorded.
func singleResult(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	got := b.mustGenerateN(t, 1)
	if got.Status != generate.StatusSucceeded || len(got.Slots) != h.results(1) || got.Err() != nil {
		t.Fatalf("status %s, %d slots, %v; want %d", got.Status, len(got.Slots), got.Err(), h.results(1))
	}
	o := got.Slots[0].Output
	if o.MIMEType == "" || o.Digest.IsZero() || o.SizeBytes == 0 || !b.hasMediaFacts(*o) {
		t.Errorf("output %s of %dx%d and %g s lacks facts", o, o.Width, o.Height, o.DurationSeconds)
	}
	if have := b.bytesOf(t, *o); media.NewDigest(sha256.Sum256(have)) != o.Digest {
		t.Errorf("%s is not in the store as it says", o)
	}
	cut := grids(got.Outputs())
	if records := b.recorder.Records(); len(records) != len(got.Slots)+cut || records[cut].Digest != o.Digest {
		t.Errorf("recorded %v, want %s", records, o)
	}
	if got.Usage.Calls != 1 || got.Usage.Images != len(got.Slots) {
		t.Errorf("usage %+v, want one call and %d results", got.Usage, len(got.Slots))
	}
	want := []string{"begin queued", "attempt 1.1 submitted"}
	for _, s := range got.Slots {
		want = append(want, fmt.Sprintf("slot %d succeeded", s.Index))
	}
	want = append(want, "attempt 1.1 succeeded", "finish succeeded")
	if b.log.Attempts()[0].Task != (driver.Handle{}) { // journalled before the first poll
		want = slices.Insert(want, 2, "attempt 1.1 running")
	}
	if have := b.log.Entries(); !slices.Equal(have, want) {
		t.Errorf("journal %q, want %q", have, want)
	}
}

// hasMediaFacts reports whether an output has the facts of its modality: a size in pixels, or a
// duration.
func (b *bench) hasMediaFacts(o media.Output) bool {
	switch {
	case o.Modality != b.model.Modality:
		return false
	case o.Modality == media.ModalityAudio:
		return o.DurationSeconds >= 0.5 && o.DurationSeconds < 600 && o.Width == 0 && o.Ref[:4] == "aud-"
	default:
		return o.Width >= 64 && o.Height >= 64
	}
}

func (b *bench) bytesOf(t *testing.T, o media.Output) []byte {
	t.Helper()
	r, err := b.codec.Open(t.Context(), o.Digest)
	if err != nil {
		t.Fatalf("open %s: %v", o, err)
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", o, err)
	}
	return all
}

// multipleResults: three results in slot order, all different.
func multipleResults(t *testing.T, h Harness) {
	t.Helper()
	got := h.newBench(t, nil).mustGenerateN(t, 3)
	seen := map[media.Digest]bool{}
	for i, s := range got.Slots {
		if s.Index != i+1 || s.Status != generate.StatusSucceeded {
			t.Errorf("slot %d: index %d, %s, %v", i+1, s.Index, s.Status, s.Error)
			continue
		}
		seen[s.Output.Digest] = true
	}
	if want := h.results(3); len(got.Slots) != want || len(seen) != want {
		t.Errorf("%d slots with %d different pictures, want %d", len(got.Slots), len(seen), want)
	}
}

// independent: a failed call leaves nothing behind for the next one.
func independent(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	if b.sim != nil {
		b.sim.Inject(sim.Injection{Fault: sim.FaultHTML})
		b.mustGenerateN(t, 1)
	}
	for range 2 {
		if got := b.mustGenerateN(t, 1); got.Status != generate.StatusSucceeded {
			t.Errorf("status %s: %v", got.Status, got.Err())
		}
	}
}

// pollUnknown: a task that does not exist has no result. A driver that finishes in Start
// has nothing to poll.
func pollUnknown(t *testing.T, h Harness) {
	t.Helper()
	_, err := h.newBench(t, nil).driver.Poll(t.Context(), driver.Task{}, driver.Handle{ID: "no-such-task"})
	if c := media.CodeOf(err); c != media.CodeUnsupported && c != media.CodeNotFound {
		t.Errorf("Poll of a task that is not there: %v, want %s or %s", err, media.CodeUnsupported, media.CodeNotFound)
	}
}

// cancelTwice: cancelling a task is harmless, also repeatedly. A driver whose provider cannot stop
// tasks says so, because they continue and are billed.
func cancelTwice(t *testing.T, h Harness) {
	t.Helper()
	d := h.newBench(t, nil).driver
	for range 2 {
		err := d.Cancel(t.Context(), driver.Handle{ID: "no-such-task"})
		if (media.CodeOf(err) == media.CodeUnsupported) != h.CannotCancel || !h.CannotCancel && err != nil {
			t.Errorf("Cancel: %v", err)
		}
	}
}

// rejectsCancelledContext: with a cancelled context, no call is made.
func rejectsCancelledContext(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r := b.request(t, 1)
	u, err := b.driver.Start(scoped(ctx), driver.Task{Method: r.Method, Model: b.model, Prompt: "a house", N: 1, Inputs: r.Inputs, Mask: r.Mask})
	if media.CodeOf(err) != media.CodeCancelled || len(u.Items) > 0 {
		t.Errorf("Start: %d items, %v; want %s", len(u.Items), err, media.CodeCancelled)
	}
	if b.sim != nil && len(b.sim.Captured()) > 0 {
		t.Errorf("the provider was called")
	}
}

// concurrentCalls: the driver is safe for concurrent use and keeps results apart.
func concurrentCalls(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	var all sync.WaitGroup
	var cut atomic.Int32
	r := b.request(t, 2)
	for range 6 {
		all.Go(func() {
			got, err := b.gateway.Generate(scoped(t.Context()), r)
			if err != nil || got.Status != generate.StatusSucceeded {
				t.Errorf("Generate: %v, %v", got, err)
				return
			}
			cut.Add(int32(grids(got.Outputs()))) //nolint:gosec // At most one.
		})
	}
	all.Wait()
	if have, want := len(b.recorder.Records()), 6*h.results(2)+int(cut.Load()); have != want {
		t.Errorf("%d records, want %d", have, want)
	}
}

// storesExactBytes: the stored bytes are exactly those that the provider sent.
func storesExactBytes(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	sent, ok := b.sim.(interface{ Sent() []media.Digest })
	if !ok {
		t.Fatalf("%T has no Sent", b.sim)
	}
	b.mustGenerateN(t, 2)
	for _, o := range b.recorder.Records() {
		if !slices.Contains(sent.Sent(), o.Digest) && grids([]media.Output{o}) == 0 {
			t.Errorf("%s was never sent", o)
		}
	}
	for _, c := range b.sim.Captured() {
		if !bytes.Contains(c.Body, []byte("lighthouse")) {
			t.Errorf("the prompt is not in the request %s", c.Path)
		}
	}
}

// partialN: a missing result does not affect the others.
func partialN(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	b.sim.Inject(sim.Injection{Fault: sim.FaultPartialN})
	got := b.mustGenerateN(t, 2)
	if got.Status != generate.StatusPartial || len(got.Outputs()) != 1 || got.Err() != nil {
		t.Errorf("status %s with %d outputs, want partial with 1", got.Status, len(got.Outputs()))
	}
}
