package offline

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed vocabulary.txt
var vocabularyText string

// meaning is the meaning of a word: the kind and the name of its line in vocabulary.txt.
type meaning struct{ kind, name string }

// vocabulary holds the meanings of words in two languages. It is read-only.
var vocabulary = readVocabulary(vocabularyText)

type dictionary struct{ english, german map[string][]meaning }

func readVocabulary(text string) dictionary {
	v := dictionary{map[string][]meaning{}, map[string][]meaning{}}
	for line := range strings.Lines(text) {
		head, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if !ok { // kinds without names need no colon
			head, list, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		kind, name, _ := strings.Cut(head, " ")
		english, german, _ := strings.Cut(list, "|")
		for w := range strings.FieldsSeq(english) {
			v.english[w] = append(v.english[w], meaning{kind, name})
		}
		for w := range strings.FieldsSeq(german) {
			v.german[w] = append(v.german[w], meaning{kind, name})
		}
	}
	return v
}

// token is a word of a prompt, as written and in the form for lookup.
type token struct{ written, folded string }

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// negations separates the contracted forms of not.
var negations = strings.NewReplacer("can't", "can not", "can’t", "can not", "won't", "will not", "won’t", "will not", "n't", " not", "n’t", " not")

// tokens splits a text into words. Words joined by a hyphen are split unless the compound is known.
func tokens(text string) []token {
	var out []token
	text = negations.Replace(norm.NFC.String(text))
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && r != '-' }) {
		t := token{w, umlauts.Replace(strings.ToLower(w))}
		if vocabulary.find(t.folded, true) != nil || !strings.Contains(w, "-") {
			out = append(out, t)
			continue
		}
		for part := range strings.SplitSeq(w, "-") {
			if part != "" {
				out = append(out, token{part, umlauts.Replace(strings.ToLower(part))})
			}
		}
	}
	return out
}

// find returns the meanings of a word or of a phrase joined by underscores; if german is set, also of German words.
func (v dictionary) find(w string, german bool) []meaning {
	forms := []string{w}
	for _, end := range []string{"s", "es", "e", "en", "er", "em", "n"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) > 2 && (german || end == "s" || end == "es") {
			forms = append(forms, stem)
		}
	}
	if stem, ok := strings.CutSuffix(w, "ies"); ok {
		forms = append(forms, stem+"y")
	}
	words := []map[string][]meaning{v.german, v.english}
	if !german {
		words = words[1:]
	}
	for _, known := range words {
		for _, f := range forms {
			if m := known[f]; m != nil {
				return m
			}
		}
	}
	return nil
}

// compound returns the meanings of a German word made of two known ones: Bergsee, Nachthimmel.
func (v dictionary) compound(w string) []meaning {
	for k := 3; k <= len(w)-3; k++ {
		head := v.find(w[k:], true)
		if head == nil || !among("thing tag part plain", head[0].kind) {
			continue
		}
		for _, joint := range []string{"", "s", "n", "en", "e"} {
			first, ok := strings.CutSuffix(w[:k], joint)
			if m := v.german[first]; ok && len(first) > 2 && m != nil {
				return append(slices.Clone(m), head...)
			}
		}
	}
	return nil
}

// speaksGerman reports whether a text has more German words than English ones.
func speaksGerman(all []token) bool {
	german, english := 0, 0
	for _, t := range all {
		de := vocabulary.german[t.folded] != nil || vocabulary.english[t.folded] == nil && (vocabulary.find(t.folded, true) != nil || vocabulary.compound(t.folded) != nil)
		switch en := vocabulary.find(t.folded, false) != nil; {
		case de && !en:
			german++
		case en && !de:
			english++
		}
	}
	return german > english
}

// longestPhrase returns the meanings and the number of words of the longest known phrase at the start of all.
func longestPhrase(all []token, german bool) ([]meaning, int) {
	for n := min(4, len(all)); n > 0; n-- {
		var phrase []string
		for _, t := range all[:n] {
			phrase = append(phrase, t.folded)
		}
		if m := vocabulary.find(strings.Join(phrase, "_"), german); m != nil {
			return m, n
		}
	}
	if german {
		return vocabulary.compound(all[0].folded), 1
	}
	return nil, 1
}

// looksLikeModifier reports whether an unknown word has the form of an adjective, an adverb or a participle: such a
// word names nothing that a picture could lack.
func looksLikeModifier(w string, german bool) bool {
	ends := []string{"ous", "ful", "less", "esque", "ly", "ing", "ed"}
	if german {
		ends = []string{"lich", "liche", "licher", "lichen", "liches", "isch", "ische", "ischer", "ischen", "isches", "end", "ende", "ender", "enden", "endes", "voll", "volle", "voller", "vollen", "volles", "los", "lose", "losen", "loser"}
	}
	if len(w) < 6 || slices.Contains(strings.Fields(nounsInDisguise), w) {
		return false
	}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(w, end) })
}

// nounsInDisguise look like adjectives or participles but are nouns.
const nounsInDisguise = "family butterfly firefly dragonfly assembly wedding ceiling clothing duckling pudding viking string earring sibling dumpling " +
	"boxing fishing meeting gathering swing gosling sapling hamster seabed flowerbed jugend abend tausend legend mousse monopoly italy"

// number parses a count in digits, at most 99; 0 if the word is not a number.
func number(w string) int {
	n, _ := strconv.Atoi(w) // 0 for a word that is not a number, the maximum for one that is too large
	return min(max(0, n), 99)
}
