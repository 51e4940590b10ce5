package generate_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/bfl"
	"atelier/generate/generatetest/bflsim"
	"atelier/journal"
)

// polled is an office whose provider has tasks. Its process was told to stop over the answer that
// names the task, which the relay has.
func polled(t *testing.T) (o *office, sim *bflsim.Simulator, op string) {
	t.Helper()
	sim = bflsim.New(bflsim.Config{})
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	ctx, leave := context.WithCancelCause(t.Context())
	defer leave(nil)
	o = fresh(t)
	o.tasks = func(c *generate.Config) {
		d, err := bfl.New(bfl.Config{APIKey: sim.Key(), BaseURL: srv.URL, NotifySecret: "hush", Codec: o.codec, Base: o.relay.Transport(nil)})
		if err != nil {
			t.Fatal(err)
		}
		c.Drivers, c.Fetch = append(c.Drivers, d), download
		c.Notify = func(string) (string, string) { return "https://atelier.example/hooks/bfl", "hush" }
	}
	o.relay.OnKept = func(context.Context, string) error {
		leave(generate.ErrLeft)
		return errors.New("dead")
	}
	got, err := o.next(t, nil).Generate(ctx, generate.Request{Model: "FLUX.2 Pro", Prompt: "a house"})
	if err != nil || got.Status != generate.StatusRunning || len(o.relay.Known()) != 1 {
		t.Fatalf("%+v, %v; the relay has %q", got, err, o.relay.Known())
	}
	o.relay.OnKept = nil
	return o, sim, got.Operation
}

// download gets a result from a simulator.
func download(ctx context.Context, url string) (io.ReadCloser, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	return res.Body, res.Header.Get("Content-Type"), nil
}

// TestTaskOfAKeptAnswer: the task that a kept answer names is gone on with, once, whoever comes between.
func TestTaskOfAKeptAnswer(t *testing.T) {
	t.Parallel()
	o, sim, op := polled(t)
	o.Gateway = o.next(t, nil)
	o.finishes(t, sim, op)
}

// finishes resumes the operation, and proves that it ends well with its one task.
func (o *office) finishes(t *testing.T, sim *bflsim.Simulator, op string) {
	t.Helper()
	got, err := o.Resume(t.Context(), op)
	if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || len(o.recorder.Records()) != 1 {
		t.Fatalf("%+v, %v, %d records", got, err, len(o.recorder.Records()))
	}
	if a := o.log.Attempts(); len(a) != 1 || a[0].Task == (generate.Handle{}) || a[0].Status != generate.StatusSucceeded {
		t.Errorf("attempts %+v", a)
	}
	if n := len(sim.Captured()); n != 1 || len(o.relay.Known()) > 0 {
		t.Errorf("%d calls; the relay still has %q", n, o.relay.Known())
	}
}

// TestLeftWhileItIsPolled: a process that is told to stop, or of whose results nobody wants more, while
// it asks for such a task leaves the task at once.
func TestLeftWhileItIsPolled(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"left": generate.ErrLeft, "with a grace": journal.Leave(time.Minute), "let go": generate.ErrLetGo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, sim, op := polled(t)
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			o.Gateway = o.next(t, nil)
			o.journal.OnSleep = func(ctx context.Context, _ time.Duration) error {
				leave(why)
				return ctx.Err()
			}
			got, err := o.Resume(ctx, op)
			if err != nil || got.Status != generate.StatusRunning || got.Usage.Unsettled > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			o.journal.OnSleep = nil
			o.finishes(t, sim, op)
		})
	}
}

// TestTaskThatCannotBeSaved: the relay keeps the answer that names a task until that name is saved.
func TestTaskThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	o, sim, op := polled(t)
	var ill atomic.Bool
	o.log.Fail = func(what string) error {
		if ill.Load() && what == "attempt" {
			return errors.New("the disk is gone")
		}
		return nil
	}
	ctx, leave := context.WithCancelCause(t.Context())
	defer leave(nil)
	o.journal.OnSleep = func(ctx context.Context, _ time.Duration) error {
		leave(generate.ErrLeft)
		return ctx.Err()
	}
	ill.Store(true)
	o.Gateway = o.next(t, nil)
	if got, err := o.Resume(ctx, op); err != nil || len(o.relay.Known()) != 1 {
		t.Fatalf("%+v, %v; the relay has %q", got, err, o.relay.Known())
	}
	ill.Store(false)
	o.journal.OnSleep = nil
	o.finishes(t, sim, op)
}

// TestTaskIsHeardOf: a provider that tells of the task comes before its answer is recalled.
func TestTaskIsHeardOf(t *testing.T) {
	t.Parallel()
	o, sim, op := polled(t)
	o.Gateway = o.next(t, nil)
	for _, n := range sim.Notifications(sim.Begun()[0]) {
		if err := o.Notify(t.Context(), "bfl", n); err != nil {
			t.Errorf("Notify: %v", err)
		}
	}
	o.finishes(t, sim, op)
}
