package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// fits reports whether a verb of one of some classes can be about what the plan asks.
func (p *review) fits(classes []string) bool {
	m := p.First()
	rows := p.hasRows() || len(p.Filters) > p.times() || p.Superlative != nil && p.Target != nil
	if len(classes) == 0 {
		return m != nil || rows
	}
	for _, class := range classes {
		ok := false
		switch class {
		case "any":
			ok = m != nil || rows
		case "spend", "earn":
			ok = m != nil && p.View.OfMoney(m.Field) && p.flows(m.Field, class) || slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Field.Named("payment") || f.Field.Named("method") })
		case "trade":
			ok = m != nil && m.Field.Named("price") || (m != nil || rows) && p.trading()
		case "loan":
			ok = (m != nil || rows) && p.View.About("loan")
		case "trip":
			ok = m != nil && sizesOf[m.Field.UnitName()].kind == "length" || (m != nil || rows) && p.View.About("trip")
		case "power":
			ok = m != nil && sizesOf[m.Field.UnitName()].kind == "energy"
		case "talk":
			ok = m != nil && sizesOf[m.Field.UnitName()].kind == "time"
		}
		if ok {
			return true
		}
	}
	return false
}

// trading reports whether the rows are sales or purchases: amounts of money with their dates.
func (p *wording) trading() bool {
	return (p.View.HasRevenue || p.View.MoneyField != nil && !p.Text.Lex.Means(p.View.MoneyField.Head(), "price")) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
}

// flows reports whether the money of a column can be spent or earned: nobody spends revenue.
func (p *explanation) flows(f *schema.Field, class string) bool {
	other := map[string][]string{"spend": {"revenue", "profit", "income", "donation"}, "earn": {"cost"}, "trade": {"cost"}}[class]
	return !slices.ContainsFunc(other, func(c string) bool {
		return p.Text.Lex.Means(f.Head(), c) && !p.Text.Lex.Means(f.Head(), "amount") && !p.Text.Lex.Means(f.Head(), "fee") && !p.Text.Lex.Means(f.Head(), "price")
	})
}

// oftenAsked reports whether the question asks how often something happens.
func (p *explanation) oftenAsked() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		w := p.Text.Tokens[x.To-1].Fold
		return x.Kind == speech.KindAsk && x.Arg == "many" && (w == "often" || w == "oft" || w == "times" || w == "male")
	})
}

// goodMost are the concepts of numbers of which more is better.
var goodMost = strings.Fields("revenue profit yield generation score rating satisfaction goals win visitor quantity donation speed salary")

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

var earning = speech.Folded("earn earns earned earning verdient verdiente verdienen verdienten")

var buying = speech.Folded("buy bought purchase purchased gekauft kauften kaufen kauft")

var ours = speech.Folded("we wir")

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
	bought := p.says(buying) && p.says(ours) && !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Named("supplier") || f.Named("cost") || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == "shop" || w.Fold == "store" })
	}) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
	owned := p.Op == OpCount && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated) && slices.ContainsFunc(p.Text.Tokens[1:], func(t speech.Token) bool { return t.Fold == "own" || t.Fold == "besitzen" }) && p.says(ours)
	return bought || owned || paidTo(earning, false) || paidTo(parse.PayingVerbs, true) || p.wrongWay() || p.onlyHappened()
}

// behind reports whether one of some words precedes a token, skipping fillers: pay Dr. Petri.
func (p *explanation) behind(i int, words map[string]bool) bool {
	for i--; i > 0 && p.Text.Lex.Fillers[p.Text.Tokens[i].Fold]; i-- {
		continue
	}
	return i > 0 && words[p.Text.Tokens[i].Fold]
}
