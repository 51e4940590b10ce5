package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"atelier/action"
	"atelier/agent/evidence"
	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
)

// Past is what is on record of a run tree; [Runner.Recorded] makes a [Result] of it.
type Past struct {
	// Run is the root's row, with what it promoted.
	Run RunRecord
	// Items are all of the tree, granted ones included, in order.
	Items []media.Output
	// Steps are the log of the tree, in order of completion within each agent.
	Steps []StepRecord
	// Models are the ids of the chat models that answered, in order of first use.
	Models []string
	// Input and History are those of the request.
	Input   map[string]any
	History []chat.Message
	// Journal are results of steps by their full names; the answers of people are among them.
	Journal map[string]json.RawMessage
}

// Recorded gives the result of a run as it was when the run ended or paused, without asking
// or doing anything: what [Runner.Run] gave, but for State, Pending and Conversation.
func (r *Runner) Recorded(ctx context.Context, p Past) *Result {
	rec := p.Run
	var payload map[string]any
	_ = json.Unmarshal(rec.Payload, &payload) // one of another shape holds no document
	res := resultOf(rec, p.Items, payload)
	res.Steps = p.Steps
	for _, id := range p.Models {
		res.Models = append(res.Models, r.modelUse(ctx, id))
	}
	if rec.Status != StatusRunning && rec.Status != StatusPaused {
		res.Evidence = r.evidence(testimony{task: rec.Task, input: p.Input, earlier: p.History, answers: p.answers(), steps: p.Steps, lookup: res.Find})
	}
	return res
}

// modelUse names a chat model that answered; one that is not known any more by its id.
func (r *Runner) modelUse(ctx context.Context, id string) ModelUse {
	use := ModelUse{ID: id, Name: id}
	if r.cfg.Models == nil {
		return use
	}
	if c, err := r.cfg.Models.Choose(ctx, []string{id}); err == nil && c.Model.Profile().ID == id {
		p := c.Model.Profile()
		use.Name, use.Offline = p.Name, p.Offline
	}
	return use
}

// answers are what people answered in the run tree, but for approvals.
func (p Past) answers() []replied {
	var out []replied
	for _, name := range slices.Sorted(maps.Keys(p.Journal)) {
		own := step.ParsePath(name).Own()
		if own.Kind != step.KindQuestion && own.Kind != step.KindCodeQuestion || own.Has(step.TailApproval) {
			continue
		}
		var a replied
		if json.Unmarshal(p.Journal[name], &a) == nil && len(a.Value) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// testimony is what the numbers of a report are compared with.
type testimony struct {
	task    string
	input   map[string]any
	earlier []chat.Message
	answers []replied
	steps   []StepRecord
	// lookup finds an item of the run.
	lookup func(media.Ref) (media.Output, bool)
}

// evidence gathers what the sources of the run tree and the person said.
func (r *Runner) evidence(t testimony) *evidence.Set {
	s := &evidence.Set{}
	s.AddText(evidence.Task, t.task)
	if t.input != nil {
		s.AddValue(evidence.Input, t.input)
	}
	for _, m := range t.earlier {
		if m.Role == chat.RoleUser {
			s.AddText(evidence.Conversation, m.Text())
		}
	}
	for _, a := range t.answers {
		s.AddText(evidence.Answer, string(a.Value)+"\n"+a.Note)
	}
	for _, step := range t.steps {
		if step.Kind == StepAction && step.Outputs != nil && r.fromSource(step, t.lookup) {
			s.AddResult(step.Name, step.Outputs)
		}
	}
	return s
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
