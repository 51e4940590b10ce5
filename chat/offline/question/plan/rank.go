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
	p.N = max(p.N, 1)
	p.supTarget()
	switch {
	case p.Asks == "who" && p.Target != nil && len(p.Measures) == 1 && p.Measures[0].Field.Named("birth") && !p.View.NamesRows(p.Target): // the owner of the pet that was born first
		return ReasonUnclear
	case p.Asks == "many", p.Aggregate == "median", p.Counted != nil && p.Counted == p.Target: // who travelled the most
		return ReasonUnclear
	case len(p.Measures) == 0 && p.Aggregate == "avg", p.Aggregate == "sum" && slices.ContainsFunc(p.attrs, (*schema.Field).Key): // rows have no mean, and keys no sum
		return ReasonUnclear
	case p.Asks == "who" && p.Target != nil && p.Target != p.View.Person() && !p.Target.Named("name"): // who borrowed the most tools: how many loans, or how many different tools
		return ReasonUnclear
	case p.unsureBest(), p.mostSales():
		return ReasonAmbiguous
	case p.Target != nil || p.Unit != "":
		p.Op = OpRank
		return p.needTime()
	case p.mostWord() && p.Asks != "much" && p.Asks != "many", p.Asks == "which" && p.Superlative.About == "date": // what did we spend most on; what was released first
		return ReasonUnclear
	case len(p.Measures) == 0, p.Asks == "who", p.Asks == "where", p.Asks == "when" && !p.Measures[0].Field.Dated(), p.Aggregate != "", p.N > 1: // the three best of what
		return ReasonUnclear
	}
	p.Op, p.Measures[0].How = OpValue, p.extreme()
	return ""
}

// supMeasure determines the number that a superlative ranks by.
func (p *Plan) supMeasure() Reason {
	about := p.Superlative.About
	switch {
	case about == "rows":
		p.Measures = nil
		if popular[p.Text.Tokens[p.Superlative.To-1].Fold] && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Type == "integer" && f.Measure() && (f.Named("visitor") || f.Named("quantity") || f.Has(crowds))
		}) {
			return ReasonAmbiguous // the most rows, or the most visitors
		}
	case about != "":
		f := p.supField(about)
		if f == nil && len(p.Measures) == 1 && (about == "date" || about == "length" && !slices.Contains([]string{"min", "max"}, p.Nature(p.Measures[0].Field))) {
			f = p.Measures[0].Field // the longest waiting time, not the fewest players
		}
		if f == nil {
			return ReasonUnknown
		}
		if len(p.Measures) > 0 && p.Measures[0].Field != f {
			if f = p.Measures[0].Field; about != "length" || !f.Named("distance") {
				return ReasonUnclear
			}
		}
		one := p.Target != nil && p.View.Unique(p.Target) || p.Target == nil && (about == "price" || len(p.Measures) > 0 && f.Named("distance")) // the longest distance
		p.Measures = []Measure{{Field: f, How: p.Aggregate}}
		if (about == "length" || about == "price") && p.Aggregate == "" && p.Nature(f) == "sum" && !one {
			return ReasonAmbiguous // who stayed the longest: in one stay, or altogether; the price is no total revenue
		}
	case len(p.Measures) > 1:
		return ReasonUnclear
	case len(p.Measures) == 1:
		p.Measures[0].How = p.Aggregate
	case p.Counted == nil:
		return p.supWithout()
	}
	return ""
}

// at returns the position of a piece.
func (p *explanation) at(x *parse.Piece) int {
	return slices.IndexFunc(p.Pieces, func(o parse.Piece) bool { return o.From == x.From })
}

var popular = speech.Folded("popular busiest beliebteste beliebtesten")

var crowds = speech.Folded("attended attendees attendance booked guests participants teilnehmer gaste zuschauer spectators passengers fahrgaste riders downloads views plays listens entries sold count")

// unsureBest reports whether best and worst may mean the lowest or the highest: of school marks, say.
func (p *Plan) unsureBest() bool {
	m := p.First()
	if p.Superlative.To > p.Superlative.From+1 || !bests[p.word(*p.Superlative).Fold] {
		return false
	}
	if m == nil {
		return true
	}
	high, _ := schema.NumberOf(m.Field.Max)
	return high <= 6 && !m.Field.Named("satisfaction") || !slices.ContainsFunc(strings.Fields("revenue profit yield generation score rating satisfaction visitor quantity donation salary"), m.Field.Named)
}

var bests = speech.Folded("best worst beste besten bester bestes schlechteste schlechtesten")

// mostWord reports whether the superlative asks for the most or the least.
func (p *wording) mostWord() bool { return mosts[p.Text.Tokens[p.Superlative.To-1].Fold] }

var mosts = speech.Folded("most fewest least meisten wenigsten")

// mostSales reports whether the question asks for the most sales, which may be counted or added.
func (p *Plan) mostSales() bool {
	if len(p.Measures) == 0 && p.Superlative.About == "" && p.View.MoneyField != nil && p.Superlative.To == len(p.Text.Tokens) {
		return true // who ordered the most
	}
	return p.mostWord() && p.View.HasRevenue && p.Superlative.To < len(p.Text.Tokens) && p.Text.Sales(p.Text.Tokens[p.Superlative.To])
}

// supWithout handles a superlative that names no number: the most orders, the most customers.
func (p *Plan) supWithout() Reason {
	if !p.mostWord() && p.View.MoneyField != nil && (p.Target == nil || p.View.Unique(p.Target)) && p.has(p.bill) {
		p.Measures = []Measure{{Field: p.View.MoneyField, How: p.Aggregate}} // the biggest order
		return ""
	}
	others := slices.DeleteFunc(slices.Clone(p.attrs), func(f *schema.Field) bool {
		return f == p.Target || f.Dated() || p.filtered(f) || slices.Contains(p.Groups, f)
	})
	stocked := p.View.StockField() != nil
	switch {
	case len(others) > 1 || !p.mostWord() && !p.has(func(x parse.Piece) bool { return x.Kind == speech.KindAsk && x.Arg == "many" }):
		return ReasonUnclear
	case len(others) == 1 && stocked:
		return ReasonAmbiguous // the most kinds of plants, or the most plants
	case len(others) == 1:
		if p.Counted = others[0]; p.View.Unique(p.Counted) {
			p.Counted = nil
		}
		return ""
	}
	for i, x := range p.Pieces {
		if x.Rows() && !(p.Asked(i) == "which" && p.Target != nil && p.Target == p.labelField(x)) && !(x.From > 0 && allOf[p.Text.Tokens[x.From-1].Fold]) {
			if stocked {
				return ReasonAmbiguous
			}
			return ""
		}
	}
	f := p.implied()
	if f == nil && p.Aggregate == "sum" && (p.says(spends) || p.says(gives)) {
		f = p.View.MoneyField // who gave the most in total
	}
	if f == nil {
		if n := p.near(p.at(p.Superlative), 1); n.Kind == speech.KindValue && !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Measure() }) {
			return "" // the most errors, of a log
		}
		return ReasonUnclear
	}
	p.Measures = []Measure{{Field: f, How: p.Aggregate}}
	return ""
}

var gives = speech.Folded("gave give donated donate claimed claim gespendet spendete")

// supField returns the number that a superlative compares: the price of the cheapest.
func (p *Plan) supField(concept string) *schema.Field {
	if concept == "date" && p.Time != nil {
		return p.Time
	}
	if f := p.View.FieldOf(concept); f != nil {
		return f
	}
	switch concept {
	case "price":
		return p.View.MoneyField
	case "temperature":
		// The daily highest of the hottest day, and the daily lowest of the coldest.
		want := map[string]string{"desc": "max", "asc": "min"}[p.Superlative.Arg]
		return schema.Only(p.View.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Measure() && f.Named("temperature") && p.Nature(f) == want
		})
	case "length":
		return cmp.Or(p.View.FieldOf("duration"), p.View.DurationField(), p.View.FieldOf("distance"))
	case "hire":
		return schema.Only(p.View.Fields, func(f *schema.Field) bool { return (f.Dated() || f.Yearly()) && f.Named("hire") })
	case "age":
		if f := schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Dated() && f.Named("birth") }); f != nil && p.View.OfPeople() {
			p.Superlative.Arg = opposite[p.Superlative.Arg] // the oldest was born first
			return f
		}
		if f := schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Yearly() }); f != nil && p.View.Things() && !p.View.OfPeople() {
			p.Superlative.Arg = opposite[p.Superlative.Arg] // the oldest wine
			return f
		}
	}
	return nil
}

// opposite is the other order of a ranking.
var opposite = map[string]string{"asc": "desc", "desc": "asc"}

// supTarget determines whose number is compared if the question asks who, when or where.
func (p *Plan) supTarget() {
	if p.Target != nil || p.Unit != "" {
		return
	}
	switch {
	case len(p.Groups) == 1 && p.Asks != "who":
		p.Target, p.Groups = p.Groups[0], nil
	case p.Asks == "who":
		p.Target = p.View.Person()
	case p.Asks == "when" && p.findTime() && len(p.Measures) == 1 && p.Measures[0].Field != p.Time:
		if p.Unit = "day"; p.Time.Yearly() {
			p.Unit = "year"
		}
	case p.Superlative.About == "quantity":
		p.Target = schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Text() && !f.Key() && f.Named("product") })
	case len(p.attrs) == 1 && p.attrs[0].Text():
		p.Target = p.attrs[0]
	case p.Superlative.About != "" && p.Asks != "" && p.Asks != "when" && p.Asks != "much":
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
	case p.diff || len(p.Periods) == 2:
	default:
		return ReasonUnclear
	}
	return ""
}

// HiddenKey returns the key of the rows if a ranking is by their names, which may be equal.
func (p *Plan) HiddenKey() *schema.Field {
	t := p.Target
	if t == nil || t.Table != 0 || t.Key() || p.View.Unique(t) || !t.Named("name") && t.Parts == nil {
		return nil
	}
	for _, f := range p.View.Fields {
		if f.Table == 0 && f.Key() && p.View.Unique(f) {
			if slices.ContainsFunc([]string{"order", "invoice", "payment", "ticket", "loan", "donation", "trip", "event"}, f.Named) {
				return nil // the number of an order does not distinguish customers
			}
			return f
		}
	}
	return nil
}

// extreme returns the aggregate that a superlative asks for.
func (p *wording) extreme() string {
	if p.Superlative.Arg == "asc" {
		return "min"
	}
	return "max"
}

// RankBy returns the aggregates that a ranking may mean.
func (p *Plan) RankBy() []string {
	m, extreme := p.First(), p.extreme()
	switch {
	case m == nil:
		return []string{""}
	case m.How != "":
		return []string{m.How}
	case m.Field.Dated() || m.Field.Yearly(), p.Target != nil && p.Target.Table == 0 && p.Unit == "" && (p.View.Unique(p.Target) || p.HiddenKey() != nil):
		return []string{extreme}
	case p.View.Survey && m.Field.Scale():
		return []string{"avg"} // marks from many people
	}
	switch p.Nature(m.Field) {
	case "sum":
		return []string{"sum"}
	case "max", "min":
		if p.Superlative.About == "" {
			return []string{extreme}
		}
		return []string{extreme, "avg"} // the warmest station, of daily maxima
	case "avg":
		return []string{extreme, "avg"}
	}
	if p.level(m.Field) {
		return []string{extreme, "avg"}
	}
	return []string{"sum", "avg", extreme}
}
