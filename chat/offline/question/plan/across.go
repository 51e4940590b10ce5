package plan

import (
	"slices"

	"atelier/chat/offline/question/schema"
)

// decideAcross plans which of the columns has the most.
func (p *Plan) decideAcross() Reason {
	p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool {
		return m.Field.Has(schema.Besides) // most votes, of the valid votes
	})
	switch {
	case p.Superlative == nil || p.Superlative.About != "" || p.Asks != "which" && p.Asks != "who" && p.Asks != "", len(p.Periods) > 1, p.Unit != "", p.Trend != "", p.diff, p.share, p.versus:
		return ReasonUnclear
	case len(p.Measures) > 0 || len(p.Groups) > 0 || p.Target != nil || p.Counted != nil || len(p.attrs) > 0 || p.Aggregate == "median":
		return ReasonUnclear
	}
	p.Op, p.N = OpAcross, max(p.N, 1)
	for _, f := range p.View.Wide {
		p.Measures = append(p.Measures, Measure{Field: f, How: p.acrossHow(f)})
	}
	return ""
}

// acrossHow returns how the values of one column are aggregated: grades are averaged, votes added.
func (p *wording) acrossHow(f *schema.Field) string {
	if p.Aggregate != "" {
		return p.Aggregate
	}
	high, _ := schema.NumberOf(f.Max)
	if p.View.Survey || f.UnitSymbol() == "%" || f.Type == "number" && high <= 6 {
		return "avg"
	}
	return "sum"
}
