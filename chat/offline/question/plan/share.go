package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// yesNo reports whether a text column holds yes and no.
func yesNo(f *schema.Field) bool {
	yes, no := false, false
	for _, v := range f.Values {
		s, _ := v.(string)
		yes, no = yes || truth(s), no || untruth(s)
	}
	return f.Text() && yes && no
}

// decideShare determines what a share is of.
func (p *Plan) decideShare() Reason {
	p.Op = OpShare
	if p.ofRows() {
		p.Measures = nil
	}
	if len(p.Measures) > 1 {
		return ReasonUnclear
	}
	if len(p.Measures) == 0 {
		f, doubt := p.shareOf()
		if doubt {
			return ReasonAmbiguous
		}
		if f != nil {
			p.Measures = []Measure{{Field: f}}
		}
	}
	if len(p.Measures) == 1 {
		m := &p.Measures[0]
		if n := p.Nature(m.Field); n != "sum" && !(n == "" && m.Field.Type == "integer") {
			return ReasonUnclear
		}
		if m.Field.Mixed() {
			return ReasonAmbiguous // amounts of both directions have no share of their balance
		}
		m.How = "sum"
	}
	conds := 0
	for _, f := range p.Filters {
		if f.restricts() {
			conds++
		}
	}
	if len(p.Groups) > 0 || conds == 0 || p.Superlative != nil || p.Either != nil && conds > 1 {
		return ReasonUnclear
	}
	if conds == 1 && p.times() > 0 && p.shareOfTime() || conds > 1 && !p.orderShare(conds) {
		return ReasonAmbiguous
	}
	return ""
}

// ofRows reports whether a share is a share of the rows, whatever number its condition
// names: what percentage of members have paid their fee.
func (p *Plan) ofRows() bool {
	return len(p.Measures) == 1 && len(p.Groups) == 0 && slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		row := x.Rows() || x.Kind == speech.KindField && x.Field.Key() && p.View.Unique(x.Field)
		return row && x.From > 1 && p.Text.Tokens[x.From-1].Fold == "of" && p.Text.Tokens[x.From-2].Fold != "total" &&
			slices.ContainsFunc(p.Pieces, func(a parse.Piece) bool {
				return a.Kind == speech.KindAgg && a.Arg == "share" && (a.To == x.From-1 || a.To == x.From)
			}) &&
			slices.ContainsFunc(p.Pieces, func(m parse.Piece) bool {
				return m.Kind == speech.KindField && m.Field == p.Measures[0].Field && m.From > x.To
			})
	})
}

// orderShare moves the condition whose share is asked for to the end: both "what percentage
// of A are B" and "the share of B in A" ask for B.
func (p *conditions) orderShare(conds int) bool {
	if conds != 2 {
		return false
	}
	var at []int
	for i, x := range p.Pieces {
		if x.Kind == speech.KindValue || x.Kind == speech.KindField && (x.Field.Boolean() || yesNo(x.Field)) {
			at = append(at, i)
		}
	}
	if len(at) != 2 {
		return false
	}
	to := p.Pieces[at[1]].From
	if p.Pieces[at[1]].Kind == speech.KindField {
		to++ // a column may begin with the verb: would recommend
	}
	slices.SortStableFunc(p.Filters, func(a, b Filter) int { return a.at - b.at })
	if slices.ContainsFunc(p.Text.Tokens[p.Pieces[at[0]].To:to], func(t speech.Token) bool { return predicates[t.Fold] }) {
		return true // the later one is the last condition already
	}
	// share of women in IT: the first is asked for
	first := slices.IndexFunc(p.Filters, Filter.restricts)
	f := p.Filters[first]
	p.Filters = append(slices.Delete(p.Filters, first, first+1), f)
	return true
}

// shareOfTime reports whether a share is of a time, with the value as what it is a share in: what percentage of the tea
// was sold in 2023.
func (p *explanation) shareOfTime() bool {
	value := slices.IndexFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindValue })
	if value < 0 {
		return false
	}
	from := p.Pieces[value].To
	time := slices.IndexFunc(p.Pieces[value:], func(x parse.Piece) bool { return x.Kind == speech.KindTime })
	return time > 0 && slices.ContainsFunc(p.Text.Tokens[from:p.Pieces[value+time].From], func(t speech.Token) bool { return parse.Beings[t.Fold] || passive[t.Fold] })
}

// predicates are verbs between what a share is of and what it is a share of.
var predicates = speech.Folded("would will did do does are is were was wurden wurde sind ist waren work works have has had arbeiten haben live come came")

// decideChange plans a change between two times, or a trend.
func (p *Plan) decideChange() Reason {
	if len(p.Measures) == 0 {
		f, counts := cmp.Or(p.implied(), p.given()), p.Asks == "many" || p.Counted != nil
		switch {
		case !counts && f != nil && (f == p.given() || p.topicMeasure(f)):
			p.Measures = []Measure{{Field: f}}
		case !counts && p.allMeasures():
			p.Op = OpCourse
			return ""
		case counts || p.hasRows() && !p.onePerTime():
			if reason := p.decideCount(); reason != "" && len(p.Periods) < 2 {
				return reason
			}
		default:
			return ReasonUnclear
		}
	}
	if !p.findTime() || len(p.Measures) > 1 || len(p.Groups) > 1 {
		return ReasonUnclear
	}
	if p.Target != nil && p.Target != p.Time && len(p.Groups) == 0 {
		p.Groups = []*schema.Field{p.Target}
	}
	for i := range p.Measures {
		m := &p.Measures[i]
		m.How = cmp.Or(p.Aggregate, p.Nature(m.Field))
		if m.How == "" && p.Asks == "many" && moneyOrMass[m.Field.UnitName()] {
			m.How = "sum" // by how many tonnes
		}
	}
	if len(p.Periods) == 2 {
		if p.Superlative != nil && len(p.Groups) == 0 {
			return ReasonUnclear
		}
		for _, t := range p.Periods {
			if _, ok := p.TimeFilter(t, ""); !ok { // months, where the tables have only years
				return ReasonUnclear
			}
		}
		p.Op = OpChange
		return ""
	}
	if p.Superlative != nil || p.Asks == "much" && len(p.Periods) > 0 || p.diff || p.Aggregate == "median" {
		return ReasonUnclear
	}
	p.Op = OpTrend
	if p.Unit == "" || p.Unit == "day" {
		p.Unit = p.trendUnit()
	}
	return p.needTime()
}

// moneyOrMass are units of amounts whose change is a change of sums.
var moneyOrMass = speech.Folded("usd eur chf gbp t kg g l kwh mwh gwh twh m3 km")

// onePerTime reports whether each row has a distinct time.
func (p *conditions) onePerTime() bool {
	return p.findTime() && p.Time.Table == 0 && p.View.Unique(p.Time)
}

// allMeasures takes the few numbers of a table that has one row for each time if the
// question only names its topic: renewable energy trends.
func (p *roles) allMeasures() bool {
	if !p.has(speech.KindEntity) || !p.onePerTime() || len(p.Periods) > 0 || len(p.Groups)+len(p.attrs) > 0 || p.Superlative != nil {
		return false
	}
	var all []Measure
	for _, f := range p.View.Fields {
		if f.Table == 0 && f.Factors == nil && f.Measure() {
			all = append(all, Measure{Field: f})
		}
	}
	if len(all) == 0 || len(all) > MaxSeries {
		return false
	}
	p.Measures = all
	return true
}

// topicMeasure reports whether the table's topic is what its only number measures: the
// population of population.csv, not the orders of orders.csv.
func (p *explanation) topicMeasure(f *schema.Field) bool {
	if l := strings.ToLower(f.Label()); l == "value" || l == "wert" || l == "values" {
		return true
	}
	for _, x := range p.Pieces {
		if x.Kind != speech.KindEntity {
			continue
		}
		st := p.Text.Tokens[x.From].Stem
		if p.Text.Lex.Means(st, "revenue") && f.Named("amount") {
			return true // the amount of sales
		}
		if !p.Text.Lex.Means(st, "order") && slices.ContainsFunc(slices.Concat([]string{"population", "electricity", "concentration"}, schema.Additive, schema.Ratelike), func(c string) bool { return p.Text.Lex.Means(st, c) }) {
			return true
		}
	}
	return false
}

func (p *explanation) has(kind speech.Kind) bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == kind })
}

func (p *explanation) hasRows() bool { return slices.ContainsFunc(p.Pieces, parse.Piece.Rows) }

// maxPoints is the maximum number of months of all lines of a trend together, which one result can hold.
const maxPoints = 240

// trendUnit returns the unit of time that makes a trend readable.
func (p *roles) trendUnit() string {
	if !p.Time.Dated() {
		return "year"
	}
	low, _ := p.Time.Min.(string)
	high, _ := p.Time.Max.(string)
	if len(low) < 10 || len(high) < 10 {
		return "year"
	}
	first, _ := speech.IsoPeriod(low[:10])
	last, _ := speech.IsoPeriod(high[:10])
	months := (last.Year-first.Year)*12 + last.N - first.N
	lines := int64(1)
	for _, g := range p.Groups {
		lines = max(lines, g.Distinct)
	}
	switch {
	case months <= 1:
		return "day"
	case months <= 12, months <= 48 && int64(months)*lines <= maxPoints:
		return "month"
	}
	return "year"
}
