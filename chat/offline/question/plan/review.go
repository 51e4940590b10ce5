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
func (p *review) unansweredReason(pieces []parse.Piece) Reason {
	switch {
	case slices.ContainsFunc(pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindField && x.Arg == "rest" && !p.inMeasure(x.Field) && !p.filtered(x.Field) && !slices.ContainsFunc(p.Pieces, func(o parse.Piece) bool { return o.Field == x.Field })
	}):
		return ReasonUnclear
	case p.eitherOr() || p.pairs() || p.allBut() || p.stillThere() || p.contradicts() || !p.usesAggregate() || !p.usesGroups() || !p.usesColumns() || !p.usesComparison() || p.severalRows():
		return ReasonUnclear
	case p.First() == nil && p.Counted == nil && p.Tally == "" && p.Superlative == nil && (p.Op == OpCount || p.Op == OpGroups || p.Op == OpCompare) && p.countsRows() && p.View.Counted(),
		p.First() == nil && p.Op == OpRank && p.Counted == nil && p.View.Counted():
		return ReasonAmbiguous // how many loans: the rows, or what their column count adds up to
	case p.judged && (p.First() == nil || !p.First().Field.Scale()):
		return ReasonUnknown // no column of marks
	case p.asksUnrecordedAction() || p.asksOtherKind() || p.countsElsewhere() || p.describesPerson() || p.wantsBoth():
		return ReasonUnclear
	case slices.ContainsFunc(pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindFill && ((x.Arg == "verb" || x.Arg == "light") && !p.fits(speech.LightClasses[p.Text.Tokens[x.From].Fold]) ||
			x.Arg == "deed" && p.First() == nil && (p.Superlative == nil || p.Superlative.About != "rows"))
	}):
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

// eitherOr reports whether an "or" joins conditions that are not two values of one column or two times: orders by Anna
// or in 2024. A plan requires all of its conditions, and compares one column with a number.
func (p *review) eitherOr() bool {
	limits := func(x parse.Piece) bool {
		return x.Kind == speech.KindValue || x.Kind == speech.KindNum || x.Kind == speech.KindTime ||
			x.Kind == speech.KindField && p.filtered(x.Field) && (x.Field.Boolean() || x.Field.Dated() || yesNo(x.Field))
	}
	for i, x := range p.Pieces {
		if x.Kind != speech.KindJoin {
			continue
		}
		if a, b := p.near(i, -1), p.near(i, 1); a.Kind == speech.KindField && b.Kind == speech.KindField && p.comparedBy(a.Field) && b.Field.Measure() && !p.comparedBy(b.Field) &&
			slices.ContainsFunc(p.Pieces[:i], func(n parse.Piece) bool { return n.Kind == speech.KindNum }) {
			return true // over 70 in maths or English
		}
		if x.Arg != "or" {
			continue
		}
		after := slices.IndexFunc(p.Pieces[i:], limits)
		for k := i - 1; k >= 0 && after > 0; k-- {
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
			if n.Arg == "topic" || p.PerRow && !mean && p.Op != OpGroups && p.Op != OpRank || p.Op == OpRank && p.First() == nil && perWords[p.Text.Tokens[x.From].Fold] {
				return false // the total per order, the most per customer
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
	names := p.Op == OpCount || p.Op == OpList
	switch {
	case key == nil || key.Table > 0 || p.View.Unique(key):
		return false
	case names && (p.says(exclusive) || slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.not && !f.Total && f.Field.Table == 0 && f.Field != key })):
		return true // regions that did not sell tea, or only tea: their other rows matter too
	case p.distinct:
		return false
	}
	if p.Op == OpCount && key.ShortNames() {
		return true
	}
	return names && slices.ContainsFunc(p.Filters, func(f Filter) bool {
		return f.limit != nil && f.limit.Op != "=" && f.Field.Table == 0 && p.Nature(f.Field) == "sum"
	})
}

var exclusive = speech.Folded("only solely exclusively nur ausschließlich")

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

// stillThere reports whether the question is about what has not ended, and no condition says so.
func (p *review) stillThere() bool {
	return p.says(still) && !slices.ContainsFunc(p.Filters, Filter.restricts) && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Dated() && f.Missing > 0 && !p.filtered(f)
	})
}

var still = speech.Folded("still noch")

// allBut reports whether a value is an exception that is read as a condition: all products but tea.
func (p *review) allBut() bool {
	return p.says(allOf) && slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindValue && x.From > 0 && p.Text.Tokens[x.From-1].Fold == "but"
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

// fits reports whether a verb of one of some classes can be about what the plan asks.
func (p *review) fits(classes []string) bool {
	m := p.First()
	something := m != nil || p.hasRows() || len(p.Filters) > p.times() || p.Superlative != nil && p.Target != nil
	measures := func(kind string) bool { return m != nil && sizesOf[m.Field.UnitName()].kind == kind }
	return len(classes) == 0 && something || slices.ContainsFunc(classes, func(class string) bool {
		switch class {
		case "any":
			return something
		case "spend", "earn":
			return m != nil && p.View.OfMoney(m.Field) && p.flows(m.Field, class) || slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Field.Named("payment") || f.Field.Named("method") })
		case "trade":
			return m != nil && m.Field.Named("price") || something && p.trading()
		case "loan":
			return something && p.View.About("loan")
		case "trip":
			return measures("length") || something && p.View.About("trip")
		case "power":
			return measures("energy")
		case "talk":
			return measures("time")
		}
		return false
	})
}

// oftenAsked reports whether the question asks how often something happens.
func (p *explanation) oftenAsked() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		w := p.Text.Tokens[x.To-1].Fold
		return x.Kind == speech.KindAsk && x.Arg == "many" && (w == "often" || w == "oft" || w == "times" || w == "male")
	})
}

// asksUnrecordedAction reports whether the question is about what the rows do not say: what a person whose name only
// accompanies an amount earned or was paid, what we bought while we sell, and what we own while the rows are events.
func (p *review) asksUnrecordedAction() bool {
	paidTo := func(verbs map[string]bool, next bool) bool {
		m := p.First()
		if m == nil || m.Field.Named("salary") {
			return false
		}
		return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
			return x.Kind == speech.KindValue && x.Field.NamesPeople(next) && (!next && p.says(verbs) || next && p.behind(x.From, verbs))
		})
	}
	bought := p.says(buying) && p.says(ourselves) && !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Named("supplier") || f.Named("cost") || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == "shop" || w.Fold == "store" })
	}) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
	owned := p.Op == OpCount && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated) && slices.ContainsFunc(p.Text.Tokens[1:], func(t speech.Token) bool { return t.Fold == "own" || t.Fold == "besitzen" }) && p.says(ourselves)
	return bought || owned || paidTo(earning, false) || paidTo(parse.PayingVerbs, true) || p.wrongWay() || p.onlyHappened()
}

var earning = speech.Folded("earn earns earned earning verdient verdiente verdienen verdienten")

var buying = speech.Folded("buy bought purchase purchased gekauft kauften kaufen kauft")

// wrongWay reports whether the question is about money that we spend and the table says that it comes
// in, or about money that we earn and it goes out. A table that says both fits neither question.
func (p *review) wrongWay() bool {
	m := p.First()
	if m != nil && p.Op == OpCompare && p.spending() && m.Field.Mixed() {
		return true // the greater value is the smaller expense
	}
	if m == nil || !p.View.OfMoney(m.Field) && !m.Field.Named("price") || m.Field.Mixed() {
		return false // the sign says what came in and what went out
	}
	if p.says(costing) && p.says(usAsPayer) && p.partCost(m.Field) {
		return true
	}
	spends, earns := p.weSpend(), p.weEarn()
	if !spends && !earns {
		return false
	}
	pay := p.View.Payment(m.Field)
	return spends && pay.In || earns && pay.Out
}

// onlyHappened reports whether the question asks how many of something exist while the rows
// are events that mention only some of it, or only its kinds: rooms in a list of bookings.
// People whom the events name and things with a number are counted.
func (p *review) onlyHappened() bool {
	f := p.Counted
	if p.Op == OpCount && f == nil && p.namesGoods() {
		return p.asksExistence() && len(p.Filters) == 0
	}
	if p.Op != OpCount || f == nil || p.distinct || f.Table > 0 || f.Key() || p.View.Unique(f) || !p.asksExistence() {
		return false
	}
	if p.View.OfPeople() || f.Has(kinds) || f.NamesPeople(true) {
		return false
	}
	return slices.ContainsFunc(p.View.Fields, func(g *schema.Field) bool { return g.Table == 0 && g.Dated() })
}

// kinds are words of columns whose values are the things that they name.
var kinds = speech.Folded("category categories type types kind kinds kategorie kategorien art arten status statuses section sections abteilung abteilungen sparte sparten department departments")

// namesGoods reports whether the rows have dates and are counted under a name for lasting
// things: books, in a list of loans.
func (p *wording) namesGoods() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		t := p.Text.Tokens[x.From]
		return x.Kind == speech.KindEntity && goods[t.Fold] && !slices.ContainsFunc(p.View.Entity, func(e string) bool { return e == t.Stem || p.Text.Lex.Shared(e, t.Stem) })
	}) && slices.ContainsFunc(p.View.Fields, func(g *schema.Field) bool { return g.Table == 0 && g.Dated() })
}

var goods = speech.Folded(`book books title titles buch bucher buchern titel car cars vehicle vehicles auto autos fahrzeug fahrzeuge product products item items article articles artikel produkt produkte
home homes house houses haus hauser property properties animal animals tier tiere patient patients patienten`)

var having = speech.Folded("have has own haben hat besitzen gibt gab exist existieren")

// asksExistence reports whether the question only asks what exists: how many rooms do we have, are there.
func (p *explanation) asksExistence() bool {
	there := p.says(having)
	for i, t := range p.Text.Tokens {
		there = there || t.Fold == "there" && i > 0 && parse.Beings[p.Text.Tokens[i-1].Fold]
		if p.Text.Counted(i) {
			continue
		}
		if c := speech.LightClasses[t.Fold]; c != nil && !having[t.Fold] || speech.Irregular[t.Fold] != "" {
			return false
		}
	}
	return there
}

// countsElsewhere reports whether the question asks for a number of pieces that the table does
// not hold: the stock, of sales; the sales, of a stock; or a number that several rows hold.
func (p *review) countsElsewhere() bool {
	x := p.countedValue()
	switch {
	case x == nil || p.Op != OpCount && p.Op != OpValue:
		return false
	case p.trading(), p.View.FieldOf("stock") == nil && p.View.Sells():
		return p.asksExistence() && !p.traded() && p.Op == OpValue
	case p.View.StockField() == nil || p.View.Holds(schema.Moved):
		return false
	}
	onlyValues := !slices.ContainsFunc(p.Filters, func(f Filter) bool { return len(f.values) == 0 })
	return p.traded() || p.Op == OpCount && onlyValues
}
