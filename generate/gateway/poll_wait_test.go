package gateway_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/journal"
	"atelier/media"
)

// TestPollAskedToWait: if a provider asks a poll to wait, calls that have not started wait too; other tasks are polled
// at their own pace.
func TestPollAskedToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *testGateway, c *gateway.Config) {
			c.Now, c.Journal, c.Rand = time.Now, nil, func() float64 { return 0 }
		})
		started := time.Now()
		var mu sync.Mutex
		calls, polls := map[string]time.Duration{}, map[string][]time.Duration{}
		h.openai.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
			mu.Lock()
			defer mu.Unlock()
			calls[task.Prompt] = time.Since(started)
			return driver.Update{Task: driver.Handle{ID: task.Prompt}}, nil
		}
		h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
			mu.Lock()
			defer mu.Unlock()
			polls[to.ID] = append(polls[to.ID], time.Since(started))
			if to.ID == "told" && len(polls[to.ID]) == 1 {
				e := media.Errorf(media.CodeRateLimited, "too many requests")
				e.RetryAfter = 30 * time.Second
				return driver.Update{Task: to}, e
			}
			if to.ID == "beside" && time.Since(started) < 20*time.Second {
				return driver.Update{Task: to}, nil
			}
			return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(n))}}, nil
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
			t.Errorf("asked at %s: called next at %s, polled again at %s", first, calls["later"], polls["told"][1])
		}
		for i, at := range polls["beside"][1:] {
			if pause := at - polls["beside"][i]; pause != first {
				t.Errorf("another task was polled at %v", polls["beside"])
			}
		}
	})
}

// TestAQuotaOfADayIsWaitedForOnce: the wait that a daily quota requests is observed once; then the call has failed.
func TestAQuotaOfADayIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times, calls int
		wait         time.Duration
		status       generate.Status
	}{
		"it was that of a minute": {1, 2, 36 * time.Second, generate.StatusSucceeded},
		"it is used up":           {9, 2, 36 * time.Second, generate.StatusFailed},
		"a long wait":             {9, 1, 9 * time.Hour, generate.StatusFailed},
		"no wait":                 {9, 1, 0, generate.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := build(t, func(h *testGateway, conf *gateway.Config) {
					conf.Journal = journal.Memory{}
					h.openai.OnStart = func(ctx context.Context, _ driver.Task, number int) (driver.Update, error) {
						if number > c.times {
							return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
						}
						e := media.Errorf(media.CodeQuotaExceeded, "the quota of a day is used up")
						e.RetryAfter, e.Retryable = c.wait, c.wait > 0
						return driver.Update{}, e
					}
				})
				began := time.Now()
				got := h.must(t, generate.Request{Model: "GPT Image 2"})
				if took := time.Since(began); got.Status != c.status || len(h.openai.Tasks()) != c.calls || c.calls > 1 && took < c.wait || took > time.Minute {
					t.Errorf("%s after %s and %d calls: %+v", got.Status, took, len(h.openai.Tasks()), got.Slots)
				}
				if e := got.Slots[0].Error; c.status == generate.StatusFailed && (e.Code != media.CodeQuotaExceeded || e.Retryable) {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}
