package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/journal"
	"atelier/media"
)

// TestRecalled: what became of a call is told by its relay, whatever it was, and the provider is
// asked again only where nothing was billed and nothing came.
func TestRecalled(t *testing.T) {
	t.Parallel()
	again := outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1}
	lost := outcome{status: generate.StatusFailed, code: media.CodeUnavailable, unsettled: 1}
	html := generatetest.Kept{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<p>")}
	for name, c := range map[string]struct {
		n    int
		kept *generatetest.Kept // nil for an answer that was lost
		want outcome
	}{
		"an answer":                     {2, new(drawn(1, 2)), outcome{status: generate.StatusSucceeded, outputs: 2}},
		"too many requests":             {1, new(refusal(429, "rate_limit_exceeded")), again},
		"an outage that did nothing":    {1, new(refusal(503, "")), again},
		"an outage that may have":       {1, new(refusal(502, "")), lost},
		"no credit":                     {1, new(refusal(429, "insufficient_quota")), outcome{status: generate.StatusFailed, code: media.CodeQuotaExceeded}},
		"a refusal of its safety":       {2, new(refusal(400, "moderation_blocked")), outcome{status: generate.StatusModerated, code: media.CodeModerated}},
		"two of three":                  {3, new(drawn(1, 2)), outcome{status: generate.StatusPartial, code: media.CodeBadResponse, outputs: 2}},
		"one of two, then the end":      {2, new(cut(drawn(1, 2))), outcome{status: generate.StatusPartial, code: media.CodeBadResponse, outputs: 1, unsettled: 1}},
		"a page of a proxy":             {1, &html, outcome{status: generate.StatusFailed, code: media.CodeBadResponse, unsettled: 1}},
		"a connection that never was":   {1, &generatetest.Kept{Failed: errors.New("refused")}, again},
		"a connection that was lost":    {1, &generatetest.Kept{Failed: errors.New("reset"), Gone: true}, lost},
		"nothing, as the relay is dead": {1, nil, lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, op := posted(t, generate.Request{N: c.n}, generate.Attempt{})
			o.relay.Send("a")(c.kept)
			o.ends(t, op, c.want)
			if attempts := o.log.Attempts(); len(attempts) != 1+c.want.asked || attempts[0].FinishedAt.IsZero() {
				t.Errorf("attempts %+v", attempts)
			}
		})
	}
}

// TestNeverSent: a call that a relay knows was not sent is made, and counted, once; also where its
// process was the third to come so far.
func TestNeverSent(t *testing.T) {
	t.Parallel()
	for _, number := range []int{1, 3} {
		o, op := posted(t, generate.Request{N: 1}, generate.Attempt{Number: number})
		if err := o.relay.Prepare("a"); err != nil {
			t.Fatal(err)
		}
		got := o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1})
		if got.Usage.Calls != 1 || got.Usage.Images != 1 {
			t.Errorf("usage %+v", got.Usage)
		}
		if a := o.log.Attempts(); len(a) != 2 || a[0].Status != generate.StatusFailed || a[1].Number != number+1 {
			t.Errorf("attempts %+v", a)
		}
	}
}

// TestRecalledWaits: a wait that a kept answer asks for is kept, and the answer to the last attempt is no
// reason for another one.
func TestRecalledWaits(t *testing.T) {
	t.Parallel()
	slow := refusal(429, "rate_limit_exceeded")
	slow.Header.Set("Retry-After", "7")
	o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
	o.relay.Keep("a", slow)
	o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1, asked: 1})
	if slept := o.journal.Slept(); len(slept) != 1 || slept[0] < 7*time.Second {
		t.Errorf("slept %v", slept)
	}
	o, op = posted(t, generate.Request{N: 1}, generate.Attempt{Number: 3})
	o.relay.Keep("a", slow)
	o.ends(t, op, outcome{status: generate.StatusFailed, code: media.CodeRateLimited})
}

// TestRecalledBesideWhatWasSaved: results that the dead process saved stay, those beyond what was asked
// for too; the others come of the kept answer.
func TestRecalledBesideWhatWasSaved(t *testing.T) {
	t.Parallel()
	o, op := posted(t, generate.Request{N: 2}, generate.Attempt{})
	o.relay.Keep("a", drawn(1, 2, 3))
	var saved []string
	for _, index := range []int{1, 3} {
		out := media.NewOutput(generatetest.Stored(t.Context(), t, o.codec, generatetest.PNG(70, 70, byte(index))), media.Meta{})
		out, err := o.recorder.Record(t.Context(), out)
		if err == nil {
			err = o.log.SlotDone(t.Context(), op, generate.Slot{Index: index, Status: generate.StatusSucceeded, Output: &out})
		}
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, out.ID)
	}
	got := o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 3})
	if len(got.Slots) != 3 || got.Slots[0].Output.ID != saved[0] || got.Slots[2].Output.ID != saved[1] || got.Usage.Images != 3 {
		t.Errorf("%+v, usage %+v", got.Slots, got.Usage)
	}
}

// TestRecalledStream: the answer to a process that asked for previews is a stream, also for one
// that does not.
func TestRecalledStream(t *testing.T) {
	t.Parallel()
	var picture struct {
		Data []struct {
			B64JSON string `json:"b64_json"`
		}
	}
	if err := json.Unmarshal(drawn(9).Body, &picture); err != nil {
		t.Fatal(err)
	}
	stream := `data: {"type":"image_generation.completed","b64_json":"` + picture.Data[0].B64JSON + `"}` + "\n\n"
	for _, asks := range []bool{true, false} {
		asked := &office{house: build(t, func(_ *house, c *generate.Config) { c.Partials = true }), relay: &generatetest.Relay{}, money: &ledgerBudget{}}
		op := left(t, asked.house, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, generate.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted})
		asked.relay.Keep("a", generatetest.Kept{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(stream)})
		asked.Gateway = asked.next(t, func(c *generate.Config) { c.Partials = asks })
		asked.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1})
	}
}

// TestRecalledTwice: where the journal remembers an answer that could not be saved before its process
// died, it counts, and the call is not taken for one whose answer nobody can read.
func TestRecalledTwice(t *testing.T) {
	t.Parallel()
	o, op := posted(t, generate.Request{N: 1}, generate.Attempt{})
	o.relay.Keep("a", drawn(1))
	first := journal.Remember(journal.Memory{}, nil)
	var ill atomic.Bool
	o.log.Fail = func(string) error {
		if ill.Load() {
			return errors.New("the disk is gone")
		}
		return nil
	}
	o.recorder.Fail = func(media.Output) error { return o.log.Fail("record") }
	dying := o.next(t, func(c *generate.Config) { c.Journal = first })
	ill.Store(true)
	if got, err := dying.Resume(t.Context(), op); err != nil || !slices.Equal(o.relay.Known(), []string{"a"}) {
		t.Fatalf("%+v, %v; the relay has %q", got, err, o.relay.Known())
	}
	ill.Store(false)
	o.log.Release(op)
	o.Gateway = o.next(t, func(c *generate.Config) { c.Journal = journal.Remember(journal.Memory{}, first.Steps()) })
	o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1})
}

// TestRecalledWithoutItsInput: an answer is there also when the picture that it was made of is not.
func TestRecalledWithoutItsInput(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	in := media.NewOutput(generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(256, 256, 1)), media.Meta{})
	ctx := media.WithScope(t.Context(), media.Scope{Tree: "run-1"})
	o := &office{house: h, relay: &generatetest.Relay{}, money: &ledgerBudget{}}
	h.openai.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
		return generate.Update{}, media.Errorf(media.CodeInvalid, "not now")
	}
	if _, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "bluer", Method: generate.MethodEdit, Inputs: []media.Output{in}}); err != nil {
		t.Fatal(err)
	}
	op := h.log.IDs()[0]
	h.log.Forget(op)
	if err := h.log.Attempt(ctx, generate.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted, Operation: op, Provider: "openai", Slots: []int{1}}); err != nil {
		t.Fatal(err)
	}
	o.relay.Keep("a", drawn(1))
	o.codec = generatetest.NewCodec(t) // the store of the next process has no such picture
	o.Gateway = o.next(t, nil)
	got := o.ends(t, op, outcome{status: generate.StatusSucceeded, outputs: 1})
	if strings.Contains(strings.Join(got.Warnings, "\n"), "relay") {
		t.Errorf("warnings %q", got.Warnings)
	}
}
