package generate_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/media"
)

// TestRecalledStandIn: the answer to a call of a model that stood in is recalled as its; also after it was
// given up.
func TestRecalledStandIn(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		o, op := posted(t, generate.Request{Model: "Nano Banana Pro", Fallback: []string{"gpt-image-2"}}, generate.Attempt{Call: 2})
		first := generate.Attempt{
			ID: "0", Operation: op, Call: 1, Number: 1, Provider: "gemini", Slots: []int{1}, Status: generate.StatusFailed,
			FinishedAt: day(11, 21), Error: &generate.SlotError{Code: media.CodeQuotaExceeded, Message: "no credit"},
		}
		second := o.log.Attempts()[0]
		second.APIModel = "gpt-image-2"
		if err := errors.Join(o.log.Attempt(t.Context(), first), o.log.Attempt(t.Context(), second)); err != nil {
			t.Fatal(err)
		}
		end := o.relay.Send("a")
		if late {
			if got, err := o.Abandon(t.Context(), op); err != nil || got.Usage.Unsettled != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		end(new(drawn(1)))
		resume := o.Resume
		if late {
			resume = func(ctx context.Context, op string) (*generate.Result, error) {
				return o.Retry(ctx, generate.Again{Operation: op})
			}
		}
		got, err := resume(t.Context(), op)
		if err != nil {
			t.Fatal(err)
		}
		o.proves(t, got, outcome{status: generate.StatusSucceeded, outputs: 1})
		if len(o.gemini.Tasks()) != 1 || len(o.relay.Known()) > 0 {
			t.Errorf("late %v: %d calls of the first model; the relay has %q", late, len(o.gemini.Tasks()), o.relay.Known())
		}
	}
}

// TestRecalledRound: a process that died over a result that was asked for again leaves its answer too.
func TestRecalledRound(t *testing.T) {
	t.Parallel()
	o := fresh(t)
	base := tripper(func(r *http.Request) (*http.Response, error) {
		if o.sent.Add(1) == 1 {
			return answering(r, refusal(http.StatusTooManyRequests, "insufficient_quota")), nil
		}
		return answering(r, drawn(1)), nil
	})
	o.Gateway = o.next(t, func(c *generate.Config) { c.Drivers[0] = o.driver(t, base) })
	first := o.must(t, generate.Request{Model: "gpt-image-2"})
	ctx, leave := context.WithCancelCause(t.Context())
	defer leave(nil)
	o.relay.OnKept = func(context.Context, string) error {
		leave(generate.ErrLeft)
		return errors.New("dead")
	}
	left, err := o.Retry(ctx, generate.Again{Operation: first.Operation})
	if err != nil || left.Status != generate.StatusRunning || len(o.relay.Known()) != 1 {
		t.Fatalf("%+v, %v; the relay has %q", left, err, o.relay.Known())
	}
	o.relay.OnKept = nil
	got, err := o.next(t, nil).Resume(t.Context(), first.Operation)
	if err != nil {
		t.Fatal(err)
	}
	o.proves(t, got, outcome{status: generate.StatusSucceeded, outputs: 1, asked: 2})
	if len(o.money.reserved) != 2 || len(o.money.settled) != 2 || o.money.settled[1].Images != 1 {
		t.Errorf("reserved %v, settled %v", o.money.reserved, o.money.settled)
	}
}

// TestTakenUpWithItsAnswer: a replay of the same request gets the answer that the relay has, also where
// its caller has given up by then, or had before.
func TestTakenUpWithItsAnswer(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"at once", "gone", "given up before"} {
		r := generate.Request{Model: "gpt-image-2", Prompt: "a house", IdempotencyKey: "act"}
		o, op := posted(t, r, generate.Attempt{})
		end := o.relay.Send("a")
		if when == "given up before" {
			if got, err := o.Abandon(t.Context(), op); err != nil || got.Usage.Unsettled != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		end(new(drawn(1)))
		r.TakeUp = true
		ctx, stop := context.WithCancel(t.Context())
		if when == "gone" {
			stop()
		}
		g := o.next(t, func(c *generate.Config) { c.Operations = strictLog{o.log} })
		got, err := g.Generate(ctx, r)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		o.proves(t, got, outcome{status: generate.StatusSucceeded, outputs: 1})
	}
}

// strictLog tells of an operation with a key that is not finished, as the ledger does.
type strictLog struct{ *generatetest.Log }

func (l strictLog) Recall(ctx context.Context, key string) (*generate.Result, error) {
	if known, err := l.Log.Recall(ctx, key); known != nil || err != nil {
		return known, err
	}
	if _, unknown := l.OperationOf(ctx, key); media.CodeOf(unknown) != media.CodeNotFound {
		return nil, media.Errorf(media.CodeConflict, "it is under way")
	}
	return nil, nil
}
