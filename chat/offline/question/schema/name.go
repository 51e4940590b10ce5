package schema

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// Camel matches a word boundary inside a name: netGeneration.
var Camel = pattern.Lazy(`(\p{L}\p{Ll})(\p{Lu})`)

// Brackets matches the brackets of a name, which hold a unit, and the scale at its end: satisfaction_1_to_5.
var Brackets = pattern.Lazy(`[(\[][^)\]]*[)\]]|[ _]\d{1,2}[ _]?(?:to|bis|-|–|_)[ _]?\d{1,3}$`)

var nonWord = pattern.Lazy(`[^\p{L}\p{M}\p{N}%]+`)

// NameWords are words of columns whose values are names.
var NameWords = speech.Folded("name names nam bezeichnung titl title titel nom label vollstandig voll full designation libelle intitule")

// TimeWords are words of columns whose values are times.
var TimeWords = speech.Folded("date datum dat time zeit at on timestamp day tag zeitpunkt period zeitraum")

// UnitWords are words of a name that only state its unit.
var UnitWords = speech.Folded(`eur euro usd chf gbp mm cm m km kg g t l ml kwh mwh gwh twh wh kw mw celsius fahrenheit c f pct percent prozent % qm m2 sqm sqft min mins sec ms
billion billions million millions thousand thousands bn mio mrd tsd ppm mbar hpa bar mph kmh s h pcs stk km2 sqkm in per pro of the der die das je von en par de`)

// Prepositions separate what a column is from what it is about.
var Prepositions = speech.Folded("on per pro of je von par in zu zur zum to for bis till until auf an der des")

// abbreviations are words of columns that stand for others.
var abbreviations = map[string]string{
	"tmax": "max temperature", "tmin": "min temperature", "tavg": "mean temperature", "prcp": "rain", "amt": "amount", "desc": "description", "emp": "employee", "cust": "customer", "prod": "product",
}

// SplitName splits a name into its words, folded to lower case: net_generation, netGeneration.
func SplitName(name string) []string {
	if len(name) > 2 { // pH is one word
		name = Camel().ReplaceAllString(name, "$1 $2")
	}
	var out []string
	for _, w := range nonWord().Split(name, -1) {
		if w != "" {
			out = append(out, speech.Fold(w))
		}
	}
	return out
}

// vocabulary returns the words in the names of the tables and their columns, together with those of the lexicon.
func (s *Source) vocabulary() speech.Vocabulary {
	v := speech.NewVocabulary()
	for _, t := range s.Tables {
		for _, w := range SplitName(t.Name) {
			v.Add(w)
		}
		for _, c := range t.Columns {
			for _, w := range SplitName(Brackets().ReplaceAllString(c.Name, " ")) {
				v.Add(w)
			}
		}
	}
	return v
}

// nameWordsOf returns the words of a column's name, and marks those that need not be said as optional.
func (s *Source) nameWordsOf(c Column, v speech.Vocabulary) []speech.Word {
	var out []speech.Word
	inBrackets := map[string]bool{}
	for _, b := range Brackets().FindAllString(c.Name, -1) {
		for _, w := range SplitName(b) {
			inBrackets[w] = true
		}
	}
	units := SplitName(c.Unit)
	for _, one := range SplitName(c.Name) {
		words := v.Split(one)
		if long := abbreviations[one]; long != "" {
			words = strings.Fields(long)
		}
		for _, w := range words {
			st := speech.Stem(w)
			least := w == "min" && !inBrackets[one] && c.Unit != "" && c.Unit != "min" // the minimum: the unit is another one
			out = append(out, speech.Word{Fold: w, Stem: st, Optional: !least && !(words[0] != one && (w == "min" || w == "max")) && (w == "am" || speech.IDWords[w] || NameWords[st] || TimeWords[st] || UnitWords[w] || inBrackets[one] || slices.Contains(units, w))})
		}
	}
	// The words of an enclosing JSON object need not be said if the field itself says something: stats.downloads.
	if at := strings.LastIndex(c.Name, "."); at > 0 && !strings.ContainsAny(c.Name, " (") {
		n := len(out) - len(SplitName(c.Name[at+1:]))
		if n > 0 && slices.ContainsFunc(out[n:], func(w speech.Word) bool { return !w.Optional && !qualifiers[w.Fold] }) {
			for i := range out[:n] {
				out[i].Optional = true
			}
		}
	}
	for i := len(out) - 1; i > 0; i-- { // wing_mm is also the wing length
		if u := out[i].Fold; u == "mm" || u == "cm" {
			out = append(out, speech.Word{Fold: "length", Stem: speech.Stem("length"), Optional: true})
		}
	}
	if !slices.ContainsFunc(out, func(w speech.Word) bool { return !w.Optional }) {
		for i := range out {
			out[i].Optional = UnitWords[out[i].Fold] && len(out) > 1 && i > 0
		}
	}
	return out
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
