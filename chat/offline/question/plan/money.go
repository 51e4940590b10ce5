package plan

import (
	"slices"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// spending reports whether a word for spending names the amount: what did we spend most on.
func (p *explanation) spending() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		return x.Kind == speech.KindField && x.Field.Measure() && spends[p.Text.Tokens[x.From].Fold]
	})
}

var spends = speech.Folded("gelassen spend spent spends spending pay paid expense expenses ausgabe ausgaben ausgegeben bezahlt gezahlt")

// expenses directs a question about spending to the outgoing amounts if the column has both directions.
func (p *roles) expenses() {
	if !p.spending() || len(p.Measures) != 1 || !p.Measures[0].Field.Mixed() {
		return
	}
	f := p.Measures[0].Field
	if p.Superlative != nil {
		p.Superlative.Arg = opposite[p.Superlative.Arg]
	}
	if p.Superlative != nil || !slices.ContainsFunc(p.Filters, func(x Filter) bool { return len(x.values) > 0 && !x.not }) {
		p.Filters = append(p.Filters, numberFilter(f, "<", 0))
	}
}

// moneyOnly reports whether an amount of both directions is only called money.
func (p *conditions) moneyOnly(f *schema.Field) bool {
	return f.Mixed() && slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		w := p.Text.Tokens[x.From].Fold
		return x.Kind == speech.KindField && x.Field == f && (w == "money" || w == "geld" || w == "cash")
	}) && !slices.ContainsFunc(p.Filters, func(x Filter) bool { return len(x.values) > 0 })
}

// shareOf returns the amount whose share is asked for by the word for the rows: of the spending.
func (p *wording) shareOf() (f *schema.Field, doubt bool) {
	for _, x := range p.Pieces {
		if x.Kind != speech.KindEntity {
			continue
		}
		if p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, "donation") && p.View.OnlyMeasure() != nil {
			return nil, true // of the count, or of the amount
		}
		for _, c := range []string{"cost", "spent", "revenue", "consumption", "generation", "profit"} {
			if !p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, c) {
				continue
			}
			if p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, "order") {
				return nil, p.View.MoneyField != nil || p.View.OnlyMeasure() != nil // the sales: a count, or an amount
			}
			if p.View.MoneyField != nil {
				return p.View.MoneyField, false
			}
			return p.View.OnlyMeasure(), p.View.OnlyMeasure() == nil
		}
	}
	return nil, false
}

var costing = speech.Folded("cost costs costing kostet kostete kosteten gekostet")

var expending = speech.Folded("spend spends spent spending expense expenses expenditure ausgegeben ausgabe ausgaben gezahlt bezahlt zahlen zahlten pay paid paying")

var gaining = speech.Folded("earn earned earns earning income revenue revenues takings turnover make made collect collected eingenommen einnahmen einnahme verdient verdienen umsatz umsatze")

var passive = speech.Folded("be been being is are was were get got getting worden wurde wurden")

var usAsPayer = speech.Folded("us me uns mich mir")

var ourselves = speech.Folded("we i wir ich")

var ourOwn = speech.Folded("our my unsere unseren unser unserer meine meinen mein meiner")

// wrongWay reports whether the question is about money that we spend and the table says that it comes
// in, or about money that we earn and it goes out. A table that says both fits neither question.
func (p *review) wrongWay() bool {
	m := p.First()
	if m != nil && p.Op == OpCompare && p.spending() && m.Field.Mixed() {
		return true // the greater value is the smaller expense
	}
	if m == nil || !p.View.OfMoney(m.Field) && !m.Field.Named("price") || m.Field.Mixed() {
		return false // the sign says what came in and what went out
	}
	if p.says(costing) && p.says(usAsPayer) && p.partCost(m.Field) {
		return true
	}
	spends, earns := p.weSpend(), p.weEarn()
	if !spends && !earns {
		return false
	}
	pay := p.View.Payment(m.Field)
	return spends && pay.In || earns && pay.Out
}

// partCost reports whether an amount is only a part of what something costs, according to
// its name but not to the question: what the parts cost, beside another amount.
func (p *wording) partCost(f *schema.Field) bool {
	part := slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return !w.Optional && !costs[w.Fold] && !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return speech.SameWord(t, speech.Token{Fold: w.Fold, Stem: w.Stem}) })
	})
	return part && f.Factors == nil && slices.ContainsFunc(p.View.Fields, func(o *schema.Field) bool {
		return o != f && o.Table == f.Table && o.Factors == nil && o.Measure() && p.View.OfMoney(o)
	})
}

var costs = speech.Folded("cost costs kosten amount betrag total gesamt net gross netto brutto price preis unit actual spent paid montant value")

// weSpend reports whether the question asks what we spend, or what something costs us.
func (p *explanation) weSpend() bool {
	for i, t := range p.Text.Tokens {
		switch {
		case t.Quoted:
		case costing[t.Fold] && p.says(usAsPayer):
			return true
		case expending[t.Fold] && p.isOurs(i) && (i == 0 || !passive[p.Text.Tokens[i-1].Fold] || t.Fold == "spending"):
			return true
		}
	}
	return false
}

// weEarn reports whether the question asks what we earn.
func (p *explanation) weEarn() bool {
	for i, t := range p.Text.Tokens {
		took := (t.Fold == "take" || t.Fold == "took" || t.Fold == "bring" || t.Fold == "brought") && i+1 < len(p.Text.Tokens) && p.Text.Tokens[i+1].Fold == "in"
		if !t.Quoted && (gaining[t.Fold] || took) && p.isOurs(i) {
			return true
		}
	}
	return false
}

// isOurs reports whether a token says what we do or own: our total spending, but not what our customers spend.
func (p *explanation) isOurs(i int) bool {
	if p.says(ourselves) {
		return true
	}
	for i--; i >= 0; i-- {
		t := p.Text.Tokens[i]
		if ourOwn[t.Fold] {
			return true
		}
		if t.Num == nil && !parse.LightWords[t.Fold] && !slices.ContainsFunc(p.Text.Lex.Phrases[t.Fold], func(x speech.Phrase) bool {
			return x.Kind == speech.KindSup || x.Kind == speech.KindAgg || x.Kind == speech.KindUnit
		}) {
			return false
		}
	}
	return false
}

// says reports whether the question contains one of some words.
func (p *explanation) says(words map[string]bool) bool {
	return slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return words[t.Fold] && !t.Quoted })
}

var comingIn = speech.Folded("income incomes einnahmen einnahme received erhalten receive erhielten bekommen bekamen")

// kinds are words of columns whose values are the things that they name.
var kinds = speech.Folded("category categories type types kind kinds kategorie kategorien art arten status statuses section sections abteilung abteilungen sparte sparten department departments")

// onlyHappened reports whether the question asks how many of something exist while the rows
// are events that mention only some of it, or only its kinds: rooms in a list of bookings.
// People whom the events name and things with a number are counted.
func (p *review) onlyHappened() bool {
	f := p.Counted
	if p.Op == OpCount && f == nil && p.namesGoods() {
		return p.asksExistence() && len(p.Filters) == 0
	}
	if p.Op != OpCount || f == nil || p.distinct || f.Table > 0 || f.Key() || p.View.Unique(f) || !p.asksExistence() {
		return false
	}
	if p.View.OfPeople() || f.Has(kinds) || f.NamesPeople(true) {
		return false
	}
	return slices.ContainsFunc(p.View.Fields, func(g *schema.Field) bool { return g.Table == 0 && g.Dated() })
}

// namesGoods reports whether the rows have dates and are counted under a name for lasting
// things: books, in a list of loans.
func (p *wording) namesGoods() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		t := p.Text.Tokens[x.From]
		return x.Kind == speech.KindEntity && goods[t.Fold] && !slices.ContainsFunc(p.View.Entity, func(e string) bool { return e == t.Stem || p.Text.Lex.Shared(e, t.Stem) })
	}) && slices.ContainsFunc(p.View.Fields, func(g *schema.Field) bool { return g.Table == 0 && g.Dated() })
}

var goods = speech.Folded(`book books title titles buch bucher buchern titel car cars vehicle vehicles auto autos fahrzeug fahrzeuge product products item items article articles artikel produkt produkte
home homes house houses haus hauser property properties animal animals tier tiere patient patients patienten`)

var having = speech.Folded("have has own haben hat besitzen gibt gab exist existieren")

// asksExistence reports whether the question only asks what exists: how many rooms do we have, are there.
func (p *explanation) asksExistence() bool {
	there := p.says(having)
	for i, t := range p.Text.Tokens {
		there = there || t.Fold == "there" && i > 0 && parse.Beings[p.Text.Tokens[i-1].Fold]
		if p.Text.Counted(i) {
			continue
		}
		if c := speech.LightClasses[t.Fold]; c != nil && !having[t.Fold] || speech.Irregular[t.Fold] != "" {
			return false
		}
	}
	return there
}
