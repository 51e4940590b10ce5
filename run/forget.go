package run

import (
	"encoding/json"
	"iter"
	"maps"

	"atelier/agent"
	"atelier/journal/step"
)

// failureCause is why a run failed, as far as this decides what a retry repeats.
type failureCause struct {
	// badAnswer: the model's last answer was unusable.
	badAnswer bool
	// budgetExhausted: a budget ended the run, so that its last turn was the turn to finish in.
	budgetExhausted bool
}

// dropRetriedSteps removes from the steps of a run what a retry repeats: interrupted acts, and the model calls that
// made its agents fail. The usage of those calls still counts.
func (p *recordedRun) dropRetriedSteps(w failureCause) {
	before := maps.Clone(p.steps)
	for name, result := range p.steps {
		if wasInterrupted(name, result) {
			delete(p.steps, name)
		}
	}
	forgetCalls(p.steps, step.Root, w)
	redone, repeated := map[string]agent.Use{}, map[string]int{}
	maps.Copy(redone, p.State.Redone)
	maps.Copy(repeated, p.State.Repeated)
	for name, result := range before {
		own := step.ParsePath(name).Own()
		if _, stays := p.steps[name]; stays || !own.Calls() {
			continue
		}
		at := step.PlaceOf(name)
		use, ok := redone[string(at)]
		use.Cost.Complete = use.Cost.Complete || !ok
		use.Add(agent.UseOf(result))
		redone[string(at)] = use
		if own.Kind == step.KindModel {
			repeated[at.Full(step.In(own.Turn, step.KindModel))] = p.State.Part + 1 // the part that the retry starts
		}
	}
	p.State.Redone, p.State.Repeated = redone, repeated
}

// forgetCalls removes what made an agent fail: the failed model calls of its last turn, the turn in which a budget only
// let it finish, and those of the agents that it called last.
func forgetCalls(steps map[string]json.RawMessage, at step.Place, w failureCause) {
	last := 0
	for own := range ownSteps(steps, at) {
		if own.Kind == step.KindModel || own.Kind == step.KindCode {
			last = max(last, own.Turn)
		}
	}
	for own := range ownSteps(steps, at) {
		if own.Kind == step.KindBudget && (own.Turn > last || last == 0) {
			delete(steps, at.Full(own)) // its turn did not take place, or the agent did not begin
		}
	}
	// Go code gives no answers: those of the agent that it called last were unusable.
	badBelow := w.badAnswer && !modelled(steps, at)
	anew := w.badAnswer || w.budgetExhausted && endedByBudget(steps, at, last)
	forgotten := false
	for own, result := range ownSteps(steps, at) {
		call, _ := agent.ReadCall(own, result)
		if own.Turn == last && (call.Failed() || anew && own.Kind == step.KindModel) {
			delete(steps, at.Full(own))
			forgotten = true
		}
	}
	if forgotten {
		delete(steps, at.Full(step.In(last, step.KindBudget))) // it is decided again
		last--
	}
	parts, newest := map[step.Place]int{}, 0
	for name := range steps {
		if part, isPart, ok := at.Top(name); ok && isPart && part.Turn == last {
			parts[at.Part(part)], newest = part.Index, max(newest, part.Index)
		}
	}
	for part, index := range parts {
		forgetCalls(steps, part, failureCause{badAnswer: badBelow && index == newest, budgetExhausted: w.budgetExhausted})
	}
}

// endedByBudget reports whether a turn of an agent was its last one because of a budget, and the agent did not finish
// in it. An unreadable answer counts as not finished.
func endedByBudget(steps map[string]json.RawMessage, at step.Place, turn int) bool {
	budget := step.In(turn, step.KindBudget)
	if b, ok := steps[at.Full(budget)]; ok {
		if reason, ok := agent.ReadBudget(budget, b); !ok || reason == "" {
			return false
		}
	}
	for own, result := range ownSteps(steps, at) {
		if own.Turn != turn || own.Kind == step.KindBudget {
			continue
		}
		if k := placeOf(own).kind; k == kindAct || k == kindAsk {
			return false
		}
		if call, _ := agent.ReadCall(own, result); own.Kind == step.KindModel && call.Finishes() {
			return false
		}
	}
	return true
}

// ownSteps returns the steps of the agent of a place.
func ownSteps(steps map[string]json.RawMessage, at step.Place) iter.Seq2[step.Name, json.RawMessage] {
	return func(yield func(step.Name, json.RawMessage) bool) {
		for full, result := range steps {
			if own, ok := at.Own(full); ok && !yield(own, result) {
				return
			}
		}
	}
}

// wasInterrupted reports whether an act was interrupted by the end of the run.
func wasInterrupted(full string, result []byte) bool {
	act, _ := agent.ReadAct(step.ParsePath(full).Own(), result)
	return act.Interrupted
}
