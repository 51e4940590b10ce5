package question

import (
	"cmp"
	"slices"
	"strings"
)

// decideShare settles of what a share is asked.
func (p *plan) decideShare() Reason {
	if len(p.measures) > 1 {
		return ReasonUnclear
	}
	if len(p.measures) == 0 {
		f, doubt := p.shareOf()
		if doubt {
			return ReasonAmbiguous
		}
		if f != nil {
			p.measures = []measure{{field: f}}
		}
	}
	if len(p.measures) == 1 {
		m := &p.measures[0]
		if m.field.unit() == "%" && p.agg == "" && len(p.groups) == 0 {
			p.op, m.how = opValue, ""
			return p.decideValue()
		}
		if n := p.nature(m.field); n != "sum" && !(n == "" && m.field.Type == "integer") {
			return ReasonUnclear
		}
		m.how = "sum"
	}
	conds := 0
	for _, f := range p.filters {
		if !f.total && f.period == nil && f.text != "" {
			conds++
		}
	}
	if p.target != nil && len(p.groups) == 0 && conds == 0 {
		p.groups = []*field{p.target}
	}
	if len(p.groups) > 1 || conds == 0 && len(p.groups) == 0 || p.sup != nil || p.either != nil && conds > 1 {
		return ReasonUnclear
	}
	if conds > 1 && !p.orderShare(conds) {
		return ReasonAmbiguous
	}
	return ""
}

// orderShare moves the condition whose share is asked to the end: what percentage of A
// are B asks for B; the share of B in A too.
func (p *plan) orderShare(conds int) bool {
	if conds != 2 {
		return false
	}
	verb := -1
	var at []int
	for i, x := range p.ps {
		if x.kind == kindValue || x.kind == kindField && (x.field.boolean() || yesNo(x.field)) {
			at = append(at, i)
		}
	}
	if len(at) != 2 {
		return false
	}
	for k := p.ps[at[0]].to; k < p.ps[at[1]].from; k++ {
		switch p.r.ts[k].fold {
		case "would", "will", "did", "do", "does", "are", "is", "were", "was", "würden", "wurden", "wurde", "sind", "ist", "waren", "work", "works", "have", "has", "had", "arbeiten", "haben", "live", "come", "came":
			verb = k
		}
	}
	own := func(f filter) bool { return !f.total && f.period == nil && f.text != "" }
	slices.SortStableFunc(p.filters, func(a, b filter) int { return a.at - b.at })
	if verb >= 0 {
		return true // the later one is the last condition already
	}
	// share of women in IT: the first is asked for
	first := slices.IndexFunc(p.filters, own)
	f := p.filters[first]
	p.filters = append(slices.Delete(p.filters, first, first+1), f)
	return true
}

// decideChange settles a change between two times or a development.
func (p *plan) decideChange() Reason {
	if len(p.measures) == 0 {
		f := cmp.Or(p.implied(), p.given())
		switch {
		case f != nil && f == p.v.coins && p.given() == f && p.asks != "many" && p.counted == nil:
			p.measures = []measure{{field: f, how: "sum"}}
		case f != nil && p.asks != "many" && p.counted == nil && p.topicMeasure(f):
			p.measures = []measure{{field: f}}
		case p.asks != "many" && p.counted == nil && p.allMeasures():
			p.op = opCourse
			return ""
		case p.asks == "many" || p.counted != nil || p.hasRows() && !p.onePerTime():
			if why := p.decideCount(); why != "" && len(p.periods) < 2 {
				return why
			}
		default:
			return ReasonUnclear
		}
	}
	if p.time == nil {
		p.time = p.timeField(nil)
	}
	if p.time == nil || len(p.measures) > 1 || len(p.groups) > 1 {
		return ReasonUnclear
	}
	if p.target != nil && p.target != p.time && len(p.groups) == 0 {
		p.groups = []*field{p.target}
	}
	for i := range p.measures {
		m := &p.measures[i]
		m.how = p.agg
		if m.how == "" && p.asks == "many" && p.nature(m.field) == "" && moneyOrMass[m.field.unitName()] {
			m.how = "sum" // by how many tonnes
		}
		if m.how == "" {
			m.how = map[string]string{"sum": "sum", "rate": "avg", "max": "max", "min": "min", "": ""}[p.nature(m.field)]
		}
	}
	if len(p.periods) == 2 {
		if p.sup != nil && len(p.groups) == 0 {
			return ReasonUnclear
		}
		p.op = opChange
		return ""
	}
	if p.sup != nil || p.asks == "much" && len(p.periods) > 0 || p.diff {
		return ReasonUnclear
	}
	p.op = opTrend
	if p.unit == "" || p.unit == "day" {
		p.unit = p.trendUnit()
	}
	return p.needTime()
}

// onePerTime says whether each row has a time of its own.
func (p *plan) onePerTime() bool {
	if p.time == nil {
		p.time = p.timeField(nil)
	}
	return p.time != nil && p.time.table == 0 && p.time.unique(p.v.tables[0].RowCount)
}

// allMeasures takes the few numbers of a table that has one row for each time, where the
// question only names its topic: renewable energy trends.
func (p *plan) allMeasures() bool {
	named := slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindEntity })
	if !named || !p.onePerTime() || len(p.periods) > 0 || len(p.groups)+len(p.attrs) > 0 || p.sup != nil {
		return false
	}
	var all []measure
	for _, f := range p.v.fields {
		if f.table == 0 && f.factors == nil && f.measure(p.r.lex) {
			all = append(all, measure{field: f})
		}
	}
	if len(all) == 0 || len(all) > mostSeries {
		return false
	}
	p.measures = all
	return true
}

// topicMeasure says whether the table's topic is what its only number measures: the
// population of population.csv, not the orders of orders.csv.
func (p *plan) topicMeasure(f *field) bool {
	if l := strings.ToLower(f.label()); l == "value" || l == "wert" || l == "values" {
		return true
	}
	for _, x := range p.ps {
		if x.kind != kindEntity {
			continue
		}
		st := p.r.ts[x.from].stem
		if p.r.lex.means(st, "revenue") && f.named(p.r.lex, "amount") {
			return true // the amount of sales
		}
		for _, c := range append(append([]string{"population", "electricity", "concentration"}, additive...), ratelike...) {
			if p.r.lex.means(st, c) && !p.r.lex.means(st, "order") {
				return true
			}
		}
	}
	return false
}

func (p *plan) hasRows() bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindEntity && x.arg == "rows" })
}

// trendUnit is the unit of time that makes a development readable.
func (p *plan) trendUnit() string {
	if !p.time.dated() {
		return "year"
	}
	low, _ := p.time.Min.(string)
	high, _ := p.time.Max.(string)
	if len(low) < 10 || len(high) < 10 {
		return "year"
	}
	first, _ := isoPeriod(low[:10])
	last, _ := isoPeriod(high[:10])
	months := (last.year-first.year)*12 + last.n - first.n
	switch {
	case months <= 1:
		return "day"
	case months <= 48:
		return "month"
	}
	return "year"
}
