package speech

import (
	"strings"
)

// Word is one word of a name; optional words need not be said: id, date, units.
type Word struct {
	Fold, Stem string
	Optional   bool
}

// IDWords are words of columns whose values are identifiers.
var IDWords = Folded("id ids nr no num number nummer nummern code key uid ref reference kennung schlussel sku isbn index bib startnummer")

// heads are words that end German compounds of any kind, folded.
var heads = strings.Fields("stunden minuten jahr datum preis betrag kosten nummer name menge gehalt dauer monat anzahl umsatz bestand verbrauch temperatur gruppe einnahmen ausgaben")

// Vocabulary is the set of words that compounds can consist of.
type Vocabulary map[string]bool

// NewVocabulary returns the words of the lexicon and those that occur in many names of columns.
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

// Add adds a word, unless it is too short or too long for a part of a compound.
func (v Vocabulary) Add(w string) {
	if len(w) > 3 && len(w) < 12 {
		v[Stem(w)] = true
	}
}

// maxCompound is the longest word that is split, in bytes: a longer one is not a word of a question.
const maxCompound = 64

// Split splits a compound: kundennummer → kunden, nummer. A known word stays whole.
func (v Vocabulary) Split(w string) []string {
	if len(w) > maxCompound {
		return []string{w}
	}
	done := map[string][]string{} // each suffix of the word is split once
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
			return []string{left, head} // Sonnenstunden: hours, of whatever it is
		}
	}
	return []string{w}
}
