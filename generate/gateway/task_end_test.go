package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// ending is a case of [TestHowTasksEnd]: why the caller stops waiting, and the provider's answer to a cancellation.
type ending struct {
	why    error
	cancel error
	// status is the operation's; asked is how often the provider was asked to stop.
	status generate.Status
	asked  int
	// unsettled is the number of calls that may have been billed; warns is a part of a warning.
	unsettled int
	warns     string
	// made is the number of results of the process that continues; started is the number of its calls.
	made, started int
}

func endings() map[string]ending {
	no := media.Errorf(media.CodeUnsupported, "it has no way to stop a task")
	away := media.Errorf(media.CodeUnavailable, "it could not be asked")
	return map[string]ending{
		"cancelled, and it stops":       {context.Canceled, nil, generate.StatusCancelled, 2, 0, "", 0, 0},
		"cancelled, and it cannot stop": {context.Canceled, no, generate.StatusCancelled, 2, 2, "may bill it: it has no way", 0, 0},
		"let go, and it stops":          {gateway.ErrCancelled, nil, generate.StatusCancelled, 2, 0, "", 0, 0},
		"let go, and it cannot stop":    {gateway.ErrCancelled, no, generate.StatusRunning, 2, 0, "it was left to be fetched", 2, 0},
		"let go, and it is away":        {gateway.ErrCancelled, away, generate.StatusRunning, 2, 0, "it was left to be fetched", 2, 0},
		"left":                          {gateway.ErrHandedOver, no, generate.StatusRunning, 0, 0, "", 3, 1},
	}
}

// TestHowTasksEnd: the caller stops waiting for three calls, of which two have a task and one waits for its turn.
func TestHowTasksEnd(t *testing.T) {
	t.Parallel()
	for name, c := range endings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Concurrency = 2 })
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			var polled, over atomic.Int32
			h.gemini.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: task.Key}, ReportedUSD: "0.1"}, nil
			}
			h.gemini.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
				if over.Load() > 0 {
					return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(n))}}, nil
				}
				if polled.Add(1) == 2 {
					end(c.why)
				}
				<-ctx.Done()
				return driver.Update{Task: to}, nil
			}
			h.gemini.OnCancel = func(driver.Handle) error { return c.cancel }
			got, err := h.Generate(ctx, threeImages())
			if err != nil || got.Status != c.status || len(h.gemini.Cancelled()) != c.asked || got.Usage.Unsettled != c.unsettled {
				t.Fatalf("%v: %s, %d asked to stop, %d unsettled", err, got.Status, len(h.gemini.Cancelled()), got.Usage.Unsettled)
			}
			if metadata := strings.Join(got.Warnings, "\n"); (metadata == "") != (c.warns == "") || !strings.Contains(metadata, c.warns) {
				t.Errorf("warnings %q, want %q", metadata, c.warns)
			}
			over.Add(1)
			began := len(h.gemini.Tasks())
			again, err := h.successor(t, nil).Resume(t.Context(), got.Operation)
			if err != nil || len(again.Outputs()) != c.made || len(h.gemini.Tasks())-began != c.started || again.Status == generate.StatusRunning {
				t.Errorf("%v: %+v after %d new calls", err, again, len(h.gemini.Tasks())-began)
			}
			if strings.Contains(strings.Join(again.Warnings, "\n"), "left to be fetched") {
				t.Errorf("fetched, and still warned of: %q", again.Warnings)
			}
		})
	}
}

// TestAbandonedTasksCount: a task that the provider continues after the caller gave up counts in the budgets with the
// cost that the provider reported and with all its pictures.
func TestAbandonedTasksCount(t *testing.T) {
	t.Parallel()
	money := &ledgerBudget{}
	h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Budget = money })
	ctx, end := context.WithCancel(t.Context())
	defer end()
	h.gemini.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "t"}, ReportedUSD: "0.1"}, nil
	}
	h.gemini.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		end()
		return driver.Update{Task: to}, nil
	}
	h.gemini.OnCancel = func(driver.Handle) error { return errors.New("no") }
	got, err := h.Generate(ctx, generate.Request{Model: "Nano Banana Pro", Prompt: "a house"})
	if err != nil || got.Status != generate.StatusCancelled {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := money.settled[0]; s.Images != 1 || text(s.USD) != "0.1" {
		t.Errorf("settled %d images for %s", s.Images, text(s.USD))
	}
	if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: got.Operation}); err == nil || !strings.Contains(err.Error(), "may have been billed") {
		t.Errorf("Retry: %v", err)
	}
}

// TestAbandonedWithoutALog: a gateway whose operations nobody can continue cancels them.
func TestAbandonedWithoutALog(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Operations = operation.NopLog{} })
	ctx, end := context.WithCancelCause(t.Context())
	h.gemini.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "t"}}, nil
	}
	h.gemini.OnPoll = func(_ context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		end(gateway.ErrCancelled)
		return driver.Update{Task: to}, nil
	}
	h.gemini.OnCancel = func(driver.Handle) error { return media.Errorf(media.CodeUnsupported, "no") }
	got, err := h.Generate(ctx, generate.Request{Model: "Nano Banana Pro", Prompt: "a house"})
	if err != nil || got.Status != generate.StatusCancelled || got.Usage.Unsettled != 1 || got.Slots[0].Error.Code != media.CodeCancelled {
		t.Errorf("%+v, %v", got, err)
	}
}
