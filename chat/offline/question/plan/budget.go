package plan

import (
	"cmp"
	"slices"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// minus returns the difference between two numbers of a row.
func minus(a, b *schema.Field) *schema.Field {
	return &schema.Field{
		Column: schema.Column{Name: a.Label() + " − " + b.Label(), Type: "number", Unit: a.UnitSymbol()}, Words: []speech.Word{{Fold: "amount", Stem: speech.Stem("amount")}}, Factors: []*schema.Field{a, b}, Difference: true,
	}
}

// overBudget reads "went over budget": a condition, or the amount that exceeds the budget.
func (p *roles) overBudget() Reason {
	over, left := p.has(speech.KindOver), p.has(speech.KindLeft)
	if !over && !left {
		return ""
	}
	budget, actual := p.View.FieldOf("budget"), cmp.Or(p.View.FieldOf("actual"), p.View.FieldOf("spent"))
	if budget == nil || actual == nil || budget == actual {
		return ReasonUnknown
	}
	p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool { return m.Field == budget || m.Field == actual && !left })
	switch {
	case over && left || len(p.Measures) > 0:
		return ReasonUnclear
	case left:
		p.Measures = []Measure{{Field: minus(budget, actual)}}
	case p.Superlative != nil || p.diff || p.Asks == "much":
		p.diff = false
		p.Measures = []Measure{{Field: minus(actual, budget)}}
	default:
		p.Filters = append(p.Filters, fieldFilter(actual, ">", budget))
	}
	return ""
}

// multiplied reads "quantity times unit cost".
func (p *roles) multiplied() Reason {
	for i, x := range p.Pieces {
		if x.Kind != speech.KindTimes || p.used[i] {
			continue
		}
		if x.Field != nil {
			p.worth(i)
			continue
		}
		a, b := p.near(i, -1), p.near(i, 1)
		if a.Kind != speech.KindField || b.Kind != speech.KindField || a.Field == b.Field || !a.Field.Measure() || !b.Field.Measure() {
			return ReasonUnclear
		}
		p.used[i-1], p.used[i], p.used[i+1] = true, true, true
		f := p.View.Product(b.Field)
		if f == nil || !slices.Contains(f.Factors, a.Field) {
			f = &schema.Field{Column: schema.Column{Name: "value", Type: "number", Unit: b.Field.UnitSymbol()}, Table: b.Field.Table, Factors: []*schema.Field{a.Field, b.Field}, Words: []speech.Word{{Fold: "amount", Stem: speech.Stem("amount")}}}
		}
		p.Measures = append(p.Measures, Measure{Field: f})
		for k, y := range p.Pieces {
			if y.Kind == speech.KindField && slices.Contains(f.Factors, y.Field) {
				p.used[k] = true // what is the stock worth
			}
		}
	}
	return ""
}

// worth uses the value of a stock as a measure; the stock is not another measure beside it.
func (p *roles) worth(i int) {
	f := p.Pieces[i].Field
	p.used[i] = true
	p.Measures = append(p.Measures, Measure{Field: f})
	first := p.Text.Tokens[0].Fold
	for k, y := range p.Pieces {
		if y.Kind == speech.KindEntity && (first == "what" || first == "was" || first == "how" || first == "wie") || y.Kind == speech.KindField && (slices.Contains(f.Factors, y.Field) || y.Field.Factors != nil && slices.Equal(y.Field.Factors, f.Factors)) {
			p.used[k] = true
		}
	}
}
