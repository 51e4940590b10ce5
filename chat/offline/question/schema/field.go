package schema

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
)

// lexicon returns the lexicon of all languages.
var lexicon = speech.DefaultLexicon

// Field is a column, or one computed from two columns, as questions name it.
type Field struct {
	Column
	Table int // index in View.Tables
	Words []speech.Word
	Rows  int64 // row count of its table
	First bool  // whether it is the first column
	// Parts are the two fields of a full name, or of a product.
	Parts []*Field
}

// Per reports whether the name has a "per" that matters: GDP per capita.
func (f *Field) Per() bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == "per" || w.Fold == "pro" || w.Fold == "je" }) && !lexicon().Means(f.Head(), "price")
}

// Head returns the word that says what the column is: generation for net generation.
func (f *Field) Head() string {
	h := ""
	for _, w := range f.Words {
		if Prepositions[w.Fold] && h != "" {
			return h
		}
		if !w.Optional {
			h = w.Stem
		}
	}
	return h
}

// HeadWord returns the head, unstemmed.
func (f *Field) HeadWord() string {
	at := slices.IndexFunc(f.Words, func(w speech.Word) bool { return !w.Optional && w.Stem == f.Head() })
	if at < 0 {
		return ""
	}
	return f.Words[at].Fold
}

// OfUnit reports whether the head of the name only says what the values count: pieces sold, minutes of waiting.
func (f *Field) OfUnit() bool {
	w := f.HeadWord()
	return Moved[w] || UnitNames[w] != "" && len(w) > 2 && f.Numeric()
}

// Numeric reports whether the values are numbers, including computed ones.
func (f *Field) Numeric() bool { return f.Type == "integer" || f.Type == "number" }

// Product reports whether the values are products of two columns.
func (f *Field) Product() bool { return f.Parts != nil && f.Numeric() }

// Monthly reports whether the column holds months, each stored as its first day.
func (f *Field) Monthly() bool {
	low, _ := f.Min.(string)
	high, _ := f.Max.(string)
	first, ok := speech.IsoPeriod(low)
	last, ok2 := speech.IsoPeriod(high)
	months := int64((last.Year-first.Year)*12 + last.N - first.N + 1)
	return f.Dated() && ok && ok2 && first.Day == 1 && last.Day == 1 && f.Distinct != 1 && f.Distinct <= months &&
		(f.Named("month") || !f.DistinctCapped && 2*f.Distinct >= months)
}

// PerMonth reports whether the name says that the values are monthly: a month's salary.
func (f *Field) PerMonth() bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return strings.HasPrefix(w.Fold, "month") || strings.HasPrefix(w.Fold, "monat")
	})
}

// Boolean reports whether the values are booleans.
func (f *Field) Boolean() bool { return f.Type == "boolean" }

// Dated reports whether the values are dates, with or without a time of day.
func (f *Field) Dated() bool { return f.Type == "date" || f.Type == "datetime" }

// Text reports whether the column holds text; booleans stored as text count.
func (f *Field) Text() bool { return f.Type == "text" }

// Has reports whether the name contains one of some words.
func (f *Field) Has(words map[string]bool) bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return words[w.Fold] })
}

// Named reports whether a word of the name belongs to a concept.
func (f *Field) Named(concept string) bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return lexicon().Means(w.Stem, concept) })
}

// Yearly reports whether the column holds whole years.
func (f *Field) Yearly() bool {
	low, high, ok := f.bounds()
	return f.Type == "integer" && ok && (f.Named("year") && low >= 1000 && high <= 2300 || f.Has(onceInAYear) && low >= 1500 && high <= 2100)
}

// onceInAYear are words of columns that say when something happened once: joined 2019.
var onceInAYear = speech.Folded("joined founded built born established published released introduced gegründet gebaut geboren eingetreten eintritt beitritt erschienen vintage jahrgang")

// Key reports whether the column holds identifiers: its numbers are names.
func (f *Field) Key() bool {
	if f.Dated() || f.Boolean() {
		return false
	}
	if f.counter() {
		return true
	}
	last := ""
	for _, w := range f.Words {
		if !UnitWords[w.Fold] {
			last = w.Fold
		}
	}
	switch last {
	case "number", "no", "num", "nr", "nummer", "index", "code", "reference", "ref":
		return f.Type == "text" || f.Type == "integer"
	}
	return speech.IDWords[last] || strings.HasPrefix(f.Words[0].Fold, "postleit") || lexicon().Means(speech.Stem(last), "phone") || strings.HasPrefix(last, "zip") || strings.HasPrefix(last, "plz") || strings.HasPrefix(last, "postal") || strings.HasPrefix(last, "postleit")
}

// counter reports whether the column numbers the rows: 1, 2, 3 … under a name like Respondent, or any numbers under
// the name of one thing, such as Order.
func (f *Field) counter() bool {
	low, high, _ := f.bounds()
	if f.Type == "integer" && len(f.Words) == 1 && numbered[f.Words[0].Fold] && (f.First || f.Unique(f.Rows)) {
		return true
	}
	if f.Type != "integer" || f.Rows < 3 || !f.First && low < 100 || !f.Unique(f.Rows) || f.Yearly() {
		return false
	}
	for _, c := range []string{"year", "month", "week", "date", "hours"} {
		if f.Named(c) {
			return false
		}
	}
	return int64(high-low)+1 == f.Rows && (f.Rows >= 12 || low == 0 || low == 1 || low == 1000 || low == 1001)
}

// numbered are things that have numbers. Their plurals are names of counts.
var numbered = speech.Folded(`order ticket invoice receipt bill booking reservation transaction shipment delivery parcel contract policy claim case complaint issue
patient customer client member employee student pupil participant applicant respondent visitor guest account
bestellung auftrag rechnung beleg buchung reservierung lieferung vertrag police vorgang fall antrag kunde mitglied mitarbeiter patientin commande facture`)

// Measure reports whether the column is a number that can be compared or added.
func (f *Field) Measure() bool { return f.Numeric() && !f.Key() && !f.Yearly() }

// Unique reports whether every row has a distinct value.
func (f *Field) Unique(rows int64) bool {
	if f.Parts != nil || f.Missing+f.Unusable > 0 || rows == 0 {
		return false
	}
	if !f.DistinctCapped {
		return f.Distinct == rows
	}
	// Consecutive numbers, too many for their count to be known.
	low, high, ok := f.bounds()
	return f.Rows == rows && f.Type == "integer" && ok && int64(high-low)+1 == rows
}

// bounds returns the smallest and the largest number.
func (f *Field) bounds() (low, high float64, ok bool) {
	low, ok = NumberOf(f.Min)
	high, ok2 := NumberOf(f.Max)
	return low, high, ok && ok2
}

// Spans reports whether a number lies between the smallest and the largest value.
func (f *Field) Spans(v float64) bool {
	low, high, ok := f.bounds()
	return ok && low <= v && v <= high
}

// Label returns the column's name in answers.
func (f *Field) Label() string {
	name, _, ok := trailing(f.Name)
	if !ok || !f.Numeric() {
		name = Camel().ReplaceAllString(Brackets().ReplaceAllString(f.Name, ""), "$1 $2")
	}
	if strings.TrimSpace(name) == "" {
		name = f.Name
	}
	return strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
}

// UnitSymbol returns the unit of the values, from the description, the brackets of the name or its ending.
func (f *Field) UnitSymbol() string {
	switch {
	case f.Unit == "count":
		return ""
	case f.Unit != "":
		return f.Unit
	}
	if b := Brackets().FindString(f.Name); len(b) > 2 && len(b) < 10 && f.Numeric() && !strings.ContainsAny(b, "0123456789") {
		return strings.Trim(b, "()[] ")
	}
	if _, unit, ok := trailing(f.Name); ok && f.Numeric() {
		return unit
	}
	return ""
}

// trailing splits the unit off the end of a name: rain_mm.
func trailing(name string) (base, unit string, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i < 1 || strings.HasSuffix(strings.ToLower(name[:i]), "_per") {
		return "", "", false // price_per_kwh is no energy
	}
	unit, ok = map[string]string{
		"mm": "mm", "cm": "cm", "m": "m", "km": "km", "kg": "kg", "g": "g", "t": "t", "l": "l", "ml": "ml", "kwh": "kWh", "mwh": "MWh", "gwh": "GWh", "kw": "kW", "mw": "MW",
		"eur": "EUR", "usd": "USD", "chf": "CHF", "gbp": "GBP", "pct": "%", "percent": "%", "ppm": "ppm", "min": "min", "hpa": "hPa", "c": "°C", "f": "°F", "kmh": "km/h", "ms": "ms", "s": "s", "sec": "s", "h": "h",
	}[strings.ToLower(name[i+1:])]
	return name[:i], unit, ok
}

// NumberOf returns a JSON value as a number.
func NumberOf(v any) (float64, bool) {
	switch t := v.(type) {
	case float64:
		return t, true
	case int64:
		return float64(t), true
	case int:
		return float64(t), true
	case string:
		n, ok := speech.ParseNumber(strings.TrimPrefix(t, "-"), speech.English)
		if strings.HasPrefix(t, "-") {
			n = -n
		}
		return n, ok
	}
	return 0, false
}

// Mixed reports whether a column has both incoming and outgoing amounts.
func (f *Field) Mixed() bool {
	low, high, ok := f.bounds()
	return ok && low < 0 && high > 0
}

// Scale reports whether the column holds marks: whole numbers from at most 2 to between 4 and 10.
func (f *Field) Scale() bool {
	low, high, ok := f.bounds()
	return f.Table == 0 && f.Type == "integer" && f.Measure() && ok && low >= 0 && low <= 2 && high >= 4 && high <= 10 && f.Distinct <= 11 && f.Rows >= 10
}

// Balance reports whether a column holds an amount that remains, not one that was counted.
func (f *Field) Balance() bool {
	name := speech.Fold(f.Name)
	return slices.ContainsFunc([]string{"kontost", "balance", "saldo", "solde"}, func(s string) bool { return strings.Contains(name, s) })
}

// UnitNames maps units as questions say them to one name for each unit.
var UnitNames = map[string]string{
	"dollar": "usd", "dollars": "usd", "usd": "usd", "us$": "usd", "$": "usd", "euro": "eur", "euros": "eur", "eur": "eur", "€": "eur", "franken": "chf", "francs": "chf", "chf": "chf",
	"pounds": "gbp", "gbp": "gbp", "£": "gbp", "kwh": "kwh", "mwh": "mwh", "gwh": "gwh", "twh": "twh", "wh": "wh", "m³": "m3", "m3": "m3", "cbm": "m3", "kubikmeter": "m3",
	"ms": "ms", "milliseconds": "ms", "millisekunden": "ms", "minutes": "min", "minute": "min", "minuten": "min", "min": "min", "mins": "min",
	"seconds": "s", "second": "s", "sekunde": "s", "sekunden": "s", "sec": "s", "s": "s", "hours": "h", "hour": "h", "stunden": "h", "h": "h", "kilometers": "km", "kilometres": "km", "kilometer": "km", "km": "km",
	"kilos": "kg", "kilo": "kg", "kilograms": "kg", "kilogramm": "kg", "kg": "kg", "grams": "g", "gramm": "g", "g": "g", "tonnes": "t", "tons": "t", "tonnen": "t", "t": "t",
	"liters": "l", "litres": "l", "liter": "l", "l": "l", "millimeter": "mm", "millimeters": "mm", "millimetres": "mm", "mm": "mm", "cm": "cm", "centimetres": "cm", "centimeters": "cm", "zentimeter": "cm", "hectares": "ha", "hektar": "ha", "ha": "ha",
	"stunde": "h", "std": "h", "meters": "m", "metres": "m", "meter": "m", "m": "m",
	"°c": "°c", "degrees": "°c", "degree": "°c", "celsius": "°c", "grad": "°c", "°f": "°f", "fahrenheit": "°f",
}

// UnitName returns the unit of the values in lower case, by one name for each unit.
func (f *Field) UnitName() string {
	if u := UnitNames[strings.TrimSuffix(strings.ToLower(f.UnitSymbol()), ".")]; u != "" || f.Unit != "" {
		return u
	}
	if first := f.Words[0].Fold; f.Numeric() && len(first) > 3 && UnitNames[first] != "" {
		return UnitNames[first] // minutes late
	}
	return UnitNames[strings.ToLower(f.Name)] // a column named ms
}

// MoneyUnits are the units of money.
var MoneyUnits = speech.Folded("usd eur chf gbp")

// TimeUnits are the units of durations.
var TimeUnits = speech.Folded("ms s min h")

// Moved are words of columns that count pieces that left, not pieces in stock.
var Moved = speech.Folded("sold verkauft verkaufte shipped ordered bestellt geliefert borrowed ausgeliehen")

// people are words of columns that name people by what they do.
var people = speech.Folded("tierarzt tierarztin arzt arztin vet doctor dentist nurse therapist barista mechanic mechaniker instructor clerk cashier waiter stylist technician techniker assignee inspector referee kellner friseur sachbearbeiter berater advisor consultant tutor swimmer schwimmer player spieler athlete rower skater driver rider guest teacher reader backer volunteer patient runner user owner tenant pilot coach sender visitor chef cook borrower child resident speaker artist fahrer gast lehrer leser helfer besitzer mieter trainer absender besucher koch ausleiher kind bewohner referent spender")

// Graded reports whether the values may be German school marks, of which at least a 2 is at most a 2.
func (f *Field) Graded() bool {
	low, high, _ := f.bounds()
	return f.UnitSymbol() == "" && low >= 0.6 && low < 3 && high > 3 && high <= 6
}

// Titled reports whether the name says that the values are names.
func (f *Field) Titled() bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return NameWords[w.Stem] })
}

// HasLike reports whether the name contains a word or one of the same concept.
func (f *Field) HasLike(t speech.Token) bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Stem == t.Stem || lexicon().Shared(w.Stem, t.Stem) })
}
