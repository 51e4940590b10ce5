package schema

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// Besides are words of columns that stand beside those of the parties, such as totals.
var Besides = speech.Folded(`total totals sum gesamt summe insgesamt all overall invalid ungultig ungultige valid gultig gultige eligible registered wahlberechtigte berechtigte turnout beteiligung wahlbeteiligung
population id no nr number year jahr month monat week woche day tag age alter`)

// columnsOf returns the numbers of the own table if they are columns of one kind: they
// share a unit, and their names do not say a kind of number.
func (v *View) columnsOf() []*Field {
	var out []*Field
	kinds := slices.Concat(Additive, Ratelike, []string{"max", "min", "rank", "population", "rent", "rating", "satisfaction"})
	for _, f := range v.Fields {
		if f.Table != 0 || f.Factors != nil || !f.Measure() {
			continue
		}
		if f.Has(Besides) || slices.ContainsFunc(kinds, func(c string) bool { return lexicon().Means(f.Head(), c) }) {
			continue // a price is not a party
		}
		if _, ok := speech.MonthNames[f.Words[0].Fold]; ok {
			return nil // the long form answers that
		}
		out = append(out, f)
	}
	if len(out) < 3 || slices.ContainsFunc(out, func(f *Field) bool { return f.UnitSymbol() != out[0].UnitSymbol() }) {
		return nil
	}
	return out
}

// Ballot reports whether the table is about an election.
func (v *View) Ballot() bool {
	says := func(w string) bool {
		return slices.ContainsFunc([]string{"elect", "vote", "ballot", "poll", "wahl", "stimm"}, func(part string) bool { return strings.Contains(w, part) })
	}
	return slices.ContainsFunc(v.Topics, says) || slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return says(w.Fold) })
	})
}

// Only returns the only field of a kind; nil if none or several are of that kind.
func Only(fields []*Field, is func(*Field) bool) *Field {
	at := slices.IndexFunc(fields, is)
	if at < 0 || slices.ContainsFunc(fields[at+1:], is) {
		return nil
	}
	return fields[at]
}

// ClockField returns the only column of times of day.
func (v *View) ClockField() *Field {
	return Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Text() && f.Has(dayTimes) && len(f.Values) > 0 && !slices.ContainsFunc(f.Values, func(x any) bool { s, _ := x.(string); return !speech.TimeOfDay().MatchString(s) })
	})
}

var dayTimes = speech.Folded("time uhrzeit zeit beginn start started starttime hour slot arrived arrival departed departure called ankunft abfahrt")

// FieldOf returns the only number or date of a concept: in the own table first, by the head word before any word.
func (v *View) FieldOf(concept string) *Field {
	for _, own := range []bool{true, false} {
		for _, head := range []bool{true, false} {
			fits := func(f *Field) bool {
				costs := lexicon().Means(f.Head(), "cost") || lexicon().Means(f.Head(), "price")
				switch {
				case (f.Table == 0) != own, costs && (concept == "quantity" || concept == "stock"): // the cost of a unit is not a number of units
					return false
				case concept == "date":
					return f.Dated() || f.Yearly()
				}
				return f.Measure() && (lexicon().Means(f.Head(), concept) || !head && f.Named(concept))
			}
			if slices.ContainsFunc(v.Fields, fits) {
				return Only(v.Fields, fits)
			}
		}
	}
	return nil
}

// OnlyMeasure returns the only number of the table; nil if there are several.
func (v *View) OnlyMeasure() *Field {
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Factors == nil && f.Measure() })
}

// SellingPrice returns the only price whose name says that things sell for it.
func (v *View) SellingPrice() *Field {
	return Only(v.Fields, func(f *Field) bool {
		return f.Measure() && f.Named("price") && f.Has(Selling)
	})
}

// StockField returns the number of pieces in stock, not the minimum that is required.
func (v *View) StockField() *Field {
	for _, concept := range []string{"stock", "quantity"} {
		if f := Only(v.Fields, func(f *Field) bool {
			return f.Table == 0 && f.Factors == nil && f.Measure() && f.Named(concept) && !v.OfMoney(f) && !slices.ContainsFunc(f.Words, func(w speech.Word) bool {
				return limits[w.Fold] || speech.BuyingPrice[w.Fold] || w.Fold == "price" || w.Fold == "preis"
			})
		}); f != nil {
			return f
		}
	}
	return nil
}

// HoldsGrades reports whether a column is one of several columns of school marks, whose lowest
// is the best in one country and the worst in another.
func (v *View) HoldsGrades(f *Field) bool {
	n := 0
	for _, g := range v.Fields {
		low, ok := NumberOf(g.Min)
		high, ok2 := NumberOf(g.Max)
		if ok && ok2 && g.Table == f.Table && g.Measure() && g.UnitSymbol() == "" && low >= 1 && low < 3 && high > 3 && high <= 6 {
			n++
		} else if g == f {
			return false
		}
	}
	return n > 2 && !v.Survey
}

// Sells reports whether the rows have a date and a price.
func (v *View) Sells() bool {
	return slices.ContainsFunc(v.Fields, (*Field).Dated) && slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Measure() && f.Named("price") })
}

// counters are parts of the names of counter readings and balances; a sum of such values means nothing.
var counters = []string{"zahlerst", "kilometerst", "tachost", "kontost", "meter read", "meter_read", "meterread", "odometer", "balance", "saldo", "solde", "cumul", "kumul", "running total"}

var readings = speech.Folded("reading readings stand ablesung")

// Counter reports whether a column, by its name or its table's, holds readings of a counter.
func (v *View) Counter(f *Field) bool {
	names := speech.Fold(f.Name + " " + v.Tables[f.Table].Name)
	if unit := strings.ToLower(f.UnitSymbol()); f.Has(readings) && (unit == "kwh" || unit == "mwh" || unit == "m3" || unit == "m³" || unit == "km") {
		return true
	}
	return slices.ContainsFunc(counters, func(part string) bool { return strings.Contains(names, part) })
}

// Counted reports whether each row states a number of things: title, year, count.
func (v *View) Counted() bool {
	return slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Type == "integer" && f.Measure() && (f.HeadWord() == "count" || f.HeadWord() == "anzahl") && len(f.Words) == 1
	})
}

// Labels returns the only column of names with a unique value in every row.
func (v *View) Labels() *Field {
	return Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Text() && !f.Key() && v.Unique(f)
	})
}

// Temperature reports whether a column is a temperature, by its name or its unit.
func (f *Field) Temperature() bool {
	return f.Named("temperature") || strings.Contains(f.UnitSymbol()+f.Name, "°")
}

// NamesRows reports whether a column only names each row: the products in a list of products.
func (v *View) NamesRows(f *Field) bool {
	rows := v.Tables[0].RowCount
	return f.Table == 0 && f.Factors == nil && (f.Text() && !f.Clock() || f.Key()) && !f.DistinctCapped && rows > 0 && f.Distinct*10 >= rows*9
}

// Product returns the derived measure that has f as a factor: unit price times quantity.
func (v *View) Product(f *Field) *Field {
	for _, d := range v.Fields {
		if slices.Contains(d.Factors, f) {
			return d
		}
	}
	return nil
}

// Additive are the concepts of numbers that add up to a total.
var Additive = []string{
	"revenue", "profit", "cost", "amount", "spent", "budget", "actual", "quantity", "stock", "rain", "consumption", "generation", "death", "donation", "goals", "visitor",
	"yield", "fuel", "liters", "distance", "hours", "payment", "tax", "calories", "win", "loss",
}

// Ratelike are the concepts of numbers whose mean makes sense and whose total does not.
var Ratelike = []string{"price", "temperature", "score", "rating", "age", "height", "weight", "length", "width", "salary", "humidity", "pressure", "area", "rooms", "bedrooms", "rent", "concentration", "duration", "size"}

// Moved are words of columns that count pieces that left, not pieces in stock.
var Moved = speech.Folded("sold verkauft verkaufte shipped ordered bestellt geliefert borrowed ausgeliehen")

// Repeats reports whether several rows may share the row of another table that a column is in, so that a sum or
// a mean over the rows counts its values more than once.
func (v *View) Repeats(f *Field) bool {
	for t := f.Table; t > 0 && f.Factors == nil; t = v.On[t].From {
		j := v.On[t]
		if !slices.ContainsFunc(v.Fields, func(k *Field) bool { return k.Table == j.From && k.Name == j.OwnKey && k.Unique(k.Rows) }) {
			return true
		}
	}
	return false
}

// LeadsTo reports whether a column is the key that joins the table of another one.
func (v *View) LeadsTo(f, other *Field) bool {
	if f.Table != 0 || other.Table == 0 {
		return false
	}
	j := v.On[other.Table]
	return j.From == 0 && j.OwnKey == f.Name
}

// Balance reports whether a column holds an amount that remains, not one that was counted.
func (f *Field) Balance() bool {
	name := speech.Fold(f.Name)
	return slices.ContainsFunc([]string{"kontost", "balance", "saldo", "solde"}, func(s string) bool { return strings.Contains(name, s) })
}

// SchoolGrade reports whether the column holds German grades, from 1, the best, to 6.
func (f *Field) SchoolGrade() bool {
	low, ok := NumberOf(f.Min)
	high, ok2 := NumberOf(f.Max)
	return ok && ok2 && low >= 0.66 && high <= 6 && f.Has(schoolGrades)
}

var schoolGrades = speech.Folded("note noten schulnote zensur endnote zeugnisnote abschlussnote")

// NameField returns the only column of names of the own table.
func (v *View) NameField() *Field {
	return Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Text() && f.Names == nil && !f.Key() && NameWords[f.Words[len(f.Words)-1].Stem]
	})
}

// Person returns the column that names people: a full name, otherwise a name or a role, otherwise what people do.
func (v *View) Person() *Field {
	for _, f := range v.Fields {
		if f.Names != nil {
			return f
		}
	}
	for _, c := range []string{"name", "employee", "customer", "student", "player", "member", "salesperson", "author", "donor", "manager"} {
		for _, f := range v.Fields {
			if f.Text() && f.Named(c) && f.Table == 0 && !f.Key() {
				return f
			}
		}
	}
	return Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Text() && f.Names == nil && !f.Key() && people[f.Words[len(f.Words)-1].Fold]
	})
}

// people are words of columns that name people by what they do.
var people = speech.Folded("tierarzt tierarztin arzt arztin vet doctor dentist nurse therapist barista mechanic mechaniker instructor clerk cashier waiter stylist technician techniker assignee inspector referee kellner friseur sachbearbeiter berater advisor consultant tutor swimmer schwimmer player spieler athlete rower skater driver rider guest teacher reader backer volunteer patient runner user owner tenant pilot coach sender visitor chef cook borrower child resident speaker artist fahrer gast lehrer leser helfer besitzer mieter trainer absender besucher koch ausleiher kind bewohner referent spender")

// DurationField returns the only number of the own table in a unit of time.
func (v *View) DurationField() *Field {
	return Only(v.Fields, func(f *Field) bool {
		if f.Table != 0 || !f.Measure() || f.Factors != nil {
			return false
		}
		return timeUnits[f.UnitName()] || timeUnits[UnitNames[f.Head()]] || strings.HasPrefix(f.Head(), "minut") || strings.HasPrefix(f.Head(), "sekund") || strings.HasPrefix(f.Head(), "second") ||
			f.Type == "integer" && f.Has(inDays)
	})
}

var timeUnits = speech.Folded("ms s min h")

// inDays are words of columns that count how many days, nights, weeks or months something took.
var inDays = speech.Folded("days nights weeks months tage nachte wochen monate")

var clockShape = pattern.Lazy(`^\d{1,2}(?::\d{2}){1,2}(?:[.,]\d{1,3})?$`)

var wordShape = pattern.Lazy(`^\p{L}+$`)

// Clock reports whether a text column holds race times of one format, apart from words such as DNF.
func (f *Field) Clock() bool {
	if !f.Text() || f.Names != nil || f.Distinct < 3 || !slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return TimeWords[w.Stem] || TimeWords[w.Fold] || w.Fold == "finish" || w.Fold == "result" || w.Fold == "laufzeit" || w.Fold == "endzeit"
	}) {
		return false
	}
	colons, words := -1, 0
	for _, v := range f.Values {
		s, _ := v.(string)
		n := strings.Count(s, ":")
		switch {
		case wordShape().MatchString(s):
			words++
		case !clockShape().MatchString(s), colons >= 0 && n != colons:
			return false
		default:
			colons = n
		}
	}
	return colons > 0 && words <= 3
}

// Gaps reports whether a column of race times has rows without one: DNF.
func (f *Field) Gaps() bool {
	return f.Missing > 0 || slices.ContainsFunc(f.Values, func(v any) bool { s, _ := v.(string); return wordShape().MatchString(s) })
}

// Selling are words of prices that customers pay.
var Selling = speech.Folded("selling sell sells sold sale sales retail list unit verkauf verkaufs verkauft verkaufen vk listen vente")

// NameFor returns the name of what a key identifies, in the table that the key refers to or in its own.
func (v *View) NameFor(key *Field) *Field {
	if !key.Key() {
		return nil
	}
	for i, j := range v.On {
		if i > 0 && (j.From != key.Table || j.OwnKey != key.Name) || i == 0 && !v.Unique(key) {
			continue
		}
		for _, f := range v.Fields {
			if f.Table == i && f.Names != nil {
				return f
			}
		}
		for _, f := range v.Fields {
			if f.Table == i && f.Text() && !f.Key() && (f.Named("name") || NameWords[f.Words[len(f.Words)-1].Stem]) {
				return f
			}
		}
	}
	return nil
}

// Described returns the only column that describes the rows; nil if there are several.
func (v *View) Described() []*Field {
	if f := Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Text() && !f.Free && f.Has(describes) }); f != nil {
		return []*Field{f}
	}
	return nil
}

var describes = speech.Folded("description beschreibung verwendungszweck buchungstext title titel subject betreff memo purpose zweck details designation libelle item")
