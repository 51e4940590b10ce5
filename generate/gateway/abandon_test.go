package gateway_test

import (
	"context"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// TestAbandonedByAnotherProcess: if the caller has given up, or on Abandon, another process ends an operation of a dead
// process as that process would have: tasks are stopped, or may be billed, and no new call is made. A request without
// an operation has nothing to end.
func TestAbandonedByAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cancel    error
		unsettled int
		byID      bool
	}{
		"it stops":             {nil, 0, false},
		"it cannot stop":       {media.Errorf(media.CodeUnsupported, "it has no way to stop a task"), 2, false},
		"it stops, by its id":  {nil, 0, true},
		"it cannot, by its id": {media.Errorf(media.CodeUnsupported, "it has no way to stop a task"), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Concurrency = 2 })
			ctx, leave := context.WithCancelCause(t.Context())
			h.gemini.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: task.Key}}, nil
			}
			started := make(chan struct{}, 2)
			h.gemini.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
				started <- struct{}{}
				<-ctx.Done()
				return driver.Update{Task: to}, ctx.Err()
			}
			h.gemini.OnCancel = func(driver.Handle) error { return c.cancel }
			go func() {
				<-started
				<-started
				leave(gateway.ErrHandedOver)
			}()
			ask := threeImages()
			ask.IdempotencyKey, ask.Adopt = "act", true
			first, err := h.Generate(ctx, ask)
			if err != nil || first.Status != generate.StatusRunning {
				t.Fatalf("%+v, %v", first, err)
			}
			heir, asked := h.successor(t, nil), len(h.gemini.Tasks())
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			other := ask
			other.IdempotencyKey = "another"
			for who, r := range map[context.Context]generate.Request{gone: other, ctx: ask} {
				if got, err := heir.Generate(who, r); got != nil || media.CodeOf(err) != media.CodeCancelled {
					t.Errorf("%s: %+v, %v", r.IdempotencyKey, got, err)
				}
			}
			if heir.HasOperation(gone, "another") || !heir.HasOperation(gone, "act") {
				t.Error("begun steps are not distinguished")
			}
			end := func() (*generate.Result, error) { return heir.Generate(gone, ask) }
			if c.byID {
				end = func() (*generate.Result, error) { return heir.Abandon(t.Context(), first.Operation) }
			}
			got, err := end()
			if err != nil || got.Operation != first.Operation || got.Status != generate.StatusCancelled || got.Usage.Unsettled != c.unsettled {
				t.Fatalf("%+v, %v", got, err)
			}
			if n := len(h.gemini.Cancelled()); n != 2 || len(h.gemini.Tasks()) != asked {
				t.Errorf("asked to stop %d times, %d new calls", n, len(h.gemini.Tasks())-asked)
			}
		})
	}
}

// TestCallEndsAsItsCaller: a call in progress ends with its caller's reason, cancelled or past the deadline.
func TestCallEndsAsItsCaller(t *testing.T) {
	t.Parallel()
	for _, want := range []media.Code{media.CodeCancelled, media.CodeDeadline} {
		h := build(t, nil)
		ctx, end := context.WithCancel(t.Context())
		if want == media.CodeDeadline {
			ctx, end = context.WithTimeout(t.Context(), time.Second)
		}
		defer end()
		h.openai.OnStart = func(call context.Context, _ driver.Task, _ int) (driver.Update, error) {
			if want == media.CodeCancelled {
				end()
			}
			<-call.Done()
			return driver.Update{}, media.Errorf(media.CodeCancelled, "%w", driver.ErrUnsettled)
		}
		got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"})
		if err != nil || got.Slots[0].Error == nil || got.Slots[0].Error.Code != want {
			t.Errorf("%s: %+v, %v", want, got, err)
		} else if got.Usage.Unsettled != 1 {
			t.Errorf("%s: %+v", want, got.Usage)
		}
	}
}

// TestLostCallEndsAsItsCaller: a call that another process sent and that was not answered ends with its caller's
// reason, cancelled or past the deadline.
func TestLostCallEndsAsItsCaller(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, over := context.WithDeadline(t.Context(), day(11, 21).AddDate(-10, 0, 0))
	defer over()
	for ctx, want := range map[context.Context]media.Code{gone: media.CodeCancelled, late: media.CodeDeadline} {
		h := build(t, nil)
		op := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, operation.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted})
		got, err := h.successor(t, nil).Resume(ctx, op)
		if err != nil || got.Slots[0].Error == nil || got.Slots[0].Error.Code != want || got.Usage.Unsettled != 1 {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
	}
}
