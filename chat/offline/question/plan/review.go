package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// review finds what a plan leaves unanswered of its question.
type review struct{ *Plan }

// unansweredReason returns why a plan does not answer everything that the pieces of its question say:
// what a value is per, how it is aggregated, what it is compared with. A part without
// effect on the statement would make the answer one to another question.
func (p *review) unansweredReason(pieces, verbs []parse.Piece, deed bool) Reason {
	switch {
	case slices.ContainsFunc(pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindField && x.Arg == "rest" && !p.inMeasure(x.Field) && !p.filtered(x.Field) && !slices.ContainsFunc(p.Pieces, func(o parse.Piece) bool { return o.Field == x.Field })
	}):
		return ReasonUnclear
	case p.contradicts() || !p.usesAggregate() || !p.usesGroups() || !p.usesColumns() || !p.usesComparison() || p.severalRows():
		return ReasonUnclear
	case p.First() == nil && p.Counted == nil && p.Tally == "" && p.Superlative == nil && (p.Op == OpCount || p.Op == OpGroups || p.Op == OpCompare) && p.countsRows() && p.View.Counted(),
		p.First() == nil && p.Op == OpRank && p.Counted == nil && p.View.Counted():
		return ReasonAmbiguous // how many loans: the rows, or what their column count adds up to
	case p.judged && (p.First() == nil || !p.First().Field.Scale()):
		return ReasonUnknown // no column of marks
	case p.asksUnrecordedAction() || p.asksOtherKind() || p.countsElsewhere() || p.describesPerson() || p.wantsBoth() || p.ratioOfMost():
		return ReasonUnclear
	case slices.ContainsFunc(verbs, func(x parse.Piece) bool { return !p.fits(speech.LightClasses[p.Text.Tokens[x.From].Fold]) }):
		return ReasonUnknown
	case deed && p.First() == nil && (p.Superlative == nil || p.Superlative.About != "rows"):
		return ReasonUnknown
	}
	return ""
}

// contradicts reports whether two conditions require different values of one column, or one
// leaves open whether the rows without a value meet it.
func (p *conditions) contradicts() bool {
	for i, a := range p.Filters {
		for _, b := range p.Filters[:i] {
			both := slices.ContainsFunc(a.values, func(v string) bool { return slices.Contains(b.values, v) })
			if a.Field == b.Field && len(a.values) > 0 && len(b.values) > 0 && (a.not != b.not || !a.not && !both) {
				return true
			}
		}
		if a.not && !a.Total && a.Field.Missing > 0 {
			return true // outside the North: a row without a region may be outside or not
		}
	}
	return false
}

// usesColumns reports whether every column of names that a ranking is asked about is one of its keys.
func (p *review) usesColumns() bool {
	return p.Op != OpRank || !slices.ContainsFunc(p.attrs, func(f *schema.Field) bool {
		return f.Text() && f.Table == 0 && f != p.Counted && !slices.Contains(p.KeyFields(), f) && !p.filtered(f) && !p.idle(f) && !p.View.NamesRows(f)
	})
}

var joins = speech.Folded("and und")

// usesAggregate reports whether a requested mean is a mean in the result.
func (p *review) usesAggregate() bool {
	and := func(k int) bool { return k > 0 && k < len(p.Text.Tokens) && joins[p.Text.Tokens[k].Fold] }
	for i, x := range p.Pieces {
		at := x.From - 1
		if at > 0 && speech.Articles[p.Text.Tokens[at].Fold] {
			at--
		}
		n := p.near(i, 1)
		again := n.Field != nil && slices.ContainsFunc(p.Pieces[:i], func(o parse.Piece) bool { return o.Field == n.Field })
		if x.Kind == speech.KindAgg && (and(at) && again || and(x.To)) {
			return false // the total and the average amount
		}
	}
	if p.Aggregate != "avg" && p.Aggregate != "median" {
		return true
	}
	switch p.Op {
	case OpValue, OpGroups, OpCompare, OpChange, OpTrend, OpRank:
		return len(p.Measures) > 0 && !slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.How != p.Aggregate })
	}
	return p.Op == OpAcross || p.Op == OpShare
}

// usesGroups reports whether the result is divided by what it is per, and whether all of its parts are answered.
func (p *review) usesGroups() bool {
	switch p.Op {
	case OpList, OpLookup, OpExtreme, OpCount, OpMeter, OpValue, OpUnusable, OpCompare:
		if len(p.Groups) > 0 || p.Unit != "" {
			return false // in which month North sold more than South
		}
	case OpRank:
		if len(p.Groups) > 0 {
			return false // who earns the most in each department
		}
	}
	mean := p.First() != nil && p.First().How == "avg"
	for i, x := range p.Pieces {
		n := p.near(i, 1)
		if x.Kind != speech.KindBy || !dividing[p.Text.Tokens[x.From].Fold] {
			continue
		}
		switch n.Kind {
		case speech.KindField:
			if n.Field.Measure() && !p.inMeasure(n.Field) || p.Superlative != nil && n.Field.Measure() {
				return false // the most per hectare, the price per bed: a ratio
			}
			if mean && p.View.Unique(n.Field) {
				continue // each row is a month
			}
			if !slices.Contains(p.KeyFields(), n.Field) && n.Field != p.perKey && (n.Field != p.Time || p.Unit == "" && p.Op != OpTrend) && !p.inMeasure(n.Field) {
				return false
			}
		case speech.KindEntity:
			if n.Arg == "topic" || p.PerRow && !mean && p.Op != OpGroups && p.Op != OpRank {
				return false // the total per order
			}
		}
	}
	if k := p.RowKey(); mean && p.PerRow && k != nil && (k.Missing > 0 || p.someWithout(k)) {
		return false // per member: some have no rows, or some rows have none
	}
	return !p.PerRow || mean || p.Op != OpValue
}

// someWithout reports whether some of the things that a key identifies may have no rows:
// their table has more, or a condition applies to the rows.
func (p *conditions) someWithout(key *schema.Field) bool {
	for at, j := range p.View.On {
		if at == 0 || j.From != 0 || key.Table != at && (key.Table != 0 || j.OwnKey != key.Name) {
			continue
		}
		own := slices.IndexFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Name == j.OwnKey })
		return own < 0 || p.View.Fields[own].DistinctCapped || p.View.Fields[own].Missing > 0 || p.View.Fields[own].Distinct != p.View.Tables[at].RowCount ||
			slices.ContainsFunc(p.Filters, func(f Filter) bool { return !f.Total && f.Field.Table == 0 })
	}
	return false
}

// dividing are words that say what a value is per.
var dividing = speech.Folded("per pro je each every jeder jede jedes jedem jeden par")

// inMeasure reports whether a column is a measure or a factor of one.
func (p *roles) inMeasure(f *schema.Field) bool {
	return slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f || slices.Contains(m.Field.Factors, f) })
}

// usesComparison reports whether the plan makes the comparison that the question asks for.
func (p *review) usesComparison() bool {
	compares := p.Op == OpCompare || p.Op == OpChange
	if p.diff && !compares && !slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field.Difference }) {
		return false
	}
	if p.Op == OpCompare && p.Aggregate == "" && p.First() != nil && p.First().How == "sum" && slices.ContainsFunc(p.Text.Tokens, p.Text.OfOne) {
		return false // how much longer people wait: not all of them together
	}
	than := slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindJoin && x.Arg == "than" })
	if than && p.more != nil && !compares {
		return false
	}
	both := slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return t.Fold == "both" || t.Fold == "sowohl" })
	return !both || p.Either == nil || len(p.Measures) > 0 // a row has one value, not both
}

// severalRows reports whether a condition on an amount applies to a single row although the
// question may mean all the rows of a name: reps who sold at least ten desks.
func (p *review) severalRows() bool {
	key := p.Counted
	if p.Op == OpList {
		key = p.Target
	}
	if key == nil || key.Table > 0 || p.View.Unique(key) || p.distinct {
		return false
	}
	if p.Op == OpCount && key.ShortNames() {
		return true
	}
	return (p.Op == OpCount || p.Op == OpList) && slices.ContainsFunc(p.Filters, func(f Filter) bool {
		return f.limit != nil && f.limit.Op != "=" && f.Field.Table == 0 && p.Nature(f.Field) == "sum"
	})
}

var moneyNouns = speech.Folded("money geld")

var timeNouns = speech.Folded("time zeit")

// asksOtherKind reports whether the question asks how much money or time, or how often, and
// the measure is something else.
func (p *review) asksOtherKind() bool {
	m := p.First()
	if m == nil {
		return false
	}
	if p.oftenAsked() && p.Op == OpValue && (m.Field.Type != "integer" || m.Field.UnitSymbol() != "") {
		return true // how often it rained is not an amount of rain
	}
	for i := 1; i < len(p.Text.Tokens); i++ {
		if t := p.Text.Tokens[i-1].Fold; t != "much" && t != "viel" && t != "wieviel" {
			continue
		}
		switch t := p.Text.Tokens[i].Fold; {
		case moneyNouns[t]:
			return !p.View.OfMoney(m.Field)
		case timeNouns[t]:
			return sizesOf[m.Field.UnitName()].kind != "time" && !m.Field.Clock() && !slices.ContainsFunc(durations, func(c string) bool { return m.Field.Named(c) })
		}
	}
	return false
}

var durations = strings.Fields("duration hours wait")

// describesPerson reports whether a value only describes a person who identifies another
// row: the manager of Liam Grant is not Liam Grant, a manager.
func (p *review) describesPerson() bool {
	if p.Op == OpCount || p.Op == OpShare {
		return false
	}
	for i, x := range p.Pieces {
		n := p.near(i, 1)
		if x.Kind == speech.KindValue && n.Kind == speech.KindValue && n.Field != x.Field && n.From == x.To+1 && parse.OfWords[p.Text.Tokens[x.To].Fold] &&
			(n.Field == p.View.Person() || p.View.Unique(n.Field)) {
			return true
		}
	}
	return false
}

// wantsBoth reports whether two values of a column are required at the same time: rain on a
// sunny day. A row has one of them.
func (p *review) wantsBoth() bool {
	for i, x := range p.Pieces {
		n := p.near(i, 1)
		if x.Kind != speech.KindValue || n.Kind != speech.KindValue || n.Field != x.Field || p.versus || p.diff || slices.Equal(x.Values, n.Values) {
			continue
		}
		if n.From > x.To && during[p.Text.Tokens[x.To].Fold] && !strings.ContainsAny(p.Text.Text[p.Text.Tokens[x.From].To:p.Text.Tokens[n.From].From], ",;/&") {
			return true
		}
	}
	return false
}

var during = speech.Folded("on in at with during while when am an im bei mit wahrend")

// ratioOfMost reports whether a ranking is by an amount per something else: the most per customer.
func (p *review) ratioOfMost() bool {
	if p.Op != OpRank || p.First() != nil {
		return false
	}
	for i, x := range p.Pieces {
		n := p.near(i, 1)
		if w := p.Text.Tokens[x.From].Fold; x.Kind == speech.KindBy && (w == "per" || w == "pro" || w == "je") && n.Kind == speech.KindEntity {
			return true
		}
	}
	return false
}
