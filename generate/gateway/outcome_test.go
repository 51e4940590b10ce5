package gateway_test

import (
	"context"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// TestConflictsAtProviders: a driver's conflict is an outage of one request. The request is retried once, the next
// model substitutes, the provider stays available, and nothing is left to another process; on a poll a conflict says
// nothing about the task.
func TestConflictsAtProviders(t *testing.T) {
	t.Parallel()
	metadata := media.Errorf(media.CodeUnavailable, "another request was in its way: %w", driver.ErrContested)
	raw := media.Errorf(media.CodeConflict, "409")
	raw.Retryable = true
	for name, failed := range map[string]*media.Error{"as agreed": metadata, "as its status": raw} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			h.openai.OnStart = refusing(t, h, failed)
			for n := range 6 {
				got := h.must(t, generate.Request{Model: "gpt-image-2", Fallback: []string{"Nano Banana Pro"}})
				if got.Status != generate.StatusSucceeded || got.Provider != "gemini" || len(h.openai.Tasks()) != 2*(n+1) {
					t.Fatalf("request %d: %+v, %d calls", n+1, got, len(h.openai.Tasks()))
				}
			}
			if alone := h.must(t, generate.Request{Model: "gpt-image-2"}); alone.Status != generate.StatusFailed || alone.Slots[0].Error.Code != media.CodeUnavailable {
				t.Errorf("without another model: %+v", alone)
			}
		})
		t.Run(name+", on a poll", func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: "7"}}, nil
			}
			h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
				if n < 4 {
					return driver.Update{Task: to}, failed
				}
				return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(n))}}, nil
			}
			if got := h.must(t, generate.Request{Model: "gpt-image-2"}); got.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 {
				t.Errorf("%+v, %d calls", got, len(h.openai.Tasks()))
			}
		})
	}
}
