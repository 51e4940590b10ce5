package plan

import (
	"slices"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// review finds what a plan leaves unanswered of its question. A part without effect on the
// statement would make the answer one to another question.
type review struct{ *Plan }

// unanswered returns why a plan does not answer everything that the pieces of its question say:
// what a value is per, how it is aggregated, what it is compared with.
func (p *review) unanswered(pieces []parse.Piece) Reason {
	rows := p.First() == nil && p.Counted == nil && p.Tally == ""
	switch {
	case p.eitherOr() || p.pairs() || p.contradicts() || p.says(still) && !p.picks() || p.describesPerson() || p.often() && p.Op != OpCount || !p.usesAggregate() || !p.usesGroups() || !p.usesColumns() || !p.usesComparison() || p.severalRows() || p.losesDate() || p.rowsForAmounts():
		return ReasonUnclear
	case p.oneOfTwo() || p.mismatch():
		return ReasonAmbiguous
	case rows && p.View.Counted() && p.Op != OpList && p.Op != OpLookup:
		return ReasonAmbiguous // how many loans: the rows, or what their column count adds up to
	}
	something := p.First() != nil || p.hasRows() || len(p.Filters) > p.times() || p.Target != nil
	for _, x := range pieces {
		if x.Kind == speech.KindFill && (x.Arg == "light" && !something || x.Arg == "deed" && p.First() == nil && (p.Superlative == nil || p.Superlative.About != "rows")) {
			return ReasonUnknown
		}
	}
	return ""
}

// contradicts reports whether two conditions require different values of one column, or one
// leaves open whether the rows without a value meet it.
func (p *conditions) contradicts() bool {
	for i, a := range p.Filters {
		for _, b := range p.Filters[:i] {
			both := slices.ContainsFunc(a.values, func(v string) bool { return slices.Contains(b.values, v) })
			if a.Field == b.Field && len(a.values) > 0 && len(b.values) > 0 && !a.Total && !b.Total && (a.not != b.not || !a.not && !both) {
				return true
			}
		}
		if a.not && !a.Total && a.Field.Missing > 0 {
			return true // outside the North: a row without a region may be outside or not
		}
	}
	return false
}

// eitherOr reports whether an "or" joins conditions that are not two values of one column or two times: orders by Anna
// or in 2024; or whether a number is compared with one of two columns: over 70 in maths or English.
func (p *review) eitherOr() bool {
	limits := func(x parse.Piece) bool {
		return x.Kind == speech.KindValue || x.Kind == speech.KindNum || x.Kind == speech.KindTime ||
			x.Kind == speech.KindField && p.filtered(x.Field) && (x.Field.Boolean() || x.Field.Dated() || yesNo(x.Field))
	}
	for i, x := range p.Pieces {
		if x.Kind != speech.KindJoin {
			continue
		}
		a, b := p.near(i, -1), p.near(i, 1)
		if a.Kind == speech.KindField && b.Kind == speech.KindField && b.Field.Measure() && p.comparedBy(a.Field) && !p.comparedBy(b.Field) {
			return true
		}
		after := slices.IndexFunc(p.Pieces[i:], limits)
		for k := i - 1; k >= 0 && after > 0 && x.Arg == "or"; k-- {
			if a, b := p.Pieces[k], p.Pieces[i+after]; limits(a) {
				if a.Kind != b.Kind || a.Kind == speech.KindNum || a.Field != b.Field {
					return true
				}
				break
			}
		}
	}
	return false
}

// pairs reports whether the values of two columns belong together in pairs: tea in the North and coffee in the South.
func (p *review) pairs() bool {
	var fields []*schema.Field
	for _, x := range p.Pieces {
		if x.Kind == speech.KindValue && (len(fields) == 0 || fields[len(fields)-1] != x.Field) {
			fields = append(fields, x.Field)
		}
	}
	return len(fields) > 3 && fields[0] == fields[2] && fields[1] == fields[3]
}

// describesPerson reports whether a value only describes a person who identifies another
// row: the manager of Liam Grant is not Liam Grant, a manager.
func (p *review) describesPerson() bool {
	for i, x := range p.Pieces {
		n := p.near(i, 1)
		if p.Op != OpCount && p.Op != OpShare && x.Kind == speech.KindValue && n.Kind == speech.KindValue && n.Field != x.Field && n.From == x.To+1 && parse.OfWords[p.Text.Tokens[x.To].Fold] &&
			(n.Field == p.View.Person() || p.View.Unique(n.Field)) {
			return true
		}
	}
	return false
}

// usesColumns reports whether every column of names that a ranking is asked about is one of its keys.
func (p *review) usesColumns() bool {
	return p.Op != OpRank || !slices.ContainsFunc(p.attrs, func(f *schema.Field) bool {
		if m := p.First(); m != nil && m.Field.Named("quantity") && f.Named("product") {
			return false // who sold the fewest items
		}
		return f.Text() && f != p.Counted && !slices.Contains(p.KeyFields(), f) && !p.filtered(f) && !p.idle(f) && !p.View.NamesRows(f)
	})
}

// usesAggregate reports whether a requested mean is a mean in the result.
func (p *review) usesAggregate() bool {
	if p.Aggregate != "avg" && p.Aggregate != "median" {
		return true
	}
	switch p.Op {
	case OpValue, OpGroups, OpCompare, OpChange, OpTrend, OpRank:
		if p.Op == OpRank && p.Unit == "month" && p.Time.Monthly() && p.View.Unique(p.Time) {
			return false // the highest of all months, or of the means of all Januaries, Februaries …
		}
		return len(p.Measures) > 0 && !slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.How != p.Aggregate })
	}
	return false
}

// usesGroups reports whether the result is divided by what it is per, and whether all of its parts are answered.
func (p *review) usesGroups() bool {
	switch p.Op {
	case OpList, OpLookup, OpCount, OpValue, OpCompare:
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
		if x.Kind != speech.KindBy || !dividing[p.word(x).Fold] {
			continue
		}
		switch n.Kind {
		case speech.KindField:
			used := slices.Contains(p.KeyFields(), n.Field) || n.Field == p.perKey || n.Field == p.Time && (p.Unit != "" || p.Op == OpTrend)
			if n.Field.Measure() && (!p.inMeasure(n.Field) || p.Superlative != nil) || !n.Field.Measure() && !used && !(mean && p.View.Unique(n.Field)) {
				return false // the most per hectare, the price per bed: a ratio
			}
		case speech.KindEntity:
			if n.Arg == "topic" || p.Op == OpRank && p.First() == nil && perWords[p.word(x).Fold] {
				return false // the most per customer
			}
		}
	}
	if k := p.RowKey(); mean && p.PerRow && k != nil && (k.Missing > 0 || k.Table > 0 || len(p.View.On) > 1) {
		return false // per member: some have no rows, or some rows have none
	}
	return !p.PerRow || mean || p.Op == OpGroups || p.Op == OpRank
}

// dividing are words that say what a value is per.
var dividing = speech.Folded("per pro je each every jeder jede jedes jedem jeden par")

// usesComparison reports whether the plan makes the comparison that the question asks for.
func (p *review) usesComparison() bool {
	compares := p.Op == OpCompare || p.Op == OpChange
	if p.diff && !compares || p.versus && !compares && p.Op != OpGroups && p.Op != OpTrend {
		return false
	}
	than := p.has(func(x parse.Piece) bool { return x.Kind == speech.KindJoin && x.Arg == "than" })
	if than && p.more != nil && !compares {
		return false
	}
	return !p.says(both) || p.Either == nil || len(p.Measures) > 0 // a row has one value, not both
}

var both = speech.Folded("both sowohl")

// severalRows reports whether a condition applies to a single row although the
// question may mean all the rows of a name: reps who sold at least ten desks.
func (p *review) severalRows() bool {
	key := p.Counted
	switch {
	case p.Op == OpList:
		key = p.Target
	case p.Tally != "":
		key = p.Time
	}
	if p.Op != OpCount && p.Op != OpList || key == nil || key.Table > 0 || p.View.Unique(key) && (p.Tally == "" || p.Tally == "day") {
		return false
	}
	return p.says(exclusive) || slices.ContainsFunc(p.Filters, func(f Filter) bool {
		// regions that did not sell tea, or only tea: their other rows matter too
		return f.Field.Table == 0 && f.Field != key && !f.Total && (f.not || f.limit != "" && f.limit != "=" && !p.distinct && p.Nature(f.Field) == "sum")
	})
}

var exclusive = speech.Folded("only solely exclusively nur ausschließlich")
