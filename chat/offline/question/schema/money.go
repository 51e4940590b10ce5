package schema

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
)

// limits are words of columns that hold a minimum, a maximum or a target.
var limits = speech.Folded("min minimum mindest mindestbestand meldebestand meldemenge reorder threshold max maximum target seuil alerte safety soll")

// UnitNames maps units as questions say them to one name for each unit.
var UnitNames = map[string]string{
	"dollar": "usd", "dollars": "usd", "usd": "usd", "us$": "usd", "$": "usd", "euro": "eur", "euros": "eur", "eur": "eur", "€": "eur", "franken": "chf", "francs": "chf", "chf": "chf",
	"pounds": "gbp", "gbp": "gbp", "£": "gbp", "kwh": "kwh", "mwh": "mwh", "gwh": "gwh", "twh": "twh", "wh": "wh", "m³": "m3", "m3": "m3", "cbm": "m3", "kubikmeter": "m3",
	"ms": "ms", "milliseconds": "ms", "millisekunden": "ms", "minutes": "min", "minute": "min", "minuten": "min", "min": "min", "mins": "min",
	"seconds": "s", "second": "s", "sekunde": "s", "sekunden": "s", "sec": "s", "s": "s", "hours": "h", "hour": "h", "stunden": "h", "h": "h", "kilometers": "km", "kilometres": "km", "kilometer": "km", "km": "km",
	"kilos": "kg", "kilo": "kg", "kilograms": "kg", "kilogramm": "kg", "kg": "kg", "grams": "g", "gramm": "g", "g": "g", "tonnes": "t", "tons": "t", "tonnen": "t", "t": "t",
	"liters": "l", "litres": "l", "liter": "l", "l": "l", "millimeter": "mm", "millimeters": "mm", "millimetres": "mm", "mm": "mm", "cm": "cm", "centimetres": "cm", "centimeters": "cm", "zentimeter": "cm", "hectares": "ha", "hektar": "ha", "ha": "ha",
	"stunde": "h", "std": "h", "meters": "m", "metres": "m", "meter": "m", "m": "m",
}

// moneyUnits are the units of money.
var moneyUnits = speech.Folded("usd eur chf gbp")

// UnitName returns the unit of the values in lower case, by one name for each unit.
func (f *Field) UnitName() string {
	if u := UnitNames[strings.TrimSuffix(strings.ToLower(f.UnitSymbol()), ".")]; u != "" || f.Unit != "" {
		return u
	}
	return UnitNames[strings.ToLower(f.Name)] // a column named ms
}

// InUnit returns the only number of the own table in the unit that a word names.
func (v *View) InUnit(word string) *Field {
	unit := UnitNames[word]
	if unit == "" {
		return nil
	}
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Factors == nil && f.Measure() && f.UnitName() == unit })
}

var spent = strings.Fields("cost costs spend spends spent paid pay payed money geld cash gelassen gekostet kostet kosteten ausgegeben bezahlt gezahlt")

var earned = strings.Fields("money geld cash")

// money lets the only amount of money be named by general words for money: it costs, it is paid.
func (v *View) money() {
	var all []*Field
	for _, f := range v.Fields {
		if f.Table != 0 || f.Factors != nil || !f.Measure() {
			continue
		}
		neutral := lexicon().Means(f.Head(), "fee") || f.Head() == speech.Stem("charge") && f.UnitSymbol() == "" || lexicon().Means(f.Head(), "amount") && !lexicon().Means(f.Head(), "quantity") || lexicon().Means(f.Head(), "price")
		if !neutral && !moneyUnits[f.UnitName()] && !lexicon().Means(f.Head(), "revenue") && !lexicon().Means(f.Head(), "cost") {
			continue
		}
		all = append(all, f)
	}
	if len(all) > 1 { // the total of a row is preferred to the price of one piece
		all = slices.DeleteFunc(all, func(f *Field) bool { return lexicon().Means(f.Head(), "price") && !lexicon().Means(f.Head(), "amount") })
	}
	if len(all) != 1 {
		return
	}
	only := all[0]
	words := spent
	if lexicon().Means(only.Head(), "price") && !lexicon().Means(only.Head(), "amount") && !lexicon().Means(only.Head(), "cost") {
		words = strings.Fields("cost costs gekostet kostet kosten") // a price has not been paid yet
	}
	for _, c := range []string{"revenue", "profit", "budget", "salary", "donation", "discount", "tax", "rent"} {
		if only.Named(c) && !(c == "revenue" && lexicon().Means(only.Head(), "amount")) {
			words = earned
		}
	}
	v.MoneyField, v.MoneyWords = only, words
	if slices.ContainsFunc(v.Fields, func(f *Field) bool { return f != only && f.Named("payment") }) {
		v.MoneyWords = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return lexicon().Means(speech.Stem(w), "payment") || w == "pay" || w == "gezahlt" })
	}
}

// Ended returns the only date on which things are closed, returned or paid.
func (v *View) Ended() *Field {
	return Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Dated() && (f.Named("close") || f.Named("return") || f.Named("payment"))
	})
}

// Mixed reports whether a column has both incoming and outgoing amounts.
func (f *Field) Mixed() bool {
	low, ok := NumberOf(f.Min)
	high, ok2 := NumberOf(f.Max)
	return ok && ok2 && low < 0 && high > 0
}

// derive adds the product of quantity and unit price if no column holds the revenue.
func (v *View) derive() {
	if slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Named("discount") || f.Measure() && (f.Named("revenue") || f.Named("amount") && !f.Named("quantity"))
	}) {
		return
	}
	p := Only(v.Fields, func(f *Field) bool { return f.Measure() && f.Named("price") })
	q := Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Measure() && !f.Named("price") && (f.Named("quantity") || f.Named("stock"))
	})
	if p == nil || q == nil {
		return
	}
	name, concept := "revenue", "revenue"
	bought := slices.ContainsFunc(p.Words, func(w speech.Word) bool {
		return lexicon().Means(w.Stem, "cost") && !lexicon().Means(w.Stem, "revenue") && w.Fold != "price" && w.Fold != "preis"
	})
	if q.Named("stock") && !slices.ContainsFunc(q.Words, func(w speech.Word) bool { return w.Fold == "sold" || w.Fold == "units" }) || bought {
		name, concept = "value", "amount"
	}
	f := &Field{Column: Column{Name: name, Type: "number", Unit: p.UnitSymbol(), Missing: q.Missing + p.Missing}, Table: p.Table, Factors: []*Field{q, p}}
	f.Words = []speech.Word{{Fold: concept, Stem: speech.Stem(concept)}}
	if concept == "amount" {
		f.Words = append([]speech.Word{{Fold: "stock", Stem: speech.Stem("stock"), Optional: true}}, f.Words...)
	}
	v.Fields = append(v.Fields, f)
	if concept == "revenue" {
		g := *f
		g.Words = []speech.Word{{Fold: "amount", Stem: speech.Stem("amount")}} // the average order value
		v.Fields = append(v.Fields, &g)
	}
}

// sales lets the only amount of a table of sales be called its revenue.
func (v *View) sales() {
	amount := Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Measure() && lexicon().Means(f.Head(), "amount") && !lexicon().Means(f.Head(), "price")
	})
	named := slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Measure() && f.Named("revenue") })
	sold := slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Table == 0 && (f.Named("customer") || f.Named("product")) || f.Table == 0 && f.Measure() && f.Named("quantity")
	})
	if amount != nil && sold && !named {
		amount.Words = append([]speech.Word{{Fold: "revenue", Stem: speech.Stem("revenue"), Optional: true}}, amount.Words...)
	}
}

// logged marks the texts of a log as free.
func (v *View) logged() {
	texts := Only(v.Fields, func(f *Field) bool { return f.Name == "text" })
	if texts != nil && slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Name == "level" }) {
		texts.Free = true
	}
}

// About reports whether the rows are things of a kind: trips, loans.
func (v *View) About(kind string) bool {
	if slices.ContainsFunc(append(slices.Clone(v.Entity), v.Topics...), func(e string) bool { return lexicon().Means(e, kind) }) {
		return true
	}
	return slices.ContainsFunc(Things, func(k Thing) bool {
		return k.Nouns[kind] && slices.ContainsFunc(v.Fields, func(f *Field) bool {
			return f.Table == 0 && f.Has(k.Signs)
		})
	})
}

// OfMoney reports whether a column holds amounts of money.
func (v *View) OfMoney(f *Field) bool {
	return f == v.MoneyField || moneyUnits[f.UnitName()] || f.Has(moneyWords) ||
		slices.ContainsFunc(strings.Fields("amount price cost fee tax revenue profit budget salary rent donation discount spent payment"), func(c string) bool { return f.Named(c) && !f.Named("quantity") })
}

var moneyWords = speech.Folded("net gross brutto netto tip tips trinkgeld takings fare toll premium deposit ht ttc")

// means are words of columns that say how something was paid.
var means = speech.Folded("with by via method mode mit per wie womit")

// Holds reports whether one of some words is a value, or in the name of a column, of the own table.
func (v *View) Holds(words map[string]bool) bool {
	return slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Table == 0 && (f.Has(words) && !f.Has(means) ||
			slices.ContainsFunc(f.Values, func(x any) bool { s, _ := x.(string); return words[speech.Fold(s)] }))
	})
}

// NamesPeople reports whether a column names people who work or, with buyers, also people who buy.
func (f *Field) NamesPeople(buyers bool) bool {
	ws := SplitName(f.Name)
	recorder := len(ws) > 1 && (ws[len(ws)-1] == "by" || ws[len(ws)-1] == "von") // who did something with the row: Entered By
	return f.Named("employee") || f.Named("salesperson") || buyers && (recorder || f.Named("customer") || f.Named("member") || f.Table > 0 && f.Named("name")) ||
		slices.ContainsFunc(f.Words, func(w speech.Word) bool { return people[w.Fold] || w.Fold == "engineer" })
}

var incoming = speech.Folded(`fee fees sale sales sold revenue revenues income takings turnover donation donations donor donors membership member members customer customers
client clients guest guests patient patients subscriber subscribers invoiced umsatz umsatze verkauf verkaufe einnahme einnahmen erlos erlose
beitrag beitrage mitglied mitglieder kunde kunden gast gaste patienten spende spenden rechnungsbetrag ventes recettes`)

var outgoing = speech.Folded(`expense expenses expenditure expenditures spending spent cost costs purchase purchases outgoings outflow payable payables supplier suppliers vendor vendors payee
ausgabe ausgaben kosten aufwand aufwendungen einkauf einkaufe lieferant lieferanten eingangsrechnung eingangsrechnungen achats depenses fournisseur`)

var weaklyIncoming = speech.Folded("order orders invoice invoices booking bookings ticket tickets job jobs auftrag auftrage bestellung bestellungen rechnung rechnungen buchungen facture factures commande commandes")

var weaklyOutgoing = speech.Folded("bill bills")

// payment says whether the amounts of a table come in, go out or do both; neither means unknown.
type payment struct{ In, Out bool }

func paymentOf(words []string) payment {
	var p payment
	for _, ways := range []struct{ in, out map[string]bool }{{incoming, outgoing}, {weaklyIncoming, weaklyOutgoing}} {
		for _, s := range words {
			p.In, p.Out = p.In || ways.in[s], p.Out || ways.out[s]
		}
		if p.In || p.Out {
			break
		}
	}
	return p
}

// Payment returns the direction of an amount: from its own name, otherwise from the names
// of the table and of its columns that are not amounts.
func (v *View) Payment(f *Field) payment {
	var own []string
	for _, g := range append([]*Field{f}, f.Factors...) {
		for _, w := range g.Words {
			own = append(own, w.Fold)
		}
	}
	if w := paymentOf(own); w.In != w.Out {
		return w
	}
	all := append(slices.Clone(v.Names), SplitName(v.Tables[f.Table].Title)...)
	for _, g := range v.Fields {
		if g.Table != f.Table || g.Measure() {
			continue
		}
		for _, w := range g.Words {
			all = append(all, w.Fold)
		}
	}
	return paymentOf(all)
}

var waysIn = speech.Folded("in income incomes receipt receipts received revenue credit deposit einnahme einnahmen eingang gutschrift haben recette recettes entree")

var waysOut = speech.Folded("out expense expenses expenditure spending outgoing outgoings debit withdrawal ausgabe ausgaben ausgang soll depense depenses sortie")

// DirectionColumn returns the column that says whether an amount came in or went out, with the values for either.
func (v *View) DirectionColumn(amount *Field) (f *Field, in, out []string) {
	for _, f := range v.Fields {
		if f.Table != amount.Table || !f.Text() || f.DistinctCapped || len(f.Values) > 4 || f.Has(means) {
			continue
		}
		in, out = nil, nil
		for _, x := range f.Values {
			s, _ := x.(string)
			switch w := speech.Fold(s); {
			case waysIn[w]:
				in = append(in, s)
			case waysOut[w]:
				out = append(out, s)
			}
		}
		if len(in) > 0 && len(out) > 0 && len(in)+len(out) == len(f.Values) {
			return f, in, out
		}
	}
	return nil, nil, nil
}
