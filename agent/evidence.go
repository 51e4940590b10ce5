package agent

import (
	"encoding/json"
	"slices"

	"atelier/action"
	"atelier/agent/evidence"
	"atelier/media"
)

// evidence gathers what the sources of the run tree and the person said. The log of the
// steps has it: it is the same after a replay, and holds the steps of sub-agents. r.mu
// is held.
func (r *run) evidence() *evidence.Set {
	return r.r.evidence(testimony{task: r.task, input: r.input, earlier: r.earlier, told: r.told, steps: r.steps, lookup: r.set.Lookup})
}

// fromSource reports whether an action gave what a source says: by its tag, or because it
// showed the text of a document that a person or a source gave.
func (r *Runner) fromSource(step StepRecord, lookup func(media.Ref) (media.Output, bool)) bool {
	if r.isSource(step.Name) {
		return true
	}
	var shown struct {
		Text  string
		Media struct{ RefID media.Ref }
	}
	if json.Unmarshal(step.Outputs, &shown) != nil || shown.Text == "" {
		return false
	}
	o, ok := lookup(shown.Media.RefID)
	return ok && (o.Origin.Direction == "input" || r.isSource(o.Origin.Source))
}

func (r *Runner) isSource(name string) bool {
	a, err := r.cfg.Actions.Lookup(name)
	if err != nil {
		return slices.Contains(r.cfg.SourceActions, name)
	}
	return slices.Contains(a.Tags, action.TagSource)
}
