package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// threeImages requests three pictures of Nano Banana Pro, which makes one per call.
func threeImages() generate.Request {
	return generate.Request{Model: "Nano Banana Pro", Prompt: "a red house", N: 3}
}

// failing makes the gemini driver fail the call for slot 2 until healed is set.
func (h *testGateway) failing(t *testing.T, answer func() (driver.Update, error)) (healed *atomic.Bool) {
	t.Helper()
	healed = &atomic.Bool{}
	h.gemini.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		if strings.HasSuffix(task.Key, "-2") && !healed.Load() {
			return answer()
		}
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(number))}}, nil
	}
	return healed
}

func failure(code media.Code) func() (driver.Update, error) {
	return func() (driver.Update, error) { return driver.Update{}, media.Errorf(code, "no") }
}

func TestRetryAsksForWhatIsSafe(t *testing.T) {
	t.Parallel()
	unsettled := func() (driver.Update, error) {
		e := media.Errorf(media.CodeUnavailable, "lost")
		e.Cause = driver.ErrUnsettled
		return driver.Update{}, e
	}
	billed := func() (driver.Update, error) {
		return driver.Update{Done: true, Usage: generate.Usage{InputTokens: 5, OutputTokens: 9}}, media.Errorf(media.CodeBadResponse, "no picture")
	}
	withheld := func() (driver.Update, error) {
		return driver.Update{Done: true, Items: []driver.Item{{Err: media.Errorf(media.CodeModerated, "no")}}}, nil
	}
	link := func() (driver.Update, error) {
		e := media.Errorf(media.CodeUnavailable, "the link is gone")
		e.Retryable = true
		return driver.Update{Done: true, Items: []driver.Item{{Err: e}}, ReportedUSD: "0.1"}, nil
	}
	for name, c := range map[string]struct {
		answer func() (driver.Update, error)
		needs  string // a part of Retry's error unless all are requested
	}{
		"no credit":             {failure(media.CodeQuotaExceeded), ""},
		"bad key":               {failure(media.CodeUnauthorized), ""},
		"retryable, and billed": {link, ""},
		"refused":               {failure(media.CodeModerated), "result 2 was moderated"},
		"withheld":              {withheld, "result 2 was moderated"},
		"unsettled":             {unsettled, "result 2 may have been billed"},
		"billed":                {billed, "result 2 was billed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			healed := h.failing(t, c.answer)
			first := h.must(t, threeImages())
			healed.Store(true)
			if first.Status != generate.StatusPartial {
				t.Fatalf("status %s", first.Status)
			}
			if c.needs != "" {
				_, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
				if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), c.needs) {
					t.Errorf("Retry: %v, want %q", err, c.needs)
				}
				if n := len(h.gemini.Tasks()); n != 3 {
					t.Errorf("%d calls, want 3", n)
				}
			}
			got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation, All: c.needs != ""})
			if err != nil || got.Status != generate.StatusSucceeded || len(got.Slots) != 3 || len(h.gemini.Tasks()) != 4 {
				t.Fatalf("Retry: %+v, %v after %d calls", got, err, len(h.gemini.Tasks()))
			}
			if last := h.gemini.Tasks()[3]; last.N != 1 || !strings.HasSuffix(last.Key, "-4") {
				t.Errorf("asked for %d as %s", last.N, last.Key)
			}
			for _, i := range []int{0, 2} {
				if got.Slots[i].Output.ID != first.Slots[i].Output.ID {
					t.Errorf("slot %d was made twice", i+1)
				}
			}
			if op := h.log.Operation(first.Operation); op.Status != generate.StatusSucceeded || op.FinishedAt.IsZero() || op.Error != nil {
				t.Errorf("the ledger has %+v", op)
			}
		})
	}
}

func TestRetryFailsAgain(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit"))
	first := h.must(t, threeImages())
	got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil || got.Status != generate.StatusFailed || got.Err() == nil || len(h.gemini.Tasks()) != 6 {
		t.Fatalf("%+v, %v after %d calls", got, err, len(h.gemini.Tasks()))
	}
	h.gemini.OnStart = nil
	got, err = h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil || got.Status != generate.StatusSucceeded || len(h.gemini.Tasks()) != 9 {
		t.Errorf("%+v, %v after %d calls", got, err, len(h.gemini.Tasks()))
	}
	var calls []int
	for _, a := range h.log.Attempts() {
		calls = append(calls, a.Call)
	}
	slices.Sort(calls)
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestRetryFallsBack: the next model is called only for the results that are retried.
func TestRetryFallsBack(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
		if strings.HasSuffix(task.Key, "-2") {
			return driver.Update{}, &media.Error{Code: media.CodeUnavailable, Message: "lost", Cause: driver.ErrUnsettled}
		}
		return driver.Update{}, media.Errorf(media.CodeQuotaExceeded, "no credit")
	}
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit"))
	r := threeImages()
	r.Fallback = []string{"gpt-image-2"}
	first := h.must(t, r)
	h.openai.OnStart = nil
	got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil || got.Status != generate.StatusPartial || got.Slots[1].Output != nil || got.Slots[0].Output == nil || got.Slots[2].Output == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// ledgerBudget records what is reserved and settled.
type ledgerBudget struct {
	mu                sync.Mutex // guards reserved and settled
	reserved, settled []generate.Charge
	refuse            error
}

func (b *ledgerBudget) Reserve(_ context.Context, c generate.Charge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved = append(b.reserved, c)
	return b.refuse
}

func (b *ledgerBudget) CheckRemaining(context.Context, generate.Charge) (bool, error) {
	return true, b.refuse
}

func (b *ledgerBudget) Settle(_ context.Context, c generate.Charge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settled = append(b.settled, c)
	return nil
}

// TestRetryMoney: each round reserves and settles its own part, and the operation reports the sum.
func TestRetryMoney(t *testing.T) {
	t.Parallel()
	money := &ledgerBudget{}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Budget = money })
	healed := &atomic.Bool{}
	h.gemini.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		if strings.HasSuffix(task.Key, "-2") && !healed.Load() {
			return driver.Update{}, media.Errorf(media.CodeQuotaExceeded, "no credit")
		}
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(number))}, ReportedUSD: "0.11"}, nil
	}
	first := h.must(t, threeImages())
	healed.Store(true)
	money.refuse = media.Errorf(media.CodeOverBudget, "spent")
	if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation}); media.CodeOf(err) != media.CodeOverBudget {
		t.Fatalf("Retry: %v", err)
	}
	money.refuse = nil
	got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil {
		t.Fatal(err)
	}
	if len(money.reserved) != 3 || len(money.settled) != 2 {
		t.Fatalf("%d reserved, %d settled", len(money.reserved), len(money.settled))
	}
	for i, want := range []struct {
		images int64
		usd    string
	}{{2, "0.22"}, {1, "0.11"}} {
		if s := money.settled[i]; s.Images != want.images || *s.USD != want.usd {
			t.Errorf("settled %d for %s, want %+v", s.Images, *s.USD, want)
		}
	}
	whole, part := money.reserved[0].USD, money.reserved[2].USD
	if one, err := h.Plan(t.Context(), generate.Request{Model: threeImages().Model, Prompt: "x"}); err != nil || *part != *one.EstimatedUSD || *part == *whole || money.reserved[2].Images != 1 {
		t.Errorf("reserved %s again, and %s before", *part, *whole)
	}
	if *got.Cost.ReportedUSD != "0.33" || got.Usage.Images != 3 || *got.Cost.EstimatedUSD != *whole {
		t.Errorf("the operation cost %s for %d", *got.Cost.ReportedUSD, got.Usage.Images)
	}
}

func TestRetryRefuses(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.failing(t, failure(media.CodeQuotaExceeded))
	first := h.must(t, threeImages())
	ask := func(g *gateway.Gateway, operation string) error {
		_, err := g.Retry(t.Context(), gateway.RetryOptions{Operation: operation})
		return err
	}
	if err := ask(h.Gateway, "nobody's"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
	forgetful := h.successor(t, func(c *gateway.Config) { c.Operations = operation.NopLog{} })
	if err := ask(forgetful, first.Operation); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("without a ledger: %v", err)
	}
	if err := h.log.Hold(t.Context(), first.Operation, "another"); err != nil {
		t.Fatal(err)
	}
	if err := ask(h.Gateway, first.Operation); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("held: %v", err)
	}
	if err := h.log.Release(t.Context(), first.Operation, "another"); err != nil { // the holder gives it up
		t.Fatal(err)
	}
	h.gemini.NotReady = noKey("GEMINI_API_KEY")
	if err := ask(h.Gateway, first.Operation); media.CodeOf(err) != media.CodeMissingKey {
		t.Errorf("no key: %v", err)
	}
	if err := h.log.Hold(t.Context(), first.Operation, "another"); err != nil {
		t.Errorf("a refused retry keeps its hold: %v", err)
	}
	h.log.Forget(first.Operation)
	if err := h.log.Hold(t.Context(), first.Operation, "another"); err != nil {
		t.Fatal(err)
	}
	if err := ask(h.Gateway, first.Operation); media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), "--wait") {
		t.Errorf("not finished: %v", err)
	}
}

// TestRetryDeath: whenever a process dies during a retry, another one ends the operation with one more call, and no
// result is made twice.
func TestRetryDeath(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"attempt submitted", "attempt succeeded", "finish"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			end := make(chan struct{})
			f := crashPoint{at: at, hit: make(chan struct{}), end: end, over: &atomic.Bool{}}
			f.over.Store(true)
			h := build(t, func(h *testGateway, c *gateway.Config) {
				f.Log = h.log
				c.Operations = f
			})
			healed := h.failing(t, failure(media.CodeQuotaExceeded))
			first := h.must(t, threeImages())
			healed.Store(true)
			f.over.Store(false)
			var dying sync.WaitGroup
			dying.Go(func() { _, _ = h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation}) })
			defer dying.Wait()
			defer close(end)
			select {
			case <-f.hit:
			case <-time.After(time.Minute):
				t.Errorf("never reached %s", at)
				return
			}
			if _, err := h.successor(t, nil).Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation}); media.CodeOf(err) != media.CodeConflict {
				t.Errorf("Retry beside it: %v", err)
			}
			h.log.Orphan(first.Operation)
			got, err := h.successor(t, nil).Resume(t.Context(), first.Operation)
			if err != nil || got.Status != generate.StatusSucceeded || len(h.gemini.Tasks()) != 4 || len(h.recorder.Records()) != 3 {
				t.Errorf("%+v, %v after %d calls, %d records", got, err, len(h.gemini.Tasks()), len(h.recorder.Records()))
			}
			for _, i := range []int{0, 2} {
				if got.Slots[i].Output.ID != first.Slots[i].Output.ID {
					t.Errorf("slot %d was made twice", i+1)
				}
			}
		})
	}
}

// TestRetryAfterShortAnswer: if a call gave fewer results than requested, the rest is requested again.
func TestRetryAfterShortAnswer(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		u := driver.Update{Done: true}
		for i := range max(task.N-1, 1) {
			u.Items = append(u.Items, h.picture(ctx, t, uint8(10*number+i)))
		}
		return u, nil
	}
	first := h.must(t, generate.Request{Model: "gpt-image-2", N: 3})
	got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil || first.Status != generate.StatusPartial || got.Status != generate.StatusSucceeded {
		t.Fatalf("%s, then %+v, %v", first.Status, got, err)
	}
	if last := h.openai.Tasks()[1]; last.N != 1 {
		t.Errorf("asked for %d again, want 1", last.N)
	}
}
