package run_test

import (
	"encoding/json"
	"testing"

	"atelier/agent"
	"atelier/ledger"
)

// TestLateSubscriberGetsPartialMessage: parts of a message are shown and not saved, and a late reader gets the text
// from its beginning.
func TestLateSubscriberGetsPartialMessage(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	emit := func(kind agent.EventType, data any) {
		h.observer.Emit(t.Context(), agent.Event{Type: kind, Tree: "r", RunID: "r", Data: data})
	}
	read := func(events <-chan ledger.Event) (d agent.MessageDelta, kind string) {
		e := <-events
		must(t, json.Unmarshal(e.Payload, &d))
		if e.Sequence != 0 {
			t.Errorf("%s is saved", e.Kind)
		}
		return d, e.Kind
	}
	first, stop := h.observer.Subscribe("r")
	defer stop()
	emit(agent.EventMessageDelta, agent.MessageDelta{Text: "Größe", Partial: true})
	emit(agent.EventMessageDelta, agent.MessageDelta{Text: " ist", Offset: 5, Partial: true})
	for _, want := range []string{"Größe", " ist"} {
		if d, _ := read(first); d.Text != want {
			t.Errorf("got %+v, want %q", d, want)
		}
	}
	for _, tree := range []string{"r", ""} {
		later, stop := h.observer.Subscribe(tree)
		defer stop()
		if d, _ := read(later); d.Text != "Größe ist" || d.Offset != 0 || !d.Partial {
			t.Errorf("who comes later gets %+v", d)
		}
	}
	emit(agent.EventMessageWithdrawn, agent.MessageWithdrawn{Turn: 1})
	if _, kind := read(first); kind != "message-withdrawn" {
		t.Errorf("got %s", kind)
	}
	last, stop := h.observer.Subscribe("")
	defer stop()
	select {
	case e := <-last:
		t.Errorf("what was withdrawn is given: %+v", e)
	default:
	}
}
