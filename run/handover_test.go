package run_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"atelier/agent"
	"atelier/ledger"
)

// TestHandOverSavesEvents: the ledger may be closed as soon as the work is handed over; all earlier events are in
// it.
func TestHandOverSavesEvents(t *testing.T) {
	t.Parallel()
	h := build(t, `{"actions":[{"name":"Wait","params":{}}]}`)
	h.service = h.newDurableService(t)
	r, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	<-h.arrived
	// Another process is writing, so the last event has to wait.
	time.AfterFunc(500*time.Millisecond, h.blockWrites(t))
	h.observer.Emit(t.Context(), agent.Event{Type: agent.EventWarning, Tree: r.ID, RunID: r.ID, At: time.Now(), Data: agent.Warning{Message: "last"}})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	h.service.HandOver(gone)
	events, err := h.store.ListEvents(t.Context(), owner, r.ID, 0, ledger.MaxLimit)
	must(t, err)
	if !slices.ContainsFunc(events, func(e ledger.Event) bool { return e.Kind == "warning" }) {
		t.Errorf("the last of %d events is not saved", len(events))
	}
}
