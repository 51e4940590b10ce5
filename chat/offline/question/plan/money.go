package plan

import (
	"cmp"
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

var spends = speech.Folded("gelassen spend spent spends spending pay paid paying expense expenses expenditure ausgabe ausgaben ausgegeben bezahlt gezahlt zahlen zahlten")

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
	only := cmp.Or(p.View.MoneyField, p.View.OnlyMeasure())
	for _, x := range p.Pieces {
		means := func(c string) bool {
			return x.Kind == speech.KindEntity && p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, c)
		}
		switch {
		case means("donation") && p.View.OnlyMeasure() != nil:
			return nil, true // of the count, or of the amount
		case !slices.ContainsFunc([]string{"cost", "spent", "revenue", "consumption", "generation", "profit"}, means):
		case means("order"):
			return nil, only != nil // the sales: a count, or an amount
		default:
			return only, only == nil
		}
	}
	return nil, false
}

var costing = speech.Folded("cost costs costing kostet kostete kosteten gekostet")

var gaining = speech.Folded("earn earned earns earning income revenue revenues takings turnover make made collect collected eingenommen einnahmen einnahme verdient verdienen umsatz umsatze")

var passive = speech.Folded("be been being is are was were get got getting worden wurde wurden")

var usAsPayer = speech.Folded("us me uns mich mir")

var ourselves = speech.Folded("we i wir ich")

var ourOwn = speech.Folded("our my unsere unseren unser unserer meine meinen mein meiner")

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
		case spends[t.Fold] && p.isOurs(i) && (i == 0 || !passive[p.Text.Tokens[i-1].Fold] || t.Fold == "spending"):
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

var trades = speech.Folded("sell sells sold selling buy bought order ordered ship shipped verkauft verkauften verkaufen gekauft bestellt verschickt")

// traded reports whether the question is about sales or purchases.
func (p *explanation) traded() bool {
	return slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return trades[t.Fold] })
}

var gives = speech.Folded("raise raises raised give gives gave given donate donated collect collected earn earned contribute contributed bring brought gespendet gesammelt eingenommen gegeben erlost")

// given returns the only amount of money of the table if the question says that it is given, earned or spent.
func (p *wording) given() *schema.Field {
	if p.View.MoneyField == nil || p.View.MoneyField.Mixed() || p.Nature(p.View.MoneyField) == "avg" || !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool {
		return gives[t.Fold] && p.flows(p.View.MoneyField, "earn") || slices.ContainsFunc(speech.LightClasses[t.Fold], func(class string) bool {
			return (class == "spend" || class == "earn" || class == "trade" && p.Asks == "much") && p.flows(p.View.MoneyField, class)
		})
	}) {
		return nil
	}
	return p.View.MoneyField
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

// behind reports whether one of some words precedes a token, skipping fillers: pay Dr. Petri.
func (p *explanation) behind(i int, words map[string]bool) bool {
	for i--; i > 0 && p.Text.Lex.Fillers[p.Text.Tokens[i].Fold]; i-- {
		continue
	}
	return i > 0 && words[p.Text.Tokens[i].Fold]
}
