package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// settledBudget is a budget that keeps the settled charges.
type settledBudget struct {
	generate.InMemory

	mu      sync.Mutex // guards counted
	counted map[string]generate.Charge
}

func (b *settledBudget) Settle(_ context.Context, c generate.Charge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counted == nil {
		b.counted = map[string]generate.Charge{}
	}
	b.counted[c.ID] = c
	return nil
}

// usd returns the settled amount of an act, or "-" if it was not settled.
func (b *settledBudget) usd(act string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch c, ok := b.counted[act]; {
	case !ok:
		return "-"
	case c.USD == nil:
		return "unknown"
	default:
		return *c.USD
	}
}

// refusedOperation returns a gateway with an interrupted operation of three calls: one gave its picture, one has a task
// whose provider refuses the key, one was sent, not answered and is not listed.
func refusedOperation(t *testing.T) (h *testGateway, l *listingDriver, operation string) {
	t.Helper()
	refused := media.Errorf(media.CodeUnauthorized, "the key was refused")
	h, l, _ = newSingleResultGateway(t)
	l.answer = func(context.Context, int) ([]driver.Handle, error) { return nil, refused }
	h.openai.OnStart = func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
		switch {
		case strings.HasSuffix(task.Key, "-1"):
			return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
		case strings.HasSuffix(task.Key, "-2"):
			return driver.Update{Task: driver.Handle{ID: "7"}}, nil
		default:
			return driver.Update{}, lostAnswer()
		}
	}
	h.openai.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		return driver.Update{Task: to}, refused
	}
	left := h.must(t, generate.Request{Model: "one", N: 3})
	if left.Status != generate.StatusRunning || len(left.Outputs()) != 1 {
		t.Fatalf("remaining: %+v", left)
	}
	return h, l, left.Operation
}

// TestCancel: an interrupted operation is ended, with or without its key, provider and plan. Results stay, what may be
// billed counts, and cancelling again changes nothing.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(h *testGateway, c *gateway.Config)
		stops     error
		unsettled int
		usd       string
	}{
		"it stops":                  {func(*testGateway, *gateway.Config) {}, nil, 1, "0.06"},
		"it cannot stop":            {func(*testGateway, *gateway.Config) {}, media.Errorf(media.CodeUnauthorized, "refused"), 2, "0.09"},
		"without a key":             {func(h *testGateway, _ *gateway.Config) { h.openai.NotReady = noKey("OPENAI_API_KEY") }, nil, 1, "0.06"},
		"without its provider":      {func(_ *testGateway, c *gateway.Config) { c.Drivers = c.Drivers[1:] }, nil, 2, "0.09"},
		"without a plan that holds": {func(_ *testGateway, c *gateway.Config) { c.Operations = logWithoutPlans{c.Operations.(log)} }, nil, 1, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, l, id := refusedOperation(t)
			h.openai.OnCancel = func(driver.Handle) error { return c.stops }
			money := &settledBudget{}
			g := h.successor(t, func(cfg *gateway.Config) {
				cfg.Drivers[0], cfg.Budget = l, money
				c.change(h, cfg)
			})
			for range 2 {
				got, err := g.Cancel(t.Context(), id)
				if err != nil || got.Status != generate.StatusCancelled || got.Usage.Unsettled != c.unsettled {
					t.Fatalf("%+v, %v", got, err)
				}
				for i, want := range []generate.Status{generate.StatusSucceeded, generate.StatusCancelled, generate.StatusCancelled} {
					if got.Slots[i].Status != want {
						t.Errorf("result %d is %s", i+1, got.Slots[i].Status)
					}
				}
			}
			for _, a := range h.attempts(t, id) {
				if a.FinishedAt.IsZero() {
					t.Errorf("call %d is under way: %+v", a.Call, a)
				}
			}
			if got := money.usd(id); got != c.usd || len(h.openai.Tasks()) != 3 {
				t.Errorf("counted %s, want %s, after %d calls", got, c.usd, len(h.openai.Tasks()))
			}
			if got, err := g.Resume(t.Context(), id); err != nil || got.Status != generate.StatusCancelled {
				t.Errorf("continued: %+v, %v", got, err)
			}
		})
	}
}

// log combines the log interfaces that the tests need.
type log interface {
	operation.Log
	operation.Resumer
}

// logWithoutPlans is a log that lost the plans.
type logWithoutPlans struct{ log }

func (l logWithoutPlans) Saved(ctx context.Context, operation string) (*operation.Saved, error) {
	s, err := l.log.Saved(ctx, operation)
	if err == nil {
		s.Operation.Request = nil
	}
	return s, err
}

// TestCancelOfASubstitute: the task of a fallback model is stopped too, and its reserved money is refunded.
func TestCancelOfASubstitute(t *testing.T) {
	t.Parallel()
	for name, ready := range map[string]error{"with its key": nil, "without": noKey("GEMINI_API_KEY")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit left"))
			ctx, leave := context.WithCancelCause(t.Context())
			h.gemini.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: "7"}}, nil
			}
			h.gemini.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
				leave(gateway.ErrHandedOver)
				return driver.Update{Task: to}, nil
			}
			left, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house", Fallback: []string{"Nano Banana Pro"}})
			if err != nil || left.Status != generate.StatusRunning {
				t.Fatalf("%+v, %v", left, err)
			}
			h.gemini.NotReady = ready
			money := &settledBudget{}
			got, err := h.successor(t, func(c *gateway.Config) { c.Budget = money }).Cancel(t.Context(), left.Operation)
			if err != nil || got.Status != generate.StatusCancelled || !slices.Equal(h.gemini.Cancelled(), handles("7")) {
				t.Errorf("%+v, %v; stopped %v", got, err, h.gemini.Cancelled())
			}
			if own, act := money.usd(left.Operation), money.usd(left.Operation+"/1/1"); own == "-" || act == "-" {
				t.Errorf("counted %s and %s", own, act)
			}
		})
	}
}

// TestCancelInAnotherProcess: a process that works on an operation notices that another process cancels it, and leaves
// it unchanged to that process.
func TestCancelInAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Journal, c.Now = nil, time.Now })
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "7"}}, nil
		}
		polls := 0
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
			polls++
			return driver.Update{Task: to}, nil
		}
		var working sync.WaitGroup
		working.Go(func() {
			got, err := h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
			if err != nil || got.Status != generate.StatusCancelled || !strings.Contains(strings.Join(got.Warnings, "\n"), "another process cancelled this operation: atelier operations show "+got.Operation) {
				t.Errorf("the process that worked on it: %+v, %v", got, err)
			}
		})
		time.Sleep(30 * time.Second)
		id := h.log.IDs()[0]
		if _, err := h.Cancel(t.Context(), id); media.CodeOf(err) != media.CodeConflict {
			t.Errorf("in the process itself: %v", err)
		}
		got, err := h.successor(t, func(c *gateway.Config) { c.Journal, c.Now = nil, time.Now }).Cancel(t.Context(), id)
		if err != nil || got.Status != generate.StatusCancelled || !slices.Equal(h.openai.Cancelled(), handles("7")) {
			t.Errorf("%+v, %v; stopped %v", got, err, h.openai.Cancelled())
		}
		working.Wait()
		asked := polls
		time.Sleep(time.Minute)
		if op := h.log.Operation(id); polls != asked || op.Status != generate.StatusCancelled || op.FinishedAt.IsZero() {
			t.Errorf("%d polls after the end, which is %+v", polls-asked, op)
		}
	})
}

// TestTakenByAnotherProcess: if another process holds an operation and does not end it, the first process says that it
// continues there, and leaves it unchanged.
func TestTakenByAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Journal, c.Now = nil, time.Now })
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "7"}}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
			return driver.Update{Task: to}, nil
		}
		go func() {
			time.Sleep(30 * time.Second)
			id := h.log.IDs()[0]
			h.log.Orphan(id)
			if err := h.log.Hold(t.Context(), id, "another"); err != nil {
				t.Error(err)
			}
		}()
		got, err := h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
		if err != nil || got.Status != generate.StatusRunning || !strings.Contains(strings.Join(got.Warnings, "\n"), "it continues or ends there") {
			t.Fatalf("%+v, %v", got, err)
		}
		if op := h.log.Operation(got.Operation); !op.FinishedAt.IsZero() || len(h.openai.Cancelled()) > 0 {
			t.Errorf("it was ended: %+v", op)
		}
	})
}

// TestCancelFinishedOperation: an operation that ended otherwise cannot be cancelled and stays unchanged.
func TestCancelFinishedOperation(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	done := h.must(t, generate.Request{Model: "gpt-image-2"})
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeInvalid, "no"))
	failed := h.must(t, generate.Request{Model: "gpt-image-2"})
	for _, r := range []*generate.Result{done, failed} {
		before := h.log.Operation(r.Operation)
		if _, err := h.Cancel(t.Context(), r.Operation); media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), string(r.Status)) {
			t.Errorf("%s: %v", r.Status, err)
		}
		if after := h.log.Operation(r.Operation); after.Status != before.Status || !after.FinishedAt.Equal(before.FinishedAt) {
			t.Errorf("%+v became %+v", before, after)
		}
	}
	// The process died before the end was saved; another model could still have been called.
	h.log.Fail = func(at string) error {
		if at == "finish" {
			return media.Errorf(media.CodeInternal, "dead")
		}
		return nil
	}
	open := h.must(t, generate.Request{Model: "gpt-image-2"})
	h.log.Fail = nil
	h.log.Orphan(open.Operation)
	if got, err := h.successor(t, nil).Cancel(t.Context(), open.Operation); err != nil || got.Status != generate.StatusCancelled || got.Slots[0].Error.Code != media.CodeInvalid {
		t.Errorf("before its end was saved: %+v, %v", got, err)
	}
	if _, err := h.Cancel(t.Context(), "nothing"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
	// An operation whose process died before the first call costs nothing.
	h.log.Forget(done.Operation)
	if got, err := h.successor(t, nil).Cancel(t.Context(), done.Operation); err != nil || got.Status != generate.StatusCancelled || got.Usage.Unsettled > 0 || len(h.openai.Tasks()) != 3 {
		t.Errorf("before its first call: %+v, %v", got, err)
	}
}
