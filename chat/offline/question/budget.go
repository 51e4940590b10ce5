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
	if !p.over && !p.left {
		return ""
	}
	budget, actual := p.fieldOf("budget"), p.fieldOf("actual")
	if actual == nil {
		actual = p.fieldOf("spent")
	}
	if budget == nil || actual == nil || budget == actual {
		return ReasonUnknown
	}
	if p.left {
		p.measures = slices.DeleteFunc(p.measures, func(m measure) bool { return m.field == budget })
		if p.over || len(p.measures) > 0 {
			return ReasonUnclear
		}
		p.measures = []measure{{field: minus(budget, actual)}}
		return ""
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

// budgetAt finds words for what is left of a budget and, where a table has budgets, for what
// is spent.
func (r *reader) budgetAt(v *view, i int) []piece {
	if r.ts[i].quoted {
		return nil
	}
	var budgets, actuals []*field
	for _, f := range v.fields {
		if f.table != 0 || f.factors != nil || !f.measure(r.lex) {
			continue
		}
		if f.named(r.lex, "remaining") {
			return nil
		}
		if f.named(r.lex, "budget") {
			budgets = append(budgets, f)
		}
		if f.named(r.lex, "actual") {
			actuals = append(actuals, f)
		}
	}
	if len(budgets) != 1 || len(actuals) != 1 {
		return nil
	}
	switch r.ts[i].fold {
	case "left", "remaining", "unspent", "ubrig", "verbleibt", "verbleibend", "verfugbar":
		return []piece{{kind: kindLeft, from: i, to: i + 1, weight: 4}}
	case "spend", "spent", "spending", "spends", "expenses", "expenditure", "ausgegeben", "ausgaben":
		return []piece{{kind: kindField, field: actuals[0], from: i, to: i + 1, weight: 5}}
	}
	return nil
}

// weather is the condition of days with frost, with rain or without.
func (p *plan) weather(kind string) (filter, bool) {
	if p.tally != "" {
		return filter{}, false
	}
	p.tally = "day"
	switch kind {
	case "frost":
		var found *field
		for _, f := range p.v.fields {
			if f.table == 0 && f.measure(p.r.lex) && f.named(p.r.lex, "temperature") && p.nature(f) == "min" {
				if found != nil {
					return filter{}, false
				}
				found = f
			}
		}
		if found == nil {
			return filter{}, false
		}
		return numberFilter(found, "<", 0), true
	case "wet", "dry":
		if f := p.fieldOf("rain"); f != nil {
			return numberFilter(f, map[string]string{"wet": ">", "dry": "="}[kind], 0), true
		}
	}
	return filter{}, false
}

// sellingPrice is the only price that its name says things sell for.
func (p *plan) sellingPrice() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.measure(p.r.lex) && f.named(p.r.lex, "price") && slices.ContainsFunc(f.words, func(w word) bool { return selling[w.fold] }) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// stockField is the number of pieces that are there.
func (p *plan) stockField() *field {
	if f := p.fieldOf("stock"); f != nil {
		return f
	}
	return p.fieldOf("quantity")
}
