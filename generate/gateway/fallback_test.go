package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// refusing makes a driver fail the listed slots, counted from 1, or all if none are listed.
func refusing(t *testing.T, h *testGateway, err error, slots ...int) func(context.Context, driver.Task, int) (driver.Update, error) {
	t.Helper()
	return func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
		if len(slots) == 0 {
			return driver.Update{}, err
		}
		u := driver.Update{Done: true}
		for i := range task.N {
			item := h.picture(ctx, t, uint8(100+i))
			for _, s := range slots {
				if s == i+1 {
					item = driver.Item{Err: media.Errorf(media.CodeModerated, "refused")}
				}
			}
			u.Items = append(u.Items, item)
		}
		return u, nil
	}
}

func TestFallback(t *testing.T) {
	t.Parallel()
	outage := media.Errorf(media.CodeQuotaExceeded, "no credit left")
	for name, c := range map[string]struct {
		arrange   func(h *testGateway)
		n         int
		providers []string // providers of the slots
		status    generate.Status
		stands    string // the applied model of the disposition, or empty if it is as requested
	}{
		"outage": {
			func(h *testGateway) { h.openai.OnStart = refusing(t, h, outage) }, 2,
			[]string{"gemini", "gemini"},
			generate.StatusSucceeded, "Nano Banana Pro",
		},
		"outage of two": {
			func(h *testGateway) {
				h.openai.OnStart, h.gemini.OnStart = refusing(t, h, outage), refusing(t, h, outage)
			}, 1,
			[]string{"offline"},
			generate.StatusSucceeded, "Atelier Offline",
		},
		"one slot refused": {
			func(h *testGateway) { h.openai.OnStart = refusing(t, h, nil, 2) }, 3,
			[]string{"openai", "gemini", "openai"},
			generate.StatusSucceeded, "GPT Image 2, Nano Banana Pro",
		},
		"no key": {
			func(h *testGateway) { h.openai.NotReady = noKey("OPENAI_API_KEY") }, 1,
			[]string{"gemini"},
			generate.StatusSucceeded, "Nano Banana Pro",
		},
		"may have been billed": {
			func(h *testGateway) {
				e := media.Errorf(media.CodeUnavailable, "lost")
				e.Cause = driver.ErrUnsettled
				h.openai.OnStart = refusing(t, h, e)
			}, 1,
			[]string{""},
			generate.StatusFailed, "",
		},
		"bad input": {
			func(h *testGateway) { h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeInvalid, "no")) }, 1,
			[]string{""},
			generate.StatusFailed, "",
		},
		"nothing failed": {func(*testGateway) {}, 1, []string{"openai"}, generate.StatusSucceeded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			c.arrange(h)
			got := h.must(t, generate.Request{Model: "gpt-image-2", N: c.n, Fallback: []string{"FLUX.2 Pro", "Nano Banana Pro", "Atelier Offline"}})
			for i, want := range c.providers {
				have := ""
				if o := got.Slots[i].Output; o != nil {
					have, _ = o.Metadata["provider"].(string)
				}
				if have != want {
					t.Errorf("slot %d is by %q, want %q (%+v)", i+1, have, want, got.Slots[i].Error)
				}
			}
			d := disposition(got.Dispositions, "model")
			if stands := d.Outcome == generate.OutcomeSubstituted; got.Status != c.status || stands != (c.stands != "") || stands && (d.Applied != c.stands || d.Asked != "gpt-image-2" || d.Reason == "") {
				t.Errorf("%s, disposition %+v", got.Status, d)
			}
			for _, a := range h.log.Attempts() {
				if a.Provider == "" || a.Status == generate.StatusSubmitted {
					t.Errorf("attempt %+v", a)
				}
			}
		})
	}
}

// TestDispositionsAreThoseOfTheModelsThatGave: a setting that the fallback does not take is not reported as applied; if
// two models gave results, both are named.
func TestDispositionsAreThoseOfTheModelsThatGave(t *testing.T) {
	t.Parallel()
	outage := media.Errorf(media.CodeQuotaExceeded, "no credit left")
	ask := generate.Request{Model: "gpt-image-2", N: 3, Background: "opaque", OutputFormat: "png", Fallback: []string{"Nano Banana Pro"}}
	for name, c := range map[string]struct {
		arrange func(h *testGateway)
		want    generate.Disposition // the disposition of the background
	}{
		"the first": {func(*testGateway) {}, generate.Disposition{Applied: "opaque", Outcome: generate.OutcomeApplied}},
		"the fallback": {
			func(h *testGateway) { h.openai.OnStart = refusing(t, h, outage) },
			generate.Disposition{Outcome: generate.OutcomeDropped, Reason: "Nano Banana Pro has no background setting; describe the background in the prompt"},
		},
		"both": {
			func(h *testGateway) { h.openai.OnStart = refusing(t, h, nil, 2) },
			generate.Disposition{
				Applied: "GPT Image 2 (results 1, 3): opaque; Nano Banana Pro (result 2): nothing", Outcome: generate.OutcomeAdapted,
				Reason: "GPT Image 2 (results 1, 3): applied; Nano Banana Pro (result 2): Nano Banana Pro has no background setting; describe the background in the prompt",
			},
		},
		"the first, and a fallback that fails": {
			func(h *testGateway) {
				h.openai.OnStart, h.gemini.OnStart = refusing(t, h, nil, 2), refusing(t, h, outage)
			},
			generate.Disposition{Applied: "opaque", Outcome: generate.OutcomeApplied},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			c.arrange(h)
			got := h.must(t, ask)
			c.want.Setting, c.want.Asked = "background", "opaque"
			if d := cmp.Diff(c.want, disposition(got.Dispositions, "background")); d != "" {
				t.Errorf("background (-want +got):\n%s", d)
			}
			if d := disposition(got.Dispositions, "n"); d.Asked != "3" {
				t.Errorf("%+v", d)
			}
			if d := disposition(got.Dispositions, "model"); d.Asked != "gpt-image-2" || strings.Contains(d.Applied, "Nano") != strings.Contains(c.want.Reason, "Nano") {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestFallbackIsKnown: a chain with an unknown model name is refused before anything is journalled or called.
func TestFallbackIsKnown(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	r := generate.Request{Model: "gpt-image-2", Prompt: "a house", Fallback: []string{"Nano Banana Pro", "nobody"}}
	if _, err := h.Plan(t.Context(), r); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("Plan: %v", err)
	}
	if _, err := h.Generate(t.Context(), r); media.CodeOf(err) != media.CodeInvalid || len(h.log.IDs())+len(h.openai.Tasks()) != 0 {
		t.Errorf("Generate: %v after %d calls", err, len(h.openai.Tasks()))
	}
}

// TestBreaker: after repeated failures a provider is not called for a while, and the next model is called at once.
func TestBreaker(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.MaxAttempts = 1 })
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeUnavailable, "503"))
	for range 5 {
		h.must(t, generate.Request{Model: "gpt-image-2"})
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", Fallback: []string{"Nano Banana Pro"}})
	if n := len(h.openai.Tasks()); n != 5 || got.Status != generate.StatusSucceeded {
		t.Errorf("%d calls, then %s", n, got.Status)
	}
	if d := disposition(got.Dispositions, "model"); !strings.Contains(d.Reason, "failed 5 times in a row") {
		t.Errorf("%+v", d)
	}
	// A refused request is not an outage.
	h = build(t, nil)
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeModerated, "no"))
	for range 7 {
		h.must(t, generate.Request{Model: "gpt-image-2"})
	}
	if n := len(h.openai.Tasks()); n != 7 {
		t.Errorf("%d calls, want 7", n)
	}
}

// TestWaitsAreNoOutage: neither tasks that take longer than the wait nor callers without patience stop the calls to a
// provider.
func TestWaitsAreNoOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Now = time.Now })
		h.openai.OnStart = func(_ context.Context, _ driver.Task, call int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: fmt.Sprint(call)}}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, _ int) (driver.Update, error) {
			return driver.Update{Task: at}, nil
		}
		for range 6 {
			if got := h.must(t, generate.Request{Model: "gpt-image-2"}); got.Status != generate.StatusRunning {
				t.Fatalf("%s: %v", got.Status, got.Err())
			}
		}
		h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
			<-ctx.Done()
			return driver.Update{}, ctx.Err()
		}
		for n := range 6 {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			_, err := h.Generate(ctx, generate.Request{Prompt: "a fox", Model: "gpt-image-2"})
			stop()
			if calls := len(h.openai.Tasks()); err != nil || calls != 7+n {
				t.Fatalf("%d calls, %v", calls, err)
			}
		}
	})
}

// recordingBudget is a budget that records what is reserved and settled.
type recordingBudget struct {
	generate.InMemory
	refuse   error
	mu       sync.Mutex
	reserved []string
	settled  []generate.Charge
}

func (p *recordingBudget) Reserve(_ context.Context, c generate.Charge) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.USD != nil {
		p.reserved = append(p.reserved, *c.USD)
	}
	return p.refuse
}

func (p *recordingBudget) Settle(_ context.Context, c generate.Charge) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settled = append(p.settled, c)
	return nil
}

func TestBudget(t *testing.T) {
	t.Parallel()
	p := &recordingBudget{}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Budget = p })
	h.must(t, generate.Request{Model: "Nano Banana Pro", N: 2})
	if len(p.reserved) != 1 || p.reserved[0] == "0" || len(p.settled) != 1 || p.settled[0].Images != 2 {
		t.Errorf("reserved %v, settled %+v", p.reserved, p.settled)
	}
	p.refuse = media.Errorf(media.CodeOverBudget, "nothing left")
	_, err := h.Generate(t.Context(), generate.Request{Model: "Nano Banana Pro", Prompt: "a house"})
	if media.CodeOf(err) != media.CodeOverBudget || len(h.gemini.Tasks()) != 2 || len(h.log.IDs()) != 1 {
		t.Errorf("%v after %d calls", err, len(h.gemini.Tasks()))
	}
	// An intent that cannot be journalled releases its money.
	p.refuse = nil
	h.log.Fail = func(string) error { return errors.New("no disk") }
	_, err = h.Generate(t.Context(), generate.Request{Model: "Nano Banana Pro", Prompt: "a house"})
	if err == nil || len(p.settled) != 2 || p.settled[1].Images != 0 {
		t.Errorf("%v, settled %d", err, len(p.settled))
	}
}

// TestGridIsKeptAndCut: a grid is recorded and split into one slot per tile in reading order; each tile has the grid in
// its lineage and the provider's metadata.
func TestGridIsKeptAndCut(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		item := h.picture(ctx, t, 1)
		item.Tiles = &driver.Tiles{Columns: 2, Rows: 2}
		item.Metadata = map[string]any{"task": "t-1"}
		return driver.Update{Done: true, Items: []driver.Item{item}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 4})
	records := h.recorder.Records()
	if got.Status != generate.StatusSucceeded || len(got.Slots) != 4 || len(records) != 5 {
		t.Fatalf("%s, %d slots, %d records: %v", got.Status, len(got.Slots), len(records), got.Err())
	}
	grid := records[0]
	for i, s := range got.Slots {
		o := s.Output
		if o.Width != 35 || o.Height != 35 || o.Metadata["tile"] != i+1 || o.Metadata["task"] != "t-1" || o.Lineage[0] != (media.Parent{Ref: grid.Ref, Role: "tile"}) {
			t.Errorf("tile %d: %+v", i+1, o)
		}
	}
	if got.Usage.Images != 4 {
		t.Errorf("usage %+v", got.Usage)
	}
	for _, bad := range []driver.Tiles{{Columns: 0, Rows: 2}, {Columns: 5, Rows: 5}, {Columns: 1, Rows: 16}} {
		h := build(t, nil)
		h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
			b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 8, 3))
			return driver.Update{Done: true, Items: []driver.Item{{Blob: &b, Tiles: &bad}}}, nil
		}
		if got := h.must(t, generate.Request{Model: "gpt-image-2"}); got.Status != generate.StatusSucceeded || got.Slots[0].Output.Width != 70 {
			t.Errorf("%+v: %+v", bad, got)
		}
	}
}

// TestOnlyFailedSlotsAreRepeated: results stay; only failed, unbilled ones are requested again.
func TestOnlyFailedSlotsAreRepeated(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		u := driver.Update{Done: true}
		for i := range task.N {
			item := h.picture(ctx, t, uint8(10*number+i))
			if number < 3 && i == task.N-1 {
				item = driver.Item{Err: media.Errorf(media.CodeUnavailable, "this one was not made"), Unbilled: true}
			}
			u.Items = append(u.Items, item)
		}
		return u, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 4})
	var asked []int
	for _, task := range h.openai.Tasks() {
		asked = append(asked, task.N)
	}
	if got.Status != generate.StatusSucceeded || !slices.Equal(asked, []int{4, 1, 1}) || len(h.recorder.Records()) != 4 {
		t.Errorf("%s after calls for %v with %d records", got.Status, asked, len(h.recorder.Records()))
	}
	if got.Slots[3].Error != nil || got.Slots[3].Index != 4 {
		t.Errorf("slot 4: %+v", got.Slots[3])
	}

	// A slot that keeps failing is given up after as many attempts as any call has.
	h = build(t, nil)
	h.openai.OnStart = func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
		u := driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}
		if task.N == 1 {
			u.Items = nil
		}
		u.Items = append(u.Items, driver.Item{Err: media.Errorf(media.CodeUnavailable, "not made"), Unbilled: true})
		return u, nil
	}
	got = h.must(t, generate.Request{Model: "gpt-image-2", N: 2})
	if n := len(h.openai.Tasks()); n != 3 || got.Status != generate.StatusPartial {
		t.Errorf("%s after %d calls", got.Status, n)
	}
}
