package run_test

import (
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

func TestProgressNotes(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "r", Run: "r", Step: "s"})
	must(t, h.store.CreateRun(ctx, ledger.Run{ID: "r", Owner: owner, Tree: "r", Agent: "a", Status: ledger.StatusRunning}))
	frame := media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}
	cases := []struct {
		event generate.Event
		want  string
	}{
		{generate.Event{Kind: generate.EventStarted, Model: "M", N: 4}, "M: requesting 4"},
		{generate.Event{Kind: generate.EventProgress, Model: "M", Progress: 0.4}, "M 40 %"},
		{generate.Event{Kind: generate.EventProgress, Model: "M", Progress: -1}, "M: in progress"},
		{generate.Event{Kind: generate.EventRetry, Model: "M", Wait: 3e9, Error: &generate.SlotError{Message: "busy"}}, "M: retrying in 3s: busy"},
		{generate.Event{Kind: generate.EventWait, Model: "M", Wait: 3e9, Error: &generate.SlotError{Message: "busy"}}, "M: waiting 3s: busy"},
		{generate.Event{Kind: generate.EventSlot, Slot: 2, N: 4, Status: generate.StatusFailed}, "2 of 4 failed"},
		{generate.Event{Kind: generate.EventFinished, Model: "M", Status: generate.StatusPartial}, "M partial"},
		{generate.Event{Kind: generate.EventPartial, Slot: 5, Sequence: 2, Partial: &frame, Shows: 4}, "preview 2 of a grid of 4 that starts with image 5"},
		{generate.Event{Kind: generate.EventPartial, Slot: 1, Sequence: 2, Partial: &frame, Shows: 1}, "preview 2 of image 1"},
	}
	live, stop := h.observer.Subscribe("r")
	for _, c := range cases {
		c.event.Operation = "op"
		h.observer.Progress(ctx, c.event)
	}
	h.observer.Progress(t.Context(), cases[0].event) // outside a run nobody is watching
	must(t, h.observer.Flush(ctx))
	stop()
	var events []ledger.Event
	for e := range live {
		if since := time.Since(e.CreatedAt); since < 0 || since > time.Hour {
			t.Errorf("%s was at %s", e.Kind, e.CreatedAt)
		}
		events = append(events, e)
	}
	if saved, err := h.store.ListEvents(ctx, owner, "r", 0, 0); err != nil || len(saved) > 0 {
		t.Errorf("progress was saved: %+v, %v", saved, err)
	}
	if len(events) != len(cases) {
		t.Fatalf("%d events, want %d", len(events), len(cases))
	}
	for i, c := range cases {
		if !strings.Contains(string(events[i].Payload), c.want) {
			t.Errorf("event %d = %s, want %q", i, events[i].Payload, c.want)
		}
	}
	if last := events[len(events)-1]; last.Kind != "operation-partial" || !strings.Contains(string(last.Payload), `"step_id":"s"`) || strings.Contains(string(last.Payload), "img-") {
		t.Errorf("preview event = %+v", last)
	}
}
