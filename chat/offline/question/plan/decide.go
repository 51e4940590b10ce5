package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// The operations of plans.
const (
	OpValue    = "value"
	OpGroups   = "groups"
	OpRank     = "rank"
	OpExtreme  = "extreme"
	OpCount    = "count"
	OpShare    = "share"
	OpChange   = "change"
	OpTrend    = "trend"
	OpCourse   = "course"
	OpCompare  = "compare"
	OpLookup   = "lookup"
	OpList     = "list"
	OpUnusable = "unusable"
	// OpMeter is the difference between two readings of a counter.
	OpMeter = "meter"
	// OpMany counts the groups whose total or number of rows meets a threshold.
	OpMany = "many"
	// OpAcross compares the columns of a table that has one for each party, channel or subject.
	OpAcross = "across"
)

// decide chooses the operation that the slots define. It never adds up readings of a counter.
func (p *Plan) decide() Reason {
	if slices.ContainsFunc(p.Filters, func(f Filter) bool {
		return f.limit != nil && f.limit.Op == "=" && slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f.Field })
	}) {
		return ReasonUnclear // the question gives what it asks for
	}
	if p.Asks == "many" && slices.ContainsFunc(p.Measures, func(m Measure) bool { return p.comparedBy(m.Field) }) {
		if !p.countsRows() {
			return ReasonUnclear
		}
		p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool { return p.comparedBy(m.Field) })
	}
	if reason := p.choose(); reason != "" {
		return reason
	}
	for i, x := range p.Pieces {
		if x.Kind == speech.KindField && p.Asked(i) == "many" && p.View.OfMoney(x.Field) && p.inMeasure(x.Field) && schema.UnitNames[p.Text.Tokens[x.From].Fold] == "" {
			return ReasonAmbiguous // how many sales: their number, or their amount
		}
	}
	if slices.ContainsFunc(p.Measures, func(m Measure) bool {
		return p.View.Counter(m.Field) && (m.How == "sum" || p.Op == OpRank && p.Unit != "" && !m.Field.Balance())
	}) {
		return ReasonUnclear // the month with the highest reading is not the one of the highest consumption
	}
	if slices.ContainsFunc(p.Measures, func(m Measure) bool {
		adds := m.How == "sum" || m.How == "avg" || m.How == "median" || p.Op == OpRank && slices.Contains(p.RankBy(), "sum")
		return adds && p.View.Repeats(m.Field)
	}) {
		return ReasonAmbiguous // the budget of a department, once for each of its employees
	}
	// A sum of both directions means nothing: the rows are those of incoming or of outgoing amounts, as the question
	// says, if a column distinguishes them.
	m := p.First()
	if m == nil || m.Field.Table != 0 || !p.View.OfMoney(m.Field) || m.Field.Mixed() || p.Op == OpList || p.Op == OpLookup {
		return ""
	}
	f, in, out := p.View.DirectionColumn(m.Field)
	if f == nil || p.filtered(f) || p.Target == f || p.Either == f || slices.Contains(p.Groups, f) {
		return ""
	}
	spends := p.weSpend() || p.spending()
	earns := p.weEarn() || p.says(comingIn)
	switch {
	case spends && !earns:
		p.Filters = append(p.Filters, valueFilter(f, out, false))
	case earns && !spends:
		p.Filters = append(p.Filters, valueFilter(f, in, false))
	case m.How == "sum" && !slices.ContainsFunc(p.Filters, func(x Filter) bool { return len(x.values) > 0 }):
		return ReasonAmbiguous
	}
	return ""
}

// comparedBy reports whether a condition compares a field with a number: trips with more than 10 minutes of delay.
func (p *conditions) comparedBy(f *schema.Field) bool {
	return slices.ContainsFunc(p.Filters, func(x Filter) bool { return x.Field == f && x.limit != nil })
}

// countsRows reports whether the question counts the rows themselves: how many trips.
func (p *explanation) countsRows() bool {
	for i, x := range p.Pieces {
		if (x.Rows() || x.Kind == speech.KindValue && p.near(i, -1).Kind == speech.KindAsk) && p.Asked(i) == "many" {
			return true
		}
	}
	return false
}

func (p *Plan) choose() Reason {
	p.monthlyFigure()
	switch {
	case p.Unit == "week" || p.Tally == "week":
		return ReasonUnclear // the first day of a week varies by place
	case p.has(speech.KindAcross):
		return p.decideAcross()
	case p.metered():
		return p.decideMeter()
	}
	if reason := p.decideMore(); reason != "" {
		return reason
	}
	if p.Asks == "change" && p.Aggregate != "" && p.Trend == "" && len(p.Periods) < 2 {
		p.Asks = "much" // how did people rate it on average
	}
	switch {
	case p.Bound != nil && (p.Superlative != nil || p.share || p.Trend != "" || len(p.Periods) == 2):
		return ReasonUnclear
	case p.Op == OpUnusable:
		return ""
	case p.share && (p.Trend == "" || len(p.Periods) != 2):
		return p.decideShare()
	case p.Superlative != nil && len(p.Periods) < 2 && p.Trend == "":
		return p.decideSup()
	case p.Trend != "" || p.Asks == "change" || len(p.Periods) == 2:
		return p.decideChange()
	}
	if p.boundSum(); p.Bound != nil {
		return p.decideBound()
	}
	if reason := p.decideMeasure(); reason != "" {
		return reason
	}
	names := p.Op == OpList || p.Op == OpLookup
	switch {
	case p.Either != nil && !names:
		if p.Target != nil && p.Target != p.Either || len(p.Groups) > 0 {
			return ""
		}
		p.Op = OpCompare
	case (p.Op == OpValue || p.Op == OpCount) && (len(p.Groups) > 0 || p.Unit != ""):
		p.Op = OpGroups
	}
	switch {
	case p.Aggregate == "median" && (p.Op == OpGroups || p.Op == OpCompare),
		names && p.Asks == "much" && len(p.Measures) == 0,                                               // how much asks for no name
		names && !slices.ContainsFunc(p.Listed(), func(f *schema.Field) bool { return !p.filtered(f) }), // the question gives what it asks for
		p.Op == OpGroups && len(p.Groups) > 2,
		p.diff && p.Op != OpCompare:
		return ReasonUnclear
	}
	return p.needTime()
}

// monthlyFigure drops "per month" if the requested figure is already monthly: the monthly fee, rents.
func (p *Plan) monthlyFigure() {
	if p.Unit != "month" || p.Aggregate == "avg" {
		return
	}
	monthly := slices.ContainsFunc(p.Measures, func(m Measure) bool {
		return m.Field.PerMonth() || !slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated) && (m.Field.Named("rent") || m.Field.Named("salary"))
	})
	if monthly {
		p.Unit = ""
	}
}

// needTime finds the column of dates if a unit of time is asked for.
func (p *Plan) needTime() Reason {
	if p.Unit != "" && (!p.findTime() || p.Time.Yearly() && p.Unit != "year" || p.Unit == "hour" && p.Time.Type != "datetime") {
		return ReasonUnknown
	}
	return ""
}

// decideMeasure chooses between a value, a count, a lookup and a list.
func (p *Plan) decideMeasure() Reason {
	if len(p.Measures) == 0 && p.Aggregate != "" && p.Asks != "many" && p.Counted == nil {
		f := p.implied()
		if f == nil {
			return ReasonUnclear
		}
		p.Measures = []Measure{{Field: f}}
	}
	if p.Target != nil && p.filtered(p.Target) && len(p.Measures) > 0 {
		p.Target = nil // the share of Bolt, which is a company
	}
	switch {
	case p.Tally == "day" && len(p.Measures) == 1 && p.Aggregate == "" && len(p.Filters) == p.times() && p.Measures[0].Field.Named("rain"):
		p.Filters, p.Measures = append(p.Filters, numberFilter(p.Measures[0].Field, ">", 0)), nil // on how many days did it rain
		return p.decideCount()
	case p.Counted != nil && len(p.Measures) > 0 && !p.distinct:
		return ReasonAmbiguous // products in stock: how many products, or how many pieces
	case p.Tally != "" && len(p.Measures) > 0:
		return ReasonUnclear
	case p.Asks == "many" && len(p.Measures) == 0, p.Counted != nil, p.versus && p.Either != nil && len(p.Measures) == 0 && p.hasRows():
		return p.decideCount()
	case len(p.Measures) == 1 && p.Asks == "list" && (p.Target == nil || p.Target == p.View.Labels()) && len(p.Groups) == 0 && len(p.Filters) == 0 && p.Aggregate == "" && p.View.Labels() != nil:
		p.Groups, p.Target, p.Op = []*schema.Field{p.View.Labels()}, nil, OpValue // market share: of each company
		return ""
	case len(p.Measures) > 0:
		if p.Asks == "list" && len(p.Groups) == 0 && p.Unit == "" && p.Aggregate == "" || p.Target != nil && p.Aggregate == "" && p.Asks != "many" {
			return p.decideList()
		}
		return p.decideValue()
	case p.Asks == "much" && len(p.attrs) == 0 && p.Target == nil && cmp.Or(p.implied(), p.given()) != nil:
		p.Measures = []Measure{{Field: cmp.Or(p.implied(), p.given())}}
		return p.decideValue()
	case p.Target != nil && len(p.Filters) > 0, p.whatNotWhen():
		return p.decideList()
	case len(p.attrs) > 0 && len(p.Filters) > 0 && (p.Asks != "who" || !p.onlyTimes()):
		p.Op = OpLookup
		return ""
	case p.Asks == "who" && len(p.Filters) > 0:
		p.Target = p.View.Person()
		return p.decideList()
	case p.Asks == "" && p.Aggregate == "" && !questioning[p.Text.Tokens[0].Fold] && p.allMeasures():
		p.Op = OpCourse // a report on sales
		return ""
	case p.distinct && len(p.attrs) == 1:
		p.Op, p.Counted = OpCount, p.attrs[0]
		return ""
	}
	return ReasonUnclear
}

// whatNotWhen asks for the only names of a table if a date says what was done: what was planted in bed A.
func (p *roles) whatNotWhen() bool {
	if p.askedFor == nil || p.Asks != "which" || !p.askedFor.Dated() || p.askedFor.Has(schema.TimeWords) || p.Text.Tokens[0].Fold != "what" {
		return false
	}
	p.attrs, p.askedFor = nil, nil
	p.Target = schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Text() && !f.Free && !p.filtered(f) })
	return true
}

// questioning are words that begin a question, which asks for more than a general course.
var questioning = speech.Folded("what how which who when where did do does is are was were wie welche welcher welches wer wann wo hat haben ist sind war waren")

// times returns the number of conditions that are times.
func (p *conditions) times() int {
	n := 0
	for _, f := range p.Filters {
		if f.Period != nil {
			n++
		}
	}
	return n
}

// implied returns the only number of a table if the question names it by the table's topic.
func (p *wording) implied() *schema.Field {
	f := p.View.OnlyMeasure()
	if f == nil {
		return nil
	}
	added := func(x parse.Piece) bool { return x.Kind == speech.KindAgg && adding[p.Text.Tokens[x.From].Fold] }
	if p.topicMeasure(f) || f == p.View.MoneyField && slices.ContainsFunc(p.Pieces, added) || (p.Aggregate == "avg" || p.Aggregate == "median") && !p.hasRows() && f.Named("score") {
		return f
	}
	return nil
}

var adding = speech.Folded("add adds added summieren belaufen")

// decideValue chooses the aggregate of each measure.
func (p *Plan) decideValue() Reason {
	p.Op = OpValue
	if p.askedFor != nil || p.Asks == "who" || p.Asks == "where" || p.Asks == "when" {
		return ReasonUnclear
	}
	p.expenses()
	if slices.ContainsFunc(p.Measures, func(m Measure) bool { return p.moneyOnly(m.Field) }) {
		return ReasonAmbiguous // money that came in, or that went out
	}
	joins := 0
	for _, x := range p.Pieces {
		if x.Kind == speech.KindJoin && x.Arg == "and" {
			joins++
		}
	}
	if len(p.Measures) > 1 && joins < len(p.Measures)-1 || len(p.Measures) > 4 {
		return ReasonUnclear
	}
	for i := range p.Measures {
		m := &p.Measures[i]
		m.How = p.Aggregate
		kindOf := p.Nature(m.Field)
		switch {
		case m.How == "sum" && kindOf == "avg" && p.View.Product(m.Field) != nil:
			m.Field = p.View.Product(m.Field)
		case m.How == "sum" && (m.Field.UnitSymbol() == "%" || m.Field.Temperature()):
			return ReasonUnclear
		case m.How != "":
		case p.Asks == "many" && kindOf == "avg":
			return ReasonUnclear
		case p.Asks == "many" || p.Asks == "much" && kindOf == "":
			m.How = "sum"
		default:
			m.How = kindOf
		}
	}
	if len(p.attrs) > 0 && !p.onlyTimes() {
		return ReasonUnclear
	}
	p.Outflow = p.Asks == "much" && len(p.Measures) == 1 && p.Measures[0].How == "sum" && p.Measures[0].Field.Mixed() && p.weSpend() && !p.says(passive) && !p.says(receiving) && !slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.limit != nil && (f.limit.Op != "<" || f.limit.N != 0) })
	return p.decideMean()
}

var receiving = speech.Folded("bekommen bekam erhalten erhielt received get got by")

// decideMean determines what a mean by a unit of time or by groups is taken over: the rows
// or the totals. They differ if several rows belong to one day or store.
func (p *Plan) decideMean() Reason {
	if p.Aggregate != "avg" {
		return ""
	}
	f, per := p.Measures[0].Field, p.perWord()
	perYear := p.Unit == "year" && (per || slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindUnit && x.To-x.From == 2 }))
	switch {
	case perYear && slices.ContainsFunc(schema.SplitName(f.Name), func(w string) bool { return yearWords[speech.Fold(w)] }), // what people earn per year is their annual salary
		p.Unit == "month" && f.PerMonth():
		p.Unit = ""
		return ""
	case perYear && (f.Named("salary") || f.Named("rent")):
		return ReasonAmbiguous
	case p.Unit != "" && p.daily():
		if !p.onePerTime() || p.Time.Dated() != (p.Unit == "day") || p.Time.Type == "datetime" || p.Time.Monthly() {
			return ReasonAmbiguous // the mean of the rows, or the total divided by the number of days
		}
		p.Unit = ""
	}
	if len(p.Groups) == 1 && p.Groups[0].Dated() && per {
		if !p.View.Unique(p.Groups[0]) {
			return ReasonAmbiguous
		}
		p.Groups = nil // each row is a month
		return ""
	}
	if p.Unit == "month" && per && len(p.Groups) == 0 {
		if !p.onePerTime() || !p.Time.Monthly() {
			return ReasonAmbiguous
		}
		p.Unit = "" // each row is a month
	}
	if p.Unit != "" && (per && p.Nature(f) == "" || p.Asks == "much" && p.View.OfMoney(f)) ||
		per && (len(p.Groups) > 0 || p.Unit != "") && p.Nature(f) == "sum" {
		return ReasonAmbiguous // the mean of the rows of each store, or the total divided by the number of stores
	}
	return ""
}

var yearWords = speech.Folded("annual yearly jährlich jährlicher jahresgehalt jahreslohn jahr year annuel")

// daily reports whether the unit of time only says what a mean is taken over: the daily consumption.
func (p *explanation) daily() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		t := p.Text.Tokens[x.From]
		return x.Kind == speech.KindUnit && (t.Part || t.Fold == "daily" || t.Fold == "monthly" || t.Fold == "yearly" || t.Fold == "annual" || strings.Contains(t.Fold, "lich"))
	})
}

// perWord reports whether the question groups by per, pro or je.
func (p *explanation) perWord() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindBy && perWords[p.Text.Tokens[x.From].Fold]
	})
}

var perWords = speech.Folded("per pro je")

// onlyTimes reports whether the other named columns are times, the target or columns that only name rows.
func (p *Plan) onlyTimes() bool {
	return !slices.ContainsFunc(p.attrs, func(f *schema.Field) bool {
		return !f.Dated() && !f.Yearly() && f != p.Target && !p.View.NamesRows(f) && !p.idle(f)
	})
}

// idle reports whether a column only names whom a condition is about: orders from customers
// in Canada. A mean may be over the rows or over the customers.
func (p *wording) idle(f *schema.Field) bool {
	if f.Table != 0 || !f.Text() && !f.Key() {
		return false
	}
	mean := p.Aggregate == "avg" || p.Aggregate == "median"
	for i, x := range p.Pieces {
		if i == 0 || x.Kind != speech.KindField || x.Field != f || p.isGroupedBy(i) {
			continue
		}
		if p.Asks == "much" && !mean && parse.LightDoers[p.Text.Tokens[x.From].Fold] && x.To == x.From+1 && !p.View.Holds(undone) {
			return true // how much our customers spent: all of them
		}
		if p.Asked(i) != "" {
			continue
		}
		if v := p.Pieces[i-1]; v.Kind == speech.KindValue && v.Field != f && v.Field.Table == 0 && v.To == x.From {
			return true // sparkling wine
		}
		for k := i + 1; k < len(p.Pieces) && k <= i+3 && !mean; k++ {
			if v := p.Pieces[k]; v.Kind == speech.KindField && v.Field.Table > 0 {
				continue // the members of the department Gymnastics
			}
			if v := p.Pieces[k]; v.Kind == speech.KindValue && v.Field != f && (k <= i+2 && v.Field.Table == 0 || p.View.LeadsTo(f, v.Field)) {
				return true
			}
		}
	}
	return false
}

// undone are values of orders that were cancelled or reversed.
var undone = speech.Folded("cancelled canceled refunded returned storniert retourniert erstattet zurückgegeben annulé annulée")

var rateWords = speech.Folded("avg average mean durchschnitt rate ratio percent pct percentage prozent quote index level speed unit per depth tiefe satisfaction einzelpreis stuckpreis stundenlohn grade note wind temperature body mass median")

// Nature returns how the values of a column aggregate: sum, avg, max, min, or "" if unknown.
func (p *wording) Nature(f *schema.Field) string {
	if f.Factors != nil {
		return "sum"
	}
	for _, w := range f.Words {
		if w.Fold == "min" && f.UnitName() == "min" {
			continue // minutes
		}
		switch w.Fold {
		case "max", "maximum", "hochst", "highest":
			return "max"
		case "min", "minimum", "tiefst", "lowest":
			return "min"
		}
	}
	for _, w := range f.Words {
		if rateWords[w.Fold] && !f.Named("revenue") {
			return "avg"
		}
	}
	if f.UnitSymbol() == "%" || strings.Contains(f.UnitSymbol(), "/") {
		return "avg"
	}
	if f.Has(schema.Moved) {
		return "sum"
	}
	if (f.Named("stock") || f.Named("population") || f.Named("meter")) && p.timeField(nil) != nil {
		return ""
	}
	head := f.Head()
	for _, c := range schema.Ratelike {
		if p.Text.Lex.Means(head, c) && !p.Text.Lex.Means(head, "revenue") && (c != "price" || !p.Text.Lex.Means(head, "cost")) {
			return "avg"
		}
	}
	for _, c := range schema.Additive {
		if f.Named(c) {
			return "sum"
		}
	}
	// Whole numbers under a plural count things: nights, votes, cups.
	if f.Type == "integer" && slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return w.Stem == head && (Plurals[w.Fold] || strings.HasSuffix(w.Fold, "s") && !strings.HasSuffix(w.Fold, "ss") && !strings.HasSuffix(w.Fold, "us"))
	}) {
		return "sum"
	}
	return ""
}

// decideList checks which names are listed.
func (p *Plan) decideList() Reason {
	p.Op = OpList
	named := func(f Filter) bool {
		return f.Field == p.Target && (len(f.values) == 1 || p.Asks == "who" && len(f.values) > 0) && !f.not && !f.Total
	}
	if slices.ContainsFunc(p.Filters, named) {
		return ReasonUnclear // the one asked for is not the one named
	}
	if p.Target == nil || len(p.Filters) == 0 || len(p.Measures) > 0 && !p.View.Unique(p.Target) {
		return ReasonUnclear
	}
	return ""
}

// opposite is the other order of a ranking.
var opposite = map[string]string{"asc": "desc", "desc": "asc"}

// Plurals are plurals without a plural ending.
var Plurals = speech.Folded("people children men women staff")
