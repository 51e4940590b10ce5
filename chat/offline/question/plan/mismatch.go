package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// mismatch reports whether the words fit the tables, but the question means something that the plan does not answer.
func (p *review) mismatch() bool {
	last := p.Text.Tokens[len(p.Text.Tokens)-1].Fold
	return dangling[last] || last == "mean" && p.says(auxiliaries) || // what was it spent on, what does an x mean
		p.mixedCurrencies() || p.otherPrice() || p.otherSpan() || p.notByRows() || p.namedByValue() || p.emptyWord() || p.losesWords()
}

// emptyWord reports whether a word that says nothing about rows stands where a question says which rows: the money
// spent on trains, the people who cycle.
func (p *review) emptyWord() bool {
	for i, t := range p.Text.Tokens {
		used := p.has(func(x parse.Piece) bool { return x.From <= i && i < x.To })
		if i == 0 || used || !speech.LightVerbs[t.Fold] && !parse.LightDoers[t.Fold] {
			continue
		}
		before := p.Text.Tokens[i-1].Fold
		relative := before == "who" && i > 1 || before == "that"
		if relative || restricting[before] || p.Op == OpCount && p.First() == nil && (before == "were" || before == "was" || i == len(p.Text.Tokens)-1 && len(p.Filters) == 0 && p.Counted == nil) {
			return true
		}
	}
	return false
}

var restricting = speech.Folded("on")

// losesWords reports whether a part of the question has no effect on the plan.
func (p *review) losesWords() bool {
	change := p.Trend != "" || p.Asks == "change" || p.diff || p.versus || p.more != nil || p.Superlative != nil
	rows := p.First() == nil
	switch {
	case p.Op == OpChange && !change, // in January and February: their sum
		p.says(ever),
		rows && p.Op != OpLookup && p.Op != OpList && p.says(paidFor) && !p.hasRows(), // who spent the most is no number of rows
		p.Op == OpShare && !rows && !p.names(p.First().Field),
		p.Op == OpRank && p.says(rowWise) && p.Aggregate == "" && !(p.First() != nil && p.First().Field.Per()),
		p.Outflow && (p.First().Field.Named("revenue") || p.First().Field.Named("income")):
		return true
	}
	for i, x := range p.Pieces {
		n, m := p.near(i, 1), p.near(i, 2)
		switch {
		case x.Kind == speech.KindField && x.Field.Dated() && !p.dates(x.Field):
			return true // the day on which they were opened
		case x.Kind == speech.KindBound && n.Kind == speech.KindValue && (m.Kind == speech.KindJoin || m.Kind == speech.KindBound) && p.near(i, 3).Kind == speech.KindValue && p.near(i, 3).Field == n.Field:
			return true // from Q1 to Q3: the quarter between them too
		case (x.Kind == speech.KindMissing || x.Kind == speech.KindNot) && (n.Kind == speech.KindEntity && p.Op == OpCount || n.Field != nil && n.Field.Table > 0) && len(p.View.Tables) > 1:
			return true // customers without orders are in no row of the join
		}
	}
	return false
}

var (
	ever    = speech.Folded("never nie niemals")
	paidFor = speech.Folded("spent spend spends cost costs ausgegeben gekostet kostet")
	rowWise = speech.Folded("per pro je")
)

// names reports whether the question names a column.
func (p *review) names(f *schema.Field) bool {
	return p.has(func(x parse.Piece) bool { return x.Kind == speech.KindField && x.Field == f }) || p.View.OnlyMeasure() == f
}

// dates reports whether a column of times has a part in the plan.
func (p *review) dates(f *schema.Field) bool {
	return p.filtered(f) || p.asked == f || p.Target == f || p.Counted == f || p.Time == f && (p.times() > 0 || p.Unit != "" || p.Op == OpTrend || p.Op == OpChange || p.Superlative != nil || p.Tally != "") ||
		slices.Contains(p.KeyFields(), f) || slices.Contains(p.attrs, f) || slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f }) || slices.Contains(p.Groups, f)
}

var dangling = speech.Folded("on")

var auxiliaries = speech.Folded("do does did")

// mixedCurrencies reports whether a figure would mix the amounts of several currencies.
func (p *review) mixedCurrencies() bool {
	if p.First() == nil || p.Op == OpLookup {
		return false
	}
	return slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		mixed := f.Text() && f.Table == p.First().Field.Table && len(f.Values) > 1 && p.First().Field.UnitName() == "" && !slices.ContainsFunc(f.Values, func(v any) bool {
			code, _ := v.(string)
			return !currencies[strings.ToLower(code)]
		})
		return mixed && !p.filtered(f) && !slices.Contains(p.KeyFields(), f)
	})
}

var currencies = speech.Folded("eur usd gbp chf jpy cny sek nok dkk pln czk huf cad aud inr € $ £")

// otherPrice reports whether a price is asked for that the column does not hold: a selling price and not a cost, an
// actual amount and not a budget.
func (p *review) otherPrice() bool {
	planned := slices.ContainsFunc(p.View.Topics, func(stem string) bool { return p.Text.Lex.Means(stem, "budget") })
	return slices.ContainsFunc(p.Measures, func(m Measure) bool {
		return p.says(selling) && m.Field.Has(buying) && !m.Field.Has(selling) || p.says(actual) && (planned || m.Field.Named("budget")) && !m.Field.Named("actual")
	})
}

var (
	selling = speech.Folded("selling sell sells retail verkaufspreis verkaufspreise vk")
	buying  = speech.Folded("cost costs purchase purchasing einkauf einkaufspreis ek")
	actual  = speech.Folded("actual actually tatsächlich tatsächliche tatsächlichen really wirklich")
)

// otherSpan reports whether "how long" would be answered from the time of something else: the wait before a test.
func (p *review) otherSpan() bool {
	asks := slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindAsk && x.About != "" && (x.About == "length" || x.About == "duration")
	})
	return asks && slices.ContainsFunc(p.Measures, func(m Measure) bool {
		return slices.ContainsFunc(m.Field.Words, func(w speech.Word) bool {
			general := w.Optional || schema.UnitWords[w.Fold] || spans[w.Fold] || p.Text.Lex.Means(w.Stem, "duration") || p.Text.Lex.Means(w.Stem, "length")
			return !general && !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return t.Stem == w.Stem || p.Text.Lex.Shared(t.Stem, w.Stem) })
		})
	})
}

var spans = speech.Folded("time times minutes minute min hours hour days day seconds sec s h zeit minuten stunden tage total gesamt")

// notByRows reports whether a ranking counts rows although an amount is meant: who claimed the most in total.
func (p *review) notByRows() bool {
	if p.Op != OpRank || p.First() != nil || p.Counted != nil || p.Aggregate != "sum" || p.Superlative == nil {
		return false
	}
	return !p.has(func(x parse.Piece) bool {
		return (x.Kind == speech.KindEntity || x.Kind == speech.KindField) && x.From == p.Superlative.To
	})
}

// namedByValue reports whether a value stands where a question has a column or a deed: which hotel did Oskar stay in,
// who approved the claims. Or the date or number of a deed stands for who did it, or for what: who issued the invoice.
func (p *review) namedByValue() bool {
	for i, x := range p.Pieces {
		n := p.near(i, 1)
		if x.Kind != speech.KindAsk || n.From != x.To {
			continue
		}
		switch {
		case n.Kind == speech.KindValue && x.Arg == "who":
			return true
		case n.Kind == speech.KindValue && x.Arg == "which":
			ts := p.Text.Tokens[n.To:]
			return len(ts) > 1 && auxiliaries[ts[0].Fold] && !p.Text.Lex.Fillers[ts[1].Fold] // which perennials do we have
		}
	}
	ts := p.Text.Tokens
	switch {
	case len(ts) < 2 || p.Superlative != nil && (p.Op != OpRank || p.First() != nil): // who joined last
		return false
	case p.Asks == "who" && (p.times() == 0 || p.Superlative != nil): // who joined in 2023
		return slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
			return f.Dated() && slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == ts[1].Fold })
		})
	}
	return ts[0].Fold == "what" && auxiliaries[ts[1].Fold] && p.Target != nil && (p.Target.Key() || p.View.Unique(p.Target)) // what did Pia claim
}
