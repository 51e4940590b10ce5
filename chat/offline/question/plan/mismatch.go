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
		p.mixedCurrencies() || p.otherPrice() || p.otherSpan() || p.notByRows() || p.namedByValue()
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
	case len(ts) < 2 || p.Superlative != nil:
		return false
	case p.Asks == "who" && p.times() == 0: // who joined in 2023
		return slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
			return f.Dated() && slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == ts[1].Fold })
		})
	}
	return ts[0].Fold == "what" && auxiliaries[ts[1].Fold] && p.Target != nil && (p.Target.Key() || p.View.Unique(p.Target)) // what did Pia claim
}
