package generate_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/journal"
	"atelier/media"
)

// fresh is an office whose first call is yet to come.
func fresh(t *testing.T) *office {
	t.Helper()
	o := &office{house: build(t, nil), relay: &generatetest.Relay{}, money: &ledgerBudget{}}
	o.Gateway = o.next(t, nil)
	return o
}

// TestRelayHasNothingLeft: what was saved is forgotten, and a relay that cannot be used is told of and
// done without.
func TestRelayHasNothingLeft(t *testing.T) {
	t.Parallel()
	o := fresh(t)
	o.proves(t, o.must(t, generate.Request{Model: "gpt-image-2"}), outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1})
	if known := o.relay.Known(); len(known) > 0 {
		t.Errorf("the relay still has %q", known)
	}
	o.relay.NotReady = errors.New("no space left")
	got := o.must(t, generate.Request{Model: "gpt-image-2"})
	if got.Status != generate.StatusSucceeded || o.sent.Load() != 2 || !strings.Contains(strings.Join(got.Warnings, "\n"), "the relay cannot be used") {
		t.Errorf("%+v, %q", got, got.Warnings)
	}
	o.relay.NotReady, o.log.Fail = nil, func(what string) error {
		if what == "attempt" {
			return errors.New("the disk is gone")
		}
		return nil
	}
	if got := o.must(t, generate.Request{Model: "gpt-image-2"}); got.Status != generate.StatusFailed || o.sent.Load() != 2 || len(o.relay.Known()) > 0 {
		t.Errorf("a call that could not be journalled: %+v; the relay has %q", got, o.relay.Known())
	}
}

// TestReceiptThatCannotBeSaved: the relay keeps an answer until its receipt is saved, and the same
// answer is then the operation's, once.
func TestReceiptThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	o := fresh(t)
	var ill atomic.Bool
	o.log.Fail = func(what string) error {
		if ill.Load() && (what == "attempt" || what == "finish") {
			return errors.New("the disk is gone")
		}
		return nil
	}
	o.relay.OnKept = func(context.Context, string) error {
		ill.Store(true)
		return nil
	}
	got := o.must(t, generate.Request{Model: "gpt-image-2"})
	if len(o.relay.Known()) != 1 || len(got.Outputs()) != 1 {
		t.Fatalf("%+v; the relay has %q", got, o.relay.Known())
	}
	ill.Store(false)
	o.Gateway = o.next(t, nil)
	o.log.Release(got.Operation)
	o.ends(t, got.Operation, outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1})
}

// TestLeftToItsRelay: a process that stops, or whose operation another one took, stops no call that a
// relay carries; one whose caller gives up does.
func TestLeftToItsRelay(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"left": generate.ErrLeft, "left with a grace": journal.Leave(time.Second), "taken": nil, "cancelled": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := fresh(t)
				base := tripper(func(r *http.Request) (*http.Response, error) {
					o.sent.Add(1)
					select {
					case <-time.After(time.Minute):
						return answering(r, drawn(1)), nil
					case <-r.Context().Done():
						gone(r)
						return nil, r.Context().Err()
					}
				})
				o.Gateway = o.next(t, func(c *generate.Config) { c.Drivers[0] = o.driver(t, base) })
				ctx, leave := context.WithCancelCause(t.Context())
				var first sync.WaitGroup
				first.Go(func() { _, _ = o.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"}) })
				time.Sleep(20 * time.Second)
				op := o.log.IDs()[0]
				if o.log.Release(op); why != nil {
					leave(why)
				}
				heir := o.next(t, nil)
				got, err := heir.Resume(t.Context(), op)
				if err != nil {
					t.Fatal(err)
				}
				want := outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1}
				if name == "cancelled" {
					want = outcome{status: generate.StatusFailed, code: media.CodeUnavailable, unsettled: 1, asked: 1}
				}
				o.proves(t, got, want)
				leave(nil)
				first.Wait()
				o.relay.Wait()
			})
		})
	}
}

// half is a driver whose answers are cut off when its process leaves; its relay gets them whole.
type half struct {
	*generatetest.Driver
	relay *generatetest.Relay
}

func (h half) Relay() journal.Relay { return h.relay }

// TestHalfAnAnswer: where a process leaves with a part of an answer, the rest comes with the answer
// that its relay gets.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	relay := &generatetest.Relay{}
	ctx, leave := context.WithCancelCause(t.Context())
	defer leave(nil)
	var end func(*generatetest.Kept)
	h.openai.OnStart = func(call context.Context, _ generate.Task, number int) (generate.Update, error) {
		how := journal.CarriedOf(call)
		how.Next()
		one, two := h.picture(call, t, 1), h.picture(call, t, 2)
		if number > 1 {
			return generate.Update{Done: true, Items: []generate.Item{one, two}}, nil
		}
		end = relay.Send(how.ID)
		leave(generate.ErrLeft)
		return generate.Update{Done: true, Items: []generate.Item{one}}, lostAnswer()
	}
	h.Gateway = h.heir(t, func(c *generate.Config) { c.Drivers[0] = half{h.openai, relay} })
	got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house", N: 2})
	if err != nil || got.Status != generate.StatusRunning || len(got.Outputs()) != 1 || len(relay.Known()) != 1 {
		t.Fatalf("%+v, %v; the relay has %q", got, err, relay.Known())
	}
	end(&generatetest.Kept{})
	if got, err = h.Resume(t.Context(), got.Operation); err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || len(h.recorder.Records()) != 2 {
		t.Errorf("%+v, %v, %d records", got, err, len(h.recorder.Records()))
	}
	if len(relay.Known()) > 0 {
		t.Errorf("the relay still has %q", relay.Known())
	}
}
