package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// wrong is what made a run fail, as far as it tells what a retry does anew.
type wrong struct {
	// answers: the model's last answer was of no use.
	answers bool
	// late: a budget ended it, so that its last turn was one to finish in.
	late bool
}

func wrongOf(f ledger.Failure) wrong {
	return wrong{answers: f.Code == string(media.CodeBadResponse), late: f.Code == string(media.CodeOverBudget)}
}

// forget leaves out of the steps of a run what a retry does anew: acts that were cut off,
// and the model calls that made its agents fail. What those calls used counts on.
func (p *past) forget(w wrong) {
	before := maps.Clone(p.steps)
	for name, result := range p.steps {
		if cutOff(name, result) {
			delete(p.steps, name)
		}
	}
	forgetCalls(p.steps, "", w)
	redone := maps.Clone(p.State.Redone)
	for name, result := range before {
		own := lastPart(name)
		k := placeOf(own).kind
		if _, stays := p.steps[name]; stays || k != kindModel && k != kindSummary {
			continue
		}
		if redone == nil {
			redone = map[string]agent.Use{}
		}
		place := strings.TrimSuffix(name, own)
		use, ok := redone[place]
		use.Cost.Complete = use.Cost.Complete || !ok
		use.Add(agent.UseOf(result))
		redone[place] = use
	}
	p.State.Redone = redone
}

// forgetCalls leaves out what made an agent fail: the failed model calls of its last turn,
// the turn in which a budget let it finish only, and those of the agents that it asked last.
func forgetCalls(steps map[string]json.RawMessage, prefix string, w wrong) {
	last := 0
	for name := range steps {
		if own, ok := ownStep(name, prefix); ok && placeOf(own).kind == kindModel {
			last = max(last, placeOf(own).turn)
		}
	}
	for name := range steps {
		if own, ok := ownStep(name, prefix); ok && strings.HasSuffix(own, budgetSuffix) && placeOf(own).turn > last {
			delete(steps, name) // its turn was not taken
		}
	}
	anew := w.answers || w.late && toldToFinish(steps, prefix, last)
	forgotten := false
	for name, result := range steps {
		own, ok := ownStep(name, prefix)
		at := placeOf(own)
		if ok && at.turn == last && (failedCall(name, result) || anew && at.kind == kindModel) {
			delete(steps, name)
			forgotten = true
		}
	}
	if forgotten {
		delete(steps, prefix+budgetStep(last)) // it is decided anew
		last--
	}
	var parts []string
	for name := range steps {
		rest, ok := strings.CutPrefix(name, prefix)
		part, _, inside := strings.Cut(rest, "/")
		if ok && inside && placeOf(part).turn == last && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		forgetCalls(steps, prefix+part+"/", wrong{late: w.late})
	}
}

// budgetStep is the name of the step that decides whether a budget ends with a turn.
func budgetStep(turn int) string { return fmt.Sprintf("turn-%d", turn) + budgetSuffix }

const budgetSuffix = "-budget"

// toldToFinish reports whether a turn of an agent was its last one because of a budget, and
// it did not finish in it. An answer that cannot be read here counts as one that did not.
func toldToFinish(steps map[string]json.RawMessage, prefix string, turn int) bool {
	var why string
	if b, ok := steps[prefix+budgetStep(turn)]; ok && (json.Unmarshal(b, &why) != nil || why == "") {
		return false
	}
	for name, result := range steps {
		own, ok := ownStep(name, prefix)
		at := placeOf(own)
		if !ok || at.turn != turn || own == budgetStep(turn) {
			continue
		}
		if at.kind == kindAct || at.kind == kindAsk || at.kind == kindModel && finished(result) {
			return false
		}
	}
	return true
}

// finished tells an answer by which its agent was done.
func finished(result []byte) bool {
	var call struct {
		Response struct {
			Text string `json:"text"`
		} `json:"response"`
	}
	var step struct {
		Done bool `json:"done"`
	}
	return json.Unmarshal(result, &call) == nil && json.Unmarshal([]byte(call.Response.Text), &step) == nil && step.Done
}

// ownStep gives the name of a step within the agent that prefix names.
func ownStep(name, prefix string) (string, bool) {
	own, ok := strings.CutPrefix(name, prefix)
	return own, ok && !strings.Contains(own, "/")
}

// lastPart is the name of a step within its agent.
func lastPart(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// failedCall tells a model call that failed.
func failedCall(name string, result []byte) bool {
	if k := placeOf(lastPart(name)).kind; k != kindModel && k != kindSummary {
		return false
	}
	var call struct {
		Failure *struct{} `json:"failure"`
	}
	return json.Unmarshal(result, &call) == nil && call.Failure != nil
}

// cutOff tells an act that did not come to its own end, because the run was ended.
func cutOff(name string, result []byte) bool {
	if placeOf(lastPart(name)).kind != kindAct {
		return false
	}
	var act struct {
		Cut bool `json:"cut"`
	}
	return json.Unmarshal(result, &act) == nil && act.Cut
}
