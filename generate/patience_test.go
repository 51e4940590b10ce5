package generate_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/media"
)

// TestPollAskedToWait: what a provider asks a poll to wait for, calls that have not begun wait
// for as well; another task is asked for at its own pace.
func TestPollAskedToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *house, c *generate.Config) {
			c.Now, c.Journal, c.Rand = time.Now, nil, func() float64 { return 0 }
		})
		begun := time.Now()
		var mu sync.Mutex
		calls, polls := map[string]time.Duration{}, map[string][]time.Duration{}
		h.openai.OnStart = func(_ context.Context, task generate.Task, _ int) (generate.Update, error) {
			mu.Lock()
			defer mu.Unlock()
			calls[task.Prompt] = time.Since(begun)
			return generate.Update{Task: generate.Handle{ID: task.Prompt}}, nil
		}
		h.openai.OnPoll = func(ctx context.Context, _ generate.Task, to generate.Handle, n int) (generate.Update, error) {
			mu.Lock()
			defer mu.Unlock()
			polls[to.ID] = append(polls[to.ID], time.Since(begun))
			if to.ID == "told" && len(polls[to.ID]) == 1 {
				e := media.Errorf(media.CodeRateLimited, "too many requests")
				e.RetryAfter = 30 * time.Second
				return generate.Update{Task: to}, e
			}
			if to.ID == "beside" && time.Since(begun) < 20*time.Second {
				return generate.Update{Task: to}, nil
			}
			return generate.Update{Task: to, Done: true, Items: []generate.Item{h.picture(ctx, t, uint8(n))}}, nil
		}
		var all sync.WaitGroup
		for _, prompt := range []string{"beside", "told", "later"} {
			all.Go(func() {
				if prompt == "later" {
					time.Sleep(10 * time.Second)
				}
				if got, err := h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: prompt}); err != nil || got.Status != generate.StatusSucceeded {
					t.Errorf("%s: %+v, %v", prompt, got, err)
				}
			})
		}
		all.Wait()
		first := polls["told"][0]
		if calls["later"] != first+30*time.Second || polls["told"][1] != first+30*time.Second {
			t.Errorf("told at %s: called next at %s, polled again at %s", first, calls["later"], polls["told"][1])
		}
		for i, at := range polls["beside"][1:] {
			if pause := at - polls["beside"][i]; pause != first {
				t.Errorf("another task was polled at %v", polls["beside"])
			}
		}
	})
}
