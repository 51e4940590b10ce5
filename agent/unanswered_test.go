package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// lastCall returns the id of the painter's second model call, and the steps before it.
func lastCall(t *testing.T) (w *testEnv, id string, known map[string][]byte) {
	t.Helper()
	w = build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {paintStep(1), `{"message":"done","done":true}`}}})
	j := journal.NewTranscript(journal.Memory{}, nil)
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Journal: j}); err != nil {
		t.Fatal(err)
	}
	known = j.Steps()
	for name := range known {
		if strings.HasPrefix(name, "turn-2-") {
			delete(known, name)
		}
	}
	last := w.watcher.prompts[len(w.watcher.prompts)-1]
	if last.Turn != 2 || len(known) == 0 {
		t.Fatalf("the last call is of turn %d, %d steps are known", last.Turn, len(known))
	}
	return w, last.ID, known
}

// TestUnansweredCallsAreRepeated: a model call that earlier processes made without an answer is repeated, and each of
// them counts as possibly billed.
func TestUnansweredCallsAreRepeated(t *testing.T) {
	t.Parallel()
	for deaths := range 3 {
		w, id, known := lastCall(t)
		if deaths > 0 {
			w.watcher.open = []string{id}
		}
		if deaths > 1 {
			known["turn-2-model-again-1"] = []byte("{}")
		}
		asked := len(w.script.received)
		j := journal.NewTranscript(journal.Memory{}, known)
		res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Begun: true, Journal: j})
		if err != nil || len(w.script.received) != asked+1 {
			t.Fatalf("%d deaths: %v, %d calls", deaths, err, len(w.script.received)-asked)
		}
		if res.Cost.Complete != (deaths == 0) || res.Usage.ModelCalls != 2 {
			t.Errorf("%d deaths: cost %+v, usage %+v", deaths, res.Cost, res.Usage)
		}
		for n := 1; n <= 3; n++ {
			if _, noted := j.Steps()[fmt.Sprintf("turn-2-model-again-%d", n)]; noted != (n <= deaths) {
				t.Errorf("%d deaths: loss %d noted: %v", deaths, n, noted)
			}
		}
	}
}

// TestEndedInACall: a run that ended before it is adopted does not repeat the call in which its process died. The call
// counts as unanswered, as in a run whose process survived.
func TestEndedInACall(t *testing.T) {
	t.Parallel()
	for status, ctx := range endedContexts(t) {
		w, id, known := lastCall(t)
		w.watcher.open = []string{id}
		asked := len(w.script.received)
		res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Begun: true, Journal: journal.NewTranscript(journal.Memory{}, known)})
		if err == nil || res.Status != status || res.Cost.Complete || len(w.script.received) != asked {
			t.Errorf("%s: %v, %s, cost %+v, %d calls", status, err, res.Status, res.Cost, len(w.script.received)-asked)
		}
	}
}

// otherResult is a journal in which another process saved the first model call before this one.
type otherResult struct {
	journal.Memory
	text string
}

func (o otherResult) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	b, err := fn(ctx)
	if name.Kind == step.KindModel {
		b = []byte(o.text)
	}
	return b, err
}

// TestJournalledResultCounts: the result in the journal counts, even if another process saved the step first.
func TestJournalledResultCounts(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]media.Code{`{"response":{"text":"{\"message\":\"other\",\"done\":true}"}}`: "", "{": media.CodeCorrupt} {
		w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"message":"own","done":true}`}}, journal: otherResult{text: text}})
		if res, err := w.run(t, "x"); media.CodeOf(err) != code || code == "" && res.Message != "other" {
			t.Errorf("%s: %+v, %v", text, res, err)
		}
	}
}
