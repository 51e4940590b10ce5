package generate

import (
	"slices"
	"strconv"
	"strings"
)

// Reviewed is a [Driver] that looks at a whole task while it is planned, because
// what it can do depends on the settings together: pictures are mixed in some shapes only.
type Reviewed interface {
	Driver
	// Review tells what becomes of settings that the model takes, but not in this task:
	// each disposition stands in the place of the one for the same setting, and those
	// for settings that nobody asked for are passed over. One for "n" names how many results
	// a call gives, where that is not what the catalogue says. A prompt has a disposition only
	// if one is here: it is sent otherwise. It makes no call. Its error
	// refuses the task before anything is journalled: media.CodeInvalid for options that
	// make no sense, media.CodeUnsupported for what the provider cannot do.
	Review(t Task) ([]Disposition, error)
}

// review tells what becomes of settings of a follow-up, and lets the driver look at the plan.
func (p *Plan) review() error {
	t := p.task
	t.N = slices.Max(p.Calls)
	f, err := t.FollowUp()
	notes := f.Notes
	if d, ok := p.driver.(Reviewed); ok && err == nil {
		var more []Disposition
		more, err = d.Review(t)
		notes = append(notes, more...)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		if each, err := strconv.Atoi(n.Applied); n.Setting == "n" && err == nil {
			p.gives = each
		}
		if asked := strings.TrimSpace(p.req.Prompt); n.Setting == "prompt" && asked != "" {
			n.Asked, n.Applied = clip(asked), clip(n.Applied)
			p.Dispositions = append(p.Dispositions, n)
			continue
		}
		for i := range p.Dispositions {
			if have := &p.Dispositions[i]; have.Setting == n.Setting && have.Outcome != OutcomeDropped {
				have.Applied, have.Outcome, have.Reason = clip(n.Applied), n.Outcome, n.Reason
			}
		}
	}
	return nil
}
