package schema

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
)

// Only returns the only field of a kind; nil if none or several are of that kind. Products of two columns do not count.
func Only(fields []*Field, is func(*Field) bool) *Field {
	fields = slices.DeleteFunc(slices.Clone(fields), (*Field).Product)
	at := slices.IndexFunc(fields, is)
	if at < 0 || slices.ContainsFunc(fields[at+1:], is) {
		return nil
	}
	return fields[at]
}

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
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Measure() })
}

// PlaceField returns the only text that says where something is.
func (v *View) PlaceField() *Field {
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Text() && !f.Key() && f.Has(places) })
}

var places = speech.Folded("place location shelf bin aisle rack room storage platz lagerplatz lagerort standort fach regal ort emplacement")

// Things reports whether a column names or numbers each row.
func (v *View) Things() bool {
	return slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Table == 0 && (f.Text() || f.Key()) && v.Unique(f) })
}

// Figures reports whether the rows are no things but the figures of groups, such as of each source in each year: one
// number for at least half of the combinations of the other values, and no two for one.
func (v *View) Figures() bool {
	rows, combinations := v.Tables[0].RowCount, int64(1)
	for _, f := range v.Fields {
		if f.Table == 0 && !f.Measure() && combinations <= 2*rows {
			combinations *= max(f.Distinct, 1)
		}
	}
	return v.OnlyMeasure() != nil && !v.Things() && rows <= combinations && combinations <= 2*rows
}

// StockField returns the number of pieces in stock, not the minimum that is required.
func (v *View) StockField() *Field {
	for _, concept := range []string{"stock", "quantity"} {
		if f := Only(v.Fields, func(f *Field) bool {
			return f.Table == 0 && f.Measure() && f.Named(concept) && !v.OfMoney(f) && !f.Has(limits) && !f.Named("cost")
		}); f != nil {
			return f
		}
	}
	return nil
}

// limits are words of columns that hold a minimum, a maximum or a target.
var limits = speech.Folded("min minimum mindest mindestbestand meldebestand meldemenge reorder threshold max maximum target seuil alerte safety soll")

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
func (v *View) Counted() bool { return slices.ContainsFunc(v.Fields, v.Counts) }

// Counts reports whether a column is the number of things that each row states.
func (v *View) Counts(f *Field) bool {
	return f.Table == 0 && f.Type == "integer" && f.Measure() && (f.HeadWord() == "count" || f.HeadWord() == "anzahl") && len(f.Words) == 1
}

// NamesRows reports whether a column only names each row: the products in a list of products.
func (v *View) NamesRows(f *Field) bool {
	rows := v.Tables[0].RowCount
	return f.Table == 0 && (f.Text() || f.Key()) && !f.DistinctCapped && rows > 0 && f.Distinct*10 >= rows*9
}

// Additive are the concepts of numbers that add up to a total.
var Additive = []string{
	"revenue", "profit", "cost", "amount", "spent", "budget", "actual", "quantity", "stock", "rain", "consumption", "generation", "death", "donation", "goals", "visitor",
	"yield", "fuel", "liters", "distance", "hours", "payment", "tax", "calories", "win", "loss",
}

// Ratelike are the concepts of numbers whose mean makes sense and whose total does not.
var Ratelike = []string{"price", "temperature", "score", "rating", "age", "height", "weight", "length", "width", "salary", "humidity", "pressure", "area", "rooms", "bedrooms", "rent", "concentration", "duration", "size"}

// Repeats reports whether several rows may share the row of another table that a column is in, so that a sum or
// a mean over the rows counts its values more than once.
func (v *View) Repeats(f *Field) bool {
	for t := f.Table; t > 0; t = v.On[t].From {
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

// Person returns the column that names people: a full name, otherwise a name or a role, otherwise what people do.
func (v *View) Person() *Field {
	named := func(f *Field) bool { return f.Table == 0 && f.Text() && !f.Key() }
	if full := Only(v.Fields, func(f *Field) bool { return f.Parts != nil }); full != nil {
		return full
	}
	for _, c := range []string{"name", "employee", "customer", "student", "player", "member", "salesperson", "author", "donor", "manager"} {
		for _, f := range v.Fields {
			if named(f) && f.Named(c) {
				return f
			}
		}
	}
	return Only(v.Fields, func(f *Field) bool { return named(f) && people[f.Words[len(f.Words)-1].Fold] })
}

// DurationField returns the only number of the own table in a unit of time.
func (v *View) DurationField() *Field {
	return Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Measure() && (TimeUnits[f.UnitName()] || TimeUnits[UnitNames[f.HeadWord()]] || f.Type == "integer" && f.Has(inDays))
	})
}

// inDays are words of columns that count how many days, nights, weeks or months something took.
var inDays = speech.Folded("days nights weeks months tage nachte wochen monate")

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
			if f.Table == i && f.Text() && !f.Key() && (f.Parts != nil || f.Named("name") || NameWords[f.Words[len(f.Words)-1].Stem]) {
				return f
			}
		}
	}
	return nil
}

// InUnit returns the only number of the own table in the unit that a word names.
func (v *View) InUnit(word string) *Field {
	unit := UnitNames[word]
	if unit == "" {
		return nil
	}
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Measure() && f.UnitName() == unit })
}

// spent are words for money that goes out.
var spent = strings.Fields("paid pay gekostet kostet kosteten ausgegeben bezahlt gezahlt")

// incoming are words of tables and columns whose amounts come in.
var incoming = speech.Folded(`fee fees sale sales sold revenue revenues income takings turnover donation donations donor donors membership member members customer customers client clients
guest guests patient patients subscriber subscribers umsatz umsatze verkauf verkaufe einnahme einnahmen erlos erlose beitrag beitrage mitglied mitglieder kunde kunden gast gaste spende spenden ventes recettes`)

// money finds the only amount of money, and the general words that may name it: what costs and what is paid.
func (v *View) money() {
	means := func(f *Field, concepts ...string) bool {
		return slices.ContainsFunc(concepts, func(c string) bool { return lexicon().Means(f.Head(), c) })
	}
	var all []*Field
	for _, f := range v.Fields {
		if f.Table == 0 && f.Measure() && !f.Balance() && (means(f, "fee", "price", "revenue", "cost", "charge") || means(f, "amount") && !means(f, "quantity") || MoneyUnits[f.UnitName()]) {
			all = append(all, f)
		}
	}
	if len(all) > 1 { // the total of a row is preferred to the price of one piece
		all = slices.DeleteFunc(all, func(f *Field) bool { return means(f, "price") && !means(f, "amount") })
	}
	if len(all) != 1 {
		return
	}
	v.MoneyField = all[0]
	if means(v.MoneyField, "price") && !means(v.MoneyField, "amount", "cost") {
		return
	}
	v.MoneyWords = strings.Fields("money geld cash")
	if slices.ContainsFunc([]string{"budget", "salary", "discount", "tax", "rent"}, v.MoneyField.Named) {
		return
	}
	words := slices.Clone(v.Names)
	for _, f := range v.Fields {
		words = append(words, SplitName(f.Name)...)
	}
	low, _ := NumberOf(v.MoneyField.Min)
	v.Incoming = low >= 0 && slices.ContainsFunc(words, func(w string) bool { return incoming[w] })
	v.MoneyWords = append(v.MoneyWords, "spend", "spends", "spent", "cost", "costs")
	if !v.Incoming && !slices.ContainsFunc(v.Fields, func(f *Field) bool { return f != v.MoneyField && f.Named("payment") }) { // by card: how it was paid
		v.MoneyWords = append(v.MoneyWords, spent...)
	}
}

// OfMoney reports whether a column holds amounts of money.
func (v *View) OfMoney(f *Field) bool {
	return f == v.MoneyField || MoneyUnits[f.UnitName()] || f.Has(moneyWords) ||
		slices.ContainsFunc(strings.Fields("amount price cost fee tax revenue profit budget salary rent donation discount spent payment"), func(c string) bool { return f.Named(c) && !f.Named("quantity") })
}

// HoldsMoney reports whether the own table has an amount of money.
func (v *View) HoldsMoney() bool {
	return slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Measure() && v.OfMoney(f) })
}

var moneyWords = speech.Folded("net gross brutto netto tip tips trinkgeld takings fare toll premium deposit ht ttc")

// Single reports whether each row is one thing: its number, if it has one, is unique.
func (v *View) Single() bool {
	keys, unique := 0, 0
	for _, f := range v.Fields {
		if f.Table != 0 || !f.Key() || f.Has(codes) {
			continue
		}
		if keys++; v.Unique(f) {
			unique++
		}
	}
	return keys == 0 || unique > 0
}

// codes are words of columns whose codes identify kinds, not things.
var codes = speech.Folded("status country currency postal post postcode zip plz language error")

// OfPeople reports whether each row is one person, such as a respondent or an employee.
func (v *View) OfPeople() bool {
	if v.Survey || !v.Single() {
		return v.Survey
	}
	for _, kind := range []string{"member", "employee", "customer", "student", "player", "donor"} {
		if slices.ContainsFunc(v.Entity, func(e string) bool { return lexicon().Means(e, kind) }) {
			return true
		}
	}
	return slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Table == 0 && (f.Named("salary") || f.Has(hiring) || f.HeadWord() == "gender")
	})
}

var hiring = speech.Folded("hire hired eintritt eingestellt einstellung embauche birthday birthdate geburtsdatum geburtstag naissance")

// NumberOfRow returns the only key column with a unique value in every row.
func (v *View) NumberOfRow() *Field {
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Key() && v.Unique(f) })
}

// Unique reports whether every row of the table itself has a distinct value of a field.
func (v *View) Unique(f *Field) bool { return f.Unique(v.Tables[0].RowCount) }

var waysIn = speech.Folded("in income incomes receipt receipts received revenue credit deposit einnahme einnahmen eingang gutschrift haben recette recettes entree")

var waysOut = speech.Folded("out expense expenses expenditure spending outgoing outgoings debit withdrawal ausgabe ausgaben ausgang soll depense depenses sortie")

// DirectionColumn returns the column that says whether an amount came in or went out.
func (v *View) DirectionColumn(amount *Field) *Field {
	return Only(v.Fields, func(f *Field) bool {
		in, out := false, false
		for _, x := range f.Values {
			s, _ := x.(string)
			in, out = in || waysIn[speech.Fold(s)], out || waysOut[speech.Fold(s)]
		}
		return f.Table == amount.Table && f.Text() && len(f.Values) <= 4 && in && out
	})
}

// Things are names for the rows of tables that are named otherwise: a table with a tracking number holds parcels.
var Things = []Thing{
	{speech.Folded("student students pupil pupils schuler schulern schulerinnen kind kinder kindern child children kids"), speech.Folded("kita betreuung allergie allergy klasse grade schulnote schuler student pupil"), false},
	{speech.Folded("parcel parcels package packages shipment shipments consignment consignments delivery deliveries paket pakete paketen sendung sendungen lieferung lieferungen colis"), speech.Folded("tracking carrier sendungsnummer sendung paketnummer zusteller spediteur parcel shipment"), false},
	{speech.Folded("member members mitglied mitglieder mitgliedern"), speech.Folded("mitgl mitgliedsnummer mitgliedsnr mitglieds membership jahresbeitrag mitglied member"), false},
	{speech.Folded("trip trips journey journeys ride rides fahrt fahrten departure departures"), speech.Folded("linie line route verspatung delay abfahrt departure rider"), false},
	{speech.Folded("appointment appointments visit visits consultation consultations termin termine terminen"), speech.Folded("vet tierarzt dentist zahnarzt arztin doctor arzt practitioner behandler appointment physician sprechstunde"), false},
	{speech.Folded("booking bookings reservation reservations stay stays buchung buchungen reservierung reservierungen"), speech.Folded("checkin nights nachte guest room zimmer gast arrival anreise"), false},
	{speech.Folded("ticket tickets request requests case cases issue issues bug bugs defect defects incident incidents anfrage anfragen storung storungen"), speech.Folded("priority prioritat assignee severity ticket"), false},
	{speech.Folded("call calls anruf anrufe anrufen"), speech.Folded("caller anrufer call"), false},
	{speech.Folded("order orders purchase purchases bestellung bestellungen auftrag auftrage commande commandes"), speech.Folded("order bestellung bestellnummer bestellnr auftrag auftragsnummer auftragsnr commande"), false},
	{speech.Folded("invoice invoices bill bills rechnung rechnungen facture factures"), speech.Folded("invoice rechnung rechnungsnummer rechnungsnr facture"), false},
	{speech.Folded("transaction transactions booking bookings buchung buchungen operation operations purchase purchases einkauf einkaufe einkaufen receipt receipts"), speech.Folded("shop merchant vendor iban verwendungszweck buchungstag buchungsdatum wertstellung payee counterparty libelle"), false},
	{speech.Folded("employee employees staff worker workers colleague colleagues people mitarbeiter mitarbeiterinnen mitarbeitern beschaftigte angestellte leute kollegen personen"), speech.Folded("salaire embauche matricule salaries gehalt monatsgehalt jahresgehalt salary hire hired eintritt personalnummer personalnr employee stundenlohn"), false},
	{speech.Folded("home homes house houses haus hauser property properties listing listings immobilie immobilien objekt objekte"), speech.Folded("bedrooms beds asking rooms zimmer wohnflache sqm kaltmiete"), true},
	{speech.Folded("match matches game games spiel spiele spielen"), speech.Folded("opponent gegner heim gast heimtore gasttore"), false},
	{speech.Folded("animal animals individual individuals specimen specimens tier tiere exemplar exemplare"), speech.Folded("species art spezies"), true},
	{speech.Folded("patient patients patienten patientinnen"), speech.Folded("patient patientennummer triage dentist arzt arztin zahnarzt wartezeit diagnosis diagnose treatment behandlung ward gp"), true},
	{speech.Folded("car cars vehicle vehicles auto autos fahrzeug fahrzeuge fahrzeugen"), speech.Folded("plate registration mileage odometer kennzeichen kilometerstand"), true},
	{speech.Folded("loan loans ausleihe ausleihen checkout checkouts"), speech.Folded("borrower ausleiher returned due ruckgabe leser loan"), false},
	{speech.Folded("book books title titles buch bucher buchern titel"), speech.Folded("isbn author autor verlag publisher leser borrower loan ausleihe"), true},
	{speech.Folded("request requests response responses hit hits anfrage anfragen aufruf aufrufe zugriff zugriffe"), speech.Folded("ip endpoint"), false},
	{speech.Folded("runner runners finisher finishers athlete athletes laufer lauferinnen laufern participant participants teilnehmer"), speech.Folded("bib runner startnummer gun chip laufer"), false},
	{speech.Folded("donation donations gift gifts spende spenden"), speech.Folded("donor spender appeal gift"), false},
	{speech.Folded("callout callouts alarm alarms einsatz einsatze einsatzen"), speech.Folded("einsatzart alarmzeit callout"), false},
	{speech.Folded("product products item items article articles artikel produkt produkte position positionen"), speech.Folded("sku artikelnummer artikelnr reference stock bestand"), true},
}

// Thing is a name for the rows of a table: Nouns are its words, and Signs are column words that only such tables have.
// Lasting things are not the rows of a table of events, which only mentions them.
type Thing struct {
	Nouns, Signs map[string]bool
	Lasting      bool
}
