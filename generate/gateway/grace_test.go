package gateway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/journal"
	"atelier/media"
)

// TestAbandonedCallsEnd: a process that is shutting down lets its call in progress end and starts no other; another
// process makes the remaining calls.
func TestAbandonedCallsEnd(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Concurrency = 1 })
	ctx, leave := context.WithCancelCause(t.Context())
	h.gemini.OnStart = func(call context.Context, task driver.Task, _ int) (driver.Update, error) {
		leave(journal.HandOver(time.Hour))
		var items []driver.Item
		for range task.N {
			b := generatetest.Stored(call, t, h.codec, generatetest.PNG(70, 70, byte(len(items))))
			items = append(items, driver.Item{Blob: &b})
		}
		return driver.Update{Done: true, Items: items}, call.Err()
	}
	got, err := h.Generate(ctx, generate.Request{Model: "nano banana pro", Prompt: "a house", N: 3})
	if err != nil || got.Status != generate.StatusRunning {
		t.Fatalf("%+v, %v", got, err)
	}
	calls := len(h.gemini.Tasks())
	if kept := len(got.Outputs()); calls != 1 || kept == 0 || kept != h.gemini.Tasks()[0].N {
		t.Errorf("%d calls, %d results kept", calls, kept)
	}
	if slices.Contains(h.log.Entries(), "finish cancelled") {
		t.Errorf("it was ended: %q", h.log.Entries())
	}
	h.gemini.OnStart = nil
	after, err := h.successor(t, nil).Resume(t.Context(), got.Operation)
	if err != nil || after.Status != generate.StatusSucceeded || len(after.Outputs()) != 3 {
		t.Errorf("continued: %+v, %v", after, err)
	}
}

// TestAbandonedBeforeTheCall: a call that was not sent before its process ended is made by the next process; a call
// that was sent may have been billed, and is not repeated.
func TestAbandonedBeforeTheCall(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]bool{"not sent": false, "sent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			ctx, leave := context.WithCancelCause(t.Context())
			h.openai.OnStart = func(call context.Context, _ driver.Task, _ int) (driver.Update, error) {
				leave(gateway.ErrHandedOver) // without grace
				<-call.Done()
				e := media.Errorf(media.CodeCancelled, "it was cancelled")
				if sent {
					e.Cause = driver.ErrUnsettled
				}
				return driver.Update{}, e
			}
			got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"})
			if err != nil {
				t.Fatal(err)
			}
			h.openai.OnStart = nil
			after, err := h.successor(t, nil).Resume(t.Context(), got.Operation)
			if err != nil {
				t.Fatal(err)
			}
			calls, made, unsettled := len(h.openai.Tasks()), len(after.Outputs()), after.Usage.Unsettled
			if sent && (calls != 1 || made != 0 || unsettled != 1) || !sent && (calls != 2 || made != 1 || unsettled != 0) {
				t.Errorf("%d calls, %d results, %d unsettled: %+v", calls, made, unsettled, after)
			}
		})
	}
}

// TestAbandonedBeforeFallback: the process that continues calls the fallback models.
func TestAbandonedBeforeFallback(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	ctx, leave := context.WithCancelCause(t.Context())
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		leave(gateway.ErrHandedOver)
		return driver.Update{}, media.Errorf(media.CodeModerated, "no")
	}
	got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house", Fallback: []string{"offline"}})
	if err != nil || got.Status != generate.StatusRunning {
		t.Fatalf("%+v, %v", got, err)
	}
	after, err := h.successor(t, nil).Resume(t.Context(), got.Operation)
	if err != nil || after.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 {
		t.Errorf("continued: %+v, %v", after, err)
	}
}

// TestGraceEnds: the grace for a call in progress is limited.
func TestGraceEnds(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	ctx, leave := context.WithCancelCause(t.Context())
	var reason atomic.Value
	h.openai.OnStart = func(call context.Context, _ driver.Task, _ int) (driver.Update, error) {
		leave(journal.HandOver(time.Millisecond))
		<-call.Done()
		reason.Store(context.Cause(call))
		return driver.Update{}, media.Errorf(media.CodeCancelled, "it was cancelled")
	}
	if _, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"}); err != nil {
		t.Fatal(err)
	}
	if err, _ := reason.Load().(error); !errors.Is(err, journal.ErrHandedOver) {
		t.Errorf("the call ended because of %v", err)
	}
}

// errBug is the error with which a driver panics.
var errBug = errors.New("index out of range")

// TestInterruptWhileTaskStarts: Ctrl-C lets a call that starts a task end, because without its id the task could
// neither be stopped nor fetched; other calls end at once. A driver that cannot stop a task because of a bug leaves it.
func TestInterruptWhileTaskStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		poll   string
		cancel error
		status generate.Status
	}{
		"left":       {"poll_seconds: 1", errors.New("no way to stop"), generate.StatusRunning},
		"stopped":    {"poll_seconds: 1", nil, generate.StatusCancelled},
		"not a task": {"", nil, generate.StatusCancelled},
		"a bug":      {"poll_seconds: 1", errBug, generate.StatusRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := catalog.Load(strings.NewReader(strings.Replace(studioRows, "life: {}", c.poll, 1)))
			if err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancelCause(t.Context())
			d := &generatetest.Driver{Name: "studio", OnCancel: func(driver.Handle) error {
				if errors.Is(c.cancel, errBug) {
					panic(errBug)
				}
				return c.cancel
			}}
			d.OnStart = func(call context.Context, _ driver.Task, _ int) (driver.Update, error) {
				end(gateway.ErrCancelled)
				if c.poll == "" {
					<-call.Done()
				}
				if err := call.Err(); err != nil {
					return driver.Update{}, err
				}
				return driver.Update{Task: driver.Handle{ID: "t"}}, nil
			}
			h := build(t, func(_ *testGateway, cfg *gateway.Config) { cfg.Drivers, cfg.Catalogue = []driver.Driver{d}, rows })
			got, err := h.Generate(ctx, generate.Request{Model: "Studio", Prompt: "a house"})
			if err != nil || got.Status != c.status || got.Usage.Unsettled != 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if asked := len(d.Cancelled()); (asked == 1) != (c.poll != "") {
				t.Errorf("asked %d times to stop", asked)
			}
		})
	}
}

// TestDriversThatPanic: a bug in a driver fails the operation, and not the process. A call that ended with it may have
// been billed; a poll is repeated.
func TestDriversThatPanic(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) { panic("index out of range") }
	got, err := h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
	if err != nil || got.Status != generate.StatusFailed || media.CodeOf(got.Err()) != media.CodeInternal || !strings.Contains(got.Err().Error(), "because of a bug: index out of range") {
		t.Errorf("%v", err)
	}
	if len(h.openai.Tasks()) != 1 || got.Usage.Unsettled != 1 {
		t.Errorf("%d calls, %+v", len(h.openai.Tasks()), got.Usage)
	}
}
