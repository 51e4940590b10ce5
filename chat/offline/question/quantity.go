package question

import (
	"slices"
	"strings"
)

// quantity is the name of a quantity inside a sentence, with what its verb and its adjective follow.
type quantity struct {
	noun   string
	plural bool
	// counts says that it counts things: deaths, votes. Such things are most or fewest, not highest.
	counts bool
	// gender is m, f, n or, for a plural, p in German; empty where it is not known.
	gender string
}

// leads are words that begin a name that is no noun: in stock, on hand.
var leads = folded("in on at off per of auf im am")

// plurals do not look like it.
var plurals = folded("people children men women staff")

// headEnds are words that a name's noun stands before: hours to close, Minuten zur Arbeit.
var headEnds = folded("to of per by in on for from at d' zur zum pro je im der des von für nach")

// quantityOf reads the name of a field.
func (p *plan) quantityOf(f *field) quantity {
	q := quantity{noun: p.named(f)}
	words := strings.Fields(q.noun)
	if len(words) == 0 {
		return q
	}
	lead := len(words) > 1 && leads[fold(words[0])]
	head := ""
	for i, w := range words {
		if i > 0 && headEnds[fold(w)] {
			break
		}
		if strings.Trim(w, "0123456789") != "" {
			head = strings.ToLower(w)
		}
	}
	switch {
	case lead:
	case p.r.lang == German:
		q.gender = genderOf(head)
		q.plural = q.gender == "p"
	default:
		singular := slices.ContainsFunc([]string{"ss", "us", "is", "as"}, func(e string) bool { return strings.HasSuffix(head, e) }) || strings.ContainsAny(q.noun, "'’")
		q.plural = plurals[head] || len(head) > 3 && strings.HasSuffix(head, "s") && !singular
	}
	costs := f.named(p.r.lex, "cost") || f.named(p.r.lex, "price") || f.named(p.r.lex, "revenue")
	q.counts = q.plural && f.unit() == "" && f.Type == "integer" && !costs || lead
	return q
}

// genders hold the genders of German nouns that columns are named by; a compound has that of its last part.
var genders = func() map[string]string {
	out := map[string]string{}
	for g, nouns := range map[string]string{
		"m": "umsatz preis betrag bestand wert verbrauch gewinn verlust ertrag erlös anteil lohn rabatt absatz ansatz aufwand kurs punktestand niederschlag rechnungsbetrag saldo umfang abstand stand haushalt rest stundenlohn durchsatz etat export import",
		"f": "menge anzahl zahl summe dauer größe höhe länge breite fläche temperatur miete gebühr rechnung note bewertung leistung entfernung strecke distanz zeit verspätung produktion erzeugung geschwindigkeit einwohnerzahl auslastung quote steuer bevölkerung nachfrage energie belegung teilnehmerzahl zufriedenheit wartezeit spende versicherung",
		"n": "gewicht gehalt alter einkommen ergebnis budget datum jahr volumen honorar guthaben tempo entgelt kapital vermögen einzelgewicht porto",
		"p": "kosten einnahmen ausgaben besucher besuche stunden minuten tage tote todesfälle einwohner punkte stimmen tore übernachtungen gäste mitarbeiter verkäufe bestellungen mitglieder teilnehmer fahrten kilometer seiten klicks downloads erlöse umsätze nächte wochenstunden zuschauer patienten ausleihen liter",
	} {
		for n := range strings.FieldsSeq(nouns) {
			out[n] = g
		}
	}
	return out
}()

// genderOf is the gender of a German noun; empty where it is not known.
func genderOf(noun string) string {
	low := strings.ToLower(noun)
	for i := range low {
		if g := genders[low[i:]]; g != "" && (i == 0 || i > 2) {
			return g
		}
	}
	return ""
}

// adverb says how a quantity is put together, in German.
func adverb(m *measure) string {
	switch m.how {
	case "sum":
		if slices.ContainsFunc(m.field.words, func(w word) bool { return strings.HasPrefix(w.fold, "gesamt") }) {
			return ""
		}
		return "insgesamt "
	case "avg":
		return "im Mittel "
	case "median":
		return "im Median "
	}
	return ""
}

// factorsOf are the columns that a computed quantity is the product of, in brackets.
func factorsOf(m *measure) string {
	if m.field.factors == nil {
		return ""
	}
	return " (" + m.field.factors[0].label() + " × " + m.field.factors[1].label() + ")"
}

// subject is a German quantity with its article: things that are counted have a number.
func (q quantity) subject() (text string, plural bool) {
	if q.counts {
		return "die Zahl der " + q.noun, false
	}
	return q.by("der ", "die ", "das ", "die ") + q.noun, q.plural
}

// by chooses a word by the gender: of a masculine, a feminine, a neuter noun and a plural.
func (q quantity) by(m, f, n, p string) string {
	return map[string]string{"m": m, "f": f, "n": n, "p": p}[q.gender]
}

// is is the verb of a quantity.
func (p *plan) is(q quantity) string {
	if q.plural {
		return p.say("are", "betragen")
	}
	return p.say("is", "beträgt")
}

// amounts names a quantity as the subject of a sentence that ends with its value.
func (p *plan) amounts(m *measure) (subject, verb string) {
	q := p.quantityOf(m.field)
	if p.perRow && m.how == "avg" && p.rowKey() != nil {
		return p.measured(m), p.is(quantity{})
	}
	if p.r.lang == German {
		return p.amountsGerman(m, q)
	}
	name, number := q.noun, ""
	if q.counts && q.plural {
		number, q.plural = "number of ", false
	}
	switch m.how {
	case "sum":
		if strings.EqualFold(name, "total") {
			return "the total", "is"
		}
		return "the total " + number + without(name, "total") + factorsOf(m), p.is(q)
	case "avg":
		return "the mean " + number + without(name, "mean", "average", "avg"), p.is(q)
	case "median":
		return "the median " + number + name, p.is(q)
	case "max", "min":
		return p.extreme(m, m.how == "min"), p.is(q)
	}
	if q.counts && !q.plural && number == "" {
		return name, "is"
	}
	return "the " + number + name, p.is(q)
}

func (p *plan) amountsGerman(m *measure, q quantity) (subject, verb string) {
	if m.how == "max" || m.how == "min" {
		return p.extreme(m, m.how == "min"), p.is(q)
	}
	if q.gender == "" {
		return p.measured(m), p.is(q)
	}
	subject, plural := q.subject()
	return subject + factorsOf(m), p.is(quantity{plural: plural}) + strings.TrimRight(" "+adverb(m), " ")
}

// extreme names the highest or the lowest value of a quantity as the subject of a sentence.
func (p *plan) extreme(m *measure, low bool) string {
	q := p.quantityOf(m.field)
	if p.r.lang == English {
		kind := choose(low, "lowest ", "highest ")
		if m.field.dated() || namesYear(m.field) {
			kind = choose(low, "earliest ", "latest ")
		}
		if q.counts && q.plural {
			kind += "number of "
		}
		return "the " + kind + without(without(q.noun, "max", "maximum", "highest"), "min", "minimum", "lowest")
	}
	kind := choose(low, "niedrigst", "höchst")
	if m.field.dated() || namesYear(m.field) {
		kind = choose(low, "frühest", "spätest")
	}
	if q.gender == "" {
		return "der " + kind + "e Wert von " + q.noun
	}
	return q.by("der ", "die ", "das ", "die ") + kind + q.by("e ", "e ", "e ", "en ") + q.noun
}

// choose is the one word or the other.
func choose(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// possession is what the first of a ranking has: the most deaths, the highest total revenue.
func (p *plan) possession(m *measure, low bool) string {
	switch {
	case p.r.lang == German:
		return p.possessionGerman(m, low)
	case m == nil && p.counted != nil:
		return "the " + choose(low, "fewest", "most") + " different values of " + p.named(p.counted)
	case m == nil:
		return "the " + choose(low, "fewest ", "most ") + p.rowsCalled()
	}
	q := p.quantityOf(m.field)
	how := ""
	switch m.how {
	case "sum":
		how = "total "
	case "avg":
		how = "mean "
	case "median":
		how = "median "
	}
	switch {
	case q.counts && (how == "" || how == "total "):
		return "the " + choose(low && q.plural, "fewest ", choose(low, "least ", "most ")) + without(q.noun, "total")
	case how == "":
		return p.extreme(m, low)
	}
	if q.counts {
		how += "number of "
	}
	return "the " + choose(low, "lowest ", "highest ") + how + without(q.noun, "total", "mean", "average", "avg")
}

func (p *plan) possessionGerman(m *measure, low bool) string {
	switch {
	case m == nil && p.counted != nil:
		return "die " + choose(low, "wenigsten", "meisten") + " verschiedenen Werte von " + p.named(p.counted)
	case m == nil:
		return "die " + choose(low, "wenigsten ", "meisten ") + p.rowsCalled()
	}
	q, kind := p.quantityOf(m.field), choose(low, "niedrigst", "höchst")
	if m.field.dated() || namesYear(m.field) {
		kind = choose(low, "frühest", "spätest")
	}
	switch {
	case q.gender == "":
		return adverb(m) + "bei " + q.noun + " den " + kind + "en Wert"
	case q.counts:
		return adverb(m) + "die " + choose(low, "wenigsten ", "meisten ") + q.noun
	}
	return adverb(m) + q.by("den ", "die ", "das ", "die ") + kind + q.by("en ", "e ", "e ", "en ") + q.noun
}

// timely says that a ranking is one of times, so that its sentence says when.
func (p *plan) timely() bool {
	return p.first() != nil && !p.first().field.dated() && p.temporal()
}

// temporal says that the one key is a time.
func (p *plan) temporal() bool {
	fs := p.keyOf()
	return len(fs) == 1 && (fs[0] == nil || fs[0].dated() || fs[0].yearly(p.r.lex) || fs[0].monthly())
}

// during is a time as a sentence says it: in 1931, on 3 March 2024, im Jahr 1931.
func (p *plan) during(time string) string {
	first := time[:strings.IndexByte(time+" ", ' ')]
	switch {
	case slices.Contains(p.weekdays(), time), strings.Count(time, " ") == 2:
		return p.say("on ", "am ") + time
	case p.r.lang == German && len(time) == 4 && strings.Trim(time, "0123456789") == "":
		return "im Jahr " + time
	case p.r.lang == German && strings.HasPrefix(first, "Q"):
		return "in " + time
	}
	return p.say("in ", "im ") + time
}

func (p *plan) weekdays() []string {
	if p.r.lang == German {
		return weekdaysGerman
	}
	return weekdaysEnglish
}

// peaked says when a quantity was highest; the times come with their values if there are several.
func (p *plan) peaked(m *measure, low bool, times string) string {
	q := p.quantityOf(m.field)
	if p.r.lang == English {
		subject, _ := p.amounts(&measure{field: m.field, how: choose(m.how == "max" || m.how == "min", "", m.how)})
		if q.counts && q.plural {
			subject = choose(m.how == "avg", "the mean number of ", "") + q.noun
			q.plural = m.how != "avg"
		} else if m.how != "avg" && m.how != "median" {
			subject = strings.TrimPrefix(subject, "the ")
		}
		return upper(subject) + choose(q.plural, " were ", " was ") + choose(low, "lowest ", "highest ") + times
	}
	kind := choose(low, "niedrigst", "höchst")
	if q.gender == "" {
		return "Bei " + q.noun + " liegt " + adverb(m) + "der " + kind + "e Wert " + times
	}
	subject, plural := q.subject()
	return "Am " + kind + "en " + choose(plural, "waren ", "war ") + subject + " " + adverb(m) + times
}

// heading is a phrase as a heading, without its article: Höchster Wert von X.
func (p *plan) heading(text string) string {
	for article, end := range map[string]string{"der ": "r ", "das ": "s "} {
		for _, adjective := range []string{"höchste ", "niedrigste ", "früheste ", "späteste "} {
			if rest, ok := strings.CutPrefix(text, article+adjective); ok && p.r.lang == German {
				return upper(strings.TrimRight(adjective, " ")) + end + rest
			}
		}
	}
	return p.title(text)
}
