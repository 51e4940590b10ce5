package agent_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/journal"
)

// scriptedRelay knows what became of some calls, and notes what it is told.
type scriptedRelay struct {
	fates map[string]journal.Fate // by id
	err   error                   // of Prepare

	mu                  sync.Mutex // guards below
	prepared, forgotten []string
}

func (r *scriptedRelay) Prepare(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.fates[id]; known && r.fates[id] != journal.FateUnsent {
		return fs.ErrExist
	}
	r.prepared = append(r.prepared, id)
	return r.err
}

func (r *scriptedRelay) Fate(_ context.Context, id string) journal.Fate { return r.fates[id] }

func (r *scriptedRelay) Forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten = append(r.forgotten, id)
}

// lastCall is the id of the painter's second model call, and the steps before it.
func lastCall(t *testing.T) (w *world, id string, known map[string][]byte) {
	t.Helper()
	w = build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {paintStep(1), `{"message":"done","done":true}`}}})
	j := journal.Remember(journal.Memory{}, nil)
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

// TestModelCallsAreCarried: every call of a model is prepared under an id of its own and let go
// when its step is saved.
func TestModelCallsAreCarried(t *testing.T) {
	t.Parallel()
	w, last, _ := lastCall(t)
	relay := &scriptedRelay{}
	w.script.relay, w.script.carried = relay, nil
	w.script.answers["painter"] = []any{paintStep(1), `{"message":"done","done":true}`}
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Journal: journal.Remember(journal.Memory{}, nil)}); err != nil {
		t.Fatal(err)
	}
	if len(relay.prepared) != 2 || relay.prepared[1] != last+"-call-0" || relay.prepared[0] == relay.prepared[1] || cmp.Diff(relay.prepared, relay.forgotten) != "" {
		t.Errorf("prepared %q, forgotten %q, the last is %s", relay.prepared, relay.forgotten, last)
	}
	for i, c := range w.script.carried {
		if c == nil || c.ID != relay.prepared[i] || c.Recalled {
			t.Errorf("call %d came as %+v", i, c)
		}
	}
}

// TestCallsOfTheDead: what a relay knows of a call that an earlier process made decides whether it
// is recalled, made, or made again and counted.
func TestCallsOfTheDead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deaths   int // in the call
		fates    map[string]journal.Fate
		err      error
		call     string // how the call comes in the end; empty if nothing carries it
		recalled bool
		lost     bool // a call counts that had no answer
		warns    bool
	}{
		"answered":                   {deaths: 1, fates: map[string]journal.Fate{"0": journal.FateAnswered}, call: "0", recalled: true},
		"answered, not on record":    {fates: map[string]journal.Fate{"0": journal.FateAnswered}, call: "0", recalled: true},
		"never sent":                 {deaths: 1, fates: map[string]journal.Fate{"0": journal.FateUnsent}, call: "0"},
		"lost":                       {deaths: 1, fates: map[string]journal.Fate{"0": journal.FateUnknown}, call: "1", lost: true},
		"lost, and a name was taken": {deaths: 1, fates: map[string]journal.Fate{"0": journal.FateUnknown, "1": journal.FateUnknown}, call: "2", lost: true},
		"lost, then answered":        {deaths: 2, fates: map[string]journal.Fate{"0": journal.FateUnknown, "1": journal.FateAnswered}, call: "1", recalled: true, lost: true},
		"lost, once not on record, then answered": {deaths: 1, fates: map[string]journal.Fate{"0": journal.FateUnknown, "1": journal.FateUnknown, "2": journal.FateAnswered}, call: "2", recalled: true, lost: true},
		"lost, then never sent":                   {deaths: 2, fates: map[string]journal.Fate{"0": journal.FateUnknown, "1": journal.FateUnsent}, call: "1", lost: true},
		"lost, and no relay any more":             {deaths: 1, fates: map[string]journal.Fate{"0": journal.FateUnknown}, err: errors.New("no room"), lost: true, warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id, known := lastCall(t)
			first := w.watcher.prompts[0].ID
			relay := &scriptedRelay{fates: map[string]journal.Fate{}, err: c.err}
			for n, fate := range c.fates {
				relay.fates[id+"-call-"+n] = fate
			}
			if c.deaths > 0 {
				w.watcher.open = []string{id}
			}
			if c.deaths > 1 {
				known["turn-2-model-again-1"] = []byte("{}")
			}
			w.script.relay, w.script.carried, w.watcher.events = relay, nil, nil
			j := journal.Remember(journal.Memory{}, known)
			res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Begun: true, Journal: j})
			if err != nil || len(w.script.carried) != 1 {
				t.Fatalf("%v, %d calls", err, len(w.script.carried))
			}
			switch got := w.script.carried[0]; {
			case c.call == "" && got != nil:
				t.Errorf("carried as %+v", got)
			case c.call != "" && (got == nil || got.ID != id+"-call-"+c.call || got.Recalled != c.recalled):
				t.Errorf("carried as %+v, want %s", got, c.call)
			case c.call != "" && !slices.Equal(relay.forgotten, []string{first + "-call-0", got.ID}):
				t.Errorf("forgotten %q", relay.forgotten)
			}
			if res.Cost.Complete == c.lost || res.Usage.ModelCalls != 2 {
				t.Errorf("cost %+v, usage %+v", res.Cost, res.Usage)
			}
			if _, again := j.Steps()["turn-2-model-again-2"]; again {
				t.Error("a call that was not lost counts as one")
			}
			if slices.Contains(w.watcher.types(), agent.EventWarning) != c.warns {
				t.Errorf("told %v", w.watcher.types())
			}
		})
	}
}

// TestAnswersOfKnownStepsAreLetGo: a process that died when its step was saved left the answer, which
// a retry of the run must not take for one of its own.
func TestAnswersOfKnownStepsAreLetGo(t *testing.T) {
	t.Parallel()
	for lost, want := range map[string]string{"": "0", "turn-1-model-again-1": "1"} {
		w, _, known := lastCall(t)
		first := w.watcher.prompts[0].ID
		if lost != "" {
			known[lost] = []byte("{}")
		}
		relay := &scriptedRelay{}
		w.script.relay = relay
		w.script.answers["painter"] = []any{`{"message":"done","done":true}`}
		if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Begun: true, Journal: journal.Remember(journal.Memory{}, known)}); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(relay.forgotten, first+"-call-"+want) || slices.ContainsFunc(relay.prepared, func(id string) bool { return strings.HasPrefix(id, first) }) {
			t.Errorf("prepared %q, forgotten %q", relay.prepared, relay.forgotten)
		}
	}
}

// TestEndedInACarriedCall: a run that was ended before it is taken over does not take the answer of
// the call in which it died: that call counts as one without an answer, as in a run that lived.
func TestEndedInACarriedCall(t *testing.T) {
	t.Parallel()
	for status, ctx := range gone(t) {
		w, id, known := lastCall(t)
		w.script.relay, w.script.carried, w.watcher.open = &scriptedRelay{fates: map[string]journal.Fate{id + "-call-0": journal.FateAnswered}}, nil, []string{id}
		res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "paint", RunID: fixedRun, Begun: true, Journal: journal.Remember(journal.Memory{}, known)})
		if err == nil || res.Status != status || res.Cost.Complete || len(w.script.carried) != 0 {
			t.Errorf("%s: %v, %s, cost %+v, %d calls", status, err, res.Status, res.Cost, len(w.script.carried))
		}
	}
}
