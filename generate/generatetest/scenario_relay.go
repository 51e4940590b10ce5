package generatetest

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"atelier/generate"
	"atelier/journal"
	"atelier/media"
)

// twice is a driver each of whose answers is recalled at once, as the next process would.
type twice struct {
	generate.Driver
	relay *Relay
	check func(how *journal.Carried, task generate.Task, u generate.Update, err error)
}

var _ generate.Relayed = twice{}

// Relay is what carries the calls.
func (d twice) Relay() journal.Relay { return d.relay }

// Start has the answer checked.
func (d twice) Start(ctx context.Context, task generate.Task) (generate.Update, error) {
	u, err := d.Driver.Start(ctx, task)
	d.check(journal.CarriedOf(ctx), task, u, err)
	return u, err
}

// recalled: whatever the answer to a call was, given once more it is the same, and nothing is sent for
// it: no request, and no picture either.
func recalled(t *testing.T, h Harness) {
	t.Helper()
	relay, calls := &Relay{}, atomic.Int32{}
	b := h.set(t, func(b *bench, c *generate.Config) {
		b.driver = b.carried(relay.Transport(nil))
		c.MaxAttempts, c.Partials = 1, true
		c.Drivers = []generate.Driver{twice{b.driver, relay, func(how *journal.Carried, task generate.Task, u generate.Update, err error) {
			calls.Add(1)
			posts := b.traffic.posted()
			ctx := journal.WithCarried(scoped(t.Context()), &journal.Carried{ID: how.ID, Recalled: true})
			again, failed := b.driver.Start(ctx, task)
			if !reflect.DeepEqual(again, u) || !same(failed, err) {
				t.Errorf("recalled %+v, %v; it was %+v, %v", again, failed, u, err)
			}
			if n := b.traffic.posted(); n != posts {
				t.Errorf("%d requests were sent to recall a call of %s", n-posts, task.Method)
			}
		}}}
	})
	requests := []generate.Request{b.request(t, 1), b.request(t, b.model.MaxN)}
	if slices.Contains(b.model.Methods, generate.MethodEdit) {
		requests = append(requests, b.edits(t))
	}
	if masks(b.model) {
		requests = append(requests, b.masked(t, h))
	}
	for _, r := range requests {
		if got := b.must(t, r); got.Status != generate.StatusSucceeded {
			t.Errorf("status %s, %v", got.Status, got.Err())
		}
	}
	faults := []Fault{FaultInvalid, FaultRateLimit, FaultServerError, FaultModerated, FaultHTML, FaultHalfBody, FaultDropped}
	for _, f := range faults {
		for variant := range b.sim.Variants(f) {
			b.sim.Inject(Injection{Fault: f, Variant: variant})
			requests = append(requests, b.request(t, 1))
			b.ask(t, 1)
		}
	}
	if n := int(calls.Load()); n < len(requests) {
		t.Errorf("%d calls were recalled, want %d", n, len(requests))
	}
	if known := relay.Known(); len(known) > 0 {
		t.Errorf("the relay still has %q", known)
	}
}

// same reports whether errors say and mean the same.
func same(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error()) && media.CodeOf(a) == media.CodeOf(b) && media.Retryable(a) == media.Retryable(b)
}

// recalledAfter: a process died while its relay had the answer. Another one ends the operation with it,
// and sends nothing that may be billed.
func recalledAfter(t *testing.T, h Harness) {
	t.Helper()
	kept, dead := make(chan struct{}), make(chan struct{})
	relay := &Relay{OnKept: func(context.Context, string) error {
		close(kept)
		<-dead
		return media.Errorf(media.CodeInternal, "dead")
	}}
	b := h.set(t, func(b *bench, c *generate.Config) {
		b.driver = b.carried(relay.Transport(nil))
		c.Drivers = []generate.Driver{b.driver}
	})
	b.doomed(t, dead)
	<-kept
	posts, id := b.traffic.posted(), b.log.IDs()[0]
	b.log.Release(id)
	got, err := b.second(t).Resume(scoped(t.Context()), id)
	if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 {
		t.Fatalf("Resume: %+v, %v", got, err)
	}
	if n := b.traffic.posted(); n != posts || len(b.sim.Captured()) != 1 {
		t.Errorf("%d requests more, %d calls", n-posts, len(b.sim.Captured()))
	}
	if known := relay.Known(); len(known) > 0 {
		t.Errorf("the relay still has %q", known)
	}
	b.single(t, h, got)
}
