package question

import (
	"slices"
)

// conditions reads comparisons with numbers and columns, missing values and values.
func (p *plan) conditions() Reason {
	for i, x := range p.ps {
		if p.used[i] && x.kind != kindMore {
			continue
		}
		var why Reason
		switch x.kind {
		case kindCmp:
			why = p.compareNumber(i)
		case kindBound:
			if x.arg == "between" {
				why = p.between(i)
			}
		case kindNot:
			if n := p.near(i, 1); n != nil && n.kind == kindField && n.field.dated() && n.field.Missing > 0 && n.field.table == 0 && verbal(p.r.ts[n.from].fold) {
				p.used[i], p.used[i+1] = true, true // not returned yet
				p.filters = append(p.filters, nullFilter(n.field, p.say("no value", "kein Wert")))
			}
		case kindMore:
			why = p.moreThan(i)
		case kindMissing, kindUnusable:
			why = p.missing(i)
		case kindValue:
			p.takeValue(i)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// value makes a condition of a value; a second one of the same column joins it.
func (p *plan) takeValue(i int) {
	x := p.ps[i]
	p.used[i] = true
	not := false
	if b := p.near(i, -1); b != nil && b.kind == kindNot {
		p.used[i-1], not = true, true
	}
	if b := p.near(i, -1); b != nil && b.kind == kindBy {
		p.used[i-1] = true // by Anna
	}
	for k, f := range p.filters {
		if f.field == x.field && len(f.values) > 0 && !not && slices.Equal(f.values, x.values) {
			return // unpaid, with the status "Unpaid"
		}
		if f.field == x.field && len(f.values) > 0 && !not {
			values := append(slices.Clone(f.values), x.values...)
			p.filters[k] = valueFilter(x.field, values, false)
			p.either = x.field
			return
		}
	}
	f := valueFilter(x.field, x.values, not)
	f.at = x.from
	p.filters = append(p.filters, f)
}

// numAt reads a number, also one that looks like a year.
func (p *plan) numAt(i int) (float64, bool) {
	if i < 0 || i >= len(p.ps) || p.used[i] {
		return 0, false
	}
	switch x := p.ps[i]; {
	case x.kind == kindNum:
		return x.num, true
	case x.kind == kindTime && x.period.unit == "year":
		return float64(x.period.year), true
	}
	return 0, false
}

func (p *plan) compareNumber(i int) Reason {
	x := p.ps[i]
	p.used[i] = true
	at := i + 1
	n, ok := p.numAt(at)
	if !ok && (x.arg == ">=" || x.arg == "<=") {
		at = i - 1
		n, ok = p.numAt(at)
	}
	if n := p.near(i, 1); !ok && n != nil && n.kind == kindValue && p.r.ts[n.from].num != nil {
		return "" // over 100 m freestyle
	}
	if !ok {
		return p.compareColumns(i)
	}
	p.used[at] = true
	f := p.comparedField(x, i, max(i, at)+1)
	if f == nil {
		return ReasonUnclear
	}
	if u := p.near(at, 1); u != nil && u.kind == kindUnit && u.arg == "year" && u.from == p.ps[at].to && f.named(p.r.lex, "age") {
		p.used[at+1] = true // older than 30 years
	}
	if n, ok = p.inUnitOf(f, at, n); !ok {
		return ReasonUnclear
	}
	p.filters = append(p.filters, numberFilter(f, x.arg, n))
	return ""
}

// comparedField is the column that a number is compared with: named by the comparison,
// behind the number, before the comparison, or the only one there is.
func (p *plan) comparedField(x piece, before, after int) *field {
	if x.about == "length" && p.fieldOf("length") == nil {
		if f := p.fieldOf("duration"); f != nil {
			return f
		}
		return p.lasting()
	}
	if x.about != "" {
		return p.fieldOf(x.about)
	}
	for k := before; k < after && k < len(p.ps); k++ {
		if p.ps[k].kind != kindNum || p.ps[k].to-p.ps[k].from < 2 {
			continue
		}
		if f := p.v.inUnit(p.r.lex, p.r.ts[p.ps[k].to-1].fold); f != nil {
			p.takeNext(f, before, after)
			return f
		}
	}
	for after < len(p.ps) && p.ps[after].kind == kindValue {
		after++ // more than 70 vegetarian meals
	}
	if after < len(p.ps) && p.ps[after].kind == kindField && !p.used[after] && p.ps[after].field.measure(p.r.lex) {
		p.used[after] = true
		return p.ps[after].field
	}
	for k := before - 1; k >= 0; k-- {
		if f := p.ps[k].field; p.ps[k].kind == kindField && f.measure(p.r.lex) {
			// The column is asked for as well, unless it only serves the comparison.
			if before-k == 1 || p.asked(k) == nil {
				p.used[k] = true
			}
			return f
		}
	}
	if f := p.onlyMeasure(); f != nil {
		return f
	}
	for _, x := range p.ps {
		if x.kind == kindEntity && x.arg == "rows" && (p.r.lex.means(p.r.ts[x.from].stem, "order") || p.r.lex.means(p.r.ts[x.from].stem, "invoice")) {
			return p.fieldOf("amount") // invoices over 1,000
		}
	}
	return nil
}

// compareColumns reads "below the reorder level".
func (p *plan) compareColumns(i int) Reason {
	n := p.near(i, 1)
	if n == nil || n.kind != kindField || p.used[i+1] || !n.field.measure(p.r.lex) {
		return ReasonUnclear
	}
	p.used[i+1] = true
	var left *field
	for k := i - 1; k >= 0 && left == nil; k-- {
		if p.ps[k].kind == kindField && p.ps[k].field.measure(p.r.lex) {
			left, p.used[k] = p.ps[k].field, true
		}
	}
	for _, c := range []string{"stock", "quantity", "actual"} {
		for _, f := range p.v.fields {
			if left == nil && f != n.field && f.table == 0 && f.measure(p.r.lex) && f.named(p.r.lex, c) {
				left = f
			}
		}
	}
	if left == nil || left == n.field {
		return ReasonUnclear
	}
	p.filters = append(p.filters, fieldFilter(left, p.ps[i].arg, n.field))
	if p.sup != nil && len(p.measures) == 0 && p.sup.from > n.from {
		a, b := left, n.field
		if p.ps[i].arg == "<" {
			a, b = b, a
		}
		p.measures = append(p.measures, measure{field: &field{
			Column: Column{Name: a.label() + " − " + b.label(), Type: "number", Unit: a.unit()}, words: []word{{fold: "amount", stem: stem("amount")}}, factors: []*field{a, b}, less: true,
		}})
	}
	return ""
}

// moreThan reads "less in stock than the reorder level", "more inflow than outflow".
func (p *plan) moreThan(i int) Reason {
	if i+3 >= len(p.ps) || p.ps[i+1].kind != kindField || p.ps[i+2].arg != "than" || p.ps[i+3].kind != kindField || p.ps[i].about != "" {
		return ""
	}
	a, b := p.ps[i+1].field, p.ps[i+3].field
	if a == b || !a.measure(p.r.lex) || !b.measure(p.r.lex) {
		return ReasonUnclear
	}
	for k := i; k <= i+3; k++ {
		p.used[k] = true
	}
	p.more = nil
	p.filters = append(p.filters, fieldFilter(a, map[string]string{"desc": ">", "asc": "<"}[p.ps[i].arg], b))
	return ""
}

// between reads "between 10 and 20"; two times are read with the times.
func (p *plan) between(i int) Reason {
	low, ok := p.numAt(i + 1)
	high, ok2 := 0.0, false
	if j := p.near(i, 2); j != nil && j.kind == kindJoin {
		high, ok2 = p.numAt(i + 3)
	}
	if !ok || !ok2 {
		return ""
	}
	f := p.comparedField(p.ps[i], i, i+4)
	if f == nil {
		return ReasonUnclear
	}
	for k := i; k < i+4; k++ {
		p.used[k] = true
	}
	p.filters = append(p.filters, numberFilter(f, ">=", low), numberFilter(f, "<=", high))
	return ""
}

// missing reads "no email", "the email is missing", "without a phone number".
func (p *plan) missing(i int) Reason {
	for _, step := range []int{1, -1, -2} {
		n := p.near(i, step)
		if n == nil || p.used[i+step] {
			continue
		}
		if n.kind == kindValue && step == 1 && (n.from != p.ps[i].to || !denying[p.r.ts[p.ps[i].from].fold]) {
			continue // missing at the harbour
		}
		if n.kind == kindValue && step == 1 {
			p.used[i] = true
			p.filters = append(p.filters, valueFilter(n.field, n.values, true))
			p.used[i+1] = true
			return ""
		}
		if n.kind != kindField || step < 0 && p.ps[i].kind == kindMissing && (p.r.ts[p.ps[i].from].fold == "ohne" || p.r.ts[p.ps[i].from].fold == "without") {
			continue
		}
		f := n.field
		p.used[i], p.used[i+step] = true, true
		switch {
		case p.ps[i].kind == kindUnusable:
			p.counted, p.op = f, "unusable"
		case f.boolean() || yesNo(f):
			p.filters = append(p.filters, boolFilter(f, false))
		case f.Missing+f.Unusable == 0 && f.numeric():
			p.filters = append(p.filters, numberFilter(f, "=", 0))
		default:
			p.filters = append(p.filters, nullFilter(f, p.say("no value", "kein Wert")))
		}
		return ""
	}
	return ReasonUnclear
}

// truths reads columns of yes and no as conditions: "are active", "would recommend us".
func (p *plan) truths() Reason {
	for i, x := range p.ps {
		if x.kind != kindField || p.used[i] || !x.field.boolean() && !yesNo(x.field) || p.by(i) {
			continue
		}
		if a := p.asked(i); a != nil && a.arg != "many" && a.arg != "list" && (a.arg != "which" || !p.share) {
			continue
		}
		not := false
		if b := p.near(i, -1); b != nil && b.kind == kindNot {
			p.used[i-1], not = true, true
		}
		p.used[i] = true
		f := boolFilter(x.field, !not)
		f.at = x.from
		p.filters = append(p.filters, f)
	}
	return ""
}

// takeNext marks the column that stands beside a comparison as read, if it is the one compared.
func (p *plan) takeNext(f *field, before, after int) {
	for _, k := range []int{after, before - 1} {
		if k >= 0 && k < len(p.ps) && p.ps[k].kind == kindField && p.ps[k].field == f && p.asked(k) == nil {
			p.used[k] = true
		}
	}
}
