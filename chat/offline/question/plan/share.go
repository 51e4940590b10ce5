package plan

import (
	"slices"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// decideShare determines what a share is of.
func (p *Plan) decideShare() Reason {
	p.Op = OpShare
	if p.ofRows() {
		p.Measures = nil
	}
	if len(p.Measures) == 0 && !p.hasRows() && p.implied() != nil {
		p.Measures = []Measure{{Field: p.implied()}}
	}
	conds := 0
	for _, f := range p.Filters {
		if f.restricts() {
			conds++
		}
	}
	if p.ShareCond() < 0 || len(p.Measures) > 1 || len(p.Groups) > 0 || p.Unit != "" || p.Superlative != nil || p.Either != nil && conds > 1 || p.Aggregate != "" && p.Aggregate != "sum" {
		return ReasonUnclear
	}
	part := p.Filters[p.ShareCond()]
	p.onlyTotal(part.Field, false)
	if all := p.Filters[len(p.Filters)-1]; p.First() == nil && all.Total && slices.ContainsFunc(all.values, func(v string) bool { return slices.Contains(part.values, v) }) {
		return ReasonUnclear // of the total, which is a row
	}
	if m := p.First(); m != nil {
		if n := p.Nature(m.Field); n != "sum" && !(n == "" && (m.Field.Named("population") || things(m.Field, ""))) || m.Field.Mixed() {
			return ReasonUnclear // amounts of both directions have no share of their balance
		}
		m.How = "sum"
	} else if p.has(p.doubtful) {
		return ReasonAmbiguous // the sales: a count, or an amount
	}
	if conds > 1 || p.times() > 0 && p.shareOfTime() {
		return ReasonAmbiguous
	}
	return ""
}

// doubtful reports whether a word for the rows may mean their amount: the sales, the population, the donations.
func (p *Plan) doubtful(x parse.Piece) bool {
	means := func(c string) bool { return p.Text.Lex.Means(p.word(x).Stem, c) }
	switch {
	case x.Kind != speech.KindEntity:
		return false
	case p.amounts(x):
		return !p.View.Survey
	case !p.View.HoldsMoney():
		return false
	case means("donation"):
		return p.View.OnlyMeasure() != nil && !p.Filters[p.ShareCond()].Field.Boolean()
	}
	return p.Text.Sales(p.word(x)) || !slices.ContainsFunc(schema.RowConcepts, means)
}

// ofRows reports whether a share is a share of the rows, whatever number its condition
// names: what percentage of members have paid their fee.
func (p *Plan) ofRows() bool {
	for i, x := range p.Pieces {
		if b := p.near(i, -1); (x.Rows() || x.Kind == speech.KindField && x.Field.Key() && p.View.Unique(x.Field)) && b.Kind == speech.KindAgg && b.Arg == "share" && b.To >= x.From-2 {
			return len(p.Measures) == 1 && p.has(func(m parse.Piece) bool {
				return m.Kind == speech.KindField && m.Field == p.Measures[0].Field && m.From > x.To
			})
		}
	}
	return false
}

// shareOfTime reports whether a share is of a time, with the value as what it is a share in: what percentage of the tea
// was sold in 2023.
func (p *explanation) shareOfTime() bool {
	value := slices.IndexFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindValue })
	if value < 0 {
		return false
	}
	time := slices.IndexFunc(p.Pieces[value:], func(x parse.Piece) bool { return x.Kind == speech.KindTime })
	return time > 0 && slices.ContainsFunc(p.Text.Tokens[p.Pieces[value].To:p.Pieces[value+time].From], func(t speech.Token) bool { return predicates[t.Fold] })
}

// predicates are verbs between what a share is of and what it is a share of.
var predicates = speech.Folded("would will did do does are is were was be been wurden wurde worden sind ist waren war work works have has had arbeiten haben live come came")

// decideChange plans a change between two times, or a trend.
func (p *Plan) decideChange() Reason {
	if len(p.Measures) == 0 {
		switch {
		case p.Asks != "many" && p.Counted == nil && p.implied() != nil:
			p.Measures = []Measure{{Field: p.implied()}}
		case p.Asks == "many" || p.Counted != nil || p.hasRows() && !(p.findTime() && p.View.Unique(p.Time)):
			if reason := p.decideCount(); reason != "" && len(p.Periods) < 2 {
				return reason
			}
		default:
			return ReasonUnclear
		}
	}
	if !p.findTime() || len(p.Measures) > 1 || len(p.Groups) > 1 || p.Either != nil || p.Aggregate == "median" {
		return ReasonUnclear
	}
	if p.First() != nil && p.sinceWhen() {
		return ReasonUnclear
	}
	if p.Target != nil && p.Target != p.Time && len(p.Groups) == 0 {
		p.Groups = []*schema.Field{p.Target}
	}
	if m := p.First(); m != nil {
		if m.How = p.Aggregate; m.How == "" {
			m.How = p.Nature(m.Field)
		}
		if m.How == "" && p.Asks == "many" {
			m.How = "sum" // by how many tonnes
		}
		if m.How == "" && len(p.Periods) < 2 && p.View.Unique(p.Time) && !p.View.Things() {
			m.How = "avg" // of the months of each year
		}
	}
	if len(p.Periods) == 2 {
		if p.Superlative != nil && len(p.Groups) == 0 || p.Unit != "" {
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
	if p.Superlative != nil || p.Asks == "much" && len(p.Periods) > 0 || p.diff {
		return ReasonUnclear
	}
	p.Op = OpTrend
	if p.Unit == "" || p.Unit == "day" {
		p.Unit = p.trendUnit()
	}
	return p.needTime()
}

// sinceWhen reports whether the only times say since when there is what a row names: the salaries by the dates on which
// people were hired are no course of the salaries.
func (p *Plan) sinceWhen() bool {
	named := slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Text() && !f.Key() && p.View.Unique(f) })
	asked := p.has(func(x parse.Piece) bool { return x.Kind == speech.KindField && x.Field == p.Time })
	return named && !asked && (p.Time.Named("hire") || p.Time.Named("birth") || p.Time.Has(begun))
}

var begun = speech.Folded("founded opened built established registered signup since launched installed planted gegründet eröffnet gebaut baujahr seit gepflanzt restocked")

// maxPoints is the maximum number of months of all lines of a trend together, which one result can hold.
const maxPoints = 240

// trendUnit returns the unit of time that makes a trend readable.
func (p *Plan) trendUnit() string {
	low, _ := p.Time.Min.(string)
	high, _ := p.Time.Max.(string)
	if !p.Time.Dated() || len(low) < 10 || len(high) < 10 {
		return "year"
	}
	first, _ := speech.IsoPeriod(low[:10])
	last, _ := speech.IsoPeriod(high[:10])
	months, lines := int64((last.Year-first.Year)*12+last.N-first.N), int64(1)
	for _, g := range p.Groups {
		lines = max(lines, g.Distinct)
	}
	switch {
	case months <= 1:
		return "day"
	case months <= 12, months <= 48 && months*lines <= maxPoints:
		return "month"
	}
	return "year"
}
