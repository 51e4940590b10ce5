package chat_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/chat"
	"atelier/chat/chattest"
	"atelier/media"
)

// busy is a provider that refuses its first call and asks the client to wait.
type busy struct {
	asked time.Duration
	mu    sync.Mutex // guards began and calls
	began time.Time
	calls map[string][]time.Duration
}

// limited is a model of a busy provider.
type limited struct {
	of      *busy
	profile chat.Profile
}

func (m limited) Profile() chat.Profile { return m.profile }

func (m limited) Generate(context.Context, chat.Request) (chat.Response, error) {
	b := m.of
	b.mu.Lock()
	defer b.mu.Unlock()
	first := len(b.calls) == 0
	b.calls[m.profile.ID] = append(b.calls[m.profile.ID], time.Since(b.began))
	if !first {
		return chat.Response{Text: "Yes."}, nil
	}
	e := media.Errorf(media.CodeRateLimited, "too many requests")
	e.Retryable, e.RetryAfter = true, b.asked
	return chat.Response{}, e
}

// open returns two models of a busy provider.
func (b *busy) open(t *testing.T) (one, other chat.Model) {
	t.Helper()
	b.began, b.calls = time.Now(), map[string][]time.Duration{}
	r := newRegistry(t, func(c *config) {
		c.Retry.Rand = func() float64 { return 0.5 }
		c.Keys["bedrock"] = "sk-test"
		c.Openers = map[string]chat.Opener{"bedrock": func(_ context.Context, p chat.Profile) (chat.Model, error) { return limited{b, p}, nil }}
		var err error
		if c.Profiles, err = chat.LoadProfiles(strings.NewReader("models:\n  - {provider: bedrock, id: one}\n  - {provider: bedrock, id: other}\n")); err != nil {
			t.Fatal(err)
		}
	})
	return named(t, r, "bedrock/one"), named(t, r, "bedrock/other")
}

// TestAskedToWait: if a provider asks one call to wait, other calls of that model wait too, such as those of concurrent
// sub-agents; calls of other models do not.
func TestAskedToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := busy{asked: 20 * time.Second}
		one, other := b.open(t)
		var all sync.WaitGroup
		for i, m := range []chat.Model{one, one, other} {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Second)
				if _, err := ask(t, m); err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			})
		}
		all.Wait()
		if want := []time.Duration{0, 20 * time.Second, 20*time.Second + time.Second/2}; !slices.Equal(b.calls["one"], want) {
			t.Errorf("the model was called at %v, want %v", b.calls["one"], want)
		}
		if want := []time.Duration{10 * time.Second}; !slices.Equal(b.calls["other"], want) {
			t.Errorf("the other model was called at %v, want %v", b.calls["other"], want)
		}
	})
}

// TestAskedToWaitForLong: if a provider asks for a longer wait than a call accepts, further calls of that model fail
// without being sent until the wait has elapsed, for at most an hour.
func TestAskedToWaitForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := busy{asked: 24 * time.Hour}
		one, other := b.open(t)
		for range 2 {
			if _, err := ask(t, one); media.CodeOf(err) != media.CodeRateLimited || len(b.calls["one"]) != 1 {
				t.Errorf("%v after %d calls", err, len(b.calls["one"]))
			}
			time.Sleep(59 * time.Second)
		}
		if _, err := ask(t, other); err != nil {
			t.Errorf("another model: %v", err)
		}
		time.Sleep(time.Hour)
		if _, err := ask(t, one); err != nil || len(b.calls["one"]) != 2 {
			t.Errorf("an hour later: %v after %d calls", err, len(b.calls["one"]))
		}
	})
}

// TestWaitEndsWithItsCaller: a wait for a provider ends when its caller's context does.
func TestWaitEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := busy{asked: 20 * time.Second}
		one, _ := b.open(t)
		var first sync.WaitGroup
		first.Go(func() { _, _ = ask(t, one) }) // it waits, and is answered afterwards
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		_, err := one.Generate(ctx, chat.Request{Messages: []chat.Message{chat.Text(chat.RoleUser, "x")}})
		if media.CodeOf(err) != media.CodeDeadline || time.Since(b.began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(b.began))
		}
		if first.Wait(); len(b.calls["one"]) != 2 {
			t.Errorf("%d calls", len(b.calls["one"]))
		}
	})
}

// TestNoWaitForCredit: calls do not wait if a call was refused for a reason that waiting does not change.
func TestNoWaitForCredit(t *testing.T) {
	t.Parallel()
	for _, s := range chattest.Services() {
		for _, situation := range []chattest.Situation{chattest.SituationCredit, chattest.SituationContext} {
			for _, shape := range s.Shapes[situation] {
				b := newServiceBench(t, s)
				b.sim.Play(shape, shape)
				for range 2 {
					_, _ = b.ask(s.Model, nil) // it is refused
				}
				if n := len(b.sim.Requests()); n != 2 || len(b.waits) > 0 {
					t.Errorf("%s, %s: %d calls, waits %v", s.Name, situation, n, b.waits)
				}
			}
		}
	}
}
