package offline

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// number writes a value for people: 35,361, 1.27 million, 0.68.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e12:
		return trim(v/1e12) + " trillion"
	case a >= 1e9:
		return trim(v/1e9) + " billion"
	case a >= 1e6:
		return trim(v/1e6) + " million"
	case a >= 1000 || v == math.Trunc(v):
		return grouped(math.Round(v))
	case a >= 100:
		return strings.Replace(strconv.FormatFloat(v, 'f', 1, 64), "-", "−", 1)
	}
	return trim(v)
}

func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.Replace(strings.TrimSuffix(strings.TrimRight(s, "0"), "."), "-", "−", 1)
}

func grouped(v float64) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v < 0 {
		return "−" + s
	}
	return s
}

// percentSign does not leave its number at the end of a line.
const percentSign = "\u00a0%"

func percent(v float64) string {
	p := v * 100
	if p > 99.5 && p < 100 {
		return "over 99" + percentSign
	}
	if math.Abs(p) < 10 {
		return trim(math.Round(p*10)/10) + percentSign
	}
	return grouped(math.Round(p)) + percentSign
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(float64(n)) + " " + noun + "s"
}

// human turns a file or column name into words: net_generation → net generation.
func human(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if r == '_' || r == '-' {
			r = ' '
		}
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return strings.TrimSpace(b.String())
}

// title is human with a capital.
func title(name string) string {
	h := human(name)
	for i, r := range h {
		return h[:i] + string(unicode.ToUpper(r)) + h[i+len(string(r)):]
	}
	return h
}
