package evidence

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number is a number as written in a text.
type Number struct {
	// Start and End are its byte offsets in the text, without sign, currency, scale words and units.
	Start, End int
	// Text is the number with its sign, scale word or percent sign, for display.
	Text string
	// Percent reports whether a percent sign or word follows.
	Percent bool

	readings []reading
	scales   []float64 // the factors of a following scale word; more than one if languages differ
	unit     bool      // has a unit, currency, scale or percent sign
	sign     int       // -1 or 1 for a written sign, otherwise 0
	role     role
}

// reading is one interpretation of the digits: 1,234 is 1234 or, with a decimal comma, 1.234.
type reading struct {
	value  float64
	places int // number of written decimals
}

// role is what a number is used as.
type role int

const (
	roleValue role = iota
	roleYear       // by its form and the words around it
	roleOrder      // the number of a figure, list item, version, page or citation
	roleSmall      // a whole number of at most 12 without a unit
	maybeYear      // by its form only
)

// maxSmall is the largest whole number that needs no source if it has no unit.
const maxSmall = 12

// NeedsSource reports whether the number states something that a source must contain. It does not if it is a year used
// as a date, the number of a figure, list item, page or version, or a whole number of at most 12 without a unit.
func (n Number) NeedsSource() bool { return n.role == roleValue || n.role == maybeYear }

// Counts reports whether the number is a plain count with the value many.
func (n Number) Counts(many int) bool {
	return !n.unit && slices.ContainsFunc(n.readings, func(r reading) bool { return r.places == 0 && r.value == float64(many) })
}

// factors returns the possible factors by which the digits are multiplied.
func (n Number) factors() []float64 {
	if len(n.scales) == 0 {
		return []float64{1}
	}
	return n.scales
}

// year returns the year that a number looks like.
func (n Number) year() (int, bool) {
	if n.role != roleYear && n.role != maybeYear {
		return 0, false
	}
	return asYear(n.readings[0].value)
}

// asYear accepts whole numbers that look like a modern year.
func asYear(f float64) (int, bool) {
	if f != math.Trunc(f) || f < 1500 || f > 2100 {
		return 0, false
	}
	return int(f), true
}

// Scan returns the numbers of a text, in order. Dates, times, addresses, file names and identifiers
// (CO2, GPT-4, 7f3a) contain no numbers.
func Scan(text string) []Number {
	numbers, _ := scan(text)
	return numbers
}

// scan returns the numbers of a text, and the years in its dates.
func scan(text string) ([]Number, []int) {
	var s scanner
	s.plain, s.at = asciiDigits(text)
	for _, re := range []*regexp.Regexp{listed(), outline()} {
		if m := re.FindStringIndex(s.plain); m != nil {
			s.heading = m[1]
			break
		}
	}
	for i := 0; i < len(s.plain); {
		r, size := utf8.DecodeRuneInString(s.plain[i:])
		switch {
		case r >= '0' && r <= '9':
			if to := s.skipped(i); to > i {
				i = to
				continue
			}
			i = s.number(i)
		case isWord(r):
			i = s.wordEnd(i)
		default:
			i += size
		}
	}
	s.shareUnits()
	for i := range s.found {
		s.judge(&s.found[i])
	}
	for i := range s.found {
		n := &s.found[i]
		n.Start, n.End = s.offset(n.Start), s.offset(n.End)
		n.Text = text[n.Start:n.End] + n.Text
		if n.sign < 0 {
			n.Text = "−" + n.Text
		}
	}
	return s.found, s.years
}

// scanner is one call of scan. plain is the text with ASCII digits.
type scanner struct {
	plain     string
	at        []int // offsets of plain's bytes in the text; nil if they are the same
	heading   int   // the end of the number at the beginning of a list item or heading
	word      span  // the most recently examined word, delimited by blanks
	inAddress bool  // whether that word is an address
	found     []Number
	years     []int
}

type span struct{ start, end int }

func (s *scanner) offset(i int) int {
	if s.at == nil {
		return i
	}
	return s.at[i]
}

// asciiDigits converts the decimal digits of every script to ASCII digits.
func asciiDigits(text string) (plain string, at []int) {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }) {
		return text, nil
	}
	var b strings.Builder
	for i, r := range text {
		before := b.Len()
		switch {
		case r >= utf8.RuneSelf && unicode.IsDigit(r):
			zero := r
			for unicode.IsDigit(zero - 1) {
				zero--
			}
			b.WriteByte(byte('0' + (r-zero)%10))
		case r == '٫':
			b.WriteByte('.')
		case r == '٬':
			b.WriteByte(',')
		default:
			b.WriteRune(r)
		}
		for range b.Len() - before {
			at = append(at, i)
		}
	}
	return b.String(), append(at, len(text))
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' || r >= utf8.RuneSelf && unicode.IsDigit(r) }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || r >= '0' && r <= '9' }

// wordEnd returns the end of the word that begins at i. Signs between a letter or digit and a digit belong to the word:
// COVID-19, v2.3.1, img-7k3m, H1/2024. A currency code before a number is a separate word.
func (s *scanner) wordEnd(i int) int {
	if m := currencyCode().FindString(s.plain[i:]); m != "" {
		return i + len(m) - 1
	}
	digits := false
	for i < len(s.plain) {
		r, size := utf8.DecodeRuneInString(s.plain[i:])
		digits = digits || r >= '0' && r <= '9'
		next := i+1 < len(s.plain) && s.plain[i+1] >= '0' && s.plain[i+1] <= '9'
		if joint := r == '-' || digits && strings.ContainsRune(".:/", r); !isWord(r) && (!next || !joint) {
			return i
		}
		i += size
	}
	return i
}
