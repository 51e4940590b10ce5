package generate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/journal"
	"atelier/media"
)

// TestUnderWay: what a relay has under way is waited for, or left, as the caller likes; and nobody
// asks the provider meanwhile.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]error{
		"waits": nil, "leaves": generate.ErrLeft, "leaves with a grace": journal.Leave(time.Minute), "lets go": generate.ErrLetGo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
				end := o.relay.Send("a")
				if got, err := o.Look(t.Context(), op); err != nil || got.Status != generate.StatusRunning || o.sent.Load() > 0 {
					t.Fatalf("a look: %+v, %v", got, err)
				}
				ctx, leave := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() {
					if stop != nil {
						leave(stop)
						return
					}
					end(new(drawn(1)))
				})
				got, err := o.Resume(ctx, op)
				if stop != nil {
					if err != nil || got.Status != generate.StatusRunning || got.Usage.Unsettled > 0 {
						t.Fatalf("left: %+v, %v", got, err)
					}
					if said := strings.Join(got.Warnings, "\n"); strings.Contains(said, "left to be fetched") != errors.Is(stop, generate.ErrLetGo) {
						t.Errorf("warnings %q", said)
					}
					end(new(drawn(1)))
				}
				o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1})
			})
		})
	}
}

// TestGivenUpUnderWay: whoever gives up a call that its relay has under way is told that it may be
// billed. Asked again, its answer is fetched, without a call and without money, and while there is none
// that is said. Only what that answer is no reason for is asked for.
func TestGivenUpUnderWay(t *testing.T) {
	t.Parallel()
	giveUp := map[string]func(*office, context.Context, string) (*generate.Result, error){
		"cancelled": func(o *office, ctx context.Context, op string) (*generate.Result, error) { return o.Cancel(ctx, op) },
		"abandoned": func(o *office, ctx context.Context, op string) (*generate.Result, error) { return o.Abandon(ctx, op) },
		"ended": func(o *office, ctx context.Context, op string) (*generate.Result, error) {
			ctx, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			return o.Resume(ctx, op)
		},
	}
	for name, end := range giveUp {
		for what, c := range map[string]struct {
			kept *generatetest.Kept
			want outcome
			paid int // how often money is reserved
		}{
			"an answer":         {new(drawn(1)), outcome{status: generate.StatusSucceeded, outputs: 1}, 0},
			"too many requests": {new(refusal(429, "rate_limit_exceeded")), outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1}, 1},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
					answer := o.relay.Send("a")
					got, err := end(o, t.Context(), op)
					if err != nil || got.Usage.Unsettled != 1 || got.Status == generate.StatusSucceeded || got.Status == generate.StatusRunning {
						t.Fatalf("given up: %+v, %v", got, err)
					}
					_, err = o.Retry(t.Context(), generate.Again{Operation: op})
					if media.CodeOf(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "still at work") || o.sent.Load() > 0 {
						t.Errorf("Retry while it is under way: %v", err)
					}
					answer(c.kept)
					if got, err = o.Retry(t.Context(), generate.Again{Operation: op}); err != nil {
						t.Fatalf("Retry: %v", err)
					}
					o.proves(t, got, c.want)
					if n := len(o.money.reserved); n != c.paid {
						t.Errorf("money was reserved %d times, want %d", n, c.paid)
					}
					if known := o.relay.Known(); len(known) > 0 {
						t.Errorf("the relay still has %q", known)
					}
				})
			})
		}
	}
}

// TestGivenUpWithAnAnswer: what a relay has when an operation is given up is its result, and what it
// knows was not sent is not counted.
func TestGivenUpWithAnAnswer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*office, context.Context, string) (*generate.Result, error){
		"cancelled": func(o *office, ctx context.Context, op string) (*generate.Result, error) { return o.Cancel(ctx, op) },
		"abandoned": func(o *office, ctx context.Context, op string) (*generate.Result, error) { return o.Abandon(ctx, op) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
			o.relay.Keep("a", drawn(1))
			if _, err := end(o, t.Context(), op); err != nil && media.CodeOf(err) != media.CodeConflict { // it is over, with all its results
				t.Fatal(err)
			}
			o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1})
			o, op = posted(t, generate.Request{N: 2}, generate.Attempt{})
			o.relay.Keep("a", drawn(1))
			got, err := end(o, t.Context(), op)
			if err != nil || len(got.Outputs()) != 1 || got.Usage.Unsettled > 0 || o.sent.Load() > 0 {
				t.Errorf("half of it: %+v, %v", got, err)
			}
			o, op = posted(t, generate.Request{N: 1}, generate.Attempt{})
			if err := o.relay.Prepare("a"); err != nil {
				t.Fatal(err)
			}
			if got, err = end(o, t.Context(), op); err != nil {
				t.Fatal(err)
			}
			o.proves(t, got, outcome{status: generate.StatusCancelled, code: media.CodeCancelled})
			if a := o.log.Attempts(); len(a) != 1 || a[0].FinishedAt.IsZero() || len(o.relay.Known()) > 0 {
				t.Errorf("attempts %+v", a)
			}
		})
	}
}

// TestAnswerThatNobodyMayRead: an answer that cannot be had without a key is not thrown away, and not asked for
// again; whoever asks with the key gets it.
func TestAnswerThatNobodyMayRead(t *testing.T) {
	t.Parallel()
	o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
	o.relay.Keep("a", drawn(1))
	keyless := o.next(t, func(c *generate.Config) { c.Drivers[0] = keyless(t, o) })
	got, err := keyless.Cancel(t.Context(), op)
	if err != nil || got.Usage.Unsettled != 1 || len(o.relay.Known()) != 1 {
		t.Fatalf("%+v, %v; the relay has %q", got, err, o.relay.Known())
	}
	if _, err := keyless.Retry(t.Context(), generate.Again{Operation: op}); media.CodeOf(err) != media.CodeMissingKey || len(o.relay.Known()) != 1 {
		t.Errorf("Retry without a key: %v; the relay has %q", err, o.relay.Known())
	}
	if got, err = o.Retry(t.Context(), generate.Again{Operation: op}); err != nil {
		t.Fatal(err)
	}
	o.proves(t, got, outcome{status: generate.StatusSucceeded, outputs: 1})
}

// TestRetryOfALostAnswer: where a relay has an answer that is no better than none, it is tried once, and
// nothing is asked for without a wish.
func TestRetryOfALostAnswer(t *testing.T) {
	t.Parallel()
	o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
	end := o.relay.Send("a")
	if _, err := o.Abandon(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	end(new(refusal(502, "")))
	got, err := o.Retry(t.Context(), generate.Again{Operation: op})
	if err != nil {
		t.Fatal(err)
	}
	o.proves(t, got, outcome{status: generate.StatusFailed, code: media.CodeUnavailable, unsettled: 1})
	if _, err := o.Retry(t.Context(), generate.Again{Operation: op}); media.CodeOf(err) != media.CodeInvalid || len(o.relay.Known()) > 0 {
		t.Errorf("Retry: %v", err)
	}
	if got, err = o.Retry(t.Context(), generate.Again{Operation: op, All: true}); err != nil || len(got.Outputs()) != 1 || o.sent.Load() != 1 {
		t.Errorf("on a wish: %+v, %v", got, err)
	}
}

// TestAnswerThatNobodyUnderstands: an answer whose request cannot be made any more is tried once whenever
// somebody asks, and neither thrown away nor asked for again.
func TestAnswerThatNobodyUnderstands(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	relay := &generatetest.Relay{}
	op := left(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, generate.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted})
	relay.Keep("a", drawn(1))
	before := len(h.openai.Tasks())
	h.openai.OnStart = func(call context.Context, _ generate.Task, number int) (generate.Update, error) {
		if number > before+3 { // it would go on for ever
			journal.CarriedOf(call).Next()
		}
		return generate.Update{}, media.Errorf(media.CodeUnavailable, "it does not know how to ask any more")
	}
	h.Gateway = h.heir(t, func(c *generate.Config) { c.Drivers[0] = half{h.openai, relay} })
	again := func(ctx context.Context, op string) (*generate.Result, error) {
		return h.Retry(ctx, generate.Again{Operation: op})
	}
	for n, ask := range []func(context.Context, string) (*generate.Result, error){h.Resume, again, again} {
		got, err := ask(t.Context(), op)
		if err != nil || got.Status != generate.StatusFailed || got.Usage.Unsettled != 1 || len(relay.Known()) != 1 {
			t.Errorf("%+v, %v; the relay has %q", got, err, relay.Known())
		}
		if starts := len(h.openai.Tasks()) - before; starts != n+1 {
			t.Errorf("started %d times, want %d", starts, n+1)
		}
	}
}
