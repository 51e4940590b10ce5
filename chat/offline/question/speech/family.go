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
	for _, end := range []string{"heiten", "keiten", "ungen", "heit", "keit", "ings", "ung", "ing", "ness", "ed", "et", "en", "es", "st", "s", "e", "t"} {
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

// LightVerbs are verbs and particles, in all forms, that say that something happens, but not to which rows: the column or
// the rows that the question names say that. Verbs for outcomes (cancel, fail, return, win) say which rows, and so do
// those of trading, lending and paying; they are not included.
var LightVerbs = func() map[string]bool {
	out := Folded(`single when while altogether ever yet via actually respectively using anybody anyone
einzelne einzelner einzelnen einzelnes selber jeweils
erledigt erledigte erledigen behandelt behandelte behandelten behandeln bedient bediente bedienen startet startete starteten starten stellt stellte stellten stellen entfällt entfiel entfallen entfielen
trägt trug beiträgt bringt brachte brachten gebracht läuft lief liefen gelaufen besucht besuchte besuchten besuchen begrüßt begrüßte begrüßen leistet leistete leisteten leisten spielt spielte spielten spielen
arbeitet arbeitete arbeiteten gearbeitet sitzt saß sitzen saßen übernimmt übernahm übernahmen übernommen empfängt empfing betreut betreute betreuten betreuen schafft schaffte schafften geschafft
geht ging gingen gehen gegangen dauert dauerte dauerten dauern gedauert trainiert trainieren trainierte trainierten kommt kam kamen kommen gekommen übernachtet übernachteten übernachten
absolviert absolvierten belegt belegte durchgeführte angefallen aufgenommen bearbeitete bearbeiteten abgewickelt`)
	for v := range strings.FieldsSeq(`welcome serve attract yield file treat handle visit train host operate stage stay watch deal reach gain garner enter head carry
turn add process sign land conduct perform note track enrol enroll claim score manage request contain book cycle travel walk talk chat phone answer respond react load
run ran running set setting bring brought see saw seen go goes went gone put get got sit sat stand stood keep kept hold held drew`) {
		for _, w := range forms(v) {
			out[w] = true
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

// AskedFor reports whether a token is what is counted, or follows a word such as which, most, best or the.
func (r *Utterance) AskedFor(i int) bool {
	return r.Counted(i) || i > 0 && (r.Superlative(i-1) || strings.HasPrefix(r.Tokens[i-1].Fold, "which") || strings.HasPrefix(r.Tokens[i-1].Fold, "welche"))
}
