package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/fault"
	"atelier/media"
)

// PassedOver says for people why a model of the chain does not answer.
func PassedOver(name string, why error) string {
	return "the next model " + fault.Quote(name) + " was passed over: " + fault.Of(why).Message
}

// StoodIn says that another model answers than the one that was asked.
func StoodIn(list []generate.Disposition, asked, applied, why string) []generate.Disposition {
	d := generate.Disposition{Setting: "model", Asked: asked, Applied: applied, Outcome: generate.OutcomeSubstituted, Reason: why}
	list = slices.Clone(list)
	if i := slices.IndexFunc(list, func(d generate.Disposition) bool { return d.Setting == "model" }); i >= 0 {
		list[i] = d
		return list
	}
	return append(list, d)
}

// planAny plans the request with the first of its models that can be asked at all. Where
// there is none, the error has the reason of each.
func (pl *Planner) planAny(r generate.Request, keyless bool) (*Plan, error) {
	p, err := pl.Draft(r, keyless)
	var reasons []string
	for i := 0; err != nil && i < len(r.Fallback); i++ {
		if c := media.CodeOf(err); c != media.CodeMissingKey && c != media.CodeUnsupported || r.Strict {
			return p, err
		}
		next := r
		next.Model, next.Substitute, next.Fallback = r.Fallback[i], false, r.Fallback[i+1:]
		if reasons == nil {
			reasons = append(reasons, fault.Of(err).Message)
		}
		q, second := pl.Draft(next, keyless)
		if second != nil {
			reasons = append(reasons, fault.Of(second).Message)
			continue
		}
		q.Dispositions = StoodIn(q.Dispositions, fault.Quote(pl.wanted(r)), q.Model.Name, strings.Join(reasons, "; "))
		return q, nil
	}
	if len(reasons) > 1 {
		e := fault.Of(err)
		e.Message = "no model of the chain can be asked: " + strings.Join(reasons, "; ")
		return p, e
	}
	return p, err
}

// wanted is the model that a request would like best; empty if it does not say.
func (pl *Planner) wanted(r generate.Request) string {
	return cmp.Or(append([]string{r.Model, pl.config.DefaultModel}, r.Prefer...)...)
}

// First is the plan by the first model of the request, or of the gateway's chain, that can
// be asked at all.
func (pl *Planner) First(r generate.Request, keyless bool) (*Plan, error) {
	if r.Model == "" && len(r.Fallback) == 0 {
		r.Fallback = pl.config.Fallback
		for _, name := range r.Fallback {
			if _, ok := pl.config.Catalogue.Lookup(name); !ok {
				return nil, fault.Wrap("ATELIER_IMAGE_FALLBACK", pl.unknown(name))
			}
		}
	}
	r.OptionsFor = pl.optionsFor(r)
	return pl.planAny(r, keyless)
}
