package answer

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// quantity is the name of a quantity in a sentence, with what its verb and its adjective agree with.
type quantity struct {
	noun   string
	plural bool
	// counts means that it counts things: deaths, votes. Such things are most or fewest, not highest.
	counts bool
	// gender is m, f, n or, for a plural, p in German; empty if it is unknown.
	gender string
}

// leads are words that begin a name without a noun: in stock, on hand.
var leads = speech.Folded("in on at off per of auf im am")

// headEnds are words that follow the noun of a name: hours to close, Minuten zur Arbeit.
var headEnds = speech.Folded("to of per by in on for from at d' zur zum pro je im der des von für nach")

// quantityOf returns the quantity that a field names.
func (p *phrases) quantityOf(f *schema.Field) quantity {
	q := quantity{noun: p.named(f)}
	words := strings.Fields(q.noun)
	if len(words) == 0 {
		return q
	}
	lead := len(words) > 1 && leads[speech.Fold(words[0])]
	head := ""
	for i, w := range words {
		if i > 0 && headEnds[speech.Fold(w)] {
			break
		}
		if strings.Trim(w, "0123456789") != "" {
			head = strings.ToLower(w)
		}
	}
	switch {
	case lead:
	case p.Text.Lang == speech.German:
		q.gender = genderOf(head)
		q.plural = q.gender == "p"
	default:
		singular := slices.ContainsFunc([]string{"ss", "us", "is", "as"}, func(e string) bool { return strings.HasSuffix(head, e) }) || strings.ContainsAny(q.noun, "'’")
		q.plural = plan.Plurals[head] || len(head) > 3 && strings.HasSuffix(head, "s") && !singular
	}
	costs := f.Named("cost") || f.Named("price") || f.Named("revenue")
	q.counts = q.plural && f.UnitSymbol() == "" && f.Type == "integer" && !costs || lead
	return q
}

// genders maps German nouns that name columns to their genders; a compound has that of its last part.
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

// genderOf returns the gender of a German noun in lower case; empty if it is unknown.
func genderOf(noun string) string {
	for i := range noun {
		if g := genders[noun[i:]]; g != "" && (i == 0 || i > 2) {
			return g
		}
	}
	return ""
}

// adverb returns the German words for how a quantity is aggregated.
func adverb(m *plan.Measure) string {
	if m.How == "sum" && slices.ContainsFunc(m.Field.Words, func(w speech.Word) bool { return strings.HasPrefix(w.Fold, "gesamt") }) {
		return ""
	}
	return map[string]string{"sum": "insgesamt ", "avg": "im Mittel ", "median": "im Median "}[m.How]
}

// factorsOf returns, in brackets, the columns that a computed quantity is the product of.
func factorsOf(m *plan.Measure) string {
	if m.Field.Factors == nil || m.Field.Difference {
		return ""
	}
	return " (" + m.Field.Factors[0].Label() + " × " + m.Field.Factors[1].Label() + ")"
}

// subject returns a German quantity with its article: "die Zahl der" for things that are counted.
func (q quantity) subject() (text string, plural bool) {
	if q.counts {
		return "die Zahl der " + q.noun, false
	}
	return q.by("der ", "die ", "das ", "die ") + q.noun, q.plural
}

// by returns the word for the gender: of a masculine, a feminine or a neuter noun, or of a plural.
func (q quantity) by(m, f, n, p string) string {
	return map[string]string{"m": m, "f": f, "n": n, "p": p}[q.gender]
}

// is returns the verb of a quantity.
func (p *phrases) is(q quantity) string {
	if q.plural {
		return p.Say("are", "betragen")
	}
	return p.Say("is", "beträgt")
}

// amounts returns a quantity as the subject of a sentence that ends with its value, and its verb.
func (p *phrases) amounts(m *plan.Measure) (subject, verb string) {
	q := p.quantityOf(m.Field)
	if p.PerRow && m.How == "avg" && p.RowKey() != nil {
		return p.measured(m), p.is(quantity{})
	}
	if p.Text.Lang == speech.German {
		switch {
		case m.How == "max" || m.How == "min":
			return p.extreme(m, m.How == "min"), p.is(q)
		case q.gender == "":
			return p.measured(m), p.is(q)
		}
		subject, plural := q.subject()
		return subject + factorsOf(m), p.is(quantity{plural: plural}) + strings.TrimRight(" "+adverb(m), " ")
	}
	name, number := q.noun, ""
	if q.counts && q.plural {
		number, q.plural = "number of ", false
	}
	switch m.How {
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
		return p.extreme(m, m.How == "min"), p.is(q)
	}
	if q.counts && !q.plural && number == "" {
		return name, "is"
	}
	return "the " + number + name, p.is(q)
}

// extreme returns the highest or the lowest value of a quantity as the subject of a sentence.
func (p *phrases) extreme(m *plan.Measure, low bool) string {
	q := p.quantityOf(m.Field)
	if p.Text.Lang == speech.English {
		kind := p.degree(m, low) + " "
		if q.counts && q.plural {
			kind += "number of "
		}
		return "the " + kind + without(without(q.noun, "max", "maximum", "highest"), "min", "minimum", "lowest")
	}
	kind := p.degree(m, low)
	if q.gender == "" {
		return "der " + kind + "e Wert von " + q.noun
	}
	return q.by("der ", "die ", "das ", "die ") + kind + q.by("e ", "e ", "e ", "en ") + q.noun
}

// degree returns the superlative of a measure: lowest, or earliest of a time; in German without its ending.
func (p *phrases) degree(m *plan.Measure, low bool) string {
	if m.Field.Dated() || namesYear(m.Field) {
		return choose(low, p.Say("earliest", "frühest"), p.Say("latest", "spätest"))
	}
	return choose(low, p.Say("lowest", "niedrigst"), p.Say("highest", "höchst"))
}

// choose returns one if first is true, otherwise other.
func choose[T any](first bool, one, other T) T {
	if first {
		return one
	}
	return other
}

// possession returns what the first of a ranking has: the most deaths, the highest total revenue.
func (p *phrases) possession(m *plan.Measure, low bool) string {
	if p.Text.Lang == speech.German {
		switch {
		case m == nil && p.Counted != nil:
			return "die " + choose(low, "wenigsten", "meisten") + " verschiedenen Werte von " + p.named(p.Counted)
		case m == nil:
			return "die " + choose(low, "wenigsten ", "meisten ") + p.rowsCalled()
		}
		q, kind := p.quantityOf(m.Field), p.degree(m, low)
		switch {
		case q.gender == "":
			return adverb(m) + "bei " + q.noun + " den " + kind + "en Wert"
		case q.counts:
			return adverb(m) + "die " + choose(low, "wenigsten ", "meisten ") + q.noun
		}
		return adverb(m) + q.by("den ", "die ", "das ", "die ") + kind + q.by("en ", "e ", "e ", "en ") + q.noun
	}
	switch {
	case m == nil && p.Counted != nil:
		return "the " + choose(low, "fewest", "most") + " different values of " + p.named(p.Counted)
	case m == nil:
		return "the " + choose(low, "fewest ", "most ") + p.rowsCalled()
	}
	q := p.quantityOf(m.Field)
	how := map[string]string{"sum": "total ", "avg": "mean ", "median": "median "}[m.How]
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

// timely reports whether a ranking is one of times, so that its sentence says when.
func (p *phrases) timely() bool { return p.First() != nil && !p.First().Field.Dated() && p.temporal() }

// temporal reports whether the only key is a time.
func (p *phrases) temporal() bool {
	fs := p.KeyOf()
	return len(fs) == 1 && (fs[0] == nil || fs[0].Dated() || fs[0].Yearly() || fs[0].Monthly())
}

// peaked states when a quantity was highest or lowest; the times include their values if there are several.
func (p *phrases) peaked(m *plan.Measure, low bool, times string) string {
	q := p.quantityOf(m.Field)
	if p.Text.Lang == speech.English {
		subject, _ := p.amounts(&plan.Measure{Field: m.Field, How: choose(m.How == "max" || m.How == "min", "", m.How)})
		if q.counts && q.plural {
			subject = choose(m.How == "avg", "the mean number of ", "") + q.noun
			q.plural = m.How != "avg"
		} else if m.How != "avg" && m.How != "median" {
			subject = strings.TrimPrefix(subject, "the ")
		}
		return speech.Upper(subject) + choose(q.plural, " were ", " was ") + choose(low, "lowest ", "highest ") + times
	}
	kind := choose(low, "niedrigst", "höchst")
	if q.gender == "" {
		return "Bei " + q.noun + " liegt " + adverb(m) + "der " + kind + "e Wert " + times
	}
	subject, plural := q.subject()
	return "Am " + kind + "en " + choose(plural, "waren ", "war ") + subject + " " + adverb(m) + times
}
