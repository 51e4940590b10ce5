package gateway_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// crashPoint stops a gateway forever at one place, like a process that dies there.
type crashPoint struct {
	*generatetest.Log
	at   string
	hit  chan struct{}
	end  <-chan struct{}
	over *atomic.Bool
}

// block blocks until the end, with an error, the first time at the crash point, and otherwise returns at once.
func (f crashPoint) block(what string) error {
	if what != f.at || !f.over.CompareAndSwap(false, true) {
		return nil
	}
	close(f.hit)
	<-f.end
	return media.Errorf(media.CodeInternal, "dead")
}

// save calls pass before a save; a dead process saves nothing.
func (f crashPoint) save(what string, do func() error) error {
	select {
	case <-f.hit:
		return media.Errorf(media.CodeInternal, "dead")
	default:
	}
	if err := f.block(what); err != nil {
		return err
	}
	return do()
}

func (f crashPoint) Attempt(ctx context.Context, a operation.Attempt) error {
	return f.save("attempt "+string(a.Status), func() error { return f.Log.Attempt(ctx, a) })
}

func (f crashPoint) SlotDone(ctx context.Context, operation string, s generate.Slot) error {
	return f.save("slot", func() error { return f.Log.SlotDone(ctx, operation, s) })
}

func (f crashPoint) Finish(ctx context.Context, op operation.Operation) error {
	return f.save("finish", func() error { return f.Log.Finish(ctx, op) })
}

// successor returns a second gateway on the state of the first.
func (h *testGateway) successor(t *testing.T, change func(*gateway.Config)) *gateway.Gateway {
	t.Helper()
	c := gateway.Config{
		Drivers: []driver.Driver{h.openai, h.gemini, h.offline}, Storage: h.codec, Recorder: h.recorder,
		Journal: &generatetest.Journal{}, Operations: h.log, Now: func() time.Time { return day(11, 21) },
	}
	if change != nil {
		change(&c)
	}
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestDeathAtEveryPhase: whenever a process dies, another one ends the operation with one call, the same bytes and a
// record.
func TestDeathAtEveryPhase(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"attempt submitted", "record", "attempt running", "poll 1", "poll 3", "fetch", "attempt succeeded", "finish"} {
		for _, delivery := range []string{"at once", "task"} {
			if delivery == "at once" && (at == "attempt running" || at == "poll 1" || at == "poll 3" || at == "fetch") {
				continue // such calls have no task
			}
			t.Run(at+", "+delivery, func(t *testing.T) {
				t.Parallel()
				checkCrash(t, at, delivery == "task")
			})
		}
	}
}

func checkCrash(t *testing.T, at string, task bool) {
	t.Helper()
	end := make(chan struct{})
	f := crashPoint{at: at, hit: make(chan struct{}), end: end, over: &atomic.Bool{}}
	file := generatetest.PNG(70, 70, 9)
	fetch := func(context.Context, string) (io.ReadCloser, string, error) {
		if err := f.block("fetch"); err != nil {
			return nil, "", err
		}
		return io.NopCloser(bytes.NewReader(file)), "image/png", nil
	}
	var ids atomic.Int32
	h := build(t, func(h *testGateway, c *gateway.Config) {
		f.Log = h.log
		c.Operations, c.Fetch = f, fetch
		h.recorder.Fail = nil
		c.Recorder = recorderFunc(func(ctx context.Context, o media.Output) (media.Output, error) {
			if err := f.block("record"); err != nil {
				return o, err
			}
			return h.recorder.Record(ctx, o)
		})
		c.NewID = func() string { return "id-" + string('a'+ids.Add(1)) }
	})
	var polls atomic.Int32
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		if task {
			return driver.Update{Task: driver.Handle{ID: "t", URL: "https://eu.example/t"}}, nil
		}
		b := generatetest.Stored(ctx, t, h.codec, file)
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
	}
	h.openai.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		n := polls.Add(1)
		if to.URL != "https://eu.example/t" {
			t.Errorf("poll of %+v", to)
		}
		if err := f.block("poll " + string('0'+n)); err != nil {
			return driver.Update{}, err
		}
		if n < 4 {
			return driver.Update{Task: to, Progress: 0.1}, nil
		}
		return driver.Update{Task: to, Done: true, Items: []driver.Item{{URL: "https://cdn.example/1.png"}}}, nil
	}
	var first sync.WaitGroup
	first.Go(func() {
		_, _ = h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
	})
	defer first.Wait()
	defer close(end)
	select {
	case <-f.hit:
	case <-time.After(time.Minute):
		t.Errorf("never reached %s", at)
		return
	}
	id := h.log.IDs()[0]
	h.log.Orphan(id)
	if at == "record" && !task {
		h.log.Unassigned = []media.Blob{generatetest.Stored(t.Context(), t, h.codec, file)}
	}
	got, err := h.successor(t, func(c *gateway.Config) { c.Fetch = fetch }).Resume(t.Context(), id)
	if err != nil {
		t.Fatalf("Resume: %v", err)
	}
	if at == "attempt running" {
		// The task's id at the provider was not saved: the task cannot be polled, and may be billed. The ledger says
		// so, and no second call is made.
		if got.Usage.Unsettled != 1 || len(h.openai.Tasks()) != 1 {
			t.Errorf("usage %+v after %d calls", got.Usage, len(h.openai.Tasks()))
		}
		return
	}
	if got.Status != generate.StatusSucceeded || len(got.Slots) != 1 || got.Slots[0].Output.Digest != media.DigestOf(file) {
		t.Errorf("%s: %+v, %v", got.Status, got.Slots, got.Err())
	}
	if n := len(h.openai.Tasks()); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
	for _, r := range h.recorder.Records() {
		if r.Digest != media.DigestOf(file) {
			t.Errorf("recorded %s", r)
		}
	}
	if n := len(h.recorder.Records()); n < 1 {
		t.Error("nothing was recorded")
	}
	again, err := h.successor(t, nil).Resume(t.Context(), id)
	if err != nil || again.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 {
		t.Errorf("a finished operation: %+v, %v", again, err)
	}
}

type recorderFunc func(ctx context.Context, o media.Output) (media.Output, error)

func (f recorderFunc) Record(ctx context.Context, o media.Output) (media.Output, error) {
	return f(ctx, o)
}

// TestMissingAnswer: a synchronous call in flight when its process died is not repeated, and its cost is unknown.
func TestMissingAnswer(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	op := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house", N: 2}, operation.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted})
	got, err := h.successor(t, nil).Resume(t.Context(), op)
	if err != nil || got.Status != generate.StatusFailed || got.Usage.Unsettled != 1 || got.Cost.ReportedUSD != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(h.openai.Tasks()); n != 1 { // the call of left
		t.Errorf("%d calls", n)
	}
	if e := got.Slots[1].Error; e == nil || e.Code != media.CodeUnavailable || e.Retryable {
		t.Errorf("slot 2: %+v", e)
	}
}

// interruptedOperation creates an operation as an earlier process left it, with one attempt.
func interruptedOperation(t *testing.T, h *testGateway, r generate.Request, a operation.Attempt) string {
	t.Helper()
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{}, media.Errorf(media.CodeInvalid, "not now")
	}
	if _, err := h.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	id := h.log.IDs()[0]
	h.log.Forget(id)
	if a.ID != "" {
		a.Operation, a.Provider = id, cmp.Or(a.Provider, "openai")
		for i := range max(r.N, 1) {
			a.Slots = append(a.Slots, i+1)
		}
		h.log.Interrupted(a)
	}
	return id
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	if _, err := h.Resume(t.Context(), "nothing"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("an unknown operation: %v", err)
	}
	none := h.successor(t, func(c *gateway.Config) { c.Operations = operation.NopLog{} })
	if _, err := none.Resume(t.Context(), "x"); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("without a log: %v", err)
	}
	id := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, operation.Attempt{})
	if err := h.log.Hold(t.Context(), id, "somebody"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	if _, err := h.successor(t, nil).Resume(ctx, id); media.CodeOf(err) != media.CodeDeadline {
		t.Errorf("while another process works on it: %v", err)
	}
	h.log.Orphan(id)
	h.openai.OnStart = nil
	h.openai.NotReady = noKey("OPENAI_API_KEY")
	if _, err := h.successor(t, nil).Resume(t.Context(), id); media.CodeOf(err) != media.CodeMissingKey {
		t.Errorf("without the key: %v", err)
	}
	h.openai.NotReady = nil
	if got, err := h.successor(t, nil).PollOnce(t.Context(), id); err != nil || got.Status != generate.StatusSucceeded {
		t.Errorf("at last: %+v, %v", got, err)
	}
}

// TestWhatIsMadeHereIsMadeAgain: a call of the offline painter that a dead process started costs nothing, so it is
// repeated, unlike those of other providers.
func TestWhatIsMadeHereIsMadeAgain(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	op := interruptedOperation(t, h, generate.Request{Model: "Offline", Prompt: "a house", N: 2}, operation.Attempt{
		ID: "a", Call: 1, Number: 1, Provider: "offline", Status: generate.StatusSubmitted,
	})
	got, err := h.successor(t, nil).Resume(t.Context(), op)
	if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled != 0 || len(got.Slots) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, a := range h.log.Attempts() {
		if a.ID == "a" && (a.Status != generate.StatusFailed || a.FinishedAt.IsZero()) {
			t.Errorf("the call of the dead process: %+v", a)
		}
	}
}
