package gateway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// callTimes records when a driver's calls begin.
type callTimes struct {
	mu sync.Mutex // guards at
	at []time.Duration
}

// after returns a driver function that records its calls and fails those for which answer returns an error.
func (s *callTimes) after(t *testing.T, h *testGateway, answer func(call int) error) func(context.Context, driver.Task, int) (driver.Update, error) {
	t.Helper()
	began := time.Now()
	return func(ctx context.Context, _ driver.Task, call int) (driver.Update, error) {
		s.mu.Lock()
		s.at = append(s.at, time.Since(began))
		s.mu.Unlock()
		if err := answer(call); err != nil {
			return driver.Update{}, err
		}
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(call)))
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
	}
}

// TestCallsAMinute: the highest limit of a user's rows applies to all models of the provider, in every minute including
// the first; calls to other providers do not wait.
func TestCallsAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited, err := catalog.Load(strings.NewReader("provider: openai\nmodels:\n  - {api_model: gpt-image-2, per_minute: 6, max_n: 1}\n  - {api_model: gpt-image-2.5-flare, max_n: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := build(t, func(_ *testGateway, c *gateway.Config) {
			c.Catalogue, c.Now, c.Concurrency = limited, time.Now, 4
		})
		var own, other callTimes
		never := func(int) error { return nil }
		h.openai.OnStart, h.gemini.OnStart = own.after(t, h, never), other.after(t, h, never)
		var all sync.WaitGroup
		for _, r := range []generate.Request{{Model: "gpt-image-2", N: 5}, {Model: "gpt-image-2.5-flare", N: 8}, {Model: "Nano Banana 2.1", N: 4}} {
			all.Go(func() {
				r.Prompt = "a fox"
				if got, err := h.Generate(t.Context(), r); err != nil || got.Status != generate.StatusSucceeded {
					t.Errorf("%s: %+v, %v", r.Model, got, err)
				}
			})
		}
		all.Wait()
		if len(own.at) != 13 || len(other.at) != 4 || other.at[3] != 0 {
			t.Fatalf("OpenAI was called at %v, Google at %v", own.at, other.at)
		}
		for i := range len(own.at) - 6 {
			if own.at[i+6]-own.at[i] < time.Minute {
				t.Errorf("7 calls within a minute: %v", own.at[i:i+7])
			}
		}
	})
}

// TestCallsAMinuteAndADeadline: a call that cannot get a turn before its deadline fails at once and is not sent.
func TestCallsAMinuteAndADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited, err := catalog.Load(strings.NewReader("provider: openai\nmodels:\n  - {api_model: gpt-image-2, per_minute: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Catalogue, c.Now = limited, time.Now })
		h.must(t, generate.Request{Model: "gpt-image-2"})
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a fox"})
		if err != nil || media.CodeOf(got.Err()) != media.CodeDeadline || len(h.openai.Tasks()) != 1 {
			t.Errorf("%v, %v after %d calls", got.Err(), err, len(h.openai.Tasks()))
		}
	})
}

// TestUnknownLimits: without a limit, a provider that answers "too many" is called again at the time it named, and the
// results of its other calls are kept.
func TestUnknownLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Now, c.Journal = time.Now, nil })
		var s callTimes
		var started sync.WaitGroup // otherwise the first answer would make the calls wait that have not started
		started.Add(4)
		h.gemini.OnStart = s.after(t, h, func(call int) error {
			if call <= 4 {
				started.Done()
				started.Wait()
			}
			if call <= 2 {
				return nil
			}
			if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) < 20*time.Second { // when a bubble starts
				e := media.Errorf(media.CodeRateLimited, "too many requests")
				e.RetryAfter = 20 * time.Second
				return e
			}
			return nil
		})
		got := h.must(t, generate.Request{Model: "Nano Banana 2.1", N: 4})
		if got.Status != generate.StatusSucceeded || len(s.at) != 6 {
			t.Fatalf("%s after calls at %v: %v", got.Status, s.at, got.Err())
		}
		if s.at[3] != 0 || s.at[4] < 20*time.Second {
			t.Errorf("called at %v", s.at)
		}
	})
}

// TestAskedToWait: if a provider asks one call to wait, its other calls wait too, for any model and operation, and
// report the wait; calls to other providers do not.
func TestAskedToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		told := map[string]time.Duration{}
		h := build(t, func(_ *testGateway, c *gateway.Config) {
			c.Now, c.Journal, c.Rand = time.Now, nil, func() float64 { return 0.5 }
			c.Events = func(_ context.Context, e generate.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.Kind == generate.EventWait {
					told[e.Model] = e.Wait
				}
			}
		})
		var own, other callTimes
		h.openai.OnStart = own.after(t, h, func(call int) error {
			if call > 1 {
				return nil
			}
			e := media.Errorf(media.CodeRateLimited, "too many requests")
			e.Retryable, e.RetryAfter = true, 20*time.Second
			return e
		})
		h.gemini.OnStart = other.after(t, h, func(int) error { return nil })
		var all sync.WaitGroup
		for i, model := range []string{"GPT Image 2", "GPT Image 1.5", "Nano Banana 2.1"} {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Second)
				if got, err := h.Generate(t.Context(), generate.Request{Model: model, Prompt: "a fox"}); err != nil || got.Status != generate.StatusSucceeded {
					t.Errorf("%s: %+v, %v", model, got, err)
				}
			})
		}
		all.Wait()
		if len(own.at) != 3 || own.at[1] != 20*time.Second || own.at[2] != 20*time.Second+time.Second/2 || other.at[0] != 10*time.Second {
			t.Errorf("OpenAI was called at %v, Google at %v", own.at, other.at)
		}
		if len(told) != 1 || told["GPT-4o Image 1.5"] != 15*time.Second+time.Second/2 {
			t.Errorf("reported waits: %v", told)
		}
	})
}

// TestUsedUpAllowance: if a provider asks for a longer wait than a call accepts, other calls of that model fail at once
// until the wait has elapsed, so that the next model is used; other models are called.
func TestUsedUpAllowance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Now, c.Journal = time.Now, nil })
		var own callTimes
		h.openai.OnStart = own.after(t, h, func(call int) error {
			if call > 1 {
				return nil
			}
			e := media.Errorf(media.CodeRateLimited, "the allowance is used up")
			e.Retryable, e.RetryAfter = true, 24*time.Hour
			return e
		})
		ask := func(model string) *generate.Result {
			got, err := h.Generate(t.Context(), generate.Request{Model: model, Prompt: "a fox"})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		for _, calls := range []int{1, 1} {
			if got := ask("GPT Image 2"); media.CodeOf(got.Err()) != media.CodeRateLimited || len(own.at) != calls {
				t.Errorf("%v after %d calls", got.Err(), len(own.at))
			}
			time.Sleep(59 * time.Second)
		}
		if got := ask("GPT Image 1.5"); got.Status != generate.StatusSucceeded {
			t.Errorf("another model: %v", got.Err())
		}
		time.Sleep(time.Hour)
		if got := ask("GPT Image 2"); got.Status != generate.StatusSucceeded || len(own.at) != 3 {
			t.Errorf("an hour later: %v", got.Err())
		}
	})
}

// TestLimitsOfARow: a row's limits apply to its model, in addition to the provider's.
func TestLimitsOfARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, err := catalog.Load(strings.NewReader(`provider: openai
models:
  - {api_model: gpt-image-2, per_minute: 6, concurrency: 1, max_n: 1}
  - {api_model: gpt-image-1.5, per_minute: 60, concurrency: 3, max_n: 1}
`))
		if err != nil {
			t.Fatal(err)
		}
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Catalogue, c.Now = rows, time.Now })
		var mu sync.Mutex
		now, most := map[string]int{}, map[string]int{}
		at := map[string][]time.Duration{}
		began := time.Now()
		h.openai.OnStart = func(ctx context.Context, task driver.Task, call int) (driver.Update, error) {
			model := task.Model.Name
			mu.Lock()
			now[model]++
			most[model] = max(most[model], now[model])
			at[model] = append(at[model], time.Since(began))
			mu.Unlock()
			time.Sleep(30 * time.Second)
			mu.Lock()
			now[model]--
			mu.Unlock()
			b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(call)))
			return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
		}
		var all sync.WaitGroup
		for _, model := range []string{"GPT Image 2", "GPT Image 1.5"} {
			all.Go(func() {
				if got, err := h.Generate(t.Context(), generate.Request{Model: model, Prompt: "a fox", N: 6}); err != nil || got.Status != generate.StatusSucceeded {
					t.Errorf("%s: %+v, %v", model, got, err)
				}
			})
		}
		all.Wait()
		if most["GPT Image 2"] != 1 || most["GPT-4o Image 1.5"] < 2 || most["GPT-4o Image 1.5"] > 3 {
			t.Errorf("at once: %v", most)
		}
		for i, own := 1, at["GPT Image 2"]; i < len(own); i++ {
			if own[i]-own[i-1] < 10*time.Second {
				t.Errorf("called at %v", own)
			}
		}
	})
}
