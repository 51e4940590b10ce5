package plan

import (
	"cmp"
	"slices"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

func minus(a, b *schema.Field) *schema.Field {
	return schema.Computed(a.Label()+" − "+b.Label(), a, b, true)
}

// overBudget reads "went over budget": a condition, or what it is over by.
func (p *roles) overBudget() Reason {
	if !p.over {
		return ""
	}
	budget, actual := p.View.FieldOf("budget"), cmp.Or(p.View.FieldOf("actual"), p.View.FieldOf("spent"))
	if budget == nil || actual == nil || budget == actual {
		return ReasonUnknown
	}
	p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool { return m.Field == budget || m.Field == actual })
	switch {
	case len(p.Measures) > 0:
		return ReasonUnclear
	case p.Superlative != nil || p.diff || p.Asks == "much":
		p.diff, p.Measures = false, []Measure{{Field: minus(actual, budget)}}
	default:
		p.Filters = append(p.Filters, fieldFilter(actual, ">", budget))
	}
	return ""
}

// worth takes what a stock is worth; the stock is no other figure beside it.
func (p *roles) worth() Reason {
	at := slices.IndexFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindTimes })
	if at < 0 {
		return ""
	}
	f := p.Pieces[at].Field
	p.Measures = append(p.Measures, Measure{Field: f})
	first := p.Text.Tokens[0].Fold
	for k, y := range p.Pieces {
		asked := y.Kind == speech.KindEntity && (first == "what" || first == "was" || first == "how" || first == "wie")
		p.used[k] = p.used[k] || k == at || asked || y.Kind == speech.KindField && (slices.Contains(f.Factors, y.Field) || slices.Equal(y.Field.Factors, f.Factors))
	}
	return ""
}
