package speech

import (
	"strings"
)

// Word is one word of a name; optional ones need not be said: id, date, units.
type Word struct {
	Fold, Stem string
	Optional   bool
}

// IDWords are words of columns whose values are identifiers.
var IDWords = Folded("id ids nr no num number nummer nummern code key uid ref reference kennung schlussel sku isbn index")

// heads are words that end German compounds of any kind, folded.
var heads = strings.Fields("stunden minuten jahr datum preis betrag kosten nummer name menge gehalt dauer monat anzahl umsatz bestand verbrauch temperatur gruppe einnahmen ausgaben")

// Vocabulary is every word that a compound can be made of.
type Vocabulary map[string]bool

// NewVocabulary is the words of the lexicon and those that many names of columns are made of.
func NewVocabulary() Vocabulary {
	v := Vocabulary{}
	for w := range DefaultLexicon().Concepts {
		if len(w) > 2 {
			v[w] = true
		}
	}
	for _, w := range []string{"gesamt", "durchschnitt", "hochst", "tiefst", "nummer", "nr", "id", "code", "zahl", "datum", "dat", "name", "nam", "netto", "brutto", "verkauf", "einkauf", "lager", "einzel", "stuck", "jahr", "monat", "tag"} {
		v[Stem(w)] = true
	}
	return v
}

// Add adds a word that is neither too short nor too long for a part of a compound.
func (v Vocabulary) Add(w string) {
	if len(w) > 3 && len(w) < 12 {
		v[Stem(w)] = true
	}
}

// longestCompound is the longest word that is taken apart, in bytes: what is longer is no word of a question.
const longestCompound = 64

// Split takes a compound apart: kundennummer → kunden, nummer. A word that is known stays whole.
func (v Vocabulary) Split(w string) []string {
	if len(w) > longestCompound {
		return []string{w}
	}
	done := map[string][]string{} // each end of the word is taken apart once
	var split func(string) []string
	split = func(w string) []string {
		if done[w] == nil {
			done[w] = v.splitWord(w, split)
		}
		return done[w]
	}
	return split(w)
}

func (v Vocabulary) splitWord(w string, split func(string) []string) []string {
	l := DefaultLexicon()
	if len(w) < 7 || strings.HasPrefix(w, "halbjahr") || l.Concepts[Stem(w)] != nil || l.Fillers[w] || l.Phrases[w] != nil || MonthNames[w] > 0 {
		return []string{w}
	}
	for i := len(w) - 2; i >= 3; i-- {
		left, right := w[:i], w[i:]
		if strings.TrimSuffix(right, "s") == "ship" {
			continue // membership
		}
		if len(right) == 2 && !IDWords[right] {
			continue
		}
		if !v[Stem(right)] && len(split(right)) < 2 {
			continue
		}
		for _, link := range []string{"s", "", "n", "en", "es"} {
			if base, ok := strings.CutSuffix(left, link); ok && len(base) > 2 && (v[Stem(base)] || v[base]) {
				return append([]string{base}, split(right)...)
			}
		}
	}
	for _, head := range heads {
		if left, ok := strings.CutSuffix(w, head); ok && len(left) > 3 {
			return []string{left, head} // Sonnenstunden: of whatever it is, hours
		}
	}
	return []string{w}
}
