package gateway_test

import (
	"context"
	"net/url"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

const hooks = "https://atelier.example/hooks/openai?tenant=7"

// newSignedGateway returns a gateway whose provider loses every answer and signs its notifications: "done" ends the
// task, any other body does not.
func newSignedGateway(t *testing.T) *testGateway {
	t.Helper()
	h := build(t, nil)
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{}, lostAnswer()
	}
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	h.Gateway = h.successor(t, func(c *gateway.Config) {
		c.Drivers[0] = notifyingDriver{h.openai, func(ctx context.Context, n driver.Notification) (driver.Update, error) {
			u := driver.Update{Task: driver.Handle{ID: "t"}, Done: string(n.Body) == "done", Progress: -1}
			if len(n.Header["Picture"]) > 0 {
				u.Items = []driver.Item{h.picture(ctx, t, 1)}
			}
			return u, nil
		}}
		c.Budget, c.Catalogue = &generate.InMemory{}, singleResultCatalogue(t)
		c.Notify = func(string) (string, string) { return hooks, "hush" }
	})
	return h
}

// callWebhook calls the webhook at the address that the provider received with a call.
func (h *testGateway) callWebhook(ctx context.Context, t *testing.T, task driver.Task, body string) error {
	t.Helper()
	at, err := url.Parse(task.NotifyURL)
	if err != nil {
		t.Fatal(err)
	}
	return h.Notify(ctx, "openai", driver.Notification{Query: at.Query(), Body: []byte(body)})
}

// TestWebhookOfALostAnswer: a call that ended as unsettled, because its answer was lost, is continued when its provider
// sends a notification; no call is repeated and nothing is paid twice.
func TestWebhookOfALostAnswer(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	first := h.must(t, generate.Request{Model: "one", Prompt: "a house"})
	if first.Status != generate.StatusFailed || first.Usage.Unsettled != 1 {
		t.Fatalf("%+v", first)
	}
	task := h.openai.Tasks()[0]
	if at, err := url.Parse(task.NotifyURL); err != nil || at.Query().Get("tenant") != "7" || at.Path != "/hooks/openai" {
		t.Errorf("address %s", task.NotifyURL)
	}
	if err := h.callWebhook(t.Context(), t, task, "unsigned"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("an unsigned notification: %v", err)
	}
	for range 3 {
		if err := h.callWebhook(t.Context(), t, task, "done"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.Resume(t.Context(), first.Operation)
	if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled != 0 || got.Usage.Images != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if n, made := len(h.openai.Tasks()), len(h.recorder.Records()); n != 1 || made != 1 {
		t.Errorf("%d calls, %d records", n, made)
	}
	if a := h.log.Attempts(); len(a) != 1 || a[0].Task.ID != "t" || a[0].Status != generate.StatusSucceeded {
		t.Errorf("attempts %+v", a)
	}
}

// TestWebhookAfterACrash: a notification ends the operation of a process that died before it knew its task's id.
func TestWebhookAfterACrash(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	id := interruptedOperation(t, h, generate.Request{Model: "one", Prompt: "a house"}, operation.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted})
	a := h.log.Attempts()[0]
	a.Key = id + "-1"
	if err := h.log.Attempt(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	asked := len(h.openai.Tasks())
	n := driver.Notification{Query: map[string][]string{"call": {a.Key}}, Body: []byte("done")}
	if err := h.Notify(t.Context(), "openai", n); err != nil {
		t.Fatal(err)
	}
	if op := h.log.Operation(id); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 || len(h.openai.Tasks()) != asked {
		t.Errorf("%s with %d records after %d calls", op.Status, len(h.recorder.Records()), len(h.openai.Tasks())-asked)
	}
}

// TestWebhookOfOneOfTwoCalls: a dead process left two calls, one given up and one in progress; a notification for the
// one that was given up continues it after the other.
func TestWebhookOfOneOfTwoCalls(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	id := interruptedOperation(t, h, generate.Request{Model: "one", Prompt: "a house", N: 2}, operation.Attempt{})
	now := h.log.Operation(id).StartedAt
	for i, a := range []operation.Attempt{
		{Status: generate.StatusFailed, FinishedAt: now, Usage: generate.Usage{Calls: 1, Unsettled: 1}},
		{Status: generate.StatusRunning, Task: driver.Handle{ID: "other"}},
	} {
		a.ID, a.Operation, a.Call, a.Number, a.Provider, a.APIModel = string(rune('a'+i)), id, i+1, 1, "openai", "one-1"
		a.Key, a.Slots = id+"-"+string(rune('1'+i)), []int{i + 1}
		h.log.Interrupted(a)
	}
	n := driver.Notification{Query: map[string][]string{"call": {id + "-1"}}, Body: []byte("done")}
	if err := h.Notify(t.Context(), "openai", n); err != nil {
		t.Fatal(err)
	}
	if op := h.log.Operation(id); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 2 {
		t.Errorf("%s with %d records: %+v", op.Status, len(h.recorder.Records()), h.log.Attempts())
	}
}

// TestNotificationThatCannotBeSaved: while the end of an operation cannot be saved, the sender of a notification for
// its failed call gets an error that asks to send it again.
func TestNotificationThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	id := interruptedOperation(t, h, generate.Request{Model: "one", Prompt: "a house"}, operation.Attempt{
		ID: "a", Call: 1, Number: 1, Status: generate.StatusFailed, Usage: generate.Usage{Calls: 1, Unsettled: 1},
	})
	a := h.log.Attempts()[0]
	a.Key, a.FinishedAt = id+"-1", a.StartedAt.Add(1)
	if err := h.log.Attempt(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	n := driver.Notification{Query: map[string][]string{"call": {a.Key}}, Body: []byte("done")}
	h.log.Fail = func(at string) error {
		if at == "finish" {
			return media.Errorf(media.CodeDiskFull, "the disk is full")
		}
		return nil
	}
	if err := h.Notify(t.Context(), "openai", n); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("notified: %v", err)
	}
	h.log.Fail = nil
	if err := h.Notify(t.Context(), "openai", n); err != nil {
		t.Errorf("notified again: %v", err)
	}
	if op := h.log.Operation(id); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("%s with %d records", op.Status, len(h.recorder.Records()))
	}
}

// TestNotificationWithoutEffect: a notification that names no call, or a call with nothing to wait for, changes
// nothing.
func TestNotificationWithoutEffect(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	first := h.must(t, generate.Request{Model: "one", Prompt: "a house"})
	ctx, cancel := context.WithCancel(t.Context())
	loses := h.openai.OnStart
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		cancel()
		e := media.Errorf(media.CodeCancelled, "cut off")
		e.Cause = driver.ErrUnsettled
		return driver.Update{}, e
	}
	second, err := h.Generate(ctx, generate.Request{Model: "one", Prompt: "a house"})
	h.openai.OnStart = loses
	if err != nil || second.Status != generate.StatusCancelled {
		t.Fatalf("%+v, %v", second, err)
	}
	for what, key := range map[string]string{
		"nothing": "", "no key": "x", "another call": first.Operation + "-2", "another operation": "nobody-1",
		"a cancelled one": second.Operation + "-1",
	} {
		n := driver.Notification{Query: map[string][]string{"call": {key}}, Body: []byte("done")}
		if err := h.Notify(t.Context(), "openai", n); media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := len(h.recorder.Records()); n != 0 {
		t.Errorf("%d records", n)
	}
}

// TestNotificationBeforeTheAnswer: a provider may send its notification before its answer; it is asked to send it
// again.
func TestNotificationBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	told := make(chan error, 1)
	h.openai.OnStart = func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
		told <- h.callWebhook(ctx, t, task, "done")
		return driver.Update{Task: driver.Handle{ID: "t"}}, nil
	}
	got := h.must(t, generate.Request{Model: "one", Prompt: "a house"})
	if err := <-told; media.CodeOf(err) != media.CodeUnavailable || got.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("notified: %v; %s with %d records", err, got.Status, len(h.recorder.Records()))
	}
}

// TestNotificationsAtOnce: of many concurrent notifications one continues the call.
func TestNotificationsAtOnce(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	first := h.must(t, generate.Request{Model: "one", Prompt: "a house"})
	task := h.openai.Tasks()[0]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := h.callWebhook(t.Context(), t, task, "done"); err != nil && media.CodeOf(err) != media.CodeUnavailable {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if op := h.log.Operation(first.Operation); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("%s with %d records", op.Status, len(h.recorder.Records()))
	}
}

// TestWebhookEndsALeftTask: the content of a notification ends a task whose process is gone, although a poll of the task
// would not find it.
func TestWebhookEndsALeftTask(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	h.openai.OnPoll = func(context.Context, driver.Task, driver.Handle, int) (driver.Update, error) {
		return driver.Update{}, media.Errorf(media.CodeNotFound, "the task is in another region")
	}
	id := interruptedOperation(t, h, generate.Request{Model: "one", Prompt: "a house"}, operation.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusRunning, Task: driver.Handle{ID: "t"}})
	n := driver.Notification{Header: map[string][]string{"Picture": {"1"}}, Body: []byte("done")}
	for range 2 {
		if err := h.Notify(t.Context(), "openai", n); err != nil {
			t.Fatal(err)
		}
	}
	if op := h.log.Operation(id); op.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("%s with %d records", op.Status, len(h.recorder.Records()))
	}
}
