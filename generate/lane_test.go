package generate_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/media"
)

// starts notes when the calls of a driver begin.
type starts struct {
	mu sync.Mutex // guards at
	at []time.Duration
}

// after makes a driver that notes its calls and fails those that answer says.
func (s *starts) after(t *testing.T, h *house, answer func(call int) error) func(context.Context, generate.Task, int) (generate.Update, error) {
	t.Helper()
	began := time.Now()
	return func(ctx context.Context, _ generate.Task, call int) (generate.Update, error) {
		s.mu.Lock()
		s.at = append(s.at, time.Since(began))
		s.mu.Unlock()
		if err := answer(call); err != nil {
			return generate.Update{}, err
		}
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(call)))
		return generate.Update{Done: true, Items: []generate.Item{{Blob: &b}}}, nil
	}
}

// TestCallsAMinute: a limit in a file of the user's holds for all models of the provider,
// in every minute, the first one too; and nothing else waits for it.
func TestCallsAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited, err := generate.LoadCatalogue(strings.NewReader("provider: openai\nmodels:\n  - {api_model: gpt-image-2, per_minute: 6, max_n: 1}\n  - {api_model: gpt-image-2.5-flare, max_n: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := build(t, func(_ *house, c *generate.Config) {
			c.Catalogue, c.Now, c.Concurrency = limited, time.Now, 4
		})
		var own, other starts
		never := func(int) error { return nil }
		h.openai.OnStart, h.gemini.OnStart = own.after(t, h, never), other.after(t, h, never)
		var all sync.WaitGroup
		for _, r := range []generate.Request{{Model: "gpt-image-2", N: 5}, {Model: "gpt-image-2.5-flare", N: 8}, {Model: "Nano Banana 2", N: 4}} {
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

// TestCallsAMinuteAndADeadline: who cannot get a turn in time is told at once, and nothing
// was called.
func TestCallsAMinuteAndADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited, err := generate.LoadCatalogue(strings.NewReader("provider: openai\nmodels:\n  - {api_model: gpt-image-2, per_minute: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := build(t, func(_ *house, c *generate.Config) { c.Catalogue, c.Now = limited, time.Now })
		h.must(t, generate.Request{Model: "gpt-image-2"})
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a fox"})
		if err != nil || media.CodeOf(got.Err()) != media.CodeDeadline || len(h.openai.Tasks()) != 1 {
			t.Errorf("%v, %v after %d calls", got.Err(), err, len(h.openai.Tasks()))
		}
	})
}

// TestUnknownLimits: where no limit is set, a provider that says "too many" is asked again
// when it said, and what it took is kept.
func TestUnknownLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *house, c *generate.Config) { c.Now, c.Journal = time.Now, nil })
		var s starts
		h.gemini.OnStart = s.after(t, h, func(call int) error {
			if call <= 2 {
				return nil
			}
			if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) < 20*time.Second { // when a bubble begins
				e := media.Errorf(media.CodeRateLimited, "too many requests")
				e.RetryAfter = 20 * time.Second
				return e
			}
			return nil
		})
		got := h.must(t, generate.Request{Model: "Nano Banana 2", N: 4})
		if got.Status != generate.StatusSucceeded || len(s.at) != 6 {
			t.Fatalf("%s after calls at %v: %v", got.Status, s.at, got.Err())
		}
		if s.at[3] != 0 || s.at[4] < 20*time.Second {
			t.Errorf("called at %v", s.at)
		}
	})
}
