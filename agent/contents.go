package agent

import (
	"encoding/json"

	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
)

// ReadCall reads what the step of a model call kept. ok is false for other steps.
func ReadCall(name step.Name, result []byte) (c CallResult, ok bool) {
	ok = name.Calls() && !name.Has(step.TailMedia) && !name.Has(step.TailAgain)
	return c, ok && json.Unmarshal(result, &c) == nil
}

// ReadAct reads what the step of an act kept. ok is false for other steps.
func ReadAct(name step.Name, result []byte) (a ActResult, ok bool) {
	return a, name.Acts() && json.Unmarshal(result, &a) == nil
}

// ReadBudget reads which budget ends with the turn of a step; it is empty where none does.
// ok is false for other steps.
func ReadBudget(name step.Name, result []byte) (why string, ok bool) {
	return why, name.Kind == step.KindBudget && json.Unmarshal(result, &why) == nil
}

// Failed reports whether the failure of the call was kept.
func (a CallResult) Failed() bool { return a.Failure != nil }

// Finishes reports whether the answer is a step by which the agent is done. An answer that is
// not plain JSON does not count.
func (a CallResult) Finishes() bool {
	var s struct {
		Done bool `json:"done"`
	}
	return json.Unmarshal([]byte(a.Response.Text), &s) == nil && s.Done
}

// content is what a step keeps of media: each is called with the items, to change them.
type content interface {
	eachMedia(each func(*media.Output))
}

// contentOf gives a place to read what a step kept; nil for those that keep no media.
func contentOf(n step.Name) content {
	switch {
	case n.Ends(step.TailApproval), n.Ends(step.TailAsk), n.Kind == step.KindQuestion, n.Kind == step.KindCodeQuestion:
		return &replied{}
	case n.Has(step.TailAgain):
		return nil
	case n.Calls() && n.Has(step.TailMedia):
		return &keepsakes{}
	case n.Calls():
		return &CallResult{}
	case n.Acts():
		return &ActResult{}
	case n.Kind == step.KindImages:
		return &admission{}
	case n.Kind == step.KindView, n.Kind == step.KindShow, n.Kind == step.KindAnswer:
		return &fitted{}
	}
	return nil
}

func eachOf(list []media.Output, each func(*media.Output)) {
	for i := range list {
		each(&list[i])
	}
}

func (a *CallResult) eachMedia(each func(*media.Output)) { eachOf(a.Response.Media, each) }

func (a *ActResult) eachMedia(each func(*media.Output)) { eachOf(a.Media, each) }

func (p *replied) eachMedia(each func(*media.Output)) { eachOf(p.Granted, each) }

func (f *fitted) eachMedia(each func(*media.Output)) { each(&f.Shown) }

func (a *admission) eachMedia(each func(*media.Output)) {
	for i := range a.Shown {
		each(&a.Shown[i].Shown)
	}
}

// keepsakes are the pictures of one model call.
type keepsakes []keepsake

func (k *keepsakes) eachMedia(each func(*media.Output)) {
	for i := range *k {
		each(&(*k)[i].Output)
	}
}

// Rename puts other ids in the place of those of media records and runs, for a state that
// another run goes on with: in all media and in the parameters and results that are an id. Texts
// stay. s is changed in place.
func (s *State) Rename(ids map[string]string) error {
	changed := false
	id := func(old string) string {
		if other, ok := ids[old]; ok {
			changed = true
			return other
		}
		return old
	}
	item := func(o *media.Output) { o.ID = id(o.ID) }
	s.Request.rename(id, item)
	for name, b := range s.Steps {
		c := contentOf(step.ParsePath(name).Own())
		if c == nil {
			continue
		}
		if err := json.Unmarshal(b, c); err != nil {
			return media.Errorf(media.CodeCorrupt, "read step %s: %w", name, err)
		}
		changed = false
		c.eachMedia(item)
		if a, ok := c.(*ActResult); ok {
			a.Outcome.Outputs, _ = mapStrings(a.Outcome.Outputs, id).(map[string]any)
		}
		if changed {
			s.Steps[name] = plain(c)
		}
	}
	return nil
}

func (r *Request) rename(id func(string) string, item func(*media.Output)) {
	r.RunID = id(r.RunID)
	eachOf(r.Granted, item)
	eachOf(r.Found, item)
	for i := range r.Images {
		r.Images[i].ID = id(r.Images[i].ID)
	}
	for i := range r.Fitted {
		item(&r.Fitted[i].Output)
	}
	renameIn(r.History, item)
	if r.Input != nil {
		r.Input, _ = mapStrings(r.Input, id).(map[string]any)
	}
}

func renameIn(history []chat.Message, item func(*media.Output)) {
	for _, m := range history {
		for i := range m.Parts {
			if m.Parts[i].Media != nil {
				item(m.Parts[i].Media)
			}
		}
	}
}
