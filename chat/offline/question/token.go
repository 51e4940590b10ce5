package question

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// token is one word, number or date of a question.
type token struct {
	raw, fold, stem string
	// num is there for numbers.
	num *float64
	// quoted words are names as they are written, never words of a question.
	quoted bool
	// part says that it is one part of a compound.
	part bool
	// kindOf says that it is asked which one it is: in a compound the head names the column.
	kindOf bool
	// from and to are where it stands in the text, in bytes.
	from, to int
}

var tokenShape = regexp.MustCompile(`\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}:\d{2}|\d+(?:[.,'’]\d+)*|[\p{L}\p{M}]+[\p{L}\p{M}\p{N}]*|%|["“”„»«]`)

// codeShape is a code of several pieces: RE-2024-161.
var codeShape = regexp.MustCompile(`\b\p{Lu}\p{L}*\d*(?:[-/]\w*\d\w*)+\b`)

// codesIn finds where codes stand in a text.
func codesIn(text string) [][]int {
	return slices.DeleteFunc(codeShape.FindAllStringIndex(text, -1), func(at []int) bool {
		head, _, _ := strings.Cut(strings.ReplaceAll(text[at[0]:at[1]], "/", "-"), "-")
		return monthNames[fold(head)] > 0 || len(head) == 2 && strings.ContainsAny(head[:1], "QHqh") && unicode.IsDigit(rune(head[1]))
	})
}

// tokens splits a text into words, numbers and dates.
func tokens(text string, lang Language) []token {
	var out []token
	codes := codesIn(text)
	quoted := false
	for _, at := range tokenShape.FindAllStringIndex(text, -1) {
		w := text[at[0]:at[1]]
		if strings.ContainsAny(w, `"“”„»«`) {
			quoted = !quoted
			continue
		}
		t := token{raw: w, fold: fold(w), quoted: quoted, from: at[0], to: at[1]}
		t.kindOf = len(out) > 0 && strings.HasPrefix(out[len(out)-1].fold, "welche")
		t.quoted = quoted || slices.ContainsFunc(codes, func(c []int) bool { return c[0] <= at[0] && at[1] <= c[1] })
		t.stem = stem(t.fold)
		if v, ok := parseNumber(w, lang); ok {
			t.num = &v
		}
		out = append(out, t)
	}
	return out
}

// sameWord says whether two words are one, in singular or plural.
func sameWord(a, b token) bool {
	if a.fold == b.fold || len(a.stem) > 3 && a.stem == b.stem {
		return true
	}
	long, little := a.fold, b.fold
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

// sameValue says whether a word names a value, in singular or plural, with an ending or without.
func sameValue(a, b token) bool {
	x, y := a.fold, b.fold
	if x == y {
		return true
	}
	x, y = strings.TrimSuffix(x, "ies"), strings.TrimSuffix(y, "ies")
	if len(x) > 2 && len(y) > 2 && (x+"y" == y && x != a.fold || y+"y" == x && y != b.fold) {
		return true
	}
	if len(x) >= 3 && len(y) >= 3 && (x+"s" == y || y+"s" == x) {
		return true // cat, cats
	}
	return sameWord(token{fold: a.fold}, token{fold: b.fold})
}

// parseNumber reads a number as the language writes it.
func parseNumber(w string, lang Language) (float64, bool) {
	if w == "" || !unicode.IsDigit(rune(w[0])) || strings.ContainsAny(w, "-/") {
		return 0, false
	}
	w = strings.NewReplacer("'", "", "’", "").Replace(w)
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

// number words up to twelve.
var numberWords = map[string]float64{
	"zero": 0, "null": 0,
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwolf": 12,
}

var monthNames = map[string]int{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
	"januar": 1, "janner": 1, "februar": 2, "marz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
	"jan": 1, "feb": 2, "mar": 3, "mrz": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
	"janvier": 1, "fevrier": 2, "mars": 3, "avril": 4, "juin": 6, "juillet": 7, "aout": 8, "septembre": 9, "octobre": 10, "novembre": 11, "decembre": 12,
}

var weekdayNames = map[string]int{
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
	"sonntag": 0, "montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonnabend": 6,
}

var ordinals = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
	"erst": 1, "zweit": 2, "dritt": 3, "viert": 4,
}

// period is a stretch of time: of a year, a half, a quarter, a month, a day, or a month or
// weekday of any year.
type period struct {
	unit  string // year, half, quarter, month, day, monthOfYear, dayOfYear, weekday, span, clock
	year  int
	n     int // month, quarter, half, weekday, hour
	day   int // or minute
	until int // last year of a span
}

// first and last are the limits of a period as ISO text of its own length.
func (p period) first() string {
	switch p.unit {
	case "half":
		return isoMonth(p.year, p.n*6-5)
	case "quarter":
		return isoMonth(p.year, p.n*3-2)
	case "month":
		return isoMonth(p.year, p.n)
	case "day":
		return isoMonth(p.year, p.n) + "-" + two(p.day)
	}
	return strconv.Itoa(p.year)
}

func (p period) last() string {
	switch p.unit {
	case "half":
		return isoMonth(p.year, p.n*6)
	case "quarter":
		return isoMonth(p.year, p.n*3)
	case "span":
		return strconv.Itoa(p.until)
	}
	return p.first()
}

func isoMonth(year, month int) string { return strconv.Itoa(year) + "-" + two(month) }

func two(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// timeAt reads a period that begins at a token; n is how many tokens it takes.
func timeAt(ts []token, i int) (p period, n int) {
	at := func(k int) token {
		if i+k < len(ts) {
			return ts[i+k]
		}
		return token{}
	}
	if d, ok := dateToken(at(0).raw); ok {
		return d, 1
	}
	if m, ok := monthNames[at(0).fold]; ok && !at(0).quoted && !(at(0).fold == "may" && i > 0 && at(0).raw == "may") && !(at(0).fold == "mars" || at(0).fold == "mar" && at(1).num == nil) {
		return monthAt(m, at)
	}
	if day, ok := dayNumber(at(0)); ok {
		k := 1
		if at(k).fold == "of" {
			k++
		}
		if m, ok := monthNames[at(k).fold]; ok {
			if y, ok := yearOf(at(k + 1)); ok {
				return period{unit: "day", year: y, n: m, day: day}, k + 2
			}
			return period{unit: "dayOfYear", n: m, day: day}, k + 1
		}
	}
	if timeOfDay.MatchString(at(0).raw) {
		h, m, _ := strings.Cut(at(0).raw, ":")
		hour, _ := strconv.Atoi(h)
		minute, _ := strconv.Atoi(m)
		return period{unit: "clock", n: hour, day: minute}, 1
	}
	if p, n = partAt(at); n > 0 {
		return p, n
	}
	if w, ok := weekdayNames[strings.TrimSuffix(at(0).fold, "s")]; ok {
		return period{unit: "weekday", n: w}, 1
	}
	if y, ok := yearOf(at(0)); ok {
		if at(1).fold == "s" && y%10 == 0 {
			return period{unit: "span", year: y, until: y + 9}, 2
		}
		return period{unit: "year", year: y}, 1
	}
	return period{}, 0
}

// monthAt reads what follows the name of a month: a year, or a day and a year.
func monthAt(m int, at func(int) token) (period, int) {
	if y, ok := yearOf(at(1)); ok {
		return period{unit: "month", year: y, n: m}, 2
	}
	if at(1).fold == "of" || at(1).fold == "in" {
		if y, ok := yearOf(at(2)); ok {
			return period{unit: "month", year: y, n: m}, 3
		}
	}
	if d, ok := dayNumber(at(1)); ok {
		if y, ok := yearOf(at(2)); ok {
			return period{unit: "day", year: y, n: m, day: d}, 3
		}
		return period{unit: "dayOfYear", n: m, day: d}, 2
	}
	return period{unit: "monthOfYear", n: m}, 1
}

// partAt reads Q1 2024, the first quarter of 2024, the 2nd half of 2023.
func partAt(at func(int) token) (period, int) {
	var unit string
	var n int
	k := 1
	f := at(0).fold
	switch {
	case len(f) == 2 && f[0] == 'q' && f[1] >= '1' && f[1] <= '4':
		unit, n = "quarter", int(f[1]-'0')
	case len(f) == 2 && f[0] == 'h' && (f[1] == '1' || f[1] == '2'):
		unit, n = "half", int(f[1]-'0')
	default:
		var ok bool
		if n, ok = ordinals[strings.TrimSuffix(at(0).stem, ".")]; !ok {
			if n, ok = ordinals[f]; !ok && at(0).num != nil && *at(0).num <= 4 {
				n, ok = int(*at(0).num), true
			}
		}
		if !ok {
			return period{}, 0
		}
		switch at(1).fold {
		case "quarter", "quartal", "quartals":
			unit = "quarter"
		case "half", "halbjahr", "halfte":
			unit = "half"
		default:
			return period{}, 0
		}
		k = 2
	}
	for _, skip := range []string{"of", "in", "des", "jahres", "von", "im"} {
		if at(k).fold == skip {
			k++
		}
	}
	y, ok := yearOf(at(k))
	if !ok {
		return period{unit: unit + "OfYear", n: n}, k
	}
	return period{unit: unit, year: y, n: n}, k + 1
}

func yearOf(t token) (int, bool) {
	if len(t.raw) != 4 || t.num == nil || strings.ContainsAny(t.raw, ".,") {
		return 0, false
	}
	y := int(*t.num)
	return y, y >= 1500 && y <= 2200
}

func dayNumber(t token) (int, bool) {
	s := strings.TrimRight(t.fold, "sthndr.")
	if len(t.fold)-len(s) > 2 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= 31
}

// dateToken reads 2024-03-31, 31.3.2024 and, where it can be only one date, 3/31/2024.
func dateToken(raw string) (period, bool) {
	sep := ""
	for _, s := range []string{"-", ".", "/"} {
		if strings.Count(raw, s) == 2 {
			sep = s
		}
	}
	if sep == "" {
		return period{}, false
	}
	var n [3]int
	for i, p := range strings.Split(raw, sep) {
		v, err := strconv.Atoi(p)
		if err != nil {
			return period{}, false
		}
		n[i] = v
	}
	p := period{unit: "day", year: n[2], n: n[1], day: n[0]}
	switch {
	case sep == "-":
		p = period{unit: "day", year: n[0], n: n[1], day: n[2]}
	case sep == "/" && n[0] <= 12 && n[1] > 12:
		p.n, p.day = n[0], n[1]
	case sep == "/" && n[0] <= 12 && n[0] != n[1]:
		return period{}, false
	}
	return p, p.n >= 1 && p.n <= 12 && p.day >= 1 && p.day <= 31 && p.year >= 1000
}
