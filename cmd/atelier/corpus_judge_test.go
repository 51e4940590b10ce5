package main

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// corpusVerdict is the verdict on an answer to a question of the corpus.
type corpusVerdict string

const (
	corpusRight   corpusVerdict = "right"
	corpusRefused corpusVerdict = "refused"
	corpusWrong   corpusVerdict = "WRONG"
)

// refusalSentence begins every refusal of the offline models, in any language.
const refusalSentence = "Offline, this question cannot be answered"

// judge reads the first two sentences of a message: they must refuse, or state every fact.
func (c corpusCase) judge(message string) corpusVerdict {
	text := firstTwo(message)
	refused := strings.Contains(text, refusalSentence)
	switch {
	case refused && c.Expect == "refuse":
		return corpusRight
	case refused:
		return corpusRefused
	case c.Expect == "refuse":
		return corpusWrong
	}
	for _, fact := range c.Truth {
		if !slices.ContainsFunc(fact, func(spelling string) bool { return states(text, spelling, c.Language) }) {
			return corpusWrong
		}
	}
	return corpusRight
}

// rightAnswer describes the right answer for people.
func (c corpusCase) rightAnswer() string {
	if c.Expect == "refuse" {
		return "nothing here answers this"
	}
	facts := make([]string, len(c.Truth))
	for i, f := range c.Truth {
		facts[i] = f[0]
	}
	return strings.Join(facts, "; ")
}

// plainDecimal matches numbers as the corpus writes them. 00442 is text.
var plainDecimal = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)

// states reports whether a text states a fact in this spelling: a number as a number, words as whole words in any case.
func states(text, spelling, language string) bool {
	if plainDecimal.MatchString(spelling) {
		want := number{text: spelling}
		return slices.ContainsFunc(numbersIn(text, language), func(n number) bool { return n.rounds(want) })
	}
	text, spelling = folded(text), folded(spelling)
	for from := 0; ; {
		i := strings.Index(text[from:], spelling)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(spelling):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// folded returns lower case with single spaces and without Markdown's emphasis.
func folded(s string) string {
	s = strings.NewReplacer("*", "", "`", "", "_", " ", "’", "'").Replace(strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}

// number is a decimal with a point and without grouping: -1234.50.
type number struct {
	text string
	// scale is 1 million in "3.2 million", else 0.
	scale int64
}

func (n number) value() *big.Rat {
	v, ok := new(big.Rat).SetString(n.text)
	if !ok {
		return new(big.Rat)
	}
	return v
}

func (n number) places() int {
	_, after, _ := strings.Cut(n.text, ".")
	return len(after)
}

// digits returns the number of significant digits.
func (n number) digits() int {
	return len(strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(n.text), "0"))
}

// rounds reports whether the answer n is the truth, rounded to the places of n: 2 digits or more, or all. The truth may
// itself be rounded to its places, or to two where its zeros are omitted.
func (n number) rounds(truth number) bool {
	if n.scale != 0 {
		scaled := new(big.Rat).Mul(n.value(), new(big.Rat).SetInt64(n.scale))
		if scaled.Cmp(truth.value()) == 0 {
			return true
		}
	}
	off := new(big.Rat).Sub(n.value(), truth.value())
	off.Abs(off)
	exact := off.Sign() == 0
	places := min(n.places(), max(truth.places(), 2))
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), pow10(places)))
	return exact || off.Cmp(half) <= 0 && n.digits() >= min(2, truth.digits())
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

var (
	// calendar matches dates and times of which only the year is a number.
	calendar = regexp.MustCompile(`\b(?:(\d{4})-\d{2}(?:-\d{2})?|\d{1,2}[./]\d{1,2}[./](\d{4})|\d{1,2}/(\d{4})|\d{1,2}:\d{2}(?::\d{2})?)\b`)
	// figure matches a number in any notation; groups of three may be spaced.
	figure = regexp.MustCompile(`\d{1,3}(?:[ \x{a0}\x{202f}\x{2009}]\d{3})+(?:[.,]\d+)?|\d[\d.,'’]*`)
	scales = map[string]int64{
		"thousand": 1e3, "million": 1e6, "billion": 1e9, "tausend": 1e3, "millionen": 1e6, "mio": 1e6, "milliarden": 1e9, "mrd": 1e9,
	}
	numerals = map[string]string{
		"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
		"zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8", "neun": "9", "zehn": "10", "elf": "11", "zwölf": "12",
	}
)

// numbersIn returns the numbers of a text. Where one separator precedes three digits, as in 1,234 and 1.234, the
// language decides what it means.
func numbersIn(text, language string) []number {
	text = calendar.ReplaceAllString(text, " $1$2$3 ")
	var out []number
	for _, at := range figure.FindAllStringIndex(text, -1) {
		before, size := utf8.DecodeLastRuneInString(text[:at[0]])
		beyond, _ := utf8.DecodeLastRuneInString(text[:at[0]-size])
		if isWord(before) || before == '-' && unicode.IsLetter(beyond) {
			continue // part of a name: M8, HH-AT-12
		}
		sign := ""
		if (before == '-' || before == '−') && !isWord(beyond) {
			sign = "-"
		}
		token := strings.TrimRight(text[at[0]:at[1]], ".,'’")
		scale := scales[nextWord(text[at[1]:])]
		if joined := strings.Map(dropSpace, token); joined != token {
			out = append(out, readings(joined, language, sign, scale)...)
		}
		for _, part := range strings.FieldsFunc(token, unicode.IsSpace) {
			out = append(out, readings(part, language, sign, scale)...)
		}
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if n, ok := numerals[w]; ok {
			out = append(out, number{text: n})
		}
	}
	return out
}

func dropSpace(r rune) rune {
	if unicode.IsSpace(r) {
		return -1
	}
	return r
}

// nextWord returns the word that follows a number, in lower case.
func nextWord(rest string) string {
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	if i := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest)
}

// readings returns the number that a token denotes, or none: 31.12.2024 and 1.2.3 are not numbers.
func readings(token, language, sign string, scale int64) []number {
	point := decimalMark(token, language)
	whole, after, has := token, "", false
	if point != "" {
		i := strings.LastIndex(token, point)
		whole, after, has = token[:i], token[i+len(point):], true
	}
	parts := strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(".,'’", r) })
	for i, p := range parts {
		if len(parts) > 1 && (i > 0 && len(p) != 3 || i == 0 && len(p) > 3) || has && strings.Contains(p, point) {
			return nil
		}
	}
	text := sign + strings.Join(parts, "")
	if has {
		text += "." + after
	}
	return []number{{text, scale}}
}

// decimalMark returns the separator before the decimals of a token, if there is one.
func decimalMark(token, language string) string {
	i := strings.LastIndexAny(token, ".,")
	if i < 0 {
		return ""
	}
	mark, other := token[i:i+1], ","
	if mark == "," {
		other = "."
	}
	switch {
	case strings.Count(token, mark) > 1:
		return ""
	case strings.ContainsAny(token, other+"'’"):
		return mark
	case len(token)-i-1 != 3 || i > 3 || token[0] == '0':
		return mark
	case (language == "de") == (mark == ","):
		return mark
	}
	return ""
}
