package generatetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// adoptsTask: a process that dies while a task is in progress leaves all that another process needs
// to adopt it: that process polls, and the provider is not called again.
func adoptsTask(t *testing.T, h Harness) {
	t.Helper()
	asleep, l := make(chan struct{}), crashingLog{dead: make(chan struct{})}
	b := h.newBench(t, func(b *bench, c *gateway.Config) {
		l.Log = b.log
		c.Operations = l
	})
	b.journal.OnSleep = func(context.Context, time.Duration) error {
		close(asleep)
		<-l.dead
		return media.Errorf(media.CodeInternal, "dead")
	}
	b.startDyingProcess(t, l.dead)
	<-asleep
	id := b.log.IDs()[0]
	b.log.Orphan(id)
	got, err := b.newSecondGateway(t).Resume(scoped(t.Context()), id)
	if err != nil || got.Status != generate.StatusSucceeded || len(got.Slots) != h.results(1) {
		t.Fatalf("Resume: %+v, %v", got, err)
	}
	if n := len(b.sim.Captured()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	b.checkRecordedOnce(t, h, got)
}

// checkRecordedOnce checks that a result was recorded once and that its operation ended and was settled once.
func (b *bench) checkRecordedOnce(t *testing.T, h Harness, got *generate.Result) {
	t.Helper()
	b.endedOnce(t, h, got)
	b.settledOnce(t, got)
}

func (b *bench) endedOnce(t *testing.T, h Harness, got *generate.Result) {
	t.Helper()
	if n := len(b.recorder.Records()); n != h.results(1)+grids(got.Outputs()) {
		t.Errorf("%d records, want %d", n, h.results(1)+grids(got.Outputs()))
	}
	ends := slices.DeleteFunc(b.log.Entries(), func(e string) bool { return e != "finish succeeded" })
	if len(ends) != 1 {
		t.Errorf("the operation ended %d times", len(ends))
	}
}

func (b *bench) settledOnce(t *testing.T, got *generate.Result) {
	t.Helper()
	if !b.money.once(got.Operation) {
		t.Error("the operation's money was not settled once")
	}
}

// webhookURL is the address for notifications.
const webhookURL = "https://atelier.example/hooks"

// notifier is a simulator that calls webhooks.
type notifier interface {
	// Notifications ends a task and returns the calls of its webhook in order.
	Notifications(id string) []driver.Notification
}

// notifiesEarly is a log that delivers the provider's notifications just before the task's id is
// saved, which is the earliest time at which they can be matched.
type notifiesEarly struct {
	*Log
	tell func(task string)
}

// Attempt delivers the notifications and saves the attempt.
func (l notifiesEarly) Attempt(ctx context.Context, a operation.Attempt) error {
	if a.Status == generate.StatusRunning {
		l.tell(a.Task.ID)
	}
	return l.Log.Attempt(ctx, a)
}

// runWithNotifications runs an operation that receives notifications, in the order of deliver. Without polls,
// only the notifications advance it.
func (h Harness) runWithNotifications(t *testing.T, polls bool, deliver func(b *bench, all []driver.Notification)) (*bench, *generate.Result) {
	t.Helper()
	b := h.newBench(t, func(b *bench, c *gateway.Config) {
		c.Notify = func(string) (string, string) { return webhookURL, h.NotifySecret }
		c.Operations = notifiesEarly{b.log, func(task string) {
			n, ok := b.sim.(notifier)
			if !ok {
				t.Errorf("%T has no Notifications", b.sim)
				return
			}
			deliver(b, n.Notifications(task))
		}}
	})
	if !polls {
		b.journal.OnSleep = func(ctx context.Context, _ time.Duration) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	got := b.mustGenerateN(t, 1)
	if got.Status != generate.StatusSucceeded {
		t.Fatalf("status %s, %v", got.Status, got.Err())
	}
	if n := len(b.sim.Captured()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	b.checkRecordedOnce(t, h, got)
	return b, got
}

// notifyGateway delivers one notification.
func (b *bench) notifyGateway(t *testing.T, n driver.Notification) {
	t.Helper()
	if err := b.gateway.Notify(t.Context(), b.driver.Provider(), n); err != nil {
		t.Errorf("Notify: %v", err)
	}
}

func notified(t *testing.T, h Harness) {
	t.Helper()
	h.runWithNotifications(t, false, func(b *bench, all []driver.Notification) {
		for _, n := range all {
			b.notifyGateway(t, n)
		}
	})
}

// notifiedOutOfOrder: the final notification comes first, the earlier ones later.
func notifiedOutOfOrder(t *testing.T, h Harness) {
	t.Helper()
	h.runWithNotifications(t, false, func(b *bench, all []driver.Notification) {
		for _, n := range slices.Backward(all) {
			b.notifyGateway(t, n)
		}
	})
}

// notifiedAgain: repeated notifications, also after the end, change nothing.
func notifiedAgain(t *testing.T, h Harness) {
	t.Helper()
	var all []driver.Notification
	b, got := h.runWithNotifications(t, false, func(b *bench, these []driver.Notification) {
		all = slices.Concat(these, these)
		for _, n := range all {
			b.notifyGateway(t, n)
		}
	})
	for _, n := range all {
		b.notifyGateway(t, n)
	}
	b.checkRecordedOnce(t, h, got)
}

// notifiedBesidePolling: with polls and notifications at the same time, the operation still
// ends once.
func notifiedBesidePolling(t *testing.T, h Harness) {
	t.Helper()
	var others sync.WaitGroup
	b, got := h.runWithNotifications(t, true, func(b *bench, all []driver.Notification) {
		for _, n := range all {
			others.Go(func() {
				// Between the end of the work and its receipt, nothing listens: the provider is
				// told to call again.
				err := b.gateway.Notify(t.Context(), b.driver.Provider(), n)
				if c := media.CodeOf(err); err != nil && c != media.CodeUnavailable && c != media.CodeNotFound {
					t.Errorf("Notify: %v", err)
				}
			})
		}
	})
	others.Wait()
	b.checkRecordedOnce(t, h, got)
}

// forged: an unsigned notification is refused, or only triggers a poll; one whose body
// names no task is refused.
func forged(t *testing.T, h Harness) {
	t.Helper()
	h.runWithNotifications(t, true, func(b *bench, all []driver.Notification) {
		n := all[len(all)-1]
		n.Header = map[string][]string{"X-Bfl-Signature": {"sha256=00"}, "Authorization": {"Bearer guessed"}}
		err := b.gateway.Notify(t.Context(), b.driver.Provider(), n)
		if h.NotifySecret != "" && media.CodeOf(err) != media.CodeUnauthorized || h.NotifySecret == "" && err != nil {
			t.Errorf("Notify: %v", err)
		}
		n = all[len(all)-1]
		n.Body = []byte(`{"hello":`)
		if c := media.CodeOf(b.gateway.Notify(t.Context(), b.driver.Provider(), n)); c != media.CodeInvalid && c != media.CodeUnauthorized {
			t.Errorf("Notify of nonsense: %s", c)
		}
	})
}
