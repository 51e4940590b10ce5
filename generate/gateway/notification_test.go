package gateway_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// notifyingDriver is a scripted driver whose provider sends notifications.
type notifyingDriver struct {
	*generatetest.Driver
	read func(ctx context.Context, n driver.Notification) (driver.Update, error)
}

func (l notifyingDriver) Notification(ctx context.Context, n driver.Notification) (driver.Update, error) {
	return l.read(ctx, n)
}

// notifiedGateway returns a gateway whose OpenAI sends notifications and sleeps forever between polls, so that only
// notifications advance it.
func notifiedGateway(t *testing.T, read func(ctx context.Context, h *testGateway, n driver.Notification) (driver.Update, error)) *testGateway {
	t.Helper()
	return build(t, func(h *testGateway, c *gateway.Config) {
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "t"}}, nil
		}
		c.Drivers[0] = notifyingDriver{h.openai, func(ctx context.Context, n driver.Notification) (driver.Update, error) { return read(ctx, h, n) }}
		h.journal.OnSleep = func(ctx context.Context, _ time.Duration) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
}

func (h *testGateway) picture(ctx context.Context, t *testing.T, seed uint8) driver.Item {
	t.Helper()
	b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, seed))
	return driver.Item{Blob: &b}
}

// notify sends the bodies repeatedly until the operation ends.
func (h *testGateway) notify(t *testing.T, stop <-chan struct{}, bodies ...string) {
	t.Helper()
	for {
		for _, b := range bodies {
			select {
			case <-stop:
				return
			default:
			}
			if err := h.Notify(t.Context(), "openai", driver.Notification{Body: []byte(b)}); err != nil && media.CodeOf(err) != media.CodeNotFound && media.CodeOf(err) != media.CodeUnavailable {
				t.Errorf("Notify %s: %v", b, err)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func finished(t *testing.T, h *testGateway, bodies ...string) *generate.Result {
	t.Helper()
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { h.notify(t, stop, bodies...) })
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	close(stop)
	all.Wait()
	return got
}

// TestNotificationEndsAnOperation: a signed notification brings the result; repeated and late older ones change
// nothing.
func TestNotificationEndsAnOperation(t *testing.T) {
	t.Parallel()
	h := notifiedGateway(t, func(ctx context.Context, h *testGateway, n driver.Notification) (driver.Update, error) {
		u := driver.Update{Task: driver.Handle{ID: "t"}, Progress: 0.4}
		if string(n.Body) == "done" {
			u.Done, u.Items = true, []driver.Item{h.picture(ctx, t, 1)}
		}
		return u, nil
	})
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		return driver.Update{Task: to}, nil
	}
	got := finished(t, h, "working", "done", "working", "done")
	if got.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 || len(h.openai.Tasks()) != 1 {
		t.Errorf("%s with %d records, %v", got.Status, len(h.recorder.Records()), got.Err())
	}
	if err := h.Notify(t.Context(), "openai", driver.Notification{Body: []byte("done")}); err != nil {
		t.Errorf("a repeat after the end: %v", err)
	}
	if len(h.recorder.Records()) != 1 {
		t.Errorf("the repeat made a record")
	}
}

// TestUnsignedNotificationIsPolledFor: an unsigned notification only triggers a poll.
func TestUnsignedNotificationIsPolledFor(t *testing.T) {
	t.Parallel()
	h := notifiedGateway(t, func(context.Context, *testGateway, driver.Notification) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "t"}}, nil
	})
	var polls atomic.Int32
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		polls.Add(1)
		return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	if got := finished(t, h, "forged"); got.Status != generate.StatusSucceeded || polls.Load() != 1 {
		t.Errorf("%s after %d polls", got.Status, polls.Load())
	}
}

// TestNotificationForAnotherProcess: an operation whose process died is ended by the process that receives the
// notification.
func TestNotificationForAnotherProcess(t *testing.T) {
	t.Parallel()
	h := notifiedGateway(t, func(context.Context, *testGateway, driver.Notification) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "t"}}, nil
	})
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	start := h.openai.OnStart
	id := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, operation.Attempt{
		ID: "a", Call: 1, Number: 1, Provider: "openai", Status: generate.StatusRunning, Task: driver.Handle{ID: "t"},
	})
	h.openai.OnStart, h.journal.OnSleep = start, nil
	if err := h.Notify(t.Context(), "openai", driver.Notification{}); err != nil {
		t.Fatal(err)
	}
	if op := h.log.Operation(id); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("%s with %d records", op.Status, len(h.recorder.Records()))
	}
}

// TestNotifierHangsUp: a provider that disconnects before its task is fetched cancels nothing.
func TestNotifierHangsUp(t *testing.T) {
	t.Parallel()
	h := notifiedGateway(t, func(context.Context, *testGateway, driver.Notification) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "t"}}, nil
	})
	id := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, operation.Attempt{
		ID: "a", Call: 1, Number: 1, Provider: "openai", Status: generate.StatusRunning, Task: driver.Handle{ID: "t"},
	})
	call, hangUp := context.WithCancel(t.Context())
	h.journal.OnSleep = nil
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, _ driver.Handle, _ int) (driver.Update, error) {
		hangUp()
		<-ctx.Done()
		return driver.Update{}, ctx.Err()
	}
	if err := h.Notify(call, "openai", driver.Notification{}); err != nil {
		t.Errorf("Notify: %v", err)
	}
	if op := h.log.Operation(id); !op.FinishedAt.IsZero() {
		t.Fatalf("the operation is %s", op.Status)
	}
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	h.log.Orphan(id)
	if got, err := h.Resume(t.Context(), id); err != nil || got.Status != generate.StatusSucceeded {
		t.Errorf("Resume: %+v, %v", got, err)
	}
}

func TestNotificationsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := notifiedGateway(t, func(_ context.Context, _ *testGateway, n driver.Notification) (driver.Update, error) {
		if string(n.Body) == "bad" {
			return driver.Update{}, media.Errorf(media.CodeUnauthorized, "the signature is wrong")
		}
		return driver.Update{Task: driver.Handle{ID: "unknown"}}, nil
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
		if err := h.Notify(t.Context(), c.provider, driver.Notification{Body: []byte(c.body)}); media.CodeOf(err) != c.want {
			t.Errorf("%s %s: %v, want %s", c.provider, c.body, err, c.want)
		}
	}
}

// TestResumeWaitsForItsOwnGateway: a second caller does not work on an operation that its gateway already works on;
// Resume waits for its end.
func TestResumeWaitsForItsOwnGateway(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	began, end := make(chan struct{}), make(chan struct{})
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		close(began)
		<-end
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
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
