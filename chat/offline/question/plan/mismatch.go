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
	return p.beyondRows() || p.openRange() || p.meaninglessSum() || p.limitsOfGroups() || p.losesOneOfTwo() || p.countsGone() ||
		p.mixedCurrencies() || p.otherPrice() || p.otherSpan() || p.otherTime() || p.otherDeed() || p.notByRows() || p.namedByValue() || p.emptyWord()
}

// beyondRows reports whether the question has a word for something that no condition of a plan states: never, where
// there is one, in the year they joined; what was it spent on, what does it mean.
func (p *review) beyondRows() bool {
	ts := p.Text.Tokens
	if len(ts) > 2 && ts[0].Fold == "how" && ts[2].Fold == "of" && p.Op == OpValue && !p.Restricts() {
		return true // how much of the charges has been paid
	}
	for i, t := range ts[1:] {
		if clauses[t.Fold] || t.Fold == "they" && spans[ts[i].Fold] {
			return true
		}
	}
	last := ts[len(ts)-1].Fold
	return p.says(ever) || dangling[last] || last == "mean" && p.says(auxiliaries) || last == "open" && p.says(past) ||
		auxiliaries[ts[0].Fold] && slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.not }) // does any region sell no desks
}

var (
	ever     = speech.Folded("never nie niemals")
	clauses  = speech.Folded("where if falls wenn sofern")
	dangling = speech.Folded("on")
	past     = speech.Folded("did")
)

var auxiliaries = speech.Folded("do does did")

// openRange reports whether two values or times that the question gives as a range are taken for these two alone:
// between January and March, from Q1 to Q3. Two times that are not compared are such a range, or a sum.
func (p *review) openRange() bool {
	compared := p.Trend != "" || p.Asks == "change" || p.diff || p.versus || p.more != nil || p.Superlative != nil
	if p.Op == OpChange && !compared {
		return true // in January and February: their sum
	}
	for i, x := range p.Pieces {
		a, to, b := p.near(i, 1), p.near(i, 2), p.near(i, 3)
		ends := a.Kind == speech.KindValue && (b.Kind == speech.KindTime || b.Kind == speech.KindValue && a.Field == b.Field) || a.Kind == speech.KindTime && b.Kind == speech.KindValue
		if ends && x.Kind == speech.KindBound && (x.Arg == "between" || x.Arg == "from" && (to.Arg == "to" || to.Arg == "until")) {
			return true
		}
	}
	return false
}

// meaninglessSum reports whether a total would add up names or rates, or turn the sign of amounts that come in.
func (p *review) meaninglessSum() bool {
	if p.First() == nil || p.First().How != "sum" {
		return false
	}
	f := p.First().Field
	return p.Asks == "many" && f.Has(ordinals) || f.Has(rates) || p.Outflow && (f.Named("revenue") || f.Named("income"))
}

// ordinals are words of columns whose numbers are names.
var ordinals = speech.Folded("term semester tag round runde matchday status code level class grade version floor week quarter year")

// rowsForAmounts reports whether a plan counts rows although the question asks for an amount, for pieces, or for what
// each thing has.
func (p *review) rowsForAmounts() bool {
	if p.Op == OpShare && p.First() != nil {
		return p.View.Survey || !p.names(p.First().Field)
	}
	if p.Op == OpRank && p.says(perWords) && p.Aggregate == "" && !(p.First() != nil && p.First().Field.Per()) {
		return true
	}
	if p.First() != nil || p.Op == OpLookup || p.Op == OpList {
		return false
	}
	if p.Op == OpCount && p.Counted == nil && p.Tally == "" && p.View.Figures() && p.findTime() && (p.Time.Yearly() || p.Time.Monthly()) && !p.hasRows() && p.Nature(p.View.OnlyMeasure()) == "sum" {
		return true // how many droughts: not the years with a number of their deaths
	}
	unnamed := p.Op == OpRank || p.Op == OpCompare || !p.hasRows()
	pieces := p.says(trades) && p.Op != OpCount && !p.hasRows() && (p.Superlative == nil || p.Superlative.About == "" || p.Aggregate == "avg") && p.View.FieldOf("quantity") != nil // more desks in the North: not more orders
	one := p.Op == OpCount && p.Counted == nil && slices.ContainsFunc(p.Filters, func(f Filter) bool { return len(f.values) > 0 && !f.not && p.View.Unique(f.Field) })
	return unnamed && p.says(paidFor) || pieces || one // who spent the most; how many bolts: one row of a list
}

var paidFor = speech.Folded("spent spend spends cost costs ausgegeben gekostet kostet")

// limitsOfGroups reports whether a condition selects rows although it is about groups of rows: months with less than
// 20 mm, regions that sell no desks, customers without orders, which are in no row of the join.
func (p *review) limitsOfGroups() bool {
	several := (p.Op == OpList || p.Op == OpLookup) && p.Target != nil && !p.View.Unique(p.Target)
	return slices.ContainsFunc(p.Filters, func(f Filter) bool {
		return f.limit != "" && f.Field.Measure() && p.Unit != "" && p.Unit != "day" && p.Superlative == nil ||
			f.Null && len(p.View.Tables) > 1 && (f.Field.Table > 0 || p.Counted != nil) ||
			several && (f.not || f.limit == "=" && p.says(denying))
	})
}

// losesOneOfTwo reports whether one of two columns of times has no part in the plan: opened and closed in March; or the
// only one is of another event: closed in May.
func (p *review) losesOneOfTwo() bool {
	if p.times() == 0 {
		return false
	}
	closed := slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Field.Dated() && f.Field != p.Time && f.Period == nil })
	return closed || p.has(func(x parse.Piece) bool {
		closedWhenOpened := p.Time.Named("open") && p.Text.Lex.Means(p.word(x).Stem, "close")
		return x.Kind == speech.KindValue && (closedWhenOpened || slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Dated() && !p.dates(f) && f.HeadWord() == p.word(x).Fold }))
	})
}

// countsGone reports whether a question about those who are there now would be answered from those who left, too.
func (p *review) countsGone() bool {
	out := p.says(still)
	for i, t := range p.Text.Tokens {
		out = out || i > 0 && t.Fold == "loan" && p.Text.Tokens[i-1].Fold == "on"
	}
	now := p.Superlative != nil && p.Superlative.About == "hire" || p.Superlative == nil && p.Op != OpValue && p.times() == 0 && p.says(presently)
	return slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Dated() && f.Missing > 0 && !p.dates(f) && (out && f.Has(returns) || (out || now) && f.Has(endings))
	})
}

var (
	still     = speech.Folded("still noch")
	presently = speech.Folded("are do have work works worked currently current now sind haben arbeiten arbeitet derzeit aktuell")
	endings   = speech.Folded("left leaving leave exit end ended cancelled canceled terminated resigned discharged austritt ausgetreten gekündigt kündigung ende entlassen")
	returns   = speech.Folded("returned rückgabe zurückgegeben")
)

// otherTime reports whether a time is one of a column that says more than when a row was: in January, of a start month
// that the question does not name, beside a date.
func (p *review) otherTime() bool {
	dated := slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Dated() })
	return dated && p.has(func(x parse.Piece) bool {
		if x.Kind != speech.KindValue {
			return false
		}
		_, time := p.Text.ValuePeriod(x.Values[0])
		return time && slices.ContainsFunc(x.Field.Words, func(w speech.Word) bool {
			return !w.Optional && !spans[w.Fold] && !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return p.Text.Level(t, w) > 2 })
		})
	})
}

// otherDeed reports whether a figure is not of what was done: bottles sold, or lamps needed, of a list of what is there;
// energy generated, of what was consumed.
func (p *review) otherDeed() bool {
	if p.First() == nil {
		return false
	}
	f := p.First().Field
	about := func(concept string) bool {
		return f.Named(concept) || slices.ContainsFunc(p.View.Topics, func(stem string) bool { return p.Text.Lex.Means(stem, concept) })
	}
	timeless := !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Dated() || f.Yearly() && f.Named("year") })
	return p.says(sold) && timeless && !about("quantity") && !about("order") && !about("revenue") || p.says(generating) && about("consumption") && !f.Named("generation") || p.says(needing) && f.Named("stock")
}

var (
	sold       = speech.Folded("sold verkauft verkauften")
	needing    = speech.Folded("need needs brauchen braucht")
	generating = speech.Folded("generated generate produced produce erzeugt erzeugten produziert")
)

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
		return sibling && (!said && (p.Superlative == nil || p.Superlative.About == "" || p.Aggregate != "") || said && p.Superlative != nil || p.Aggregate == "max" || p.Aggregate == "min")
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

// losesDate reports whether a column of times that the question names has no part in the plan: the day on which they
// were opened.
func (p *review) losesDate() bool {
	return p.has(func(x parse.Piece) bool { return x.Kind == speech.KindField && x.Field.Dated() && !p.dates(x.Field) })
}

// dates reports whether a column of times has a part in the plan.
func (p *review) dates(f *schema.Field) bool {
	return p.filtered(f) || p.asked == f || p.Target == f || p.Counted == f || p.Time == f && (p.times() > 0 || p.Unit != "" || p.Op == OpTrend || p.Op == OpChange || p.Superlative != nil || p.Tally != "") ||
		slices.Contains(p.KeyFields(), f) || slices.Contains(p.attrs, f) || slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f }) || slices.Contains(p.Groups, f)
}

// mixedCurrencies reports whether a figure would mix the amounts of several currencies.
func (p *review) mixedCurrencies() bool {
	if p.First() == nil || p.Op == OpLookup || p.asksOfOne() {
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
		return !p.View.OfMoney(m.Field) && (p.asksPrice() || p.says(earning)) || p.costsSomeone(m.Field) || p.says(costing) && p.says(us) && p.Text.Lex.Means(m.Field.Head(), "price") && !m.Field.Has(buying) || p.says(selling) && m.Field.Has(buying) && !m.Field.Has(selling) || p.says(actual) && (planned || m.Field.Named("budget")) && !m.Field.Named("actual")
	})
}

// asksPrice reports whether the question is how much one of something is: a bottle of wine.
func (p *review) asksPrice() bool {
	ts := p.Text.Tokens
	return len(ts) > 4 && ts[0].Fold == "how" && ts[1].Fold == "much" && ts[2].Fold == "is" && indefinite[ts[3].Fold]
}

var (
	indefinite = speech.Folded("a an one")
	earning    = speech.Folded("earn earned")
	us         = speech.Folded("us uns")
)

// costsSomeone reports whether the question asks what something costs, and a column is the cost of what another one is
// the price of: what it costs us, or the customers.
func (p *review) costsSomeone(f *schema.Field) bool {
	priced := slices.ContainsFunc(p.View.Fields, func(o *schema.Field) bool {
		return o != f && o.Table == f.Table && o.Measure() && p.Text.Lex.Means(o.Head(), "price") && !p.Text.Lex.Means(o.Head(), "cost")
	})
	return priced && p.Text.Lex.Means(f.Head(), "cost") && p.has(func(x parse.Piece) bool {
		return x.Kind == speech.KindField && x.Field == f && costing[p.word(x).Fold] && x.From > 0 && !speech.Articles[p.Text.Tokens[x.From-1].Fold] && p.near(p.at(&x), -1).Kind != speech.KindAgg
	})
}

var costing = speech.Folded("cost costs kostet kosten")

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
		if m.How == "sum" && p.Aggregate == "" && p.Op == OpValue {
			return true // how long it takes: each time, not altogether
		}
		return slices.ContainsFunc(m.Field.Words, func(w speech.Word) bool {
			general := w.Optional || schema.UnitWords[w.Fold] || spans[w.Fold] || p.Text.Lex.Means(w.Stem, "duration") || p.Text.Lex.Means(w.Stem, "length")
			return !general && !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return t.Stem == w.Stem || p.Text.Lex.Shared(t.Stem, w.Stem) })
		})
	})
}

var spans = speech.Folded("year years month months week quarter time times minutes minute min hours hour days day seconds sec s h zeit minuten stunden tage total gesamt")

// notByRows reports whether a ranking counts rows, or finds a date, although an amount is meant: who claimed the most in
// total.
func (p *review) notByRows() bool {
	if p.Asks == "much" && p.Superlative != nil && p.Superlative.About == "date" && (p.First() == nil || p.First().Field.Dated()) {
		return true // how much did we sell in the last month
	}
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
	return (ts[0].Fold == "what" && auxiliaries[ts[1].Fold] || ts[0].Fold == "was" && strings.HasPrefix(ts[1].Fold, "hat")) && p.Target != nil && (p.Target.Key() || p.View.Unique(p.Target)) // what did Pia claim
}
