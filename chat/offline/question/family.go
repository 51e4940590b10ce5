package question

import (
	"slices"
	"strings"
)

// root is what a verb, a noun and an adjective of one family have in common: charged and
// charging, gebucht and Buchung, zufrieden and Zufriedenheit. It is empty for other words.
func root(w string) string {
	out := w
	if rest, ok := strings.CutPrefix(w, "ge"); ok && len(rest) > 4 && (strings.HasSuffix(rest, "t") || strings.HasSuffix(rest, "en")) {
		out = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(rest, "en"), "et"), "t")
	}
	for _, end := range []string{"heiten", "keiten", "ungen", "heit", "keit", "ings", "ung", "ing", "ness", "ed", "et", "en", "es", "er", "st", "s", "e", "t"} {
		if base, ok := strings.CutSuffix(out, end); ok && len(base) > 3 {
			out = base
			break
		}
	}
	if n := len(out); n > 4 && out[n-1] == out[n-2] && !strings.HasSuffix(out, "ss") {
		out = out[:n-1] // shipped, ship
	}
	if len(out) < 4 || strings.ContainsAny(out, "0123456789") {
		return ""
	}
	return out
}

// verbal says whether a word looks like a verb, or an adjective, made from another word.
func verbal(w string) bool {
	for _, end := range []string{"ed", "ing", "et", "en"} {
		if strings.HasSuffix(w, end) {
			return true
		}
	}
	return strings.HasPrefix(w, "ge") && strings.HasSuffix(w, "t")
}

// family says whether two words, of which one looks like a verb, have one root.
func family(a, b string) bool {
	r := root(a)
	return r != "" && (verbal(a) || verbal(b)) && r == root(b)
}

// unitNames are the units that questions say as words.
var unitNames = map[string]string{
	"dollar": "usd", "dollars": "usd", "usd": "usd", "us$": "usd", "$": "usd", "euro": "eur", "euros": "eur", "eur": "eur", "€": "eur", "franken": "chf", "francs": "chf", "chf": "chf",
	"pounds": "gbp", "gbp": "gbp", "£": "gbp", "kwh": "kwh", "mwh": "mwh", "gwh": "gwh", "twh": "twh", "wh": "wh", "m³": "m3", "m3": "m3", "cbm": "m3", "kubikmeter": "m3",
	"ms": "ms", "milliseconds": "ms", "millisekunden": "ms", "minutes": "min", "minute": "min", "minuten": "min", "min": "min", "mins": "min",
	"seconds": "s", "second": "s", "sekunde": "s", "sekunden": "s", "sec": "s", "s": "s", "hours": "h", "hour": "h", "stunden": "h", "h": "h", "kilometers": "km", "kilometres": "km", "kilometer": "km", "km": "km",
	"kilos": "kg", "kilo": "kg", "kilograms": "kg", "kilogramm": "kg", "kg": "kg", "grams": "g", "gramm": "g", "g": "g", "tonnes": "t", "tons": "t", "tonnen": "t", "t": "t",
	"liters": "l", "litres": "l", "liter": "l", "l": "l", "millimeter": "mm", "millimeters": "mm", "millimetres": "mm", "mm": "mm", "cm": "cm", "centimetres": "cm", "centimeters": "cm", "zentimeter": "cm", "hectares": "ha", "hektar": "ha", "ha": "ha",
	"stunde": "h", "std": "h", "meters": "m", "metres": "m", "meter": "m", "m": "m",
}

// moneyUnits are the units of money.
var moneyUnits = folded("usd eur chf gbp")

func (f *field) unitName() string {
	if u := unitNames[strings.TrimSuffix(strings.ToLower(f.unit()), ".")]; u != "" || f.Unit != "" {
		return u
	}
	return unitNames[strings.ToLower(f.Name)] // a column ms
}

// inUnit is the only number of the own table in the unit that a word names.
func (v *view) inUnit(l *lexicon, word string) *field {
	unit := unitNames[word]
	if unit == "" {
		return nil
	}
	var found *field
	for _, f := range v.fields {
		if f.table == 0 && f.factors == nil && f.measure(l) && f.unitName() == unit {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// unitAt finds the column that the unit at a token stands for: how many kWh.
func (r *reader) unitAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || len(t.fold) < 2 {
		return nil
	}
	if f := v.inUnit(r.lex, t.fold); f != nil {
		return []piece{{kind: kindField, field: f, from: i, to: i + 1, weight: 3.5}}
	}
	return nil
}

// spent are the words for what the only amount of money of a table may be of; earned those
// for an amount that comes in.
var (
	spent  = strings.Fields("cost costs spend spends spent paid pay payed money geld cash gelassen gekostet kostet kosteten ausgegeben bezahlt gezahlt")
	earned = strings.Fields("money geld cash")
)

// money lets the only amount of money be called what people say of money: it costs, it is paid.
func (v *view) money(l *lexicon) {
	var all []*field
	for _, f := range v.fields {
		if f.table != 0 || f.factors != nil || !f.measure(l) {
			continue
		}
		neutral := l.means(f.head(), "fee") || f.head() == stem("charge") && f.unit() == "" || l.means(f.head(), "amount") && !l.means(f.head(), "quantity") || l.means(f.head(), "price")
		if !neutral && !moneyUnits[f.unitName()] && !l.means(f.head(), "revenue") && !l.means(f.head(), "cost") {
			continue
		}
		all = append(all, f)
	}
	if len(all) > 1 { // what a row comes to, rather than the price of one
		all = slices.DeleteFunc(all, func(f *field) bool { return l.means(f.head(), "price") && !l.means(f.head(), "amount") })
	}
	if len(all) != 1 {
		return
	}
	only := all[0]
	words := spent
	if l.means(only.head(), "price") && !l.means(only.head(), "amount") && !l.means(only.head(), "cost") {
		words = strings.Fields("cost costs gekostet kostet kosten") // nobody has paid it yet
	}
	for _, c := range []string{"revenue", "profit", "budget", "salary", "donation", "discount", "tax", "rent"} {
		if only.named(l, c) && !(c == "revenue" && l.means(only.head(), "amount")) {
			words = earned
		}
	}
	v.coins, v.coinWords = only, words
	if slices.ContainsFunc(v.fields, func(f *field) bool { return f != only && f.named(l, "payment") }) {
		v.coinWords = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return l.means(stem(w), "payment") || w == "pay" || w == "gezahlt" })
	}
}

// moneyAt finds a word for money that stands for the only amount.
func (r *reader) moneyAt(v *view, i int) []piece {
	if v.coins == nil || r.ts[i].quoted || r.ts[i].part || !slices.Contains(v.coinWords, r.ts[i].fold) {
		return nil
	}
	return []piece{{kind: kindField, field: v.coins, from: i, to: i + 1, weight: 3}}
}

// surveyed are the people whom a survey asks.
var surveyed = folded("people guest guests gast gaste visitors besucher users nutzer readers leser participants teilnehmer employees staff mitarbeiter mitarbeitenden")

// ended is the one date on which things are closed, returned or paid.
func (p *plan) ended() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.dated() && (f.named(p.r.lex, "close") || f.named(p.r.lex, "return") || f.named(p.r.lex, "payment")) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// spending says whether the amount is only named by a verb: what did we spend most on.
func (p *plan) spending() bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		switch w := p.r.ts[x.from].fold; w {
		case "gelassen", "spend", "spent", "spends", "spending", "pay", "paid", "expense", "expenses", "ausgabe", "ausgaben", "ausgegeben", "bezahlt", "gezahlt":
			return x.kind == kindField && x.field != nil && x.field.measure(p.r.lex)
		}
		return false
	})
}

// expenses turns a question of what is spent to the amounts that went out, where the
// amounts are of both directions.
func (p *plan) expenses() {
	if !p.spending() || len(p.measures) != 1 || !p.measures[0].field.mixed() {
		return
	}
	f := p.measures[0].field
	if p.sup != nil {
		p.sup.arg = map[string]string{"asc": "desc", "desc": "asc"}[p.sup.arg]
	}
	if p.sup != nil || !slices.ContainsFunc(p.filters, func(x filter) bool { return len(x.values) > 0 }) {
		x := numberFilter(f, "<", 0)
		p.filters = append(p.filters, x)
	}
}

// mixed says whether a column has amounts that came in and amounts that went out.
func (f *field) mixed() bool {
	low, ok := at([]any{f.Min}, 0)
	high, ok2 := at([]any{f.Max}, 0)
	return ok && ok2 && low < 0 && high > 0
}

// moneyOnly says whether an amount of both directions is only called money.
func (p *plan) moneyOnly(f *field) bool {
	return f.mixed() && slices.ContainsFunc(p.ps, func(x piece) bool {
		w := p.r.ts[x.from].fold
		return x.kind == kindField && x.field == f && (w == "money" || w == "geld" || w == "cash")
	}) && !slices.ContainsFunc(p.filters, func(x filter) bool { return len(x.values) > 0 })
}

// shareOf is the amount that the word for the rows says is shared: of the spending.
func (p *plan) shareOf() (f *field, doubt bool) {
	for _, x := range p.ps {
		if x.kind != kindEntity {
			continue
		}
		if p.r.lex.means(p.r.ts[x.from].stem, "donation") && p.onlyMeasure() != nil {
			return nil, true // of how many, or of how much
		}
		for _, c := range []string{"cost", "spent", "revenue", "consumption", "generation", "profit"} {
			if !p.r.lex.means(p.r.ts[x.from].stem, c) {
				continue
			}
			if p.r.lex.means(p.r.ts[x.from].stem, "order") {
				return nil, p.v.coins != nil || p.onlyMeasure() != nil // the sales: how many, or how much
			}
			if p.v.coins != nil {
				return p.v.coins, false
			}
			return p.onlyMeasure(), p.onlyMeasure() == nil
		}
	}
	return nil, false
}

// derive adds the product of quantity and unit price where no column has the revenue.
func (v *view) derive(l *lexicon) {
	var quantities, prices []*field
	for _, f := range v.fields {
		switch {
		case f.measure(l) && (f.named(l, "revenue") || f.named(l, "amount") && !f.named(l, "quantity") || f.named(l, "discount")), f.named(l, "discount"):
			return
		case f.measure(l) && f.named(l, "price"):
			prices = append(prices, f)
		case f.measure(l) && (f.named(l, "quantity") || f.named(l, "stock")) && f.table == 0:
			quantities = append(quantities, f)
		}
	}
	if len(quantities) != 1 || len(prices) != 1 {
		return
	}
	q, p := quantities[0], prices[0]
	name, concept := "revenue", "revenue"
	bought := slices.ContainsFunc(p.words, func(w word) bool {
		return l.means(w.stem, "cost") && !l.means(w.stem, "revenue") && w.fold != "price" && w.fold != "preis"
	})
	if q.named(l, "stock") && !slices.ContainsFunc(q.words, func(w word) bool { return w.fold == "sold" || w.fold == "units" }) || bought {
		name, concept = "value", "amount"
	}
	f := &field{Column: Column{Name: name, Type: "number", Unit: p.unit(), Missing: q.Missing + p.Missing}, table: p.table, factors: []*field{q, p}}
	f.words = []word{{fold: concept, stem: stem(concept)}}
	if concept == "amount" {
		f.words = append([]word{{fold: "stock", stem: stem("stock"), optional: true}}, f.words...)
	}
	v.fields = append(v.fields, f)
	if concept == "revenue" {
		g := *f
		g.words = []word{{fold: "amount", stem: stem("amount")}} // the average order value
		v.fields = append(v.fields, &g)
	}
}

// sales lets the one amount of a table of sales be called its revenue.
func (v *view) sales(l *lexicon) {
	var amount *field
	for _, f := range v.fields {
		switch {
		case f.measure(l) && f.named(l, "revenue"):
			return
		case f.table == 0 && f.measure(l) && l.means(f.head(), "amount") && !l.means(f.head(), "price"):
			if amount != nil {
				return
			}
			amount = f
		}
	}
	sold := slices.ContainsFunc(v.fields, func(f *field) bool {
		return f.table == 0 && (f.named(l, "customer") || f.named(l, "product")) || f.table == 0 && f.measure(l) && f.named(l, "quantity")
	})
	if amount != nil && sold {
		amount.words = append([]word{{fold: "revenue", stem: stem("revenue"), optional: true}}, amount.words...)
	}
}

// logged marks the texts of a log.
func (v *view) logged() {
	texts := -1
	level := false
	for i, f := range v.fields {
		level = level || f.Name == "level"
		if f.Name == "text" {
			texts = i
		}
	}
	if level && texts >= 0 {
		v.fields[texts].free = true
	}
}
