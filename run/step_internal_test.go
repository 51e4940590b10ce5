package run

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func recordedSteps(names ...string) recordedRun {
	p := recordedRun{steps: map[string]json.RawMessage{}}
	for _, n := range names {
		p.steps[n] = json.RawMessage(`{}`)
	}
	return p
}

// ordered lists the steps of a run in order: of an agent with a model, its sub-agent with a model, and one of Go code.
var ordered = []string{
	"given", "guardrail", "guardrail-approval", "turn-1-model",
	"turn-1-action-1-approval", "turn-1-action-1", "turn-1-action-2",
	"turn-1-agent-3-helper/turn-1-model", "turn-1-agent-3-helper/turn-1-action-1", "turn-1-agent-3-helper/turn-2-model",
	"turn-1-agent-4-code/turn-1-action-1", "turn-1-agent-4-code/ask-2", "turn-1-agent-4-code/turn-1-action-10",
	"turn-2-summary-1-1", "turn-2-model", "turn-2-model-short-1", "turn-2-ask", "turn-10-model",
}

func TestStepsInOrder(t *testing.T) {
	t.Parallel()
	names := slices.Clone(ordered)
	slices.Reverse(names)
	if d := cmp.Diff(ordered, recordedSteps(names...).names()); d != "" {
		t.Error(d)
	}
}

func TestPrecedes(t *testing.T) {
	t.Parallel()
	helper, code := "turn-1-agent-3-helper/", "turn-1-agent-4-code/"
	for from, want := range map[string][]string{
		"given":        {"guardrail", "guardrail-approval"},
		"guardrail":    {"given"},
		"turn-1-model": ordered[:3],
		// Parallel steps are kept.
		"turn-1-action-2":                     slices.Delete(slices.Clone(ordered[:13]), 6, 7),
		"turn-1-action-1":                     slices.Delete(slices.Clone(ordered[:13]), 5, 6),
		"turn-1-action-1-approval":            slices.Delete(slices.Clone(ordered[:13]), 4, 6),
		"turn-1-agent-3-helper":               slices.Delete(slices.Clone(ordered[:13]), 7, 10),
		helper + "turn-2-model":               slices.Delete(slices.Clone(ordered[:13]), 9, 10),
		code + "ask-2":                        ordered[:11],
		"turn-2-ask":                          ordered[:16],
		"turn-10-model":                       ordered[:17],
		"turn-1-agent-4-code/turn-1-action-1": ordered[:10],
	} {
		p := recordedSteps(ordered...)
		var got []string
		for _, name := range ordered {
			if p.precedes(name, from) {
				got = append(got, name)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("from %s: %s", from, d)
		}
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	failed, good := json.RawMessage(`{"failure":{"code":"unavailable"}}`), json.RawMessage(`{"response":{}}`)
	reason, fine := json.RawMessage(`"two more calls do not fit"`), json.RawMessage(`""`)
	cut, done := json.RawMessage(`{"outcome":{},"cut":true}`), json.RawMessage(`{"response":{"text":"{\"done\":true}"}}`)
	for name, c := range map[string]struct {
		wrong failureCause
		steps map[string]json.RawMessage
		want  []string
	}{
		"the last call": {failureCause{}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-action-1": good, "turn-2-model": failed, "turn-2-model-short-1": failed,
		}, []string{"turn-1-model", "turn-1-action-1"}},
		"an earlier failure was overcome": {failureCause{}, map[string]json.RawMessage{
			"turn-1-model": failed, "turn-2-model": good,
		}, []string{"turn-1-model", "turn-2-model"}},
		"that of a sub-agent, whose result nobody saw": {failureCause{}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-agent-1-a/turn-1-model": failed, "turn-1-agent-2-b/turn-1-model": good, "turn-2-model": failed,
		}, []string{"turn-1-model", "turn-1-agent-2-b/turn-1-model"}},
		"that of a sub-agent, whose result was seen": {failureCause{}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-agent-1-a/turn-1-model": failed, "turn-2-model": good, "turn-3-model": failed,
		}, []string{"turn-1-model", "turn-1-agent-1-a/turn-1-model", "turn-2-model"}},
		"a bad answer": {failureCause{badAnswer: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-2-model": good,
		}, []string{"turn-1-model"}},
		"a bad answer of the last agent that a stage of Go code asked": {failureCause{badAnswer: true}, map[string]json.RawMessage{
			"turn-1-code-1": good, "turn-1-agent-2-a/turn-1-model": good, "turn-2-code-1": good, "turn-2-agent-2-a/turn-1-model": good, "turn-2-agent-10-b/turn-1-model": good,
		}, []string{"turn-1-code-1", "turn-1-agent-2-a/turn-1-model", "turn-2-code-1", "turn-2-agent-2-a/turn-1-model"}},
		"acts that were cut off, anywhere": {failureCause{}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-action-1": cut, "turn-1-action-2": good, "turn-1-agent-3-a/turn-1-model": good, "turn-1-agent-3-a/turn-1-action-1": cut,
		}, []string{"turn-1-model", "turn-1-action-2", "turn-1-agent-3-a/turn-1-model"}},
		"a turn to finish in": {failureCause{budgetExhausted: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-action-1": good, "turn-2-budget": reason, "turn-2-model": good,
		}, []string{"turn-1-model", "turn-1-action-1"}},
		"a turn that was not the last one": {failureCause{budgetExhausted: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-2-budget": fine, "turn-2-model": good, "turn-2-action-1": cut,
		}, []string{"turn-1-model", "turn-2-model", "turn-2-budget"}},
		"a call that was refused": {failureCause{budgetExhausted: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-2-budget": fine, "turn-2-model": failed,
		}, []string{"turn-1-model"}},
		"that of sub-agents, of which one had finished": {failureCause{budgetExhausted: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-agent-1-a/turn-1-model": good, "turn-1-agent-1-a/turn-2-budget": reason, "turn-1-agent-1-a/turn-2-model": done,
			"turn-1-agent-2-b/turn-1-model": good, "turn-1-agent-2-b/turn-2-budget": reason, "turn-1-agent-2-b/turn-2-model": good,
			"turn-2-budget": reason, "turn-2-model": good,
		}, []string{
			"turn-1-model", "turn-1-agent-1-a/turn-1-model", "turn-1-agent-1-a/turn-2-model", "turn-1-agent-1-a/turn-2-budget", "turn-1-agent-2-b/turn-1-model",
		}},
		"a turn that its time did not let it begin, behind an answer": {failureCause{budgetExhausted: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-ask": good, "turn-2-budget": reason,
		}, []string{"turn-1-model", "turn-1-ask"}},
		"a sub-agent that did not begin, beside one that did": {failureCause{budgetExhausted: true}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-agent-1-a/turn-0-budget": reason, "turn-1-agent-2-b/turn-0-budget": fine, "turn-1-agent-2-b/turn-1-model": done,
			"turn-2-budget": reason, "turn-2-model": good,
		}, []string{"turn-1-model", "turn-1-agent-2-b/turn-0-budget", "turn-1-agent-2-b/turn-1-model"}},
		"nothing failed": {failureCause{}, map[string]json.RawMessage{
			"turn-1-model": good, "turn-1-agent-1-a/turn-1-model": good,
		}, []string{"turn-1-model", "turn-1-agent-1-a/turn-1-model"}},
	} {
		(&recordedRun{steps: c.steps}).dropRetriedSteps(c.wrong)
		if d := cmp.Diff(c.want, recordedRun{steps: c.steps}.names()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
