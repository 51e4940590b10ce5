package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// decideSup determines what a superlative ranks, and by what.
func (p *Plan) decideSup() Reason {
	if reason := p.supMeasure(); reason != "" {
		return reason
	}
	switch {
	case len(p.Measures) == 0 && (p.Aggregate == "avg" || p.Aggregate == "median"):
		return ReasonUnclear // rows have no mean
	case p.Superlative.About == "rows" && p.crowded(), // the most rows, or the most visitors
		p.mostSales(), // the most sales, or those of the highest value
		p.unsureBest(),
		p.Asks == "who" && p.Target != nil && !p.Target.Named("name") && p.Target.Names == nil && p.Target != p.View.Person(): // who borrowed the most tools: how many loans, or how many different tools
		return ReasonAmbiguous
	}
	if p.Target != nil && p.Target.Dated() && len(p.Measures) == 1 && p.Measures[0].Field == p.Target {
		p.Target = nil // what was released first: not its date
	}
	if who := p.View.Person(); p.Asks == "who" && who != nil && len(p.Measures) == 1 && p.Measures[0].Field.Named("birth") && !p.View.NamesRows(who) {
		return ReasonUnclear // the owner of the pet that was born first was not born first
	}
	p.N = max(p.N, 1)
	if p.Asks == "many" {
		return ReasonUnclear
	}
	p.expenses()
	if p.one && (p.Target == nil || p.Target == p.View.Person()) {
		p.Op, p.Target = OpExtreme, nil
		return ""
	}
	p.supTarget()
	if p.Counted != nil && p.Counted == p.Target {
		return ReasonUnclear // who travelled the most
	}
	if p.Target == nil && p.Unit == "" && p.Superlative.About == "quantity" {
		sold := func(f *schema.Field) bool { return f.Table == 0 && f.Text() && !f.Key() && f.Named("product") }
		if p.Target = schema.Only(p.View.Fields, sold); p.Target == nil {
			return ReasonUnclear
		}
	}
	if p.Target != nil || p.Unit != "" {
		p.Op = OpRank
		if p.Aggregate == "median" {
			return ReasonUnclear
		}
		return p.needTime()
	}
	p.Op = OpExtreme
	switch {
	case len(p.Measures) == 0,
		p.Asks == "who" && p.View.Person() == nil,                   // a figure is not a person
		p.N > 1 && !slices.ContainsFunc(p.Pieces, parse.Piece.Rows), // the three best of what
		p.spending() && p.Asks != "much",                            // on what: no column is named
		p.Aggregate == "sum" || p.Aggregate == "avg":
		return ReasonUnclear
	}
	return ""
}

// supMeasure determines the number that a superlative ranks by.
func (p *Plan) supMeasure() Reason {
	switch {
	case p.Superlative.About == "rows":
		p.Measures = nil
	case p.Superlative.About != "":
		f := p.supField(p.Superlative.About)
		if p.Superlative.About == "length" && len(p.Measures) == 1 && slices.ContainsFunc([]string{"distance", "duration", "length", "wait"}, func(c string) bool {
			return p.Measures[0].Field.Named(c) || sizesOf[p.Measures[0].Field.UnitName()].kind == "length"
		}) {
			f = p.Measures[0].Field // the longest distance
		}
		if f == nil && len(p.Measures) == 1 && (p.Superlative.About == "length" || p.Superlative.About == "date") {
			f = p.Measures[0].Field // the longest waiting time
		}
		if f == nil {
			return ReasonUnknown
		}
		if len(p.Measures) > 0 && p.Measures[0].Field != f {
			return ReasonUnclear
		}
		p.Measures = []Measure{{Field: f, How: p.Aggregate}}
		if p.Superlative.About == "length" && p.Aggregate == "" && p.Nature(f) == "sum" {
			p.one = p.Target == nil || p.Target == p.View.Person() // who stayed the longest: in one stay
			if !p.one && !p.View.Unique(p.Target) {
				return ReasonAmbiguous
			}
		}
	case len(p.Measures) == 1:
		p.Measures[0].How = p.Aggregate
		if f := p.Measures[0].Field; p.Aggregate == "" && p.mostWord() && p.Target != nil && p.Nature(f) == "" && p.View.OfMoney(f) && !p.View.Unique(p.Target) {
			p.Measures[0].How = "sum" // the most in fees
		}
	case len(p.Measures) == 0 && p.Counted == nil:
		if reason := p.supWithout(); reason != "" {
			return reason
		}
	case len(p.Measures) > 1:
		return ReasonUnclear
	}
	return ""
}

// crowded reports whether the table counts attendance, so that "the most popular" and "the
// busiest" may mean the highest attendance.
func (p *wording) crowded() bool {
	if slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Rows() && x.From == p.Superlative.To }) {
		return false
	}
	return popular[p.Text.Tokens[p.Superlative.To-1].Fold] && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Type == "integer" && f.Measure() && (f.Named("visitor") || f.Has(crowds))
	})
}

var popular = speech.Folded("popular busiest beliebteste beliebtesten")

var crowds = speech.Folded("attended attendees attendance booked bookings guests participants teilnehmer gaste zuschauer spectators passengers fahrgaste riders downloads views plays listens entries sold quantity qty menge anzahl count")

// mostSales reports whether the question asks for the most sales, which may be counted or added.
func (p *Plan) mostSales() bool {
	if p.mostWord() && p.View.MoneyField != nil && len(p.Measures) == 0 && p.Superlative.To == len(p.Text.Tokens) && p.behind(p.Superlative.From, trades) {
		return true // who ordered the most
	}
	return p.mostWord() && p.View.HasRevenue && slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.From == p.Superlative.To && x.To == x.From+1 && p.Text.Sales(p.Text.Tokens[x.From])
	})
}

// mostWord reports whether the superlative asks for the most or the least.
func (p *explanation) mostWord() bool {
	return mosts[p.Text.Tokens[p.Superlative.To-1].Fold]
}

var mosts = speech.Folded("most fewest least meisten wenigsten")

// unsureBest reports whether best and worst may mean the lowest: for school grades, 1 is
// best in one country and worst in another.
func (p *Plan) unsureBest() bool {
	if len(p.Measures) != 1 || !bests[p.Text.Tokens[p.Superlative.From].Fold] {
		return false
	}
	f := p.Measures[0].Field
	if f.SchoolGrade() {
		p.Superlative.Arg = opposite[p.Superlative.Arg] // 1 is the best
		return false
	}
	// Whether more of it is better or worse is known.
	known := p.judged || f.Scale() || f.Clock() || p.View.HasRevenue || f == p.View.MoneyField || slices.ContainsFunc(goodMost, func(c string) bool { return f.Named(c) })
	if !known && f.Table == 0 && f.Factors == nil && !f.Dated() && !p.Text.Lex.Means(f.Head(), "temperature") {
		return true
	}
	graded := f.Named("score") || slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindEntity && p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, "score")
	})
	high, ok := schema.NumberOf(f.Max)
	return graded && ok && high <= 6
}

// goodMost are the concepts of numbers of which more is better.
var goodMost = strings.Fields("revenue profit yield generation score rating satisfaction goals win visitor quantity donation speed salary")

var bests = speech.Folded("best worst beste besten bester bestes schlechteste schlechtesten schlechtester")

// supWithout handles a superlative that names no number: the most orders, the most customers.
func (p *Plan) supWithout() Reason {
	others := slices.DeleteFunc(slices.Clone(p.attrs), func(f *schema.Field) bool {
		return f == p.Target || f.Dated() || p.filtered(f) || slices.Contains(p.Groups, f)
	})
	switch {
	case len(others) > 1:
		return ReasonUnclear
	case len(others) == 1 && (others[0].Named("product") && p.View.Stocked() || p.View.Unique(others[0]) && p.View.FieldOf("stock") != nil):
		return ReasonAmbiguous // the most kinds of plants, or the most plants
	case len(others) == 1:
		if p.Counted = others[0]; p.View.Unique(p.Counted) {
			p.Counted = nil
		}
		return ""
	}
	if p.biggest() {
		p.one = true
		p.Measures = []Measure{{Field: p.View.MoneyField, How: p.Aggregate}}
		return ""
	}
	for i, x := range p.Pieces {
		if x.Kind == speech.KindEntity && x.From > 0 && allOf[p.Text.Tokens[x.From-1].Fold] {
			continue // across all depots
		}
		if x.Rows() && !(p.Asked(i) == "which" && p.Target != nil && p.Target == p.labelField(x)) {
			if x.From == p.Superlative.To && p.View.MoneyField != nil && bigWords[p.Text.Tokens[p.Superlative.To-1].Fold] {
				return ReasonAmbiguous // the biggest expense: one, or all of a category
			}
			if p.View.Stocked() && p.View.FieldOf("stock") != nil {
				return ReasonAmbiguous // the most kinds of plants, or the most plants
			}
			return ""
		}
	}
	f := p.implied()
	if f == nil && p.Asks != "many" {
		f = p.given()
	}
	if f != nil {
		p.Measures = []Measure{{Field: f, How: p.Aggregate}}
		return ""
	}
	if p.mostOfValue() || p.mostDone() {
		return ""
	}
	return ReasonUnclear
}

var allOf = speech.Folded("all every alle allen aller sämtlicher")

// mostOfValue reports whether the question asks for the most rows with a value, in a table
// without amounts: the most errors, of a log.
func (p *Plan) mostOfValue() bool {
	if p.Unit == "" && p.Target == nil || !p.mostWord() || slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Measure() }) {
		return false
	}
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindValue && x.From == p.Superlative.To })
}

// mostDone reports whether the question asks for the most rows with a value because of a verb for
// what somebody did: who treated the most cats. A row may hold several goods, so they are excluded.
func (p *Plan) mostDone() bool {
	if p.Target == nil && p.Asks != "who" || p.traded() {
		return false
	}
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindValue && x.From == p.Superlative.To && !x.Field.Named("product")
	}) && slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return slices.Contains(speech.LightClasses[t.Fold], "any") }) &&
		!slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Measure() && f.Named("quantity") })
}

// biggest reports whether the question asks for one row by its only amount of money: the biggest expense.
func (p *Plan) biggest() bool {
	if !bigWords[p.Text.Tokens[p.Superlative.From].Fold] && !bigWords[p.Text.Tokens[p.Superlative.To-1].Fold] || p.View.MoneyField == nil || p.View.MoneyField.Mixed() {
		return false
	}
	worth := func(c string) bool { return p.Text.Lex.Means(p.View.MoneyField.Head(), c) }
	if (worth("price") || worth("rent") || worth("salary")) && !worth("amount") && !worth("cost") && !worth("fee") && !highWords[p.Text.Tokens[p.Superlative.To-1].Fold] {
		return false // the largest house is not the dearest
	}
	if p.Target != nil && !p.View.Unique(p.Target) && p.Target != p.View.Person() {
		return false // of the rows of a category: one, or all together
	}
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		behind := x.From >= p.Superlative.To && x.From <= p.Superlative.To+1
		return (behind || x.To <= p.Superlative.From && p.Superlative.To == len(p.Text.Tokens) && p.Target != nil) && (x.Kind == speech.KindValue || x.Rows() || x.Kind == speech.KindField && x.Field.Key() && p.View.Unique(x.Field))
	})
}

var highWords = speech.Folded("highest lowest höchste höchsten höchster niedrigste niedrigsten")

var bigWords = speech.Folded("biggest largest highest smallest lowest größte größten größter höchste höchsten höchster kleinste kleinsten kleinster niedrigste niedrigsten")

// supField returns the number that a superlative compares: the price of the cheapest.
func (p *conditions) supField(concept string) *schema.Field {
	if concept == "date" && p.Time != nil {
		return p.Time
	}
	if f := p.longestOf(concept); f != nil {
		return f
	}
	switch concept {
	case "price":
		if p.View.MoneyField != nil && !p.View.MoneyField.Mixed() {
			return p.View.MoneyField
		}
	case "temperature":
		// The daily highest of the hottest day, and the daily lowest of the coldest.
		want := map[string]string{"desc": "max", "asc": "min"}[p.Superlative.Arg]
		return schema.Only(p.View.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Factors == nil && f.Measure() && f.Temperature() && p.Nature(f) == want
		})
	case "length":
		return cmp.Or(p.View.FieldOf("duration"), p.View.DurationField(), p.View.FieldOf("distance"))
	case "fastest", "slowest":
		if d := p.View.FieldOf("distance"); d != nil && d.Table == 0 && d.Distinct > 1 && p.View.FieldOf("speed") == nil && !p.filtered(d) {
			return nil // the shortest time is that of the shortest distance
		}
		return p.pace(concept == "fastest")
	case "hire":
		for _, f := range p.View.Fields {
			if (f.Dated() || f.Yearly()) && f.Named("hire") {
				return f
			}
		}
	case "age":
		for _, f := range p.View.Fields {
			if f.Dated() && f.Named("birth") {
				// The oldest was born first.
				p.Superlative.Arg = opposite[p.Superlative.Arg]
				return f
			}
		}
		return p.beginning()
	}
	return nil
}

// beginning returns the date from which things other than people age: when an issue was opened.
func (p *wording) beginning() *schema.Field {
	if p.View.OfPeople() {
		return nil
	}
	f := p.timeField(nil)
	if f == nil {
		f = schema.Only(p.View.Fields, func(o *schema.Field) bool { return o.Table == 0 && o.Dated() && o.Has(beginnings) })
	}
	if f != nil && (f.Dated() || f.Yearly()) {
		p.Superlative.Arg = opposite[p.Superlative.Arg]
		return f
	}
	return nil
}

var beginnings = speech.Folded("created opened reported submitted filed raised started received entered added built founded planted published made eröffnet gemeldet erstellt eingegangen angelegt begonnen gebaut baujahr gegründet gepflanzt")

// supTarget determines whose number is compared if the question asks who, when or where.
func (p *Plan) supTarget() {
	if p.Target != nil || p.Unit != "" {
		return
	}
	if len(p.Groups) == 1 && p.Asks != "who" {
		p.Target, p.Groups = p.Groups[0], nil
		return
	}
	switch p.Asks {
	case "who":
		p.Target = p.View.Person()
	case "when":
		if p.findTime() && len(p.Measures) == 1 && p.Measures[0].Field != p.Time {
			if p.Unit = "day"; p.Time.Yearly() {
				p.Unit = "year"
			}
		}
	}
	if p.Target == nil && p.Unit == "" && len(p.attrs) == 1 && p.attrs[0].Text() {
		p.Target = p.attrs[0]
	}
	if p.Target == nil && p.Unit == "" && p.Superlative.About != "" && p.Asks != "" && p.Asks != "when" && p.Asks != "much" {
		for _, x := range p.Pieces {
			if x.Rows() {
				p.Target = p.labelField(x)
			}
		}
	}
}

// decideMore handles more, fewer and warmer: with two values they compare, otherwise they rank.
func (p *Plan) decideMore() Reason {
	if p.more == nil {
		return ""
	}
	if f := p.more.About; f != "" && len(p.Measures) == 0 {
		m := p.View.FieldOf(f)
		if m == nil {
			return ReasonUnknown
		}
		p.Measures = []Measure{{Field: m}}
	}
	switch {
	case p.Either != nil:
		p.versus = true
		if len(p.Measures) == 0 && len(p.attrs) == 1 && p.Counted == nil {
			p.Counted, p.attrs = p.attrs[0], nil // more customers in Berlin or Paris
		}
	case p.Target != nil && p.Superlative == nil:
		p.Superlative = p.more
	case p.diff || len(p.Periods) == 2:
	default:
		return ReasonUnclear
	}
	return ""
}

// pace returns the column of which the fastest have the most or the least: a speed, or a race time.
func (p *wording) pace(fast bool) *schema.Field {
	p.Superlative.Arg = "asc"
	if !fast {
		p.Superlative.Arg = "desc"
	}
	if f := p.View.FieldOf("speed"); f != nil {
		p.Superlative.Arg = opposite[p.Superlative.Arg]
		return f
	}
	clock := func(f *schema.Field) bool { return f.Table == 0 && f.Clock() }
	if slices.ContainsFunc(p.View.Fields, clock) {
		return schema.Only(p.View.Fields, clock)
	}
	if f := p.View.DurationField(); f != nil && f.Has(lengthOfTime) {
		return f
	}
	return nil
}

var lengthOfTime = speech.Folded("time zeit duration dauer response resolution")

// labelField returns the column that names the rows: a name, otherwise one that is unique in each.
func (p *wording) labelField(entity parse.Piece) *schema.Field {
	rows := p.View.Tables[0].RowCount
	wanted := p.Text.Tokens[entity.From]
	var best *schema.Field
	score := 0
	for i, f := range p.View.Fields {
		if f.Table != 0 || f.Factors != nil || !f.Text() && !f.Key() || f.Clock() {
			continue // a race time does not name a run
		}
		if f.Names != nil && (p.Text.Lex.Means(wanted.Stem, "employee") || p.Text.Lex.Means(wanted.Stem, "student")) {
			return f
		}
		s := 1
		name := slices.ContainsFunc(f.Words, func(w speech.Word) bool { return schema.NameWords[w.Stem] })
		own := slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Stem == wanted.Stem || p.Text.Lex.Shared(w.Stem, wanted.Stem) })
		switch {
		case name && !f.Key():
			s += 8
		case own && !f.Key():
			s += 7
		case f.Key():
			s += 2
		case i > 1:
			s--
		}
		if f.Distinct*10 >= rows*9 || f.DistinctCapped {
			s += 3
		}
		if s > score {
			best, score = f, s
		}
	}
	if score < 3 {
		return nil
	}
	if !best.Key() && !p.View.Unique(best) && best.Names == nil && slices.ContainsFunc(best.Words, func(w speech.Word) bool { return schema.NameWords[w.Stem] }) {
		if k := p.View.NumberOfRow(); k != nil {
			return k // several issues have one title
		}
	}
	return best
}

// rowName returns the column that names the rows whose kind a value says: which perennials.
func (p *wording) rowName(value parse.Piece) *schema.Field {
	if f := schema.Only(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Text() && f != value.Field && !f.Free && !f.Key() && !f.Clock() && p.View.Unique(f)
	}); f != nil {
		return f
	}
	return p.labelField(value)
}

// subject reports whether a value takes the place of what is asked for, and no column
// follows it: which perennials, the cheapest tree.
func (p *wording) subject(i int) bool {
	b, n := p.near(i, -1), p.near(i, 1)
	if b.Kind == "" || p.Asks != "which" && p.Asks != "list" || b.To < p.Pieces[i].From-1 || n.From == p.Pieces[i].To && (n.Kind == speech.KindField || n.Kind == speech.KindEntity || n.Kind == speech.KindUnit) {
		return false
	}
	if b.Kind == speech.KindField && b.Field.Measure() && i > 1 {
		b = p.Pieces[i-2] // the most expensive tree
	}
	w := p.Text.Tokens[b.From].Fold
	return b.Kind == speech.KindSup || b.Kind == speech.KindAsk && strings.HasPrefix(w, "w") && b.To == p.Pieces[i].From && w != "what" && w != "was"
}

// decideAcross plans which of the columns has the most.
func (p *Plan) decideAcross() Reason {
	p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool {
		return m.Field.Has(schema.Besides) // most votes, of the valid votes
	})
	switch {
	case p.Superlative == nil || p.Superlative.About != "" || p.Asks != "which" && p.Asks != "who" && p.Asks != "", len(p.Periods) > 1, p.Unit != "", p.Trend != "", p.diff, p.share, p.versus:
		return ReasonUnclear
	case len(p.Measures) > 0 || len(p.Groups) > 0 || p.Target != nil || p.Counted != nil || len(p.attrs) > 0 || p.Aggregate == "median":
		return ReasonUnclear
	}
	p.Op, p.N = OpAcross, max(p.N, 1)
	for _, f := range p.View.Wide {
		p.Measures = append(p.Measures, Measure{Field: f, How: p.acrossHow(f)})
	}
	return ""
}

// acrossHow returns how the values of one column are aggregated: grades are averaged, votes added.
func (p *wording) acrossHow(f *schema.Field) string {
	if p.Aggregate != "" {
		return p.Aggregate
	}
	high, _ := schema.NumberOf(f.Max)
	if p.View.Survey || f.UnitSymbol() == "%" || f.Type == "number" && high <= 6 {
		return "avg"
	}
	return "sum"
}
