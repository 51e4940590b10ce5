package generatetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// crashingLog is a log whose process dies: it saves nothing once dead is closed. If dying is set, the process
// dies when it is about to save the id of a task, which is lost with it.
type crashingLog struct {
	*Log
	dead  chan struct{}
	dying chan string // receives the id
	once  *sync.Once
}

// Attempt saves attempts before the death of the process.
func (l crashingLog) Attempt(ctx context.Context, a operation.Attempt) error {
	if l.dying != nil && a.Status == generate.StatusRunning {
		l.once.Do(func() { l.dying <- a.Task.ID })
		<-l.dead
	}
	select {
	case <-l.dead:
		return media.Errorf(media.CodeInternal, "dead")
	default:
		return l.Log.Attempt(ctx, a)
	}
}

// SlotDone saves slots before the death of the process.
func (l crashingLog) SlotDone(ctx context.Context, operation string, s generate.Slot) error {
	select {
	case <-l.dead:
		return media.Errorf(media.CodeInternal, "dead")
	default:
		return l.Log.SlotDone(ctx, operation, s)
	}
}

// startWithLostTaskID simulates a process that started a task and died before it saved the task's id. It
// returns what the dead process left, its operation, and the lost id of the task.
func (h Harness) startWithLostTaskID(t *testing.T) (b *bench, operation, task string) {
	t.Helper()
	l := crashingLog{dying: make(chan string, 1), dead: make(chan struct{}), once: &sync.Once{}}
	b = h.newBench(t, func(b *bench, c *gateway.Config) {
		l.Log = b.log
		c.Operations, c.Notify = l, func(string) (string, string) { return webhookURL, h.NotifySecret }
	})
	b.startDyingProcess(t, l.dead)
	task = <-l.dying
	operation = b.log.IDs()[0]
	if a := b.log.Attempts()[0]; a.Status != generate.StatusSubmitted || a.Task != (driver.Handle{}) {
		t.Fatalf("the first process left %+v", a)
	}
	b.log.Orphan(operation)
	return b, operation, task
}

// startDyingProcess starts a generation of a process that dies: it waits for dead, which is closed when the
// test ends.
func (b *bench) startDyingProcess(t *testing.T, dead chan struct{}) {
	t.Helper()
	var first sync.WaitGroup
	ctx, leave := context.WithCancelCause(scoped(t.Context()))
	r := b.request(t, 1)
	first.Go(func() { _, _ = b.gateway.Generate(ctx, r) })
	t.Cleanup(func() {
		leave(gateway.ErrHandedOver) // the rest of that process changes nothing
		close(dead)
		first.Wait()
	})
}

// recoversLostTask: the process that started a task died before it saved the task's id. Another one finds
// the task in the provider's list and continues it; the call is not repeated.
func recoversLostTask(t *testing.T, h Harness) {
	t.Helper()
	b, id, _ := h.startWithLostTaskID(t)
	got, err := b.newSecondGateway(t).Resume(scoped(t.Context()), id)
	if err != nil {
		t.Fatalf("Resume: %v", err)
	}
	b.checkRecovered(t, h, got)
	b.settledOnce(t, got)
}

// checkRecovered checks that an operation succeeded and ended once, with the single call made for it.
func (b *bench) checkRecovered(t *testing.T, h Harness, got *generate.Result) {
	t.Helper()
	if got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 {
		t.Fatalf("%+v", got)
	}
	if a := b.log.Attempts(); len(a) != 1 || a[0].Task == (driver.Handle{}) || a[0].Status != generate.StatusSucceeded {
		t.Errorf("attempts %+v, want one with its task", a)
	}
	if n := len(b.sim.Captured()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	b.endedOnce(t, h, got)
}

// notifiedAfterRestart: the process that started a task died before it saved the task's id. The provider
// notifies the address of the call, and the operation continues the task.
func notifiedAfterRestart(t *testing.T, h Harness) {
	t.Helper()
	b, id, task := h.startWithLostTaskID(t)
	b.settledOnce(t, b.deliverNotifications(t, h, id, task))
}

// notifiedLate: so does one that had failed and counted as billed before the notification.
func notifiedLate(t *testing.T, h Harness) {
	t.Helper()
	b, id, task := h.startWithLostTaskID(t)
	got, err := b.newSecondGateway(t).Resume(scoped(t.Context()), id)
	if err != nil || got.Status != generate.StatusFailed || got.Usage.Unsettled != 1 {
		t.Fatalf("Resume: %+v, %v", got, err)
	}
	b.deliverNotifications(t, h, id, task)
}

// deliverNotifications delivers the notifications of a task, and checks that its operation succeeds.
func (b *bench) deliverNotifications(t *testing.T, h Harness, operation, task string) *generate.Result {
	t.Helper()
	n, ok := b.sim.(notifier)
	if !ok {
		t.Fatalf("%T has no Notifications", b.sim)
	}
	g := b.newSecondGateway(t)
	for _, notification := range n.Notifications(task) {
		if err := g.Notify(t.Context(), b.driver.Provider(), notification); err != nil {
			t.Errorf("Notify: %v", err)
		}
	}
	got, err := g.Resume(scoped(t.Context()), operation)
	if err != nil {
		t.Fatalf("Resume: %v", err)
	}
	b.checkRecovered(t, h, got)
	return got
}

// findsTaskByKey: among tasks that differ only in their keys, each call finds its own; a call
// that was never made finds none.
func findsTaskByKey(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	d, ok := b.driver.(driver.Listed)
	if !ok {
		t.Fatal("the driver lists no tasks")
	}
	r := b.request(t, 1)
	task := func(key string) driver.Task {
		return driver.WithDerivedSeed(d, driver.Task{Key: key, Method: r.Method, Model: b.model, Prompt: r.Prompt, N: 1, Inputs: r.Inputs, Mask: r.Mask})
	}
	find := func(key string) []driver.Handle {
		found, err := driver.Find(scoped(t.Context()), d, task(key), now())
		if err != nil {
			t.Errorf("Find %s: %v", key, err)
		}
		return found
	}
	const calls = 52 // more than a page
	for i := range calls {
		key := fmt.Sprintf("operation-%d-1", i)
		u, err := d.Start(scoped(t.Context()), task(key))
		if err != nil {
			t.Fatalf("Start: %v", err)
		}
		if i%25 != 0 {
			continue
		}
		defer func() {
			if found := find(key); !slices.Equal(found, []driver.Handle{u.Task}) {
				t.Errorf("found %v of %s, want %s alone", found, key, u.Task.ID)
			}
		}()
	}
	if found := find("operation-99-1"); len(found) > 0 {
		t.Errorf("found %v of a call that was never made", found)
	}
	if n := len(b.sim.Captured()); n != calls {
		t.Errorf("%d calls, want %d", n, calls)
	}
	ctx, stop := context.WithCancel(scoped(t.Context()))
	stop()
	if found, err := driver.Find(ctx, d, task("operation-0-1"), now()); media.CodeOf(err) != media.CodeCancelled || len(found) > 0 {
		t.Errorf("Find for a caller who left: %v, %v", found, err)
	}
}
