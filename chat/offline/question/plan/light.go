package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// fits reports whether a verb of one of some classes can be of what the plan asks.
func (p *review) fits(classes []string) bool {
	m := p.First()
	something := m != nil || p.hasRows() || len(p.Filters) > p.times() || p.Superlative != nil && p.Target != nil
	return len(classes) == 0 && something || slices.ContainsFunc(classes, func(class string) bool {
		switch class {
		case "any":
			return something
		case "spend", "earn":
			return m != nil && p.View.OfMoney(m.Field) && p.flows(m.Field, class) || slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Field.Named("payment") || f.Field.Named("method") })
		case "trade":
			return m != nil && m.Field.Named("price") || something && p.trading()
		}
		return m != nil && sizesOf[m.Field.UnitName()].kind == map[string]string{"trip": "length", "power": "energy", "talk": "time"}[class]
	})
}

// trading reports whether the rows are what was sold or bought: amounts of money with their dates.
func (p *wording) trading() bool {
	return (p.View.Takings || p.View.Coins != nil && !p.Text.Lex.Means(p.View.Coins.Head(), "price")) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
}

// flows reports whether money of a column can be spent, or earned: nobody spends revenue.
func (p *explanation) flows(f *schema.Field, class string) bool {
	other := map[string][]string{"spend": {"revenue", "profit", "income", "donation"}, "earn": {"cost", "expense", "outflow"}, "trade": {"cost", "expense", "outflow"}}[class]
	return !slices.ContainsFunc(other, func(c string) bool {
		return p.Text.Lex.Means(f.Head(), c) && !p.Text.Lex.Means(f.Head(), "amount") && !p.Text.Lex.Means(f.Head(), "fee") && !p.Text.Lex.Means(f.Head(), "price")
	})
}

func (p *explanation) oftenAsked() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		w := p.Text.Tokens[x.To-1].Fold
		return x.Kind == speech.KindAsk && x.Arg == "many" && (w == "often" || w == "oft" || w == "times" || w == "male")
	})
}

var (
	// known good and bad of numbers, by concept: the best is the most of them, or the least.
	goodMost = strings.Fields("revenue profit yield generation score rating satisfaction goals win visitor quantity donation speed salary grade")
	earning  = speech.Folded("earn earns earned earning verdient verdiente verdienen verdienten")
	buying   = speech.Folded("buy bought purchase purchased gekauft kauften kaufen kauft")
	ours     = speech.Folded("we wir")
)

// otherDeed reports whether the question is of what the rows do not say: what somebody earned
// or was paid whose name only stands beside an amount, what we bought where we sell, and
// what we own where the rows are what happened.
func (p *review) otherDeed() bool {
	paidTo := func(verbs map[string]bool, next bool) bool {
		m := p.First()
		if m == nil || m.Field.Named("salary") {
			return false
		}
		return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
			return x.Kind == speech.KindValue && x.Field.OfSomebody(next) && (!next && p.says(verbs) || next && p.behind(x.From, verbs))
		})
	}
	happened := p.says(ours) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
	bought := p.says(buying) && !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Named("supplier") || f.Named("cost") || f.Has(map[string]bool{"shop": true, "store": true})
	})
	owned := p.Op == OpCount && p.says(map[string]bool{"own": true, "besitzen": true})
	return happened && (bought || owned) || paidTo(earning, false) || paidTo(parse.PayingVerbs, true) || p.wrongWay() || p.onlyHappened()
}

// behind reports whether one of some words stands before a token, over small ones: pay Dr. Petri.
func (p *explanation) behind(i int, words map[string]bool) bool {
	for i--; i > 0 && p.Text.Lex.Fillers[p.Text.Tokens[i].Fold]; i-- {
		continue
	}
	return i > 0 && words[p.Text.Tokens[i].Fold]
}
