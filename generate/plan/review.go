package plan

import (
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
)

// review tells what becomes of settings of a follow-up, and lets the driver look at the plan.
func (p *Plan) review() error {
	t := p.Task
	t.N = slices.Max(p.Calls)
	f, err := act.Follow(t)
	notes := f.Notes
	if d, ok := p.Driver.(driver.Reviewed); ok && err == nil {
		var more []generate.Disposition
		more, err = d.Review(t)
		notes = append(notes, more...)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		if each, err := strconv.Atoi(n.Applied); n.Setting == "n" && err == nil {
			p.Gives = each
		}
		if asked := strings.TrimSpace(p.Request.Prompt); n.Setting == "prompt" && asked != "" {
			n.Asked, n.Applied = fault.Quote(asked), fault.Quote(n.Applied)
			p.Dispositions = append(p.Dispositions, n)
			continue
		}
		for i := range p.Dispositions {
			if have := &p.Dispositions[i]; have.Setting == n.Setting && have.Outcome != generate.OutcomeDropped {
				have.Applied, have.Outcome, have.Reason = fault.Quote(n.Applied), n.Outcome, n.Reason
			}
		}
	}
	return nil
}
