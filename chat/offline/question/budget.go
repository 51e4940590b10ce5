package question

import "slices"

// minus is the difference of two numbers of a row.
func minus(a, b *field) *field {
	return &field{
		Column: Column{Name: a.label() + " − " + b.label(), Type: "number", Unit: a.unit()}, words: []word{{fold: "amount", stem: stem("amount")}}, factors: []*field{a, b}, less: true,
	}
}

// overBudget reads "went over budget": a condition, or what it is over by.
func (p *plan) overBudget() Reason {
	if !p.over {
		return ""
	}
	budget, actual := p.fieldOf("budget"), p.fieldOf("actual")
	if actual == nil {
		actual = p.fieldOf("spent")
	}
	if budget == nil || actual == nil || budget == actual {
		return ReasonUnknown
	}
	p.measures = slices.DeleteFunc(p.measures, func(m measure) bool { return m.field == budget || m.field == actual })
	if len(p.measures) > 0 {
		return ReasonUnclear
	}
	if p.sup != nil || p.diff || p.asks == "much" {
		p.diff = false
		p.measures = []measure{{field: minus(actual, budget)}}
		return ""
	}
	p.filters = append(p.filters, fieldFilter(actual, ">", budget))
	return ""
}

// multiplied reads "quantity times unit cost".
func (p *plan) multiplied() Reason {
	for i, x := range p.ps {
		if x.kind != kindTimes || p.used[i] {
			continue
		}
		a, b := p.near(i, -1), p.near(i, 1)
		if a == nil || b == nil || a.kind != kindField || b.kind != kindField || a.field == b.field || !a.field.measure(p.r.lex) || !b.field.measure(p.r.lex) {
			return ReasonUnclear
		}
		p.used[i-1], p.used[i], p.used[i+1] = true, true, true
		f := p.product(b.field)
		if f == nil || !slices.Contains(f.factors, a.field) {
			f = &field{Column: Column{Name: "value", Type: "number", Unit: b.field.unit()}, table: b.field.table, factors: []*field{a.field, b.field}, words: []word{{fold: "amount", stem: stem("amount")}}}
		}
		p.measures = append(p.measures, measure{field: f})
		for k, y := range p.ps {
			if y.kind == kindField && slices.Contains(f.factors, y.field) {
				p.used[k] = true // what is the stock worth
			}
		}
	}
	return ""
}
