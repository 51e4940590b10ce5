package question

import (
	"cmp"
	"slices"
	"strings"
)

// The operations.
const (
	opValue    = "value"
	opGroups   = "groups"
	opRank     = "rank"
	opExtreme  = "extreme"
	opCount    = "count"
	opShare    = "share"
	opChange   = "change"
	opTrend    = "trend"
	opCourse   = "course"
	opCompare  = "compare"
	opLookup   = "lookup"
	opList     = "list"
	opUnusable = "unusable"
	// opMeter is what a counter counted between two of its readings.
	opMeter = "meter"
	// opAcross compares the columns of a table that has one for each party, channel or subject.
	opAcross = "across"
)

// decide chooses the operation that the slots make. Readings of a counter are never added up.
func (p *plan) decide() Reason {
	if slices.ContainsFunc(p.filters, func(f filter) bool {
		return f.equal && slices.ContainsFunc(p.measures, func(m measure) bool { return m.field == f.field })
	}) {
		return ReasonUnclear // what is asked for is what is given
	}
	if p.asks == "many" && slices.ContainsFunc(p.measures, func(m measure) bool { return p.comparedBy(m.field) }) {
		if !p.countsRows() {
			return ReasonUnclear
		}
		p.measures = slices.DeleteFunc(p.measures, func(m measure) bool { return p.comparedBy(m.field) })
	}
	why := p.choose()
	if why == "" && slices.ContainsFunc(p.measures, func(m measure) bool { return m.how == "sum" && p.counter(m.field) }) {
		return ReasonUnclear
	}
	return why
}

// comparedBy says whether a condition compares a number: trips with more than 10 minutes of delay.
func (p *plan) comparedBy(f *field) bool {
	return slices.ContainsFunc(p.filters, func(x filter) bool { return x.field == f && x.number })
}

// countsRows says whether the rows themselves are what is counted: how many trips.
func (p *plan) countsRows() bool {
	for i, x := range p.ps {
		if (x.kind == kindEntity && x.arg == "rows" || x.kind == kindValue && i > 0 && p.ps[i-1].kind == kindAsk) && p.asked(i) != nil && p.asked(i).arg == "many" {
			return true
		}
	}
	return false
}

// counters are parts of the names of what only ever counts on, or says how much there is: a sum of its
// readings means nothing.
var counters = []string{"zahlerst", "kilometerst", "tachost", "kontost", "meter read", "meter_read", "meterread", "odometer", "balance", "saldo", "solde", "cumul", "kumul", "running total"}

// counter reports whether a column, or its table, holds readings of a counter.
func (p *plan) counter(f *field) bool {
	names := fold(f.Name + " " + p.v.tables[f.table].Name)
	return slices.ContainsFunc(counters, func(part string) bool { return strings.Contains(names, part) })
}

func (p *plan) choose() Reason {
	p.monthlyFigure()
	if p.unit == "week" || p.tally == "week" {
		return ReasonUnclear // weeks begin on one day here and on another there
	}
	switch {
	case p.across:
		return p.decideAcross()
	case p.metered():
		return p.decideMeter()
	}
	if why := p.decideMore(); why != "" {
		return why
	}
	if p.asks == "change" && p.agg != "" && p.trend == "" && len(p.periods) < 2 {
		p.asks = "much" // how did people rate it on average
	}
	switch {
	case p.op == opUnusable:
		return ""
	case p.share && p.trend != "" && len(p.periods) == 2:
		return p.decideChange()
	case p.share:
		p.op = opShare
		return p.decideShare()
	case p.sup != nil && len(p.periods) < 2 && p.trend == "":
		return p.decideSup()
	case p.trend != "" || p.asks == "change" || len(p.periods) == 2:
		return p.decideChange()
	}
	if why := p.decideMeasure(); why != "" {
		return why
	}
	switch {
	case p.either != nil && p.op != opList && p.op != opLookup:
		if p.target != nil && p.target != p.either || len(p.groups) > 0 {
			return ""
		}
		p.op = opCompare
	case p.op == opValue && (len(p.groups) > 0 || p.unit != ""):
		p.op = opGroups
	case p.op == opCount && (len(p.groups) > 0 || p.unit != ""):
		p.op = opGroups
	}
	if p.agg == "median" && (p.op == opGroups || p.op == opCompare) {
		return ReasonUnclear
	}
	if p.op == opList || p.op == opLookup {
		if !slices.ContainsFunc(p.listed(), func(f *field) bool { return !p.filtered(f) }) {
			return ReasonUnclear // what is asked for is what is given
		}
	}
	if p.op == opGroups && len(p.groups) > 2 {
		return ReasonUnclear
	}
	if p.diff && p.op != opCompare {
		return ReasonUnclear
	}
	return p.needTime()
}

// needTime finds the dates where a unit of time is asked for.
func (p *plan) needTime() Reason {
	if p.unit == "" {
		return ""
	}
	if p.time == nil {
		p.time = p.timeField(nil)
	}
	if p.time == nil || p.time.yearly(p.r.lex) && p.unit != "year" {
		return ReasonUnknown
	}
	return ""
}

// decideMeasure chooses between a value, a count, a lookup and a list.
func (p *plan) decideMeasure() Reason {
	if len(p.measures) == 0 && p.agg != "" && p.asks != "many" && p.counted == nil {
		f := p.implied()
		if f == nil {
			return ReasonUnclear
		}
		p.measures = []measure{{field: f}}
	}
	if p.target != nil && p.filtered(p.target) && len(p.measures) > 0 {
		p.target = nil // the share of Bolt, which is a company
	}
	switch {
	case p.tally == "day" && len(p.measures) == 1 && p.agg == "" && len(p.filters) == p.times() && p.measures[0].field.named(p.r.lex, "rain"):
		p.filters, p.measures = append(p.filters, numberFilter(p.measures[0].field, ">", 0)), nil // on how many days did it rain
		p.op = opCount
		return p.decideCount()
	case p.counted != nil && len(p.measures) > 0 && !p.distinct:
		return ReasonAmbiguous // products in stock: how many products, or how many pieces
	case p.tally != "" && len(p.measures) > 0:
		return ReasonUnclear
	case p.asks == "many" && len(p.measures) == 0, p.counted != nil, p.versus && p.either != nil && len(p.measures) == 0 && p.hasRows():
		p.op = opCount
		return p.decideCount()
	case len(p.measures) == 1 && p.asks == "list" && (p.target == nil || p.target == p.labels()) && len(p.groups) == 0 && len(p.filters) == 0 && p.agg == "" && p.labels() != nil:
		p.groups, p.target, p.op = []*field{p.labels()}, nil, opValue // market share: of each company
		return ""
	case len(p.measures) > 0:
		if p.asks == "list" && len(p.groups) == 0 && p.unit == "" && p.agg == "" || p.target != nil && p.agg == "" && p.asks != "many" {
			p.op = opList
			return p.decideList()
		}
		p.op = opValue
		return p.decideValue()
	case p.asks == "much" && len(p.attrs) == 0 && p.target == nil && cmp.Or(p.implied(), p.given()) != nil:
		p.measures = []measure{{field: cmp.Or(p.implied(), p.given())}}
		p.op = opValue
		return p.decideValue()
	case p.target != nil && len(p.filters) > 0:
		p.op = opList
		return p.decideList()
	case len(p.attrs) > 0 && len(p.filters) > 0 && (p.asks != "who" || !p.onlyTimes()):
		p.op = opLookup
		return ""
	case p.asks == "who" && len(p.filters) > 0:
		p.op, p.target = opList, p.person()
		if p.target == nil {
			return ReasonUnclear
		}
		return ""
	case p.asks == "" && p.agg == "" && p.allMeasures():
		p.op = opCourse // a report on sales
		return ""
	case p.distinct && len(p.attrs) == 1:
		p.op, p.counted = opCount, p.attrs[0]
		return ""
	}
	return ReasonUnclear
}

// times is how many of the conditions are times.
func (p *plan) times() int {
	n := 0
	for _, f := range p.filters {
		if f.period != nil {
			n++
		}
	}
	return n
}

// adds says whether the question asks what something adds up to.
func (p *plan) adds() bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		switch p.r.ts[x.from].fold {
		case "add", "adds", "added", "summieren", "belaufen":
			return x.kind == kindAgg
		}
		return false
	})
}

// labels is the only column of names that every row has its own of.
func (p *plan) labels() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.text() && !f.key(p.r.lex) && f.unique(p.v.tables[0].RowCount) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// implied is the one number of a table that the question names by the table's topic.
func (p *plan) implied() *field {
	f := p.onlyMeasure()
	if f == nil {
		return nil
	}
	if p.topicMeasure(f) || f == p.v.coins && p.adds() {
		return f
	}
	return nil
}

// decideValue settles the aggregate of each measure.
func (p *plan) decideValue() Reason {
	if p.askedFor != nil || p.asks == "who" || p.asks == "where" || p.asks == "when" {
		return ReasonUnclear
	}
	p.expenses()
	if slices.ContainsFunc(p.measures, func(m measure) bool { return p.moneyOnly(m.field) }) {
		return ReasonAmbiguous // that came in, or that went out
	}
	joins := 0
	for _, x := range p.ps {
		if x.kind == kindJoin && x.arg == "and" {
			joins++
		}
	}
	if len(p.measures) > 1 && joins < len(p.measures)-1 || len(p.measures) > 4 {
		return ReasonUnclear
	}
	for i := range p.measures {
		m := &p.measures[i]
		m.how = p.agg
		kindOf := p.nature(m.field)
		switch {
		case m.how == "sum" && kindOf == "rate" && p.product(m.field) != nil:
			m.field = p.product(m.field)
		case m.how == "sum" && (m.field.unit() == "%" || m.field.named(p.r.lex, "temperature")):
			return ReasonUnclear
		case m.how != "":
		case kindOf == "sum" || p.asks == "many":
			m.how = "sum"
		case kindOf == "max" || kindOf == "min":
			m.how = kindOf
		case kindOf == "rate":
			m.how = "avg"
		case p.asks == "much":
			m.how = "sum"
		}
		if p.asks == "many" && kindOf == "rate" && p.agg == "" {
			return ReasonUnclear
		}
	}
	if len(p.attrs) > 0 && !p.onlyTimes() {
		return ReasonUnclear
	}
	return p.decideMean()
}

// decideMean settles what a mean by a unit of time or by groups is one of: of the rows, or of
// the totals, which differ where several rows belong to a day or a store.
func (p *plan) decideMean() Reason {
	if p.agg != "avg" {
		return ""
	}
	if p.unit != "" && p.daily() {
		if !p.onePerTime() || p.time.dated() != (p.unit == "day") || p.time.Type == "datetime" || p.time.monthly() {
			return ReasonAmbiguous // the mean of the rows, or the total by the number of days
		}
		p.unit = ""
	}
	if len(p.groups) == 1 && p.groups[0].dated() && p.perWord() {
		if !p.groups[0].unique(p.v.tables[0].RowCount) {
			return ReasonAmbiguous
		}
		p.groups = nil // each row is a month
		return ""
	}
	if p.unit == "month" && p.perWord() && len(p.groups) == 0 {
		if p.time == nil {
			p.time = p.timeField(nil)
		}
		if p.time == nil || !p.onePerTime() || !p.time.monthly() {
			return ReasonAmbiguous
		}
		p.unit = "" // each row is a month
	}
	if p.unit != "" && p.perWord() && p.nature(p.measures[0].field) == "" {
		return ReasonAmbiguous
	}
	if (len(p.groups) > 0 || p.unit != "") && p.perWord() && p.nature(p.measures[0].field) == "sum" {
		return ReasonAmbiguous // the mean of the rows of each store, or the total by the number of stores
	}
	return ""
}

// daily says whether the unit of time only says what a mean is of: the daily consumption.
func (p *plan) daily() bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		t := p.r.ts[x.from]
		return x.kind == kindUnit && (t.part || t.fold == "daily" || t.fold == "monthly" || t.fold == "yearly" || t.fold == "annual" || strings.Contains(t.fold, "lich"))
	})
}

// perWord says whether the question groups by per, pro or je.
func (p *plan) perWord() bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		w := p.r.ts[x.from].fold
		return x.kind == kindBy && (w == "per" || w == "pro" || w == "je")
	})
}

// onlyTimes says whether the other columns that are named are only those of times.
func (p *plan) onlyTimes() bool {
	return !slices.ContainsFunc(p.attrs, func(f *field) bool {
		return !f.dated() && !f.yearly(p.r.lex) && f != p.target && !p.namesRows(f) && !p.idle(f)
	})
}

// idle says whether a column only names those of whom a condition is: orders from customers
// in Canada. A mean may be one of the rows or one of the customers.
func (p *plan) idle(f *field) bool {
	if f.table != 0 || !f.text() && !f.key(p.r.lex) {
		return false
	}
	mean := p.agg == "avg" || p.agg == "median"
	for i, x := range p.ps {
		if i == 0 || x.kind != kindField || x.field != f || p.asked(i) != nil || p.by(i) {
			continue
		}
		if v := p.ps[i-1]; v.kind == kindValue && v.field != f && v.field.table == 0 && v.to == x.from {
			return true // sparkling wine
		}
		for k := i + 1; k < len(p.ps) && k <= i+3 && !mean; k++ {
			if v := p.ps[k]; v.kind == kindField && v.field.table > 0 {
				continue // the members of the department Gymnastics
			}
			if v := p.ps[k]; v.kind == kindValue && v.field != f && (k <= i+2 && v.field.table == 0 || p.leadsTo(f, v.field)) {
				return true
			}
		}
	}
	return false
}

// namesRows says whether a column only names what each row is: the products of a list of products.
func (p *plan) namesRows(f *field) bool {
	rows := p.v.tables[0].RowCount
	return f.table == 0 && f.factors == nil && (f.text() || f.key(p.r.lex)) && !f.DistinctCapped && rows > 0 && f.Distinct*10 >= rows*9
}

// product is the derived measure that multiplies a unit price with its quantity.
func (p *plan) product(f *field) *field {
	for _, d := range p.v.fields {
		if slices.Contains(d.factors, f) {
			return d
		}
	}
	return nil
}

var additive = []string{
	"revenue", "profit", "cost", "amount", "spent", "budget", "actual", "quantity", "stock", "rain", "consumption", "generation", "death", "donation", "goals", "visitor",
	"yield", "fuel", "liters", "distance", "hours", "payment", "tax", "calories", "win", "loss",
}

var ratelike = []string{"price", "temperature", "score", "rating", "age", "height", "weight", "length", "width", "salary", "humidity", "pressure", "area", "rooms", "bedrooms", "rent", "concentration", "duration", "size"}

var rateWords = folded("avg average mean durchschnitt rate ratio percent pct percentage prozent quote index level speed unit per per-unit depth tiefe satisfaction einzelpreis stuckpreis stundenlohn grade note wind temperature body mass median")

// moved are words of numbers of pieces that went away, not of those that are there.
var moved = folded("sold verkauft verkaufte shipped ordered bestellt geliefert borrowed ausgeliehen")

// nature says how the values of a column add up: sum, rate, max, min, or "" if unknown.
func (p *plan) nature(f *field) string {
	if f.factors != nil {
		return "sum"
	}
	for _, w := range f.words {
		switch w.fold {
		case "max", "maximum", "hochst", "highest":
			return "max"
		case "min", "minimum", "tiefst", "lowest":
			return "min"
		}
	}
	for _, w := range f.words {
		if rateWords[w.fold] && !f.named(p.r.lex, "revenue") {
			return "rate"
		}
	}
	if f.unit() == "%" || strings.Contains(f.unit(), "/") {
		return "rate"
	}
	if slices.ContainsFunc(f.words, func(w word) bool { return moved[w.fold] }) {
		return "sum"
	}
	stock := f.named(p.r.lex, "stock") || f.named(p.r.lex, "population") || f.named(p.r.lex, "meter")
	if stock && (p.timeField(nil) != nil) {
		return ""
	}
	head := word{stem: f.head()}
	for _, c := range ratelike {
		if p.r.lex.means(head.stem, c) && !p.r.lex.means(head.stem, "revenue") && (c != "price" || !p.r.lex.means(head.stem, "cost")) {
			return "rate"
		}
	}
	for _, c := range additive {
		if f.named(p.r.lex, c) {
			return "sum"
		}
	}
	// Whole numbers under a plural count things: nights, votes, cups.
	if f.Type == "integer" && slices.ContainsFunc(f.words, func(w word) bool {
		return w.stem == head.stem && plurals[w.fold] || w.stem == head.stem && strings.HasSuffix(w.fold, "s") && !strings.HasSuffix(w.fold, "ss") && !strings.HasSuffix(w.fold, "us")
	}) {
		return "sum"
	}
	return ""
}

// decideCount settles what is counted.
func (p *plan) decideCount() Reason {
	if p.askedFor != nil || p.asks == "who" || p.asks == "where" || p.asks == "when" {
		return ReasonUnclear
	}
	rows := p.v.tables[0].RowCount
	if f := p.units(); f != nil {
		p.op, p.measures = opValue, []measure{{field: f, how: "sum"}}
		return ""
	}
	if p.tally != "" {
		if p.time == nil {
			p.time = p.timeField(nil)
		}
		if p.time == nil || p.time.yearly(p.r.lex) && p.tally != "year" || p.counted != nil {
			return ReasonUnclear
		}
		return ""
	}
	if p.counted == nil && p.distinct {
		if len(p.attrs) != 1 {
			return ReasonUnclear
		}
		p.counted = p.attrs[0]
		return ""
	}
	if p.counted != nil && p.oftenAsked() && !p.distinct {
		if p.counted.table != 0 || !verbal(fold(p.called)) {
			return ReasonUnclear
		}
		p.counted = nil // how often did Kühn work: the rows
	}
	if p.counted != nil {
		own := !p.counted.key(p.r.lex) && slices.ContainsFunc(p.counted.words, func(w word) bool { return slices.Contains(p.v.entity, w.stem) })
		if !own && !p.distinct && !p.counted.unique(rows) && !p.counted.key(p.r.lex) && p.counted.named(p.r.lex, "product") && p.v.stocked(p.r.lex) {
			return ReasonAmbiguous // articles of one name: how many names, or how many articles
		}
		if (p.counted.unique(rows) || own || p.filtered(p.counted)) && p.counted.table == 0 && !p.distinct {
			p.counted = nil
		}
		return ""
	}
	if len(p.attrs) > 0 && !p.onlyTimes() || p.people && !p.v.ofPeople(p.r.lex) {
		return ReasonUnclear
	}
	// Orders of several rows each are counted by their key.
	for _, x := range p.ps {
		if x.kind != kindEntity || x.arg != "rows" {
			continue
		}
		for _, f := range p.v.fields {
			if f.table == 0 && f.key(p.r.lex) && len(f.words) > 1 && f.words[0].stem == p.r.ts[x.from].stem && f.Distinct < rows && f.Missing == 0 && !f.DistinctCapped {
				p.counted = f
			}
		}
		return ""
	}
	// "How many are open" counts rows; "how many sick days" is no count of rows.
	if len(p.filters) == 0 {
		return ReasonUnclear
	}
	return ""
}

// units is the number of pieces in each row where products are counted by their names: how
// many desks did we sell.
func (p *plan) units() *field {
	if p.counted != nil && !p.distinct && p.counted.named(p.r.lex, "product") && p.tally == "" && p.traded() {
		if f := p.fieldOf("quantity"); f != nil {
			p.counted = nil
			return f
		}
	}
	if p.counted != nil || p.tally != "" {
		return nil
	}
	for i, x := range p.ps {
		if x.kind == kindValue && i > 0 && p.ps[i-1].kind == kindAsk && p.ps[i-1].arg == "many" && (x.field.named(p.r.lex, "product") || p.traded()) {
			if f := p.fieldOf("quantity"); f != nil || !p.traded() {
				return f
			}
			return p.pieces()
		}
	}
	return nil
}

// pieces is the only whole number of things in each row: cups.
func (p *plan) pieces() *field {
	var found *field
	if !p.trading() {
		return nil
	}
	for _, f := range p.v.fields {
		if f.table != 0 || f.Type != "integer" || !f.measure(p.r.lex) || p.nature(f) != "sum" || p.ofMoney(f) || sizesOf[f.unitName()].n > 0 {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

// decideList settles which names are listed.
func (p *plan) decideList() Reason {
	if p.target == nil {
		for _, x := range p.ps {
			if x.kind == kindEntity && x.arg == "rows" {
				p.target = p.labelField(x)
			}
		}
	}
	if p.target == nil || len(p.filters) == 0 || len(p.measures) > 0 && !p.target.unique(p.v.tables[0].RowCount) {
		return ReasonUnclear
	}
	return ""
}
