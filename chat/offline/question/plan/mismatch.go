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
		last := i == len(p.Text.Tokens)-1 && p.Counted == nil && (p.people || p.hasRows()) && !p.says(auxiliaries)
		if relative || restricting[before] || p.Op == OpCount && p.First() == nil && (before == "were" || before == "was" || last) {
			return true
		}
	}
	return false
}

var restricting = speech.Folded("on from for")

// losesWords reports whether a part of the question has no effect on the plan.
func (p *review) losesWords() bool {
	change := p.Trend != "" || p.Asks == "change" || p.diff || p.versus || p.more != nil || p.Superlative != nil
	rows := p.First() == nil
	switch {
	case p.Op == OpChange && !change, // in January and February: their sum
		p.says(ever),
		slices.ContainsFunc(p.Text.Tokens[1:], func(t speech.Token) bool { return clauses[t.Fold] }),                                                                 // fines where there is one
		p.Unit != "" && p.Unit != "day" && p.Superlative == nil && slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.limit != "" && f.Field.Measure() }), // months with less than 20 mm: all of their rain
		p.Asks == "many" && !rows && p.First().How == "sum" && p.First().Field.Has(ordinals),
		rows && (p.Op == OpRank || p.Op == OpCompare || p.Op != OpLookup && p.Op != OpList && !p.hasRows()) && p.says(paidFor), // who spent the most is no number of rows
		p.Op == OpShare && !rows && (p.View.Survey || !p.names(p.First().Field)),
		p.times() > 0 && slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Field.Dated() && f.Field != p.Time && f.Period == nil }), // opened and closed in March
		auxiliaries[p.Text.Tokens[0].Fold] && slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.not }),                              // does any region sell no desks
		p.Op == OpRank && p.says(rowWise) && p.Aggregate == "" && !(p.First() != nil && p.First().Field.Per()),
		!rows && p.First().How == "sum" && p.First().Field.Has(rates),
		p.Op == OpCompare && p.has(func(x parse.Piece) bool { return x.Kind == speech.KindBound && (x.Arg == "between" || x.Arg == "from") }),                                                         // January to March: February too
		p.Op == OpCount && rows && p.Counted == nil && slices.ContainsFunc(p.Filters, func(f Filter) bool { return len(f.values) > 0 && !f.not && p.View.Unique(f.Field) }),                           // how many bolts: one row of a list
		len(p.View.Tables) > 1 && slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Null && (f.Field.Table > 0 || p.Counted != nil) }),                                                    // customers without orders are in no row of the join
		(p.Op == OpList || p.Op == OpLookup) && p.Target != nil && !p.View.Unique(p.Target) && slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.not || f.limit == "=" && p.says(none) }), // a region that sells no desks: none of its rows
		p.Outflow && (p.First().Field.Named("revenue") || p.First().Field.Named("income")):
		return true
	}
	for i, t := range p.Text.Tokens[1:] {
		if t.Fold == "they" && spans[p.Text.Tokens[i].Fold] {
			return true // in the year they joined
		}
	}
	for i, x := range p.Pieces {
		n, m := p.near(i, 1), p.near(i, 2)
		switch {
		case x.Kind == speech.KindField && x.Field.Dated() && !p.dates(x.Field):
			return true // the day on which they were opened
		case x.Kind == speech.KindBound && n.Kind == speech.KindTime && m.Kind == speech.KindJoin && p.near(i, 3).Kind == speech.KindValue,
			x.Kind == speech.KindBound && n.Kind == speech.KindValue && m.Kind == speech.KindJoin && p.near(i, 3).Kind == speech.KindTime:
			return true // between January and March, of two columns
		case x.Kind == speech.KindBound && n.Kind == speech.KindValue && (m.Kind == speech.KindJoin || m.Kind == speech.KindBound) && p.near(i, 3).Kind == speech.KindValue && p.near(i, 3).Field == n.Field:
			return true // from Q1 to Q3: the quarter between them too
		case x.Kind == speech.KindValue && p.times() > 0 && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Dated() && !p.dates(f) && f.HeadWord() == p.word(x).Fold }):
			return true // opened and closed in March
		}
	}
	return false
}

var (
	ever    = speech.Folded("never nie niemals")
	paidFor = speech.Folded("spent spend spends cost costs ausgegeben gekostet kostet")
	rowWise = speech.Folded("per pro je")
	none    = speech.Folded("no without kein keine keinen ohne")
	clauses = speech.Folded("where if falls wenn sofern")
	// ordinals are words of columns whose numbers are names.
	ordinals = speech.Folded("term semester status code level class grade version floor week quarter year")
)

// oneOfTwo reports whether a measure has a sibling whose name differs in max and min alone, and the question leaves
// open which one is meant, or may mean its extreme.
func (p *review) oneOfTwo() bool {
	return slices.ContainsFunc(p.Measures, func(m Measure) bool {
		base, end := withoutExtreme(m.Field)
		sibling := end != "" && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
			b, e := withoutExtreme(f)
			return e != "" && e != end && b == base
		})
		said := slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return t.Fold == end || p.Text.Lex.Shared(t.Stem, speech.Stem(end)) })
		return sibling && (!said && (p.Superlative == nil || p.Superlative.About == "") || said && p.Superlative != nil || p.Aggregate == "max" || p.Aggregate == "min")
	})
}

// withoutExtreme returns the words of a name without max or min, and that word.
func withoutExtreme(f *schema.Field) (base, extreme string) {
	for _, w := range f.Words {
		if w.Fold == "max" || w.Fold == "min" || w.Fold == "maximum" || w.Fold == "minimum" {
			extreme = w.Fold
		} else {
			base += w.Fold + " "
		}
	}
	return base, extreme
}

// names reports whether the question names a column by a word of its name.
func (p *review) names(f *schema.Field) bool {
	return p.View.OnlyMeasure() == f || p.has(func(x parse.Piece) bool {
		return x.Kind == speech.KindField && x.Field == f && !p.Text.Lex.Means(p.word(x).Stem, "employee") && !p.Text.Lex.Means(p.word(x).Stem, "respondent")
	})
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

var spans = speech.Folded("year years month months week quarter time times minutes minute min hours hour days day seconds sec s h zeit minuten stunden tage total gesamt")

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
