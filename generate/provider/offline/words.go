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

// meaning is the kind and the name of a word's line in vocabulary.txt.
type meaning struct{ kind, name string }

// english and german hold the meanings of words and of phrases joined by underscores. They are read-only.
var english, german = readVocabulary(vocabularyText)

func readVocabulary(text string) (en, de map[string][]meaning) {
	en, de = map[string][]meaning{}, map[string][]meaning{}
	for line := range strings.Lines(text) {
		head, list, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		kind, name, _ := strings.Cut(head, " ")
		known := en
		for w := range strings.FieldsSeq(list) {
			if w == "|" {
				known = de
			}
			known[w] = append(known[w], meaning{kind, name})
		}
	}
	return en, de
}

// word is a word or a phrase of a prompt, as written and in the form for look-up, with its meanings. A comma stands for
// every mark that ends a clause.
type word struct {
	written, folded string
	means           []meaning
}

var (
	umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")
	clauses = strings.NewReplacer("can't", "can not", "can’t", "can not", "won't", "will not", "won’t", "will not", "n't", " not", "n’t", " not", ",", " , ", ".", " , ", ";", " , ", ":", " , ", "!", " , ", "?", " , ", "\n", " , ")
)

// split returns the words of a text, known phrases of up to four words as one.
func split(text string) (out []word) {
	var written, folded []string
	balance := 0 // of German words over English ones
	for _, w := range strings.FieldsFunc(clauses.Replace(norm.NFC.String(text)), func(r rune) bool { return r != ',' && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }) {
		f := umlauts.Replace(strings.ToLower(w))
		balance += btoi(german[f] != nil) - btoi(english[f] != nil)
		written, folded = append(written, w), append(folded, f)
	}
	for len(written) > 0 {
		var w word
		for n := min(4, len(written)); n > 0 && w.means == nil; n-- {
			w = word{strings.Join(written[:n], " "), strings.Join(folded[:n], "_"), find(strings.Join(folded[:n], "_"), balance >= 0)}
		}
		if w.means == nil {
			w.means = read(w.folded, balance >= 0)
		}
		n := strings.Count(w.folded, "_") + 1
		out, written, folded = append(out, w), written[n:], folded[n:]
	}
	return out
}

// find returns the meanings of a word or a phrase; in a German text also of German words.
func find(w string, inGerman bool) []meaning {
	known, ends := []map[string][]meaning{english}, []string{"", "s", "es"}
	if inGerman {
		known, ends = []map[string][]meaning{german, english}, append(ends, "e", "en", "er", "em", "n")
	}
	for _, k := range known {
		for _, end := range ends {
			if stem, ok := strings.CutSuffix(w, end); ok && (end == "" || len(stem) > 2) && k[stem] != nil {
				return k[stem]
			}
		}
	}
	return nil
}

// read returns the meanings of a word that find does not know: numbers, German words made of two known ones (Bergsee,
// Nachthimmel), and words with the ending of an adjective, an adverb or a participle, which name nothing that a picture
// could lack.
func read(w string, inGerman bool) []meaning {
	if n, _ := strconv.Atoi(w); n > 0 { // the maximum for a number that is too large
		return []meaning{{"count", strconv.Itoa(min(n, 99))}}
	} else if len(w) < 2 {
		return []meaning{{"plain", ""}}
	}
	endings := english
	if inGerman {
		endings = german
	}
	for k := 3; k < len(w)-1; k++ {
		for _, joint := range []string{"", "s", "n", "en", "e"} {
			first, ok := strings.CutSuffix(w[:k], joint)
			head := find(w[k:], true)
			if ok && inGerman && len(first) > 2 && german[first] != nil && head != nil && among("thing tag part plain", head[0].kind) {
				return append(slices.Clone(german[first]), head...)
			}
		}
		if len(w) > 5 && endings["~"+w[k:]] != nil {
			return endings["~"+w[k:]]
		}
	}
	return nil
}

func among(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
