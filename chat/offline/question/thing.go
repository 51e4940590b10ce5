package question

import (
	"slices"
	"strings"
	"unicode"
)

// things are what the rows of a table can be called that is named otherwise: a table with a
// tracking number holds parcels. signs are words of a column that only such tables have.
var things = []struct{ nouns, signs map[string]bool }{
	{folded("parcel parcels package packages shipment shipments consignment consignments delivery deliveries paket pakete paketen sendung sendungen lieferung lieferungen colis"), folded("tracking carrier sendungsnummer sendung paketnummer zusteller spediteur parcel shipment")},
	{folded("member members mitglied mitglieder mitgliedern"), folded("mitgl mitgliedsnummer mitgliedsnr mitglieds membership jahresbeitrag mitglied member")},
	{folded("trip trips journey journeys ride rides fahrt fahrten departure departures"), folded("linie line route verspatung delay abfahrt departure rider")},
	{folded("appointment appointments visit visits consultation consultations termin termine terminen"), folded("vet tierarzt dentist zahnarzt arztin doctor arzt practitioner behandler appointment physician sprechstunde")},
	{folded("booking bookings reservation reservations stay stays buchung buchungen reservierung reservierungen"), folded("checkin nights nachte guest room zimmer gast arrival anreise")},
	{folded("ticket tickets request requests case cases issue issues bug bugs defect defects incident incidents anfrage anfragen storung storungen"), folded("priority prioritat assignee severity ticket")},
	{folded("call calls anruf anrufe anrufen"), folded("caller anrufer call")},
	{folded("order orders purchase purchases bestellung bestellungen auftrag auftrage commande commandes"), folded("order bestellung bestellnummer bestellnr auftrag auftragsnummer auftragsnr commande")},
	{folded("invoice invoices bill bills rechnung rechnungen facture factures"), folded("invoice rechnung rechnungsnummer rechnungsnr facture")},
	{folded("transaction transactions booking bookings buchung buchungen operation operations purchase purchases einkauf einkaufe einkaufen receipt receipts"), folded("shop merchant vendor iban verwendungszweck buchungstag buchungsdatum wertstellung payee counterparty libelle")},
	{folded("employee employees staff worker workers colleague colleagues people mitarbeiter mitarbeiterinnen mitarbeitern beschaftigte angestellte leute kollegen personen"), folded("salaire embauche matricule salaries gehalt monatsgehalt jahresgehalt salary hire hired eintritt personalnummer personalnr employee stundenlohn")},
	{folded("student students pupil pupils schuler schulern schulerinnen kind kinder kindern child children kids"), folded("kita betreuung allergie allergy klasse grade schulnote schuler student pupil")},
	{folded("flight flights flug fluge flugen"), folded("airline flight flug")},
	{folded("home homes house houses haus hauser property properties listing listings immobilie immobilien objekt objekte"), folded("bedrooms beds asking rooms zimmer wohnflache sqm kaltmiete")},
	{folded("match matches game games spiel spiele spielen"), folded("opponent gegner heim gast heimtore gasttore")},
	{folded("animal animals individual individuals specimen specimens tier tiere exemplar exemplare"), folded("species art spezies")},
	{folded("patient patients patienten patientinnen"), folded("patient patientennummer triage dentist arzt arztin zahnarzt wartezeit diagnosis diagnose treatment behandlung ward gp")},
	{folded("loan loans ausleihe ausleihen checkout checkouts"), folded("borrower ausleiher returned due ruckgabe leser loan")},
	{folded("book books title titles buch bucher buchern titel"), folded("isbn author autor verlag publisher leser borrower loan ausleihe")},
	{folded("request requests response responses hit hits anfrage anfragen aufruf aufrufe zugriff zugriffe"), folded("ip")},
	{folded("message messages event events meldung meldungen ereignis ereignisse"), folded("level")},
	{folded("sale sales transaction transactions verkauf verkaufe verkaufen"), folded("receipt bon kassenbon sold verkauft")},
	{folded("runner runners finisher finishers athlete athletes laufer lauferinnen laufern participant participants teilnehmer"), folded("bib runner startnummer gun chip laufer")},
	{folded("donation donations gift gifts spende spenden"), folded("donor spender appeal gift")},
	{folded("screening screenings showing showings performance performances vorstellung vorstellungen"), folded("screen production curtain film performance saal play stage show buhne")},
	{folded("build builds"), folded("build branch pipeline")},
	{folded("inspection inspections kontrolle kontrollen"), folded("inspector kontrolleur prufer")},
	{folded("callout callouts call-outs alarm alarms einsatz einsatze einsatzen"), folded("einsatzart alarmzeit callout")},
	{folded("sighting sightings observation observations beobachtung beobachtungen"), folded("observer beobachter spotted")},
	{folded("application applications applicant applicants bewerbung bewerbungen bewerber"), folded("applicant bewerber")},
	{folded("rental rentals hire hires vermietung vermietungen"), folded("rental mieter hirer")},
	{folded("repair repairs reparatur reparaturen"), folded("mechanic mechaniker technician techniker repair")},
	{folded("shift shifts schicht schichten"), folded("shift schicht")},
	{folded("complaint complaints beschwerde beschwerden"), folded("complaint complainant beschwerde")},
	{folded("permit permits licence licences license licenses genehmigung genehmigungen"), folded("permit licence license")},
	{folded("car cars vehicle vehicles auto autos fahrzeug fahrzeuge"), folded("park parking parkhaus parkplatz")},
	{folded("fine fines ticket tickets bussgeld bussgelder"), folded("offence verstoss")},
	{folded("game games match matches partie partien spiel spiele"), folded("eco opening eroffnung opponent")},
	{folded("class classes session sessions lesson lessons kurs kurse"), folded("instructor trainer kursleiter")},
	{folded("product products item items article articles artikel produkt produkte position positionen"), folded("sku artikelnummer artikelnr reference stock bestand")},
}

// parks are vehicles, which a car park names and does not count.
var parks = folded("car cars")

// thingAt says whether a token is a noun for the rows that their table does not say: no
// column of another table or of this one is called so. It is counted only where each row
// is one.
func (r *reader) thingAt(v *view, i int) (arg string, ok bool) {
	t := r.ts[i]
	arg = "rows"
	if !v.single(r.lex) {
		if arg = "topic"; i > 0 && (r.counted(i) || r.ts[i-1].fold == "which" || strings.HasPrefix(r.ts[i-1].fold, "welche") || r.superlative(i-1)) {
			return "", false
		}
	}
	return arg, !t.quoted && !t.part && r.thing(v, t)
}

// superlative says whether a token is the most, highest or least.
func (r *reader) superlative(i int) bool {
	return slices.ContainsFunc(r.lex.phrases[r.ts[i].fold], func(p phrase) bool { return p.kind == kindSup })
}

func (r *reader) thing(v *view, t token) bool {
	for _, o := range r.views {
		if slices.Contains(o.entity, t.stem) || slices.ContainsFunc(o.fields, func(f *field) bool {
			return slices.ContainsFunc(f.words, func(w word) bool {
				return !(f.unique(f.rows) || f.first) && r.level(t, w) > 2 && !(parks[t.fold] && w.stem != f.head())
			})
		}) {
			return false
		}
	}
	for _, k := range things {
		if k.nouns[t.fold] && slices.ContainsFunc(v.fields, func(f *field) bool {
			return f.table == 0 && slices.ContainsFunc(f.words, func(w word) bool { return k.signs[w.fold] })
		}) {
			return true
		}
	}
	return false
}

// single says whether each row stands for a thing of its own: its number, if it has one, is unique.
func (v *view) single(l *lexicon) bool {
	rows := v.tables[0].RowCount
	keys, unique := 0, 0
	for _, f := range v.fields {
		if f.table != 0 || !f.key(l) || slices.ContainsFunc(f.words, func(w word) bool { return codes[w.fold] }) {
			continue
		}
		if keys++; f.unique(rows) {
			unique++
		}
	}
	return keys == 0 || unique > 0
}

// codes are words of columns whose codes are of kinds, not of things.
var codes = folded("status country currency postal post postcode zip plz language error")

// serial is a column of numbers one after the other, too many to be told apart by their count.
func (f *field) serial() bool {
	low, ok := number(f.Min)
	high, ok2 := number(f.Max)
	return f.Type == "integer" && f.DistinctCapped && f.Missing+f.Unusable == 0 && ok && ok2 && int64(high-low)+1 == f.rows
}

// gerund says whether two words are a verb and its form on -ing: move, moving.
func gerund(a, b string) bool {
	if strings.HasSuffix(a, "ing") {
		a, b = b, a
	}
	base, ok := strings.CutSuffix(b, "ing")
	return ok && len(base) > 2 && (a == base || a == base+"e")
}

// dimensionUnits are the words for what numbers in some units measure.
var dimensionUnits = []struct{ words, units map[string]bool }{
	{folded("electricity power strom energy energie elektrizitat"), folded("kwh mwh gwh twh wh")},
	{folded("heizenergie heizwarme"), folded("kwh mwh gwh wh")},
	{folded("water wasser"), folded("m3 l")},
	{folded("response latency antwortzeit ladezeit"), folded("ms s")},
	{folded("rain rainfall precipitation regen niederschlag"), folded("mm")},
}

// dimensionAt finds the only column whose unit is of what a token names and whose name says
// nothing else: the electricity of a column "Generation (GWh)".
func (r *reader) dimensionAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted {
		return nil
	}
	var out []piece
	for _, d := range dimensionUnits {
		if !d.words[t.fold] {
			continue
		}
		var found []*field
		for _, f := range v.fields {
			if f.table == 0 && f.factors == nil && f.measure(r.lex) && d.units[f.unitName()] {
				found = append(found, f)
			}
		}
		if len(found) > 1 {
			found = slices.DeleteFunc(found, func(f *field) bool { return !r.produced(f) })
		}
		if len(found) == 1 && (r.neutral(found[0]) || r.produced(found[0])) {
			out = append(out, piece{kind: kindField, field: found[0], from: i, to: i + 1, weight: 6})
		}
	}
	return out
}

// produced says whether a column is of what is generated, and the question too.
func (r *reader) produced(f *field) bool {
	return (f.named(r.lex, "generation") || f.named(r.lex, "yield")) && slices.ContainsFunc(r.ts, func(t token) bool { return slices.Contains(lightClasses[t.fold], "power") })
}

// neutral says whether the name of a column says nothing but how much: consumption, generation.
func (r *reader) neutral(f *field) bool {
	if spelledUnit(f.Name) != "" {
		return true
	}
	return !slices.ContainsFunc(f.words, func(w word) bool {
		if w.optional || unitNames[w.fold] != "" {
			return false
		}
		for _, c := range []string{"consumption", "generation", "quantity", "amount", "entry", "delivery", "sum"} {
			if r.lex.means(w.stem, c) {
				return false
			}
		}
		return true
	})
}

var (
	placeWords   = folded("city cities town towns stadt stadte stadten ort orte orten")
	placeColumns = folded("location locations site sites standort standorte place places station stations venue office offices buro hub depot")
)

// placeAt finds the column of places whose values are names of towns for all that is known.
func (r *reader) placeAt(v *view, i int) []piece {
	if r.ts[i].quoted || !placeWords[r.ts[i].fold] {
		return nil
	}
	var found *field
	for _, f := range v.fields {
		if f.table != 0 || !f.text() || f.names != nil || f.key(r.lex) {
			continue
		}
		if slices.ContainsFunc(f.words, func(w word) bool { return r.lex.means(w.stem, "city") && w.fold != "ort" }) {
			return nil
		}
		if slices.ContainsFunc(f.words, func(w word) bool { return placeColumns[w.fold] }) {
			if found != nil || !properNames(f.Values) {
				return nil
			}
			found = f
		}
	}
	if found == nil {
		return nil
	}
	return []piece{{kind: kindField, field: found, from: i, to: i + 1, weight: 3}}
}

// properNames says whether all values are words with a capital and without figures.
func properNames(values []any) bool {
	for _, x := range values {
		s, _ := x.(string)
		if s == "" || !unicode.IsUpper([]rune(s)[0]) || strings.ContainsFunc(s, unicode.IsDigit) {
			return false
		}
	}
	return len(values) > 0
}

// ratingAt finds words for a judgement that stand beside the name of what is judged: the
// rating of the workload, where a column Workload holds marks.
func (r *reader) ratingAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || !(r.lex.means(t.stem, "rating") || r.lex.means(t.stem, "score")) {
		return nil
	}
	scales := 0
	for _, f := range v.fields {
		if f.table == 0 && f.measure(r.lex) && (f.named(r.lex, "rating") || f.named(r.lex, "score")) {
			return nil
		}
		if f.scale(r.lex) {
			scales++
		}
	}
	if scales == 0 {
		return nil
	}
	return []piece{{kind: kindFill, arg: "rating", from: i, to: i + 1, weight: -1}}
}

// scale is a column of marks: whole numbers from 0 or 1 to at most 10.
func (f *field) scale(l *lexicon) bool {
	low, ok := number(f.Min)
	high, ok2 := number(f.Max)
	return f.table == 0 && f.Type == "integer" && f.measure(l) && ok && ok2 && low >= 0 && low <= 2 && high >= 4 && high <= 10 && f.Distinct <= 11 && f.rows >= 10
}

// qualifiers say of which kind an amount is, and need not be said where no other column
// differs by them: Umsatz netto, Prix HT.
var qualifiers = folded("netto brutto net gross ht ttc total gesamt so far bisher monthly annual yearly monatlich jährlich mensuel mensuelle annuel annuelle unitaire moyen moyenne")

// qualify makes the qualifiers of a table optional where nothing else has the same name.
func qualify(fs []*field) {
	bare := func(f *field) string {
		var out []string
		for _, w := range f.words {
			if !qualifiers[w.fold] && !w.optional {
				out = append(out, w.stem)
			}
		}
		return strings.Join(out, " ")
	}
	for _, f := range fs {
		name := bare(f)
		if name == "" || slices.ContainsFunc(fs, func(o *field) bool { return o != f && bare(o) == name }) {
			continue
		}
		for i := range f.words {
			f.words[i].optional = f.words[i].optional || qualifiers[f.words[i].fold]
		}
	}
}

// bodily says whether the word body stands before what is measured of one: body mass.
func (r *reader) bodily(i int) bool {
	if r.ts[i].fold != "body" || i+1 >= len(r.ts) {
		return false
	}
	for _, c := range []string{"weight", "length", "height", "temperature", "size"} {
		if r.lex.means(r.ts[i+1].stem, c) {
			return true
		}
	}
	return false
}

// stocked says whether each row is an article with a number of its own.
func (v *view) stocked(l *lexicon) bool {
	return slices.ContainsFunc(v.fields, func(f *field) bool {
		return f.table == 0 && f.key(l) && f.unique(v.tables[0].RowCount) && slices.ContainsFunc(f.words, func(w word) bool {
			return w.fold == "sku" || l.means(w.stem, "product")
		})
	})
}

// leftEmpty says whether left only says that something is empty: who left the field empty.
func (r *reader) leftEmpty(i int) bool {
	switch r.ts[i].fold {
	case "left", "leave", "leaves", "gelassen", "lassen", "liessen":
		return slices.ContainsFunc(r.ts, func(t token) bool {
			return t.fold == "empty" || t.fold == "blank" || t.fold == "unanswered" || t.fold == "leer" || t.fold == "frei"
		})
	}
	return false
}

// arrived says whether a word only says that the next one is of the arrival: arrived late.
func (r *reader) arrived(i int) bool {
	if i+1 >= len(r.ts) {
		return false
	}
	switch r.ts[i].fold {
	case "arrived", "arrive", "arrives", "delivered", "angekommen", "geliefert":
		switch r.ts[i+1].fold {
		case "late", "early", "damaged", "on", "verspatet", "punktlich":
			return true
		}
	}
	return false
}

var hiring = folded("hire hired eintritt eingestellt einstellung embauche birthday birthdate geburtsdatum geburtstag naissance")

// ofPeople says whether each row is one person: one who answered, or works there.
func (v *view) ofPeople(l *lexicon) bool {
	if v.survey {
		return true
	}
	for _, kind := range []string{"member", "employee", "customer", "student", "player", "donor"} {
		if v.single(l) && slices.ContainsFunc(v.entity, func(e string) bool { return l.means(e, kind) }) {
			return true
		}
	}
	return v.single(l) && slices.ContainsFunc(v.fields, func(f *field) bool {
		if f.table != 0 {
			return false
		}
		return f.names != nil || slices.ContainsFunc(f.words, func(w word) bool { return hiring[w.fold] || l.means(w.stem, "salary") })
	})
}

// entityAt finds the word for the rows of a table, or another word of its name.
func (r *reader) entityAt(v *view, i int) (piece, bool) {
	t := r.ts[i]
	p := piece{kind: kindEntity, from: i, to: i + 1}
	switch {
	case v.takings && !r.counted(i) && r.sales(t):
		p.arg, p.weight = "rows", 1 // sales are amounts where there are some
	case slices.Contains(v.entity, t.stem):
		p.arg, p.weight = "rows", 5
	case slices.Contains(v.topics, t.stem) || slices.Contains(v.topics, t.fold):
		p.arg, p.weight = "topic", 5
	case t.quoted:
		return p, false
	case slices.ContainsFunc(v.entity, func(e string) bool { return r.lex.shared(e, t.stem) }):
		p.arg, p.weight = "rows", 4
	case r.lex.means(t.stem, "entry"):
		p.arg, p.weight = "rows", 3
	case slices.ContainsFunc(v.topics, func(e string) bool {
		return len(e) >= 4 && !r.ts[i].part && len(t.stem) <= len(e)+5 && strings.HasPrefix(t.stem, e) && !strings.ContainsAny(t.stem, "0123456789")
	}):
		p.arg, p.weight = "rows", 3 // Tankungen of the Tankbuch
	case v.survey && (r.lex.means(t.stem, "customer") || surveyed[t.fold]):
		p.arg, p.weight = "topic", 1 // our customers, who were asked
	case !r.ts[i].part && slices.ContainsFunc(v.names, func(n string) bool { return family(t.fold, n) || family(paidIn(t.fold), n) }):
		p.arg, p.weight = "topic", 2 // charged, of charging.csv
	case !r.ts[i].part && slices.ContainsFunc(v.names, func(n string) bool { return gerund(t.fold, n) }):
		p.arg, p.weight = "topic", 2 // our move, of moving.csv
	default:
		arg, ok := r.thingAt(v, i)
		p.arg, p.weight = arg, 2
		return p, ok
	}
	return p, true
}

// longHeader is how many words make a header a sentence.
const longHeader = 5

// distinguish makes the words of headers that are whole sentences optional, but for those
// that no other column has: How satisfied were you with the cleanliness?
func distinguish(fs []*field, l *lexicon) {
	for _, f := range fs {
		if len(f.words) < longHeader {
			continue
		}
		own := make([]bool, len(f.words))
		for i, w := range f.words {
			own[i] = !l.fill[w.fold] && l.phrases[w.fold] == nil && !w.optional && !slices.ContainsFunc(fs, func(o *field) bool {
				return o != f && slices.ContainsFunc(o.words, func(x word) bool { return x.stem == w.stem })
			})
		}
		if !slices.Contains(own, true) {
			continue
		}
		for i := range f.words {
			f.words[i].optional = f.words[i].optional || !own[i]
		}
	}
}

// outer makes the words of the object that a field of JSON stands in optional, where the
// field says something itself: stats.downloads.
func outer(name string, words []word) []word {
	at := strings.LastIndex(name, ".")
	if at < 1 || strings.ContainsAny(name, " (") {
		return words
	}
	n := len(words) - len(splitName(name[at+1:]))
	if n > 0 && slices.ContainsFunc(words[n:], func(w word) bool { return !w.optional && !qualifiers[w.fold] }) {
		for i := range words[:n] {
			words[i].optional = true
		}
	}
	return words
}

// labelField is the column that names the rows: a name, else what is unique in each.
func (p *plan) labelField(entity piece) *field {
	rows := p.v.tables[0].RowCount
	asked := p.r.ts[entity.from]
	var best *field
	score := 0
	for i, f := range p.v.fields {
		if f.table != 0 || f.factors != nil || !f.text() && !f.key(p.r.lex) {
			continue
		}
		if f.names != nil && p.r.lex.means(asked.stem, "employee") || f.names != nil && p.r.lex.means(asked.stem, "student") {
			return f
		}
		s := 1
		name := slices.ContainsFunc(f.words, func(w word) bool { return nameWords[w.stem] })
		own := slices.ContainsFunc(f.words, func(w word) bool { return w.stem == asked.stem || p.r.lex.shared(w.stem, asked.stem) })
		switch {
		case name && !f.key(p.r.lex):
			s += 8
		case own && !f.key(p.r.lex):
			s += 7
		case f.key(p.r.lex):
			s += 2
		case i > 1:
			s--
		}
		if f.Distinct*10 >= rows*9 || f.DistinctCapped {
			s += 3
		}
		if s > score {
			best, score = f, s
		}
	}
	if score < 3 {
		return nil
	}
	if !best.key(p.r.lex) && !best.unique(rows) && best.names == nil && slices.ContainsFunc(best.words, func(w word) bool { return nameWords[w.stem] }) {
		if k := p.numberOfRow(); k != nil {
			return k // several issues have one title
		}
	}
	return best
}

// numberOfRow is the only number that every row has its own of.
func (p *plan) numberOfRow() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.key(p.r.lex) && f.unique(p.v.tables[0].RowCount) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// rowName is what the rows are called that a value says the kind of: which perennials.
func (p *plan) rowName(value piece) *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table != 0 || !f.text() || f == value.field || f.free || f.key(p.r.lex) || !f.unique(p.v.tables[0].RowCount) {
			continue
		}
		if found != nil {
			return p.labelField(value)
		}
		found = f
	}
	if found == nil {
		return p.labelField(value)
	}
	return found
}
