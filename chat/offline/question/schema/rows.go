package schema

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
)

// ShortNames reports whether a column names people by a single word, which several may share.
func (f *Field) ShortNames() bool {
	if f.Key() || !f.Text() || !f.NamesPeople(true) {
		return false
	}
	short := 0
	for _, v := range f.Values {
		if s, _ := v.(string); len(SplitName(s)) < 2 {
			short++
		}
	}
	return short*2 > len(f.Values)
}

// Direction returns "from" or "to" if the name of a text column says that it is where
// something begins or ends, and "" otherwise.
func (f *Field) Direction() string {
	if !f.Text() || f.Factors != nil || f.Names != nil {
		return ""
	}
	return speech.DirectionOf(func(set map[string]bool) bool {
		return f.Has(set)
	})
}

var denials = speech.Folded("disagree nicht not kaum keineswegs lehne ablehnung widerspreche")

var assents = speech.Folded("agree stimme stimmt trifft zustimmung zu")

// Stance returns the side of an agreement scale that a value is on: 1 for, -1 against, 0 neither.
func Stance(value string) int {
	yes, no := false, false
	for _, w := range strings.FieldsFunc(speech.Fold(value), func(r rune) bool { return r == ' ' || r == '/' || r == '-' }) {
		yes, no = yes || assents[w], no || denials[w]
	}
	switch {
	case strings.Contains(speech.Fold(value), "neither") || strings.Contains(speech.Fold(value), "weder"):
		return 0
	case no:
		return -1
	case yes:
		return 1
	}
	return 0
}

// Likert reports whether the values of a column form a scale from agreement to disagreement.
func (f *Field) Likert() bool {
	sides := map[int]int{}
	for _, v := range f.Values {
		s, _ := v.(string)
		sides[Stance(s)]++
	}
	return f.Text() && !f.DistinctCapped && len(f.Values) <= 8 && sides[1] > 0 && sides[-1] > 0 && sides[1]+sides[-1] > 2
}

// Thing is a name for the rows of a table: Nouns are its words, and Signs are column words that only such tables have.
type Thing struct{ Nouns, Signs map[string]bool }

// Things are names for the rows of tables that are named otherwise: a table with a tracking number holds parcels.
var Things = []Thing{
	{speech.Folded("parcel parcels package packages shipment shipments consignment consignments delivery deliveries paket pakete paketen sendung sendungen lieferung lieferungen colis"), speech.Folded("tracking carrier sendungsnummer sendung paketnummer zusteller spediteur parcel shipment")},
	{speech.Folded("member members mitglied mitglieder mitgliedern"), speech.Folded("mitgl mitgliedsnummer mitgliedsnr mitglieds membership jahresbeitrag mitglied member")},
	{speech.Folded("trip trips journey journeys ride rides fahrt fahrten departure departures"), speech.Folded("linie line route verspatung delay abfahrt departure rider")},
	{speech.Folded("appointment appointments visit visits consultation consultations termin termine terminen"), speech.Folded("vet tierarzt dentist zahnarzt arztin doctor arzt practitioner behandler appointment physician sprechstunde")},
	{speech.Folded("booking bookings reservation reservations stay stays buchung buchungen reservierung reservierungen"), speech.Folded("checkin nights nachte guest room zimmer gast arrival anreise")},
	{speech.Folded("ticket tickets request requests case cases issue issues bug bugs defect defects incident incidents anfrage anfragen storung storungen"), speech.Folded("priority prioritat assignee severity ticket")},
	{speech.Folded("call calls anruf anrufe anrufen"), speech.Folded("caller anrufer call")},
	{speech.Folded("order orders purchase purchases bestellung bestellungen auftrag auftrage commande commandes"), speech.Folded("order bestellung bestellnummer bestellnr auftrag auftragsnummer auftragsnr commande")},
	{speech.Folded("invoice invoices bill bills rechnung rechnungen facture factures"), speech.Folded("invoice rechnung rechnungsnummer rechnungsnr facture")},
	{speech.Folded("transaction transactions booking bookings buchung buchungen operation operations purchase purchases einkauf einkaufe einkaufen receipt receipts"), speech.Folded("shop merchant vendor iban verwendungszweck buchungstag buchungsdatum wertstellung payee counterparty libelle")},
	{speech.Folded("employee employees staff worker workers colleague colleagues people mitarbeiter mitarbeiterinnen mitarbeitern beschaftigte angestellte leute kollegen personen"), speech.Folded("salaire embauche matricule salaries gehalt monatsgehalt jahresgehalt salary hire hired eintritt personalnummer personalnr employee stundenlohn")},
	{speech.Folded("student students pupil pupils schuler schulern schulerinnen kind kinder kindern child children kids"), speech.Folded("kita betreuung allergie allergy klasse grade schulnote schuler student pupil")},
	{speech.Folded("flight flights flug fluge flugen"), speech.Folded("airline flight flug")},
	{speech.Folded("home homes house houses haus hauser property properties listing listings immobilie immobilien objekt objekte"), speech.Folded("bedrooms beds asking rooms zimmer wohnflache sqm kaltmiete")},
	{speech.Folded("match matches game games spiel spiele spielen"), speech.Folded("opponent gegner heim gast heimtore gasttore")},
	{speech.Folded("animal animals individual individuals specimen specimens tier tiere exemplar exemplare"), speech.Folded("species art spezies")},
	{speech.Folded("patient patients patienten patientinnen"), speech.Folded("patient patientennummer triage dentist arzt arztin zahnarzt wartezeit diagnosis diagnose treatment behandlung ward gp")},
	{speech.Folded("loan loans ausleihe ausleihen checkout checkouts"), speech.Folded("borrower ausleiher returned due ruckgabe leser loan")},
	{speech.Folded("book books title titles buch bucher buchern titel"), speech.Folded("isbn author autor verlag publisher leser borrower loan ausleihe")},
	{speech.Folded("request requests response responses hit hits anfrage anfragen aufruf aufrufe zugriff zugriffe"), speech.Folded("ip")},
	{speech.Folded("message messages event events meldung meldungen ereignis ereignisse"), speech.Folded("level")},
	{speech.Folded("sale sales transaction transactions verkauf verkaufe verkaufen"), speech.Folded("receipt bon kassenbon sold verkauft")},
	{speech.Folded("runner runners finisher finishers athlete athletes laufer lauferinnen laufern participant participants teilnehmer"), speech.Folded("bib runner startnummer gun chip laufer")},
	{speech.Folded("donation donations gift gifts spende spenden"), speech.Folded("donor spender appeal gift")},
	{speech.Folded("screening screenings showing showings performance performances vorstellung vorstellungen"), speech.Folded("screen production curtain film performance saal play stage show buhne")},
	{speech.Folded("build builds"), speech.Folded("build branch pipeline")},
	{speech.Folded("inspection inspections kontrolle kontrollen"), speech.Folded("inspector kontrolleur prufer")},
	{speech.Folded("callout callouts alarm alarms einsatz einsatze einsatzen"), speech.Folded("einsatzart alarmzeit callout")},
	{speech.Folded("sighting sightings observation observations beobachtung beobachtungen"), speech.Folded("observer beobachter spotted")},
	{speech.Folded("application applications applicant applicants bewerbung bewerbungen bewerber"), speech.Folded("applicant bewerber")},
	{speech.Folded("rental rentals hire hires vermietung vermietungen"), speech.Folded("rental mieter hirer")},
	{speech.Folded("repair repairs reparatur reparaturen"), speech.Folded("mechanic mechaniker technician techniker repair")},
	{speech.Folded("shift shifts schicht schichten"), speech.Folded("shift schicht")},
	{speech.Folded("complaint complaints beschwerde beschwerden"), speech.Folded("complaint complainant beschwerde")},
	{speech.Folded("permit permits licence licences license licenses genehmigung genehmigungen"), speech.Folded("permit licence license")},
	{speech.Folded("car cars vehicle vehicles auto autos fahrzeug fahrzeuge"), speech.Folded("park parking parkhaus parkplatz")},
	{speech.Folded("fine fines ticket tickets bussgeld bussgelder"), speech.Folded("offence verstoss")},
	{speech.Folded("game games match matches partie partien spiel spiele"), speech.Folded("eco opening eroffnung opponent")},
	{speech.Folded("class classes session sessions lesson lessons kurs kurse"), speech.Folded("instructor trainer kursleiter")},
	{speech.Folded("product products item items article articles artikel produkt produkte position positionen"), speech.Folded("sku artikelnummer artikelnr reference stock bestand")},
}

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

// Scale reports whether the column holds marks: whole numbers from at most 2 to between 4 and 10.
func (f *Field) Scale() bool {
	low, ok := NumberOf(f.Min)
	high, ok2 := NumberOf(f.Max)
	return f.Table == 0 && f.Type == "integer" && f.Measure() && ok && ok2 && low >= 0 && low <= 2 && high >= 4 && high <= 10 && f.Distinct <= 11 && f.Rows >= 10
}

// qualifiers say what kind of amount a column holds. They are optional if no other column
// differs by them: Umsatz netto, Prix HT.
var qualifiers = speech.Folded("netto brutto net gross ht ttc total gesamt so far bisher monthly annual yearly monatlich jährlich mensuel mensuelle annuel annuelle unitaire moyen moyenne")

// qualify makes the qualifiers of columns optional if no other column has the same name without them.
func qualify(fs []*Field) {
	bare := func(f *Field) string {
		var out []string
		for _, w := range f.Words {
			if !qualifiers[w.Fold] && !w.Optional {
				out = append(out, w.Stem)
			}
		}
		return strings.Join(out, " ")
	}
	for _, f := range fs {
		name := bare(f)
		if name == "" || slices.ContainsFunc(fs, func(o *Field) bool { return o != f && bare(o) == name }) {
			continue
		}
		for i := range f.Words {
			f.Words[i].Optional = f.Words[i].Optional || qualifiers[f.Words[i].Fold]
		}
	}
}

// Stocked reports whether each row is an article with its own number.
func (v *View) Stocked() bool {
	return slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Key() && v.Unique(f) && slices.ContainsFunc(f.Words, func(w speech.Word) bool {
			return w.Fold == "sku" || lexicon().Means(w.Stem, "product")
		})
	})
}

var hiring = speech.Folded("hire hired eintritt eingestellt einstellung embauche birthday birthdate geburtsdatum geburtstag naissance")

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
		return f.Table == 0 && (f.Names != nil || f.Named("salary") || f.Has(hiring))
	})
}

// longHeader is the number of words from which a header counts as a sentence.
const longHeader = 5

// distinguish makes the words of headers that are whole sentences optional, except those
// that no other column has: How satisfied were you with the cleanliness?
func distinguish(fs []*Field) {
	for _, f := range fs {
		if len(f.Words) < longHeader {
			continue
		}
		own := make([]bool, len(f.Words))
		for i, w := range f.Words {
			own[i] = !lexicon().Fillers[w.Fold] && lexicon().Phrases[w.Fold] == nil && !w.Optional && !slices.ContainsFunc(fs, func(o *Field) bool {
				return o != f && slices.ContainsFunc(o.Words, func(x speech.Word) bool { return x.Stem == w.Stem })
			})
		}
		if !slices.Contains(own, true) {
			continue
		}
		for i := range f.Words {
			f.Words[i].Optional = f.Words[i].Optional || !own[i]
		}
	}
}

// NumberOfRow returns the only key column with a unique value in every row.
func (v *View) NumberOfRow() *Field {
	return Only(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Key() && v.Unique(f) })
}
