package generate_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/media"
)

// listening is a scripted driver whose provider sends notifications.
type listening struct {
	*generatetest.Driver
	read func(ctx context.Context, n generate.Notification) (generate.Update, error)
}

func (l listening) Notification(ctx context.Context, n generate.Notification) (generate.Update, error) {
	return l.read(ctx, n)
}

// told builds a house whose OpenAI sends notifications and sleeps for ever between
// polls, so that only notifications move it.
func told(t *testing.T, read func(ctx context.Context, h *house, n generate.Notification) (generate.Update, error)) *house {
	t.Helper()
	return build(t, func(h *house, c *generate.Config) {
		h.openai.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
			return generate.Update{Task: generate.Handle{ID: "t"}}, nil
		}
		c.Drivers[0] = listening{h.openai, func(ctx context.Context, n generate.Notification) (generate.Update, error) { return read(ctx, h, n) }}
		h.journal.OnSleep = func(ctx context.Context, _ time.Duration) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
}

func (h *house) picture(ctx context.Context, t *testing.T, seed uint8) generate.Item {
	t.Helper()
	b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, seed))
	return generate.Item{Blob: &b}
}

// notify sends the bodies again and again until the operation ends.
func (h *house) notify(t *testing.T, stop <-chan struct{}, bodies ...string) {
	t.Helper()
	for {
		for _, b := range bodies {
			select {
			case <-stop:
				return
			default:
			}
			if err := h.Notify(t.Context(), "openai", generate.Notification{Body: []byte(b)}); err != nil && media.CodeOf(err) != media.CodeNotFound && media.CodeOf(err) != media.CodeUnavailable {
				t.Errorf("Notify %s: %v", b, err)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func finished(t *testing.T, h *house, bodies ...string) *generate.Result {
	t.Helper()
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { h.notify(t, stop, bodies...) })
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	close(stop)
	all.Wait()
	return got
}

// TestNotificationEndsAnOperation: a signed notification brings the result; repeats and
// older ones that come late change nothing.
func TestNotificationEndsAnOperation(t *testing.T) {
	t.Parallel()
	h := told(t, func(ctx context.Context, h *house, n generate.Notification) (generate.Update, error) {
		u := generate.Update{Task: generate.Handle{ID: "t"}, Progress: 0.4}
		if string(n.Body) == "done" {
			u.Done, u.Items = true, []generate.Item{h.picture(ctx, t, 1)}
		}
		return u, nil
	})
	h.openai.OnPoll = func(ctx context.Context, _ generate.Task, to generate.Handle, _ int) (generate.Update, error) {
		return generate.Update{Task: to}, nil
	}
	got := finished(t, h, "working", "done", "working", "done")
	if got.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 || len(h.openai.Tasks()) != 1 {
		t.Errorf("%s with %d records, %v", got.Status, len(h.recorder.Records()), got.Err())
	}
	if err := h.Notify(t.Context(), "openai", generate.Notification{Body: []byte("done")}); err != nil {
		t.Errorf("a repeat after the end: %v", err)
	}
	if len(h.recorder.Records()) != 1 {
		t.Errorf("the repeat made a record")
	}
}

// TestUnsignedNotificationIsPolledFor: what nobody signed is only a reason to ask.
func TestUnsignedNotificationIsPolledFor(t *testing.T) {
	t.Parallel()
	h := told(t, func(context.Context, *house, generate.Notification) (generate.Update, error) {
		return generate.Update{Task: generate.Handle{ID: "t"}}, nil
	})
	var polls atomic.Int32
	h.openai.OnPoll = func(ctx context.Context, _ generate.Task, to generate.Handle, _ int) (generate.Update, error) {
		polls.Add(1)
		return generate.Update{Task: to, Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
	}
	if got := finished(t, h, "forged"); got.Status != generate.StatusSucceeded || polls.Load() != 1 {
		t.Errorf("%s after %d polls", got.Status, polls.Load())
	}
}

// TestNotificationForAnotherProcess: an operation whose process died is ended by the
// one that hears the provider.
func TestNotificationForAnotherProcess(t *testing.T) {
	t.Parallel()
	h := told(t, func(context.Context, *house, generate.Notification) (generate.Update, error) {
		return generate.Update{Task: generate.Handle{ID: "t"}}, nil
	})
	h.openai.OnPoll = func(ctx context.Context, _ generate.Task, to generate.Handle, _ int) (generate.Update, error) {
		return generate.Update{Task: to, Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
	}
	start := h.openai.OnStart
	id := left(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, generate.Attempt{
		ID: "a", Call: 1, Number: 1, Provider: "openai", Status: generate.StatusRunning, Task: generate.Handle{ID: "t"},
	})
	h.openai.OnStart, h.journal.OnSleep = start, nil
	if err := h.Notify(t.Context(), "openai", generate.Notification{}); err != nil {
		t.Fatal(err)
	}
	if op := h.log.Operation(id); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("%s with %d records", op.Status, len(h.recorder.Records()))
	}
}

// TestNotifierHangsUp: a provider that does not wait until its task is fetched cancels nothing.
func TestNotifierHangsUp(t *testing.T) {
	t.Parallel()
	h := told(t, func(context.Context, *house, generate.Notification) (generate.Update, error) {
		return generate.Update{Task: generate.Handle{ID: "t"}}, nil
	})
	id := left(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, generate.Attempt{
		ID: "a", Call: 1, Number: 1, Provider: "openai", Status: generate.StatusRunning, Task: generate.Handle{ID: "t"},
	})
	call, hangUp := context.WithCancel(t.Context())
	h.journal.OnSleep = nil
	h.openai.OnPoll = func(ctx context.Context, _ generate.Task, _ generate.Handle, _ int) (generate.Update, error) {
		hangUp()
		<-ctx.Done()
		return generate.Update{}, ctx.Err()
	}
	if err := h.Notify(call, "openai", generate.Notification{}); err != nil {
		t.Errorf("Notify: %v", err)
	}
	if op := h.log.Operation(id); !op.FinishedAt.IsZero() {
		t.Fatalf("the operation is %s", op.Status)
	}
	h.openai.OnPoll = func(ctx context.Context, _ generate.Task, to generate.Handle, _ int) (generate.Update, error) {
		return generate.Update{Task: to, Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
	}
	h.log.Release(id)
	if got, err := h.Resume(t.Context(), id); err != nil || got.Status != generate.StatusSucceeded {
		t.Errorf("Resume: %+v, %v", got, err)
	}
}

func TestNotificationsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := told(t, func(_ context.Context, _ *house, n generate.Notification) (generate.Update, error) {
		if string(n.Body) == "bad" {
			return generate.Update{}, media.Errorf(media.CodeUnauthorized, "the signature is wrong")
		}
		return generate.Update{Task: generate.Handle{ID: "unknown"}}, nil
	})
	for _, c := range []struct {
		provider, body string
		want           media.Code
	}{
		{"openai", "bad", media.CodeUnauthorized},
		{"openai", "good", media.CodeNotFound},
		{"gemini", "good", media.CodeUnsupported},
		{"nobody", "good", media.CodeNotFound},
	} {
		if err := h.Notify(t.Context(), c.provider, generate.Notification{Body: []byte(c.body)}); media.CodeOf(err) != c.want {
			t.Errorf("%s %s: %v, want %s", c.provider, c.body, err, c.want)
		}
	}
}

// TestResumeWaitsForItsOwnGateway: an operation that this gateway works on is not worked on by
// a second caller of it; who resumes it waits for the end.
func TestResumeWaitsForItsOwnGateway(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	began, end := make(chan struct{}), make(chan struct{})
	h.openai.OnStart = func(ctx context.Context, _ generate.Task, _ int) (generate.Update, error) {
		close(began)
		<-end
		return generate.Update{Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
	}
	var all sync.WaitGroup
	all.Go(func() { h.must(t, generate.Request{Model: "gpt-image-2"}) })
	<-began
	id := h.log.IDs()[0]
	soon, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := h.Resume(soon, id); media.CodeOf(err) != media.CodeDeadline {
		t.Errorf("while it is under way: %v", err)
	}
	close(end)
	all.Wait()
	if got, err := h.Resume(t.Context(), id); err != nil || got.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 {
		t.Errorf("after its end: %+v, %v, %d calls", got, err, len(h.openai.Tasks()))
	}
}
