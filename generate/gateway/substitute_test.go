package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// TestAbandonedSubstitute: the process that continues an interrupted fallback model fetches its tasks, reports why the
// first model gave no result, and calls no model twice.
func TestAbandonedSubstitute(t *testing.T) {
	t.Parallel()
	refused := func(_ *testing.T, h *testGateway) {
		h.openai.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
			u := driver.Update{Done: true}
			for range task.N {
				u.Items = append(u.Items, driver.Item{Err: media.Errorf(media.CodeModerated, "it shows a person")})
			}
			return u, nil
		}
	}
	for name, c := range map[string]struct {
		arrange func(t *testing.T, h *testGateway)
		// done is the number of results from the fallback model before the interruption, stoodIn that of its calls.
		done, stoodIn int
		why           string
	}{
		"the call failed": {func(t *testing.T, h *testGateway) {
			t.Helper()
			h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit left"))
		}, 0, 3, "no credit left"},
		"all results were refused": {refused, 0, 3, "it shows a person"},
		"some results were refused": {func(t *testing.T, h *testGateway) {
			t.Helper()
			h.openai.OnStart = refusing(t, h, nil, 1, 3)
		}, 0, 2, "refused"},
		"some are there by now":      {refused, 2, 3, "it shows a person"},
		"the provider is not called": {tripBreaker, 1, 3, "failed 5 times in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			c.arrange(t, h)
			before := len(h.openai.Tasks())
			ctx, leave := context.WithCancelCause(t.Context())
			var mu sync.Mutex
			polled := map[string]bool{}
			h.gemini.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: task.Key}}, nil
			}
			h.gemini.OnPoll = func(call context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
				mu.Lock()
				defer mu.Unlock()
				if len(polled) < c.done && !polled[to.ID] {
					polled[to.ID] = true
					return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(call, t, uint8(n))}}, nil
				}
				if len(h.gemini.Tasks()) == c.stoodIn {
					leave(gateway.ErrHandedOver)
				}
				return driver.Update{Task: to}, nil
			}
			got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house", N: 3, Fallback: []string{"Nano Banana Pro"}})
			if err != nil || got.Status != generate.StatusRunning {
				t.Fatalf("%+v, %v", got, err)
			}
			calls := len(h.openai.Tasks())
			h.gemini.OnPoll = func(call context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
				return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(call, t, uint8(50+n))}}, nil
			}
			after, err := h.successor(t, nil).Resume(t.Context(), got.Operation)
			if err != nil || after.Status != generate.StatusSucceeded || len(after.Outputs()) != 3 {
				t.Fatalf("continued: %+v, %v", after, err)
			}
			if n := len(h.openai.Tasks()); n != calls || len(h.gemini.Tasks()) != c.stoodIn {
				t.Errorf("%d calls to the first model, of which %d by the second process; %d to the next one", n-before, n-calls, len(h.gemini.Tasks()))
			}
			i := slices.IndexFunc(after.Dispositions, func(d generate.Disposition) bool { return d.Setting == "model" })
			if i < 0 || !strings.Contains(after.Dispositions[i].Reason, c.why) {
				t.Errorf("reported: %+v", after.Dispositions)
			}
			told := slices.ContainsFunc(h.attempts(t, got.Operation), func(a operation.Attempt) bool {
				return a.Provider == "openai" && a.Error != nil && strings.Contains(a.Error.Message, c.why)
			})
			if !told {
				t.Errorf("no attempt has the reason: %+v", h.attempts(t, got.Operation))
			}
		})
	}
}

// tripBreaker makes OpenAI a provider that is not called for a while.
func tripBreaker(t *testing.T, h *testGateway) {
	t.Helper()
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeUnavailable, "an outage"))
	for range 5 {
		h.must(t, generate.Request{Model: "gpt-image-2"})
	}
}

// attempts returns the attempts of an operation.
func (h *testGateway) attempts(t *testing.T, operation string) []operation.Attempt {
	t.Helper()
	saved, err := h.log.Saved(t.Context(), operation)
	if err != nil {
		t.Fatal(err)
	}
	return saved.Attempts
}
