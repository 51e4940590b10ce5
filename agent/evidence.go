package agent

import (
	"encoding/json"
	"slices"

	"atelier/action"
	"atelier/agent/evidence"
	"atelier/chat"
	"atelier/media"
)

// evidence gathers what the sources of the run tree and the person said. The log of the
// steps has it: it is the same after a replay, and holds the steps of sub-agents. r.mu
// is held.
func (r *run) evidence() *evidence.Set {
	s := &evidence.Set{}
	s.AddText(evidence.Task, r.task)
	if r.input != nil {
		s.AddValue(evidence.Input, r.input)
	}
	for _, m := range r.earlier {
		if m.Role == chat.RoleUser {
			s.AddText(evidence.Conversation, m.Text())
		}
	}
	for _, t := range r.told {
		s.AddText(evidence.Answer, string(t.Value)+"\n"+t.Note)
	}
	for _, step := range r.steps {
		if step.Kind == StepAction && step.Outputs != nil && r.fromSource(step) {
			s.AddResult(step.Name, step.Outputs)
		}
	}
	return s
}

// fromSource reports whether an action gave what a source says: by its tag, or because it
// showed the text of a document that a person or a source gave.
func (r *run) fromSource(step StepRecord) bool {
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
	o, ok := r.set.Lookup(shown.Media.RefID)
	return ok && (o.Origin.Direction == "input" || r.isSource(o.Origin.Source))
}

func (r *run) isSource(name string) bool {
	a, err := r.r.cfg.Actions.Lookup(name)
	return err == nil && slices.Contains(a.Tags, action.TagSource)
}
