package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// decide chooses the operation that the slots define, and refuses sums that mean nothing.
func (p *Plan) decide() Reason {
	p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool { // the stock that is worth something
		return slices.ContainsFunc(p.Measures, func(o Measure) bool { return slices.Contains(o.Field.Parts, m.Field) })
	})
	for _, f := range p.Filters {
		if f.limit == "=" && p.inMeasure(f.Field) {
			return ReasonUnclear // the question gives what it asks for
		}
	}
	if p.Asks == "many" && (p.countsRows() || p.Counted != nil) {
		p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool { return p.comparedBy(m.Field) })
	}
	if p.Asks == "many" && slices.ContainsFunc(p.Measures, func(m Measure) bool {
		return p.countsRows() && !p.View.Counts(m.Field) && !p.inStock(m.Field) || p.comparedBy(m.Field)
	}) {
		return ReasonUnclear
	}
	if reason := p.choose(); reason != "" {
		return reason
	}
	for i, x := range p.Pieces {
		if x.Kind == speech.KindField && (p.Asked(i) == "many" || p.Asks == "many" && p.Op == OpValue) && p.View.OfMoney(x.Field) && p.inMeasure(x.Field) && schema.UnitNames[p.word(x).Fold] == "" {
			return ReasonAmbiguous // how many sales: their number, or their amount
		}
	}
	for _, m := range p.Measures {
		adds := m.How == "sum" || m.How == "avg" || m.How == "median" || p.Op == OpRank && slices.Contains(p.RankBy(), "sum")
		names := p.Op == OpList || p.Op == OpLookup
		switch {
		case p.View.Counter(m.Field) && (m.How == "sum" || p.Op == OpRank && p.Unit != "" || p.Op == OpValue && p.Asks != "which" && p.Aggregate == ""):
			return ReasonUnclear // the month with the highest reading is not the one of the highest consumption
		case p.Op == OpValue && m.How == "sum" && p.times() == 0 && p.level(m.Field) && !slices.ContainsFunc(p.Filters, func(f Filter) bool { return p.View.Unique(f.Field) }):
			return ReasonUnclear // the inhabitants of all years
		case adds && m.How != "avg" && m.Field.Named("rain") && p.severalPlaces():
			return ReasonAmbiguous // the rain of all stations together
		case adds && p.View.Repeats(m.Field):
			return ReasonAmbiguous // the budget of a department, once for each of its employees
		case names || !p.View.OfMoney(m.Field):
		case p.View.Incoming && p.says(spends) && p.says(parse.Ourselves), p.partCost(m.Field):
			return ReasonAmbiguous // what something cost: the parts, or all
		case m.Field.Mixed() && !m.Field.Named("revenue") && (p.Op != OpValue || m.How != "sum" || !p.picks()), !m.Field.Mixed() && p.bothWays(m.Field):
			return ReasonAmbiguous // what came in and what went out, together
		}
	}
	return ""
}

// inStock reports whether the question asks for the pieces in stock: not which kinds we stock.
func (p *explanation) inStock(f *schema.Field) bool {
	return f == p.View.StockField() && p.has(func(x parse.Piece) bool {
		return x.Field == f && (atHand[p.word(x).Fold] || x.From > 0 && atHand[p.Text.Tokens[x.From-1].Fold])
	})
}

var atHand = speech.Folded("in on auf")

// partCost reports whether the question asks for a cost, and a column that holds one of several amounts is named only in part.
func (p *Plan) partCost(f *schema.Field) bool {
	part := slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return !w.Optional && !p.Text.Lex.Means(w.Stem, "cost") && !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return p.Text.Level(t, w) > 2 })
	})
	return part && f.Named("cost") && slices.ContainsFunc(p.View.Fields, func(o *schema.Field) bool {
		return o != f && o.Table == f.Table && o.Measure() && p.View.OfMoney(o)
	})
}

// severalPlaces reports whether several rows are of one date, and nothing says which one of them is meant.
func (p *Plan) severalPlaces() bool {
	text := func(f *schema.Field) bool { return f.Text() }
	return p.findTime() && p.Time.Type == "date" && !p.View.Unique(p.Time) && !p.picks() && !slices.ContainsFunc(p.KeyFields(), text)
}

// picks reports whether a condition picks the rows with a value.
func (p *conditions) picks() bool {
	return slices.ContainsFunc(p.Filters, func(f Filter) bool { return len(f.values) > 0 && !f.not && !f.Total || f.Null || f.Field.Boolean() })
}

// bothWays reports whether a column says that an amount came in or went out, and the question does not say which.
func (p *Plan) bothWays(amount *schema.Field) bool {
	f := p.View.DirectionColumn(amount)
	return f != nil && !p.filtered(f) && p.Target != f && p.Either != f && !slices.Contains(p.Groups, f)
}

// countsRows reports whether the question counts the rows themselves: how many trips.
func (p *wording) countsRows() bool {
	for i, x := range p.Pieces {
		if n := p.near(i, 1); x.Rows() && !p.amounts(x) && !(n.From == x.To && n.Kind == speech.KindField && n.Field.Measure()) && p.Asked(i) == "many" || x.Kind == speech.KindValue && p.near(i, -1).Kind == speech.KindAsk && p.Asked(i) == "many" {
			return true
		}
	}
	return false
}

func (p *Plan) choose() Reason {
	if p.Unit == "month" && p.Aggregate != "avg" && slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field.PerMonth() }) {
		p.Unit = "" // the monthly fee
	}
	if p.Unit == "week" || p.Tally == "week" {
		return ReasonUnclear // the first day of a week varies by place
	}
	if reason := p.decideMore(); reason != "" {
		return reason
	}
	if p.Asks == "change" && p.Aggregate != "" && p.Trend == "" && len(p.Periods) < 2 {
		p.Asks = "much" // how did people rate it on average
	}
	switch {
	case p.share && (p.Trend != "" || p.Asks == "change") && len(p.Periods) != 2:
		return ReasonUnclear // how a share changed
	case p.share && p.Trend == "":
		return p.decideShare()
	case p.Superlative != nil && len(p.Periods) < 2 && p.Trend == "":
		return p.decideSup()
	case p.Trend != "" || p.Asks == "change" || len(p.Periods) == 2:
		return p.decideChange()
	}
	if reason := p.decideMeasure(); reason != "" {
		return reason
	}
	names := p.Op == OpList || p.Op == OpLookup
	switch {
	case p.Either != nil && !names:
		if p.Target != nil && p.Target != p.Either || len(p.Groups) > 0 {
			return ReasonUnclear
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
		if f == nil && (p.Aggregate == "sum" && p.says(spends) || p.has(func(x parse.Piece) bool {
			return p.Aggregate == "sum" && x.Rows() && p.trade(x) ||
				p.Aggregate != "median" && p.bill(x)
		})) {
			f = p.View.MoneyField // what did Tom pay in total, the sum of the open invoices, the average fine
		}
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
	case len(p.Measures) == 1 && p.Asks == "list" && len(p.attrs)+len(p.Groups)+len(p.Filters) == 0 && p.Aggregate == "" && p.Unit == "" && p.rowName() != nil && (p.Target == nil || p.Target == p.rowName()):
		p.Op, p.Target, p.Groups = OpValue, nil, []*schema.Field{p.rowName()} // list the market share: of each company
		return ""
	case len(p.Measures) > 0:
		if p.Asks == "list" && len(p.Measures) == 1 && len(p.attrs) == 0 && p.Target == nil && len(p.Groups) == 0 && p.Unit == "" && p.Aggregate == "" && len(p.Filters) == p.times() && p.findTime() && p.View.Unique(p.Time) && !p.View.Things() {
			return p.decideChange() // show the temperature since 1980
		}
		if p.Asks == "list" && len(p.Groups) == 0 && p.Unit == "" && p.Aggregate == "" || p.Target != nil && p.Aggregate == "" && p.Asks != "many" {
			return p.decideList()
		}
		return p.decideValue()
	case (p.Asks == "much" || p.versus && p.Either != nil) && len(p.attrs) == 0 && p.Target == nil && p.implied() != nil:
		p.Measures = []Measure{{Field: p.implied()}}
		return p.decideValue()
	case p.Target != nil && len(p.Filters) > 0:
		return p.decideList()
	case p.asked != nil && p.Asks == "which" && p.asked.Dated() && p.has(func(x parse.Piece) bool { return x.Field == p.asked && speech.Verbal(p.word(x).Fold) }):
		return ReasonUnclear // what was planted in bed A: not when
	case len(p.attrs) > 0 && len(p.Filters) > 0 && (p.Asks != "who" || !p.onlyTimes()):
		p.Op = OpLookup
		return ""
	case p.Asks == "where" && p.View.PlaceField() != nil && len(p.attrs) == 0 && slices.ContainsFunc(p.Filters, func(f Filter) bool { return len(f.values) == 1 && p.View.Unique(f.Field) }):
		p.Op, p.attrs = OpLookup, []*schema.Field{p.View.PlaceField()}
		return ""
	case p.Asks == "who" && len(p.Filters) > 0:
		p.Target = p.View.Person()
		return p.decideList()
	}
	return ReasonUnclear
}

// rowName returns the only text of a table if it names each row.
func (p *Plan) rowName() *schema.Field {
	f := schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Text() })
	if f == nil || f.Key() || !p.View.Unique(f) || p.View.Tables[0].RowCount > 20 {
		return nil
	}
	return f
}

// implied returns the only number of a table if the question names it by the table's topic:
// the population of population.csv, not the orders of orders.csv.
func (p *conditions) implied() *schema.Field {
	if f := p.View.FieldOf("actual"); f != nil && p.says(spends) {
		return f // beside a budget
	}
	if f := p.View.MoneyField; f != nil && p.filtered(p.View.DirectionColumn(f)) {
		return f // the total income
	}
	f := p.View.OnlyMeasure()
	if f == nil {
		return nil
	}
	label := strings.ToLower(f.Label())
	topic := label == "value" || label == "wert" || (p.Aggregate != "" || p.whatDo()) && !p.hasRows() && f.Named("score") || p.asksOfOne()
	if p.share || p.versus || p.Trend != "" || p.Asks == "change" { // the share of renewables: of what they generate
		topic = topic || p.View.Figures() && p.Nature(f) == "sum" && !p.has(func(x parse.Piece) bool {
			return x.Rows() || x.Kind == speech.KindField && !x.Field.Yearly()
		})
	}
	for _, x := range p.Pieces {
		topic = topic || x.Kind == speech.KindEntity && (p.amounts(x) || p.Text.Lex.Means(p.word(x).Stem, "revenue") && f.Named("amount") || p.Asks == "much" && p.Text.Lex.Means(p.word(x).Stem, "donation"))
	}
	if !topic {
		return nil
	}
	return f
}

// asksOfOne reports whether a question asks how much one thing of the table is: how much was the train to Porto.
func (p *wording) asksOfOne() bool {
	ts := p.Text.Tokens
	return p.Asks == "much" && len(ts) > 3 && ts[0].Fold == "how" && ts[1].Fold == "much" && speech.Beings[ts[2].Fold] && p.has(func(x parse.Piece) bool {
		return x.Kind == speech.KindValue && len(x.Values) == 1 && p.View.Unique(x.Field)
	})
}

// amounts reports whether a word for the rows names what their number measures: population.
func (p *explanation) amounts(x parse.Piece) bool {
	means := func(c string) bool { return p.Text.Lex.Means(p.word(x).Stem, c) }
	return !means("order") && !means("donation") && (means("population") || slices.ContainsFunc(schema.Additive, means) || slices.ContainsFunc(schema.Ratelike, means))
}

// decideValue chooses the aggregate of each measure.
func (p *Plan) decideValue() Reason {
	p.Op = OpValue
	if p.asked != nil || p.Asks == "who" || p.Asks == "where" || p.Asks == "when" || len(p.attrs) > 0 && !p.onlyTimes() {
		return ReasonUnclear
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
		case m.How == "sum" && (kindOf != "sum" && kindOf != "" && !p.View.OfMoney(m.Field) && !slices.ContainsFunc(summable, m.Field.Named) || kindOf == "avg" && m.Field.Named("price")), m.How == "" && p.Asks == "many" && kindOf == "avg":
			return ReasonUnclear // temperatures have no sum
		case m.How != "":
		case p.Asks == "many" || kindOf == "" && p.Totals():
			m.How = "sum"
		default:
			m.How = kindOf
		}
	}
	m := p.Measures[0]
	p.Outflow = len(p.Measures) == 1 && m.How == "sum" && m.Field.Mixed() && p.says(spends)
	return p.decideMean()
}

// bills are stems of rows that stand for their amounts.
var bills = speech.Stems("order invoice payment donation claim fine bill expense bestellung rechnung zahlung spende ausgabe")

// summable are the concepts of numbers whose mean is the usual aggregate, and whose total makes sense if it is asked for.
var summable = []string{"duration", "area", "weight", "rooms", "bedrooms", "size", "wait"}

// trade reports whether a piece is a word for orders, invoices or payments.
func (p *explanation) trade(x parse.Piece) bool {
	return slices.ContainsFunc([]string{"order", "invoice", "payment"}, func(c string) bool { return p.Text.Lex.Means(p.word(x).Stem, c) })
}

// bill reports whether a piece is a word for the rows, or for their key, that stands for their amount.
func (p *explanation) bill(x parse.Piece) bool {
	return (x.Rows() || x.Kind == speech.KindField && x.Field.Key() && p.View.Unique(x.Field)) && bills[p.word(x).Stem]
}

// rates are words of prices per unit.
var rates = speech.Folded("rate rates unit satz stundensatz tagessatz")

var muches = speech.Folded("much viel wieviel")

// Totals reports whether the question asks how much there is, rather than how high it is.
func (p *wording) Totals() bool { return p.says(muches) }

var spends = speech.Folded("spend spends spent pay paid cost costs ausgegeben bezahlt gezahlt gekostet")

// decideMean determines what a mean by a unit of time or by groups is taken over: the rows
// or the totals. They differ if several rows belong to one day or store.
func (p *Plan) decideMean() Reason {
	if p.Aggregate != "avg" || p.Unit == "" && len(p.Groups) == 0 {
		return ""
	}
	f, per := p.Measures[0].Field, p.has(func(x parse.Piece) bool { return x.Kind == speech.KindBy && perWords[p.word(x).Fold] })
	taken := p.Unit != "" && (per || p.has(func(x parse.Piece) bool {
		t := p.word(x)
		return x.Kind == speech.KindUnit && (t.Part || x.To-x.From == 2 || strings.HasSuffix(t.Fold, "ly") || strings.Contains(t.Fold, "lich"))
	}))
	switch {
	case p.Unit == "month" && f.PerMonth(), p.Unit == "year" && f.Has(annual): // the monthly fee
		p.Unit = ""
	case taken && !p.View.OfMoney(f) && p.findTime() && p.View.Unique(p.Time) && p.Time.Type == "date" && (p.Unit == "day" && !p.Time.Monthly() && p.Nature(f) != "sum" || p.Unit == "month" && p.Time.Monthly()):
		p.Unit = "" // each row is a day
	case per && len(p.Groups) == 1 && p.Groups[0].Dated() && p.View.Unique(p.Groups[0]) && (p.Groups[0].Monthly() || p.Nature(f) != "sum"):
		p.Groups = nil // each row is a month
	case taken, per && (p.Nature(f) == "sum" || len(p.Groups) == 1 && p.Groups[0].Dated()):
		return ReasonAmbiguous // the mean of the rows of each store, or the total divided by the number of stores
	}
	return ""
}

var annual = speech.Folded("annual yearly jährlich jahresgehalt jahreslohn jahr year annuel")

var perWords = speech.Folded("per pro je")

// onlyTimes reports whether the other named columns are times, the target or columns that only name rows.
func (p *Plan) onlyTimes() bool {
	return !slices.ContainsFunc(p.attrs, func(f *schema.Field) bool {
		return !f.Dated() && !f.Yearly() && f != p.Target && !(p.View.NamesRows(f) && !f.Has(schema.TimeWords)) && !p.idle(f)
	})
}

// idle reports whether a column only names whom a condition is about: orders from customers
// in Canada. A mean may be over the rows or over the customers.
func (p *wording) idle(f *schema.Field) bool {
	if f.Table != 0 || !f.Text() && !f.Key() {
		return false
	}
	for i, x := range p.Pieces {
		if i == 0 || x.Kind != speech.KindField || x.Field != f || p.isGroupedBy(i) || p.Asked(i) != "" {
			continue
		}
		if v := p.Pieces[i-1]; v.Kind == speech.KindValue && v.Field != f && v.Field.Table == 0 && v.To == x.From {
			return true // sparkling wine
		}
		for k := i + 1; k < len(p.Pieces) && k <= i+3 && p.Aggregate != "avg" && p.Aggregate != "median"; k++ {
			if v := p.Pieces[k]; v.Kind == speech.KindValue && v.Field != f && (k <= i+2 && v.Field.Table == 0 || p.View.LeadsTo(f, v.Field)) {
				return true
			}
		}
	}
	return false
}

var rateWords = speech.Folded("avg average mean durchschnitt rate ratio percent pct percentage prozent quote index level speed unit per depth tiefe satisfaction einzelpreis stuckpreis stundenlohn grade note wind temperature body mass median expectancy lebenserwartung")

// Nature returns how the values of a column aggregate: sum, avg, max, min, or "" if unknown.
func (p *wording) Nature(f *schema.Field) string {
	if f.Product() {
		return "sum"
	}
	for _, w := range f.Words {
		switch w.Fold {
		case "max", "maximum", "hochst", "highest":
			return "max"
		case "min", "minimum", "tiefst", "lowest":
			if f.UnitName() != "min" || w.Fold != "min" { // minutes
				return "min"
			}
		}
	}
	if f.Has(rateWords) && !f.Named("revenue") || f.UnitSymbol() == "%" || strings.Contains(f.UnitSymbol(), "/") {
		return "avg"
	}
	if f.Has(schema.Moved) {
		return "sum"
	}
	if p.level(f) {
		return ""
	}
	head := f.Head()
	is := func(c string) bool { return p.Text.Lex.Means(head, c) }
	for _, c := range schema.Ratelike {
		if is(c) && !is("revenue") && (c != "price" || !is("cost")) {
			return "avg"
		}
	}
	if things(f, head) || slices.ContainsFunc(schema.Additive, f.Named) {
		return "sum"
	}
	return ""
}

// level reports whether a column holds how much there is at a time: inhabitants of a year, a stock of a day.
func (p *wording) level(f *schema.Field) bool {
	return (f.Named("stock") && !f.Named("quantity") || f.Named("population") || f.Named("meter")) && !f.Has(schema.Moved) && p.timeField(nil) != nil
}

// things reports whether whole numbers under a plural with a stem count things: nights, votes, cups.
func things(f *schema.Field, stem string) bool {
	return f.Type == "integer" && slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		subject := w.Fold == "maths" || strings.HasSuffix(w.Fold, "ics") // marks in physics, not a number of them
		return strings.HasSuffix(w.Stem, stem) && !subject && (Plurals[w.Fold] || strings.HasSuffix(w.Fold, "s") && !strings.HasSuffix(w.Fold, "ss") && !strings.HasSuffix(w.Fold, "us"))
	})
}

// Plurals are plurals without a plural ending.
var Plurals = speech.Folded("people children men women staff")

// decideList checks which names are listed.
func (p *Plan) decideList() Reason {
	p.Op = OpList
	named := func(f Filter) bool {
		return f.Field == p.Target && (len(f.values) == 1 || p.Asks == "who" && len(f.values) > 0) && !f.not && !f.Total
	}
	if p.Target == nil || len(p.Filters) == 0 || len(p.Measures) > 0 && !p.View.Unique(p.Target) || slices.ContainsFunc(p.Filters, named) {
		return ReasonUnclear // the one asked for is not the one named
	}
	return ""
}

// decideCount determines what is counted.
func (p *Plan) decideCount() Reason {
	if p.View.Tables[0].RowCount == 1 {
		return ReasonUnclear // a note, not a list
	}
	p.Op = OpCount
	if p.asked != nil || p.Asks == "who" || p.Asks == "where" || p.Asks == "when" {
		return ReasonUnclear
	}
	if f, reason := p.units(); f != nil || reason != "" {
		p.Op, p.Counted, p.Measures = OpValue, nil, []Measure{{Field: f, How: cmp.Or(p.Aggregate, "sum")}}
		return cmp.Or(reason, p.decideMean())
	}
	switch {
	case p.Tally != "":
		if !p.findTime() || p.Time.Yearly() && p.Tally != "year" || p.Counted != nil {
			return ReasonUnclear
		}
		return ""
	case p.distinct && p.Counted == nil:
		if len(p.attrs) != 1 {
			return ReasonUnclear
		}
		p.Counted = p.attrs[0]
		return ""
	case p.distinct:
		return ""
	case p.Counted != nil:
		own := !p.Counted.Key() && !p.Counted.Dated() && slices.ContainsFunc(p.Counted.Words, func(w speech.Word) bool { return slices.Contains(p.View.Entity, w.Stem) })
		switch several := own && p.Counted.Text() && p.severalRowsEach(p.Counted); {
		case several: // the countries, each with a row for each year
		case p.Counted.Table == 0 && (p.View.Unique(p.Counted) || p.Counted == p.Either || own):
			p.Counted = nil
		case !p.Counted.Key():
			return ReasonAmbiguous // how many rooms: those that the bookings mention, or all
		}
		return ""
	}
	if len(p.attrs) > 0 && !p.onlyTimes() || p.people && !p.View.OfPeople() {
		return ReasonUnclear
	}
	// Orders that span several rows are counted by their key.
	for _, x := range p.Pieces {
		switch {
		case x.Kind == speech.KindEntity && p.amounts(x):
			return ReasonUnclear // the inhabitants of a town
		case x.Rows() && p.says(trades) && p.View.FieldOf("quantity") != nil && !p.trade(x):
			p.Op, p.Measures = OpValue, []Measure{{Field: p.View.FieldOf("quantity"), How: cmp.Or(p.Aggregate, "sum")}} // how many tickets did we sell
			return p.decideMean()
		case x.Rows():
			p.Counted = cmp.Or(p.keyOfSeveral(x), p.nameOfSeveral(x))
			return ""
		}
	}
	// "How many are open" counts rows; "how many sick days" does not, nor does "how often in March".
	if len(p.Filters) == 0 || p.often() && !slices.ContainsFunc(p.Filters, Filter.restricts) {
		return ReasonUnclear
	}
	return ""
}

// trades are words for sales and purchases.
var trades = speech.Folded("sell sells sold selling buy bought order ordered ship shipped verkauft verkauften verkaufen gekauft bestellt verschickt")

// habits are words of the present tense around trades.
var habits = speech.Folded("do does verkaufen kaufen")

// units returns the number of pieces in each row if products are counted by their names: how many desks did we sell.
func (p *Plan) units() (*schema.Field, Reason) {
	product := p.Counted != nil && !p.distinct && p.Counted.Named("product") && p.says(trades)
	for i, x := range p.Pieces {
		if b, n := p.near(i, -1), p.near(i, 1); x.Kind == speech.KindValue && b.Kind == speech.KindAsk && b.Arg == "many" {
			product = !(n.Kind == speech.KindEntity && n.From == x.To) && !(n.Kind == speech.KindField && n.From == x.To && !n.Field.Measure())
		}
	}
	if !product || p.Tally != "" {
		return nil, ""
	}
	dated := slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Dated() })
	pieces := p.View.StockField()
	if dated {
		pieces = p.View.FieldOf("quantity")
	}
	if pieces != nil && (p.says(trades) != dated || p.Counted != nil && p.says(habits)) {
		return nil, ReasonAmbiguous // the stock, of sales; the sales, of a stock; how many products do we sell: how many kinds
	}
	return pieces, ""
}
