package plan

import (
	"fmt"
	"strings"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/catalog"
)

// chooseAct finds what the model is asked to do. An option that its rule does not take is
// refused later, with all others.
func (n *negotiation) chooseAct() (err error) {
	t := n.task
	t.N = min(n.req.N, n.model.MaxN)
	for provider, options := range n.req.Options {
		if asked, ok := options["action"]; ok && strings.EqualFold(provider, n.model.Provider) {
			t.Options = map[string]any{"action": asked}
		}
	}
	if t.CheckOptions() == nil {
		n.act, err = act.Of(t)
	}
	return err
}

// narrow leaves out what the act does not take.
func (n *negotiation) narrow() {
	t := &n.task
	for i := range n.out {
		d := &n.out[i]
		if n.act.Name == "" || d.Outcome == generate.OutcomeDropped || n.act.Permits(d.Setting, n.model.Provider) {
			continue
		}
		d.Applied, d.Outcome, d.Reason = "", generate.OutcomeDropped, fmt.Sprintf("%s's %s does not take it", n.model.Name, n.act.Name)
		if option, ok := catalog.CutOption(d.Setting, n.model.Provider); ok { // it may be called as a setting is
			delete(t.Options, option)
			continue
		}
		name := catalog.ActSettings[d.Setting]
		t.Unset(name)
		if name == "aspect_ratio" {
			t.Tier, t.Width, t.Height = "", 0, 0
		}
	}
}

// flags notes which settings lose against another flag.
func (n *negotiation) flags() {
	if len(n.model.Flags) == 0 || !n.act.Flagged() {
		return
	}
	_, lost := act.Flags(n.task)
	for _, l := range lost {
		for i := range n.out {
			d := &n.out[i]
			same := strings.EqualFold(d.Setting, l.Setting) || d.Setting == "size" && l.Setting == "aspect_ratio"
			if same && d.Outcome != generate.OutcomeDropped {
				d.Applied, d.Outcome, d.Reason = l.Applied, l.Outcome, l.Reason
			}
		}
	}
}
