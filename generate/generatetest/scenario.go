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
	"time"

	"atelier/generate"
	"atelier/media"
)

// ready: a driver without a key says so, names the variable and makes no call.
func ready(t *testing.T, h Harness) {
	t.Helper()
	if err := h.set(t, nil).driver.Ready(); err != nil {
		t.Errorf("Ready with a key: %v", err)
	}
	without := h.Driver(t, "http://127.0.0.1:1", "", NewCodec(t))
	err := without.Ready()
	switch {
	case h.NoKey != "" && err != nil:
		t.Errorf("Ready without a key: %v, but %s", err, h.NoKey)
	case h.NoKey == "" && media.CodeOf(err) != media.CodeMissingKey:
		t.Errorf("Ready without a key: %v, want %s", err, media.CodeMissingKey)
	case h.NoKey == "" && !variable.MatchString(err.Error()):
		t.Errorf("Ready without a key: %q does not name the variable", err)
	}
	if a, b := without.Provider(), without.Provider(); a == "" || a != b {
		t.Errorf("Provider gives %q and %q", a, b)
	}
}

// variable is the name of an environment variable.
var variable = regexp.MustCompile(`[A-Z]+_(API_KEY|KEY|URL)`)

// results is how many results come of n that are asked for in one call.
func (h Harness) results(n int) int { return max(n, h.PerCall) }

// grids counts the pictures that outputs were cut out of.
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

// one: a result comes, is stored, sniffed and recorded.
func one(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
	got := b.ask(t, 1)
	if got.Status != generate.StatusSucceeded || len(got.Slots) != h.results(1) || got.Err() != nil {
		t.Fatalf("status %s, %d slots, %v; want %d", got.Status, len(got.Slots), got.Err(), h.results(1))
	}
	o := got.Slots[0].Output
	if o.MIMEType == "" || o.Digest.IsZero() || o.SizeBytes == 0 || !b.extent(*o) {
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
	if b.log.Attempts()[0].Task != (generate.Handle{}) { // journalled before the first poll
		want = slices.Insert(want, 2, "attempt 1.1 running")
	}
	if have := b.log.Entries(); !slices.Equal(have, want) {
		t.Errorf("journal %q, want %q", have, want)
	}
}

// extent tells whether the bytes of an output told what its modality has: pixels, or a
// length in time.
func (b *bench) extent(o media.Output) bool {
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

// several: three results in slot order, all different.
func several(t *testing.T, h Harness) {
	t.Helper()
	got := h.set(t, nil).ask(t, 3)
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
	b := h.set(t, nil)
	if b.sim != nil {
		b.sim.Inject(Injection{Fault: FaultHTML})
		b.ask(t, 1)
	}
	for range 2 {
		if got := b.ask(t, 1); got.Status != generate.StatusSucceeded {
			t.Errorf("status %s: %v", got.Status, got.Err())
		}
	}
}

// pollUnknown: nobody gets a result for a task that there is not; a driver that finishes
// in Start has nothing to poll.
func pollUnknown(t *testing.T, h Harness) {
	t.Helper()
	_, err := h.set(t, nil).driver.Poll(t.Context(), generate.Task{}, generate.Handle{ID: "no-such-task"})
	if c := media.CodeOf(err); c != media.CodeUnsupported && c != media.CodeNotFound {
		t.Errorf("Poll of a task that is not there: %v, want %s or %s", err, media.CodeUnsupported, media.CodeNotFound)
	}
}

func cancelTwice(t *testing.T, h Harness) {
	t.Helper()
	d := h.set(t, nil).driver
	for range 2 {
		if err := d.Cancel(t.Context(), generate.Handle{ID: "no-such-task"}); err != nil {
			t.Errorf("Cancel: %v", err)
		}
	}
}

// ended: a context that has ended makes no call.
func ended(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r := b.request(t, 1)
	u, err := b.driver.Start(scoped(ctx), generate.Task{Method: r.Method, Model: b.model, Prompt: "a house", N: 1, Inputs: r.Inputs, Mask: r.Mask})
	if media.CodeOf(err) != media.CodeCancelled || len(u.Items) > 0 {
		t.Errorf("Start: %d items, %v; want %s", len(u.Items), err, media.CodeCancelled)
	}
	if b.sim != nil && len(b.sim.Captured()) > 0 {
		t.Errorf("the provider was called")
	}
}

// many: the driver is safe for concurrent use and mixes nothing up.
func many(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
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

// exact: what is stored is byte for byte what the provider sent.
func exact(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
	sent, ok := b.sim.(interface{ Sent() []media.Digest })
	if !ok {
		t.Fatalf("%T has no Sent", b.sim)
	}
	b.ask(t, 2)
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

// expectation is what becomes of a fault.
type expectation struct {
	// codes are the slot's possible error codes; none means that it succeeds.
	codes []media.Code
	// calls is how often the provider is called: a fault that may have been billed is
	// never repeated.
	calls int
	// waited is the least wait before the repeat.
	waited time.Duration
	status generate.Status
}

// asked is the wait that [FaultRateLimit] names in scenarios.
const asked = 7 * time.Second

// expected tells what every fault means.
func expected(f Fault) expectation {
	failed := func(codes ...media.Code) expectation {
		return expectation{codes: codes, calls: 1, status: generate.StatusFailed}
	}
	switch f {
	case FaultUnauthorized:
		return failed(media.CodeUnauthorized)
	case FaultForbidden:
		return failed(media.CodeForbidden)
	case FaultDeadModel:
		return failed(media.CodeNotFound)
	case FaultQuota:
		return failed(media.CodeQuotaExceeded)
	case FaultRateLimit:
		return expectation{calls: 2, waited: asked, status: generate.StatusSucceeded}
	case FaultServerError, FaultOverloaded:
		return expectation{calls: 2, status: generate.StatusSucceeded}
	case FaultHTML, FaultNotJSON, FaultHalfBody, FaultDropped:
		return failed(media.CodeBadResponse, media.CodeUnavailable, media.CodeCorrupt)
	case FaultTinyImage, FaultNotMedia, FaultEmpty:
		return failed(media.CodeBadResponse)
	case FaultInvalid:
		return failed(media.CodeInvalid, media.CodeUnsupported)
	case FaultConflict:
		return failed(media.CodeConflict)
	case FaultTaskFailed:
		return failed(media.CodeBadResponse, media.CodeUnavailable)
	case FaultTaskLost:
		return failed(media.CodeNotFound)
	case FaultExpiredLink:
		return failed(media.CodeBadResponse)
	case FaultHugeHeader:
		return failed(media.CodeTooLarge)
	case FaultPrivateURL:
		return failed(media.CodeBlockedAddress)
	case FaultModerated:
		return expectation{codes: []media.Code{media.CodeModerated}, calls: 1, status: generate.StatusModerated}
	default: // FaultLyingType, FaultPollFails, FaultHalfLink
		return expectation{calls: 1, status: generate.StatusSucceeded}
	}
}

// faulty plays one fault.
func faulty(t *testing.T, h Harness, in Injection) {
	t.Helper()
	switch in.Fault {
	case FaultSlow:
		slow(t, h)
		return
	case FaultPartialN:
		partialN(t, h)
		return
	case FaultPartialsThenError:
		previewsAlone(t, h)
		return
	case FaultRateLimit:
		in.RetryAfter = asked
	default:
	}
	b, want := h.set(t, nil), expected(in.Fault)
	b.sim.Inject(in)
	got := b.ask(t, 1)
	s := got.Slots[0]
	if in.Fault == FaultConflict && got.Status == generate.StatusSucceeded && len(b.sim.Captured()) == 2 {
		return // a provider may say that a conflict can be tried again
	}
	switch {
	case got.Status != want.status:
		t.Errorf("status %s (%v), want %s", got.Status, got.Err(), want.status)
	case len(want.codes) > 0 && (s.Error == nil || !slices.Contains(want.codes, s.Error.Code)):
		t.Errorf("error %+v, want one of %q", s.Error, want.codes)
	case s.Error != nil && s.Error.Message == "":
		t.Errorf("the error says nothing")
	case in.Fault == FaultModerated && (s.Safety == nil || !s.Safety.Blocked):
		t.Errorf("no verdict with the refusal: %+v", s.Safety)
	}
	if have := len(b.sim.Captured()); have != want.calls {
		t.Errorf("the provider was called %d times, want %d", have, want.calls)
	}
	// The pauses between polls of a task come after the wait.
	if waits := b.journal.Slept(); want.waited > 0 && (len(waits) == 0 || waits[0] < want.waited) {
		t.Errorf("waited %v, want %s at least", waits, want.waited)
	}
	if o := s.Output; o != nil && media.ModalityOf(o.MIMEType) != b.model.Modality {
		t.Errorf("output %s is no %s", o, b.model.Modality)
	}
}

// slow: a caller who leaves gets an answer at once, and the slot is cancelled.
func slow(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
	b.sim.Inject(Injection{Fault: FaultSlow, Delay: time.Minute})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for len(b.sim.Captured()) == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	got, err := b.gateway.Generate(scoped(ctx), b.request(t, 1))
	if err != nil || got.Status != generate.StatusCancelled || got.Slots[0].Error.Code != media.CodeCancelled {
		t.Errorf("Generate: %+v, %v; want a cancelled slot", got, err)
	}
}

// partialN: one result fewer keeps the others.
func partialN(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
	b.sim.Inject(Injection{Fault: FaultPartialN})
	got := b.ask(t, 2)
	if got.Status != generate.StatusPartial || len(got.Outputs()) != 1 || got.Err() != nil {
		t.Errorf("status %s with %d outputs, want partial with 1", got.Status, len(got.Outputs()))
	}
}
