package speech

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"atelier/internal/pattern"
)

// Token is one word, number or date of a question.
type Token struct {
	Raw, Fold, Stem string
	// Num is set for numbers.
	Num *float64
	// Quoted marks a name as written, which is never a word of a question.
	Quoted bool
	// Part means that it is one part of a compound.
	Part bool
	// kindOf means that the question asks which one it is: in a compound, the head names the column.
	kindOf bool
	// From and To are its position in the text, in bytes.
	From, To int
}

var tokenShape = pattern.Lazy(`\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}:\d{2}|\d+(?:[.,'’]\d+)*|[\p{L}\p{M}]+[\p{L}\p{M}\p{N}]*|%|["“”„»«]`)

// belowZero matches a number below zero.
var belowZero = pattern.Lazy(`(^|\s)[-−](\d)`)

// codeShape matches a code of several parts: RE-2024-161.
var codeShape = pattern.Lazy(`\b\p{Lu}\p{L}*\d*(?:[-/]\w*\d\w*)+\b`)

// Tokens splits a text into words, numbers and dates.
func Tokens(text string, lang Language) []Token {
	var out []Token
	codes := slices.DeleteFunc(codeShape().FindAllStringIndex(text, -1), func(at []int) bool {
		head, _, _ := strings.Cut(strings.ReplaceAll(text[at[0]:at[1]], "/", "-"), "-")
		return MonthNames[Fold(head)] > 0 || len(head) == 2 && strings.ContainsAny(head[:1], "QHqh") && unicode.IsDigit(rune(head[1])) // a time, not a code
	})
	quoted := false
	for _, at := range tokenShape().FindAllStringIndex(text, -1) {
		w := text[at[0]:at[1]]
		if strings.ContainsAny(w, `"“”„»«`) {
			quoted = !quoted
			continue
		}
		t := Token{Raw: w, Fold: Fold(w), Quoted: quoted, From: at[0], To: at[1]}
		t.kindOf = len(out) > 0 && strings.HasPrefix(out[len(out)-1].Fold, "welche")
		t.Quoted = quoted || slices.ContainsFunc(codes, func(c []int) bool { return c[0] <= at[0] && at[1] <= c[1] })
		t.Stem = Stem(t.Fold)
		if v, ok := ParseNumber(w, lang); ok && !ambiguous[lang == German].MatchString(w) {
			t.Num = &v
		}
		out = append(out, t)
	}
	return out
}

// ambiguous matches a number, in German and otherwise, that the language reads as 1 and many people write for 1000.
var ambiguous = map[bool]*regexp.Regexp{true: regexp.MustCompile(`^\d+,000$`), false: regexp.MustCompile(`^\d+\.000$`)}

// SameWord reports whether two words are the same, in singular or plural.
func SameWord(a, b Token) bool {
	if a.Fold == b.Fold || len(a.Stem) > 3 && a.Stem == b.Stem {
		return true
	}
	long, little := a.Fold, b.Fold
	if len(long) < len(little) {
		long, little = little, long
	}
	if len(little) < 4 || !strings.HasPrefix(long, little) {
		return false
	}
	switch long[len(little):] {
	case "s", "es", "n", "en", "e", "er":
		return true
	}
	return false
}

// sameValue reports whether a word that is not the value itself names it, in singular or plural, with or without an
// ending.
func sameValue(a, b Token) bool {
	x, y := strings.TrimSuffix(a.Fold, "ies"), strings.TrimSuffix(b.Fold, "ies")
	if len(x) > 2 && len(y) > 2 && (x+"y" == y && x != a.Fold || y+"y" == x && y != b.Fold) {
		return true
	}
	if len(x) >= 3 && len(y) >= 3 && (x+"s" == y || y+"s" == x) {
		return true // cat, cats
	}
	return SameWord(Token{Fold: a.Fold}, Token{Fold: b.Fold})
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// ParseNumber reads a number as the language writes it.
func ParseNumber(w string, lang Language) (float64, bool) {
	if w == "" || !unicode.IsDigit(rune(w[0])) || strings.ContainsAny(w, "-/") {
		return 0, false
	}
	w = apostrophes.Replace(w)
	thousands, point := ",", "."
	if lang == German {
		thousands, point = ".", ","
	}
	if parts := strings.Split(w, thousands); len(parts) > 1 {
		for i, p := range parts[1:] {
			p, _, _ = strings.Cut(p, point)
			if len(p) != 3 {
				if len(parts) != 2 || i != 0 || strings.Contains(w, point) {
					return 0, false
				}
				point, thousands = thousands, point // 3.5 in a German question
			}
		}
	}
	w = strings.ReplaceAll(strings.ReplaceAll(w, thousands, ""), point, ".")
	v, err := strconv.ParseFloat(w, 64)
	return v, err == nil
}

// NumberWords are the numbers up to twelve in words.
var NumberWords = map[string]float64{
	"zero": 0, "null": 0,
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwolf": 12,
}

// MonthNames maps the folded names of months to their numbers.
var MonthNames = map[string]int{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
	"januar": 1, "janner": 1, "februar": 2, "marz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
	"jan": 1, "feb": 2, "mar": 3, "mrz": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
	"janvier": 1, "fevrier": 2, "mars": 3, "avril": 4, "juin": 6, "juillet": 7, "aout": 8, "septembre": 9, "octobre": 10, "novembre": 11, "decembre": 12,
}

// WeekdayNames maps the folded names of weekdays to their numbers; Sunday is 0.
var WeekdayNames = map[string]int{
	"sunday": 0, "monday": 1, "tusday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
	"sonntag": 0, "montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonnabend": 6,
}

var ordinals = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4,
	"erst": 1, "zweit": 2, "dritt": 3, "viert": 4,
}

// Period is a year, a half, a quarter, a month, a day, a span of years or a time of day, or
// a part of any year, such as a month or a weekday.
type Period struct {
	Unit  string // year, half, quarter, month, day, monthOfYear, dayOfYear, weekday, span
	Year  int
	N     int // month, quarter, half, weekday
	Day   int
	until int // last year of a span
}

// First returns the beginning of a period as ISO text of its own length.
func (p Period) First() string {
	switch p.Unit {
	case "half":
		return isoMonth(p.Year, p.N*6-5)
	case "quarter":
		return isoMonth(p.Year, p.N*3-2)
	case "month":
		return isoMonth(p.Year, p.N)
	case "day":
		return isoMonth(p.Year, p.N) + "-" + TwoDigits(p.Day)
	}
	return strconv.Itoa(p.Year)
}

// Last returns the end of a period as ISO text of its own length.
func (p Period) Last() string {
	switch p.Unit {
	case "half":
		return isoMonth(p.Year, p.N*6)
	case "quarter":
		return isoMonth(p.Year, p.N*3)
	case "span":
		return strconv.Itoa(p.until)
	}
	return p.First()
}

func isoMonth(year, month int) string { return strconv.Itoa(year) + "-" + TwoDigits(month) }

// TwoDigits writes a number below 100 with two digits.
func TwoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// TimeAt reads a period that begins at a token; n is its number of tokens.
func TimeAt(ts []Token, i int) (p Period, n int) {
	at := func(k int) Token {
		if i+k < len(ts) {
			return ts[i+k]
		}
		return Token{}
	}
	if d, ok := dateToken(at(0).Raw); ok {
		return d, 1
	}
	if m, ok := MonthNames[at(0).Fold]; ok && !at(0).Quoted && !(at(0).Fold == "may" && i > 0 && at(0).Raw == "may") && !(at(0).Fold == "mars" || at(0).Fold == "mar" && at(1).Num == nil) {
		return monthAt(m, at)
	}
	if day, ok := dayNumber(at(0)); ok {
		k := 1
		if at(k).Fold == "of" {
			k++
		}
		if m, ok := MonthNames[at(k).Fold]; ok {
			if y, ok := yearOf(at(k + 1)); ok {
				return Period{Unit: "day", Year: y, N: m, Day: day}, k + 2
			}
			return Period{Unit: "dayOfYear", N: m, Day: day}, k + 1
		}
	}
	if p, n = partAt(at); n > 0 {
		return p, n
	}
	if w, ok := WeekdayNames[strings.TrimSuffix(at(0).Fold, "s")]; ok {
		return Period{Unit: "weekday", N: w}, 1
	}
	if y, ok := yearOf(at(0)); ok {
		if at(1).Fold == "s" && y%10 == 0 {
			return Period{Unit: "span", Year: y, until: y + 9}, 2
		}
		return Period{Unit: "year", Year: y}, 1
	}
	return Period{}, 0
}

// monthAt reads what follows the name of a month: a year, or a day and a year.
func monthAt(m int, at func(int) Token) (Period, int) {
	k := 1
	if at(k).Fold == "of" || at(k).Fold == "in" {
		k++
	}
	if y, ok := yearOf(at(k)); ok {
		return Period{Unit: "month", Year: y, N: m}, k + 1
	}
	if d, ok := dayNumber(at(1)); ok {
		if y, ok := yearOf(at(2)); ok {
			return Period{Unit: "day", Year: y, N: m, Day: d}, 3
		}
		return Period{Unit: "dayOfYear", N: m, Day: d}, 2
	}
	return Period{Unit: "monthOfYear", N: m}, 1
}

// partAt reads Q1 2024, the first quarter of 2024, the 2nd half of 2023.
func partAt(at func(int) Token) (Period, int) {
	var unit string
	var n int
	k := 1
	f := at(0).Fold
	switch f {
	case "q1", "q2", "q3", "q4":
		unit, n = "quarter", int(f[1]-'0')
	case "h1", "h2":
		unit, n = "half", int(f[1]-'0')
	default:
		var ok bool
		if n, ok = ordinals[at(0).Stem]; !ok {
			if n, ok = ordinals[f]; !ok && at(0).Num != nil && *at(0).Num <= 4 {
				n, ok = int(*at(0).Num), true
			}
		}
		if !ok {
			return Period{}, 0
		}
		if at(0).Num != nil && slices.Contains([]string{"st", "nd", "rd", "th"}, at(1).Fold) {
			k = 2
		}
		switch at(k).Fold {
		case "quarter", "quartal", "quartals":
			unit = "quarter"
		case "half", "halbjahr", "halfte":
			unit = "half"
		default:
			return Period{}, 0
		}
		k++
	}
	for slices.Contains([]string{"of", "in", "des", "jahres", "von", "im"}, at(k).Fold) {
		k++
	}
	y, ok := yearOf(at(k))
	if !ok {
		return Period{Unit: unit + "OfYear", N: n}, k
	}
	return Period{Unit: unit, Year: y, N: n}, k + 1
}

func yearOf(t Token) (int, bool) {
	if len(t.Raw) != 4 || t.Num == nil || strings.ContainsAny(t.Raw, ".,") {
		return 0, false
	}
	y := int(*t.Num)
	return y, y >= 1500 && y <= 2200
}

func dayNumber(t Token) (int, bool) {
	s := strings.TrimRight(t.Fold, "sthndr.")
	if len(t.Fold)-len(s) > 2 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= 31
}

// dateToken reads 2024-03-31, 31.3.2024 and, if it can be only one date, 3/31/2024.
func dateToken(raw string) (Period, bool) {
	sep := ""
	for _, s := range []string{"-", ".", "/"} {
		if strings.Count(raw, s) == 2 {
			sep = s
		}
	}
	if sep == "" {
		return Period{}, false
	}
	var n [3]int
	for i, p := range strings.Split(raw, sep) {
		v, err := strconv.Atoi(p)
		if err != nil {
			return Period{}, false
		}
		n[i] = v
	}
	p := Period{Unit: "day", Year: n[2], N: n[1], Day: n[0]}
	switch {
	case sep == "-":
		p = Period{Unit: "day", Year: n[0], N: n[1], Day: n[2]}
	case sep == "/" && n[0] <= 12 && n[1] > 12:
		p.N, p.Day = n[0], n[1]
	case sep == "/" && n[0] <= 12 && n[0] != n[1]:
		return Period{}, false
	}
	return p, p.N >= 1 && p.N <= 12 && p.Day >= 1 && p.Day <= 31 && p.Year >= 1000
}
