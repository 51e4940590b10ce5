package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// TestPollsThatAreRefused: a poll that is refused access says nothing about the task, which is paid for: the task is
// left and fetched once access is granted. Without a log the call fails.
func TestPollsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, code := range []media.Code{media.CodeUnauthorized, media.CodeForbidden, media.CodeQuotaExceeded} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			let := false
			h := build(t, nil)
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: "7"}, ReportedUSD: "0.1"}, nil
			}
			h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
				if !let {
					return driver.Update{Task: to}, media.Errorf(code, "the key was refused")
				}
				return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(n))}}, nil
			}
			got := h.must(t, generate.Request{Model: "gpt-image-2", Fallback: []string{"Nano Banana Pro"}})
			if got.Status != generate.StatusRunning || got.Err() != nil || got.Usage.Unsettled > 0 || len(h.gemini.Tasks()) > 0 {
				t.Fatalf("%+v", got)
			}
			if metadata := strings.Join(got.Warnings, "\n"); !strings.Contains(metadata, "the key was refused: ") || !strings.Contains(metadata, "left to be fetched") {
				t.Errorf("warnings %q", metadata)
			}
			let = true
			again, err := h.successor(t, nil).Resume(t.Context(), got.Operation)
			if err != nil || again.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 || len(again.Warnings) > 0 {
				t.Errorf("%+v, %v, %d calls", again, err, len(h.openai.Tasks()))
			}
			let = false
			h.Gateway = h.successor(t, func(c *gateway.Config) { c.Operations = operation.NopLog{} })
			if lost := h.must(t, generate.Request{Model: "gpt-image-2"}); lost.Status != generate.StatusFailed || lost.Slots[0].Error.Code != code {
				t.Errorf("without a log: %+v", lost)
			}
		})
	}
}

// TestLastPollAsTheCallerLeaves: a result that arrives with the end of ctx ends its task: nothing is cancelled, and
// nothing may be billed besides.
func TestLastPollAsTheCallerLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, nil)
		ctx, leave := context.WithCancel(t.Context())
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "t"}}, nil
		}
		h.openai.OnPoll = func(ctx context.Context, _ driver.Task, at driver.Handle, _ int) (driver.Update, error) {
			defer leave()
			return driver.Update{Task: at, Done: true, ReportedUSD: "0.05", Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
		}
		h.openai.OnCancel = func(driver.Handle) error { return media.Errorf(media.CodeUnsupported, "cannot stop") }
		got, err := h.Generate(ctx, generate.Request{Prompt: "a fox", Model: "gpt-image-2"})
		if err != nil || got.Status != generate.StatusSucceeded || len(got.Warnings) > 0 || got.Usage.Unsettled != 0 || len(h.openai.Cancelled()) > 0 {
			t.Errorf("%+v, %v", got, err)
		}
		if got.Cost.ReportedUSD == nil || *got.Cost.ReportedUSD != "0.05" {
			t.Errorf("cost %+v", got.Cost)
		}
	})
}
