package speech

import (
	"slices"
	"strings"
)

// root returns what a verb, a noun and an adjective of one family have in common: charged and
// charging, gebucht and Buchung, zufrieden and Zufriedenheit. It returns "" for other words.
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

// Trunk returns a word without the first of some endings, as its other forms in a text contain it.
func Trunk(w string, endings ...string) string {
	for _, end := range endings {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) > 3 {
			return base
		}
	}
	return w
}

// Verbal reports whether a word looks like a verb or an adjective that is derived from another word.
func Verbal(w string) bool {
	return slices.ContainsFunc([]string{"ed", "ing", "et", "en"}, func(end string) bool { return strings.HasSuffix(w, end) }) || strings.HasPrefix(w, "ge") && strings.HasSuffix(w, "t")
}

// Family reports whether two words, one of which looks like a verb, have the same root.
func Family(a, b string) bool {
	r := root(a)
	return r != "" && (Verbal(a) || Verbal(b)) && r == root(b)
}

// lightVerbs say that something happens, but not to which rows: the column or the rows that
// the question names say that. Each entry is a class of verbs, and says which figures they
// can go with; see fits. Verbs for outcomes (cancel, fail, return, win) say which rows, so
// they are not included. The regular English forms of each verb are added; see forms.
var lightVerbs = map[string]string{
	"any": `welcome serve attract yield file treat handle visit train host operate stage stay watch deal reach clock notch rack gain amass garner enter head carry settle account accumulate
ring turn add process sign drop complete finish land conduct perform note track enrol enroll row claim reclaim score manage charge request contain
run ran running rang rung set sets setting bring brought see saw seen go goes went gone put puts putting get got sit sat stand stood keep kept hold held drew grab book
erledigt erledigte erledigen behandelt behandelte behandelten behandeln bedient bediente bedienen startet startete starteten starten stellt stellte stellten stellen entfällt entfiel entfallen entfielen
trägt trug beiträgt bringt brachte brachten gebracht läuft lief liefen gelaufen besucht besuchte besuchten besuchen begrüßt begrüßte begrüßen leistet leistete leisteten leisten spielt spielte spielten spielen
arbeitet arbeitete arbeiteten gearbeitet sitzt saß sitzen saßen übernimmt übernahm übernahmen übernommen empfängt empfing betreut betreute betreuten betreuen schafft schaffte schafften geschafft
geht ging gingen gehen gegangen dauert dauerte dauerten dauern gedauert trainiert trainieren trainierte trainierten kommt kam kamen kommen gekommen übernachtet übernachteten übernachten
absolviert absolvierte absolvierten belegt belegte durchgeführte angefallen aufgenommen bearbeitete bearbeiteten abgewickelt entfallen`,
	"spend": `set pay paid paying spend spent cost costing use eat ate eaten swallow gobble absorb devour burn splash fork shell cough
bezahlt bezahlte bezahlten bezahlen zahlt zahlte zahlten zahlen gezahlt ausgegeben gibt gab ausgibt kostet kostete kosteten gekostet gelassen
verschlingt verschlang verschlungen gefressen nutzt nutzte nutzten genutzt aufgewendet aufgewandt`,
	"earn": `earn make made take took taken invoice bill rake collect eingenommen einnehmen nimmt nahm nahmen verdient verdiente verdienen verdienten
kassiert kassierte kassierten kassieren umgesetzt setzt setzte setzten abgerechnet gekommen`,
	"trade": `sell sold selling buy bought buying order purchase verkauft verkaufte verkauften verkaufen gekauft kauft kaufte kauften kaufen bestellt bestellte bestellten`,
	"loan":  `lend lent lending borrow take took taken loan check verleiht verlieh verliehen ausgeliehen ausleihen leiht lieh liehen entliehen`,
	"trip":  `cycle travel walk ride rode ridden drive drove driven swim swam swum fly flew flown row fährt fuhr fuhren gefahren geradelt gelaufen fliegt flog flogen geflogen`,
	"power": `generate produce erzeugt erzeugte erzeugten erzeugen produziert produzierte produzieren geliefert liefert lieferte gewonnen`,
	"talk":  `respond react answer load render resolve solve fix repair process talk chat phone speak spoke spoken telefoniert telefonierte telefonierten gesprochen`,
}

// LightParticles belong to a verb that precedes them; alone they say where things are.
var LightParticles = Folded("up out off away down through over along via towards together rein raus herein heraus hinein hinaus ein ab auf los hinzu dazu weg")

// LightClasses maps each form of a light verb to its classes.
var LightClasses = func() map[string][]string {
	out := map[string][]string{}
	for class, verbs := range lightVerbs {
		for _, v := range strings.Fields(verbs) {
			for _, w := range forms(v) {
				out[w] = append(out[w], class)
			}
		}
	}
	return out
}()

// forms returns the forms of a regular English verb.
func forms(v string) []string {
	base, ies := strings.TrimSuffix(v, "e"), v
	if n := len(v) - 1; v[n] == 'y' && !strings.ContainsAny(v[n-1:n], "aeou") {
		ies = v[:n] + "ie"
	}
	return []string{Fold(v), Fold(ies + "s"), Fold(v + "es"), Fold(strings.TrimSuffix(ies, "e") + "ed"), Fold(base + "ing"), Fold(v + v[len(v)-1:] + "ed"), Fold(v + v[len(v)-1:] + "ing")}
}

// Doing reports whether a word may be a verb that a particle belongs to.
func (r *Utterance) Doing(t Token) bool {
	return LightClasses[t.Fold] != nil || Irregular[t.Fold] != "" || r.Lex.ActionVerbs[t.Fold] || motion[t.Fold]
}

var motion = Folded("come comes came coming take takes took taken give gives gave given make makes made kam kamen kommt kommen nahm nimmt")

// AskedFor reports whether a token is what is counted, or follows a word such as which, most, best or the.
func (r *Utterance) AskedFor(i int) bool {
	return r.Counted(i) || i > 0 && (r.Superlative(i-1) || strings.HasPrefix(r.Tokens[i-1].Fold, "which") || strings.HasPrefix(r.Tokens[i-1].Fold, "welche"))
}
