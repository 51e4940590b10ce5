package file

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// valueType is what a column holds.
type valueType string

const (
	typeDate    valueType = "date"
	typeNumber  valueType = "number"
	typeText    valueType = "text"
	typeBoolean valueType = "boolean"
)

// dialect is how numbers and dates of one table are written.
type dialect struct {
	// decimalComma reads 1.234,5 as people do where a semicolon separates cells.
	decimalComma bool
	// dayFirst reads 3/4/2020 as the third of April.
	dayFirst bool
}

// isMissing tells the usual marks for "no value".
func isMissing(b []byte) bool {
	switch len(b) {
	case 0:
		return true
	case 1:
		return b[0] == '-' || b[0] == '.' || b[0] == '?' || b[0] == '*'
	case 2, 3, 4, 5, 8, 9:
		switch strings.TrimLeft(strings.ToLower(string(b)), "+-") {
		case "na", "n/a", "#n/a", "nan", "null", "", "..", "...", "–", "—", "inf", "infinity": // an infinite value is none
			return true
		}
	}
	return false
}

// parseNumber reads 1234, -1,234.5, (12), $1,200.50, 45 %, 1e6. Identifiers with
// leading zeros are no numbers.
func (d dialect) parseNumber(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 40 || b[0] >= 'A' && b[0] != '\xe2' && b[0] != '\xc2' {
		return 0, false
	}
	if f, ok := plainNumber(b); ok {
		return f, true
	}
	s := strings.TrimSpace(string(b))
	negative := false
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		s, negative = s[1:len(s)-1], true
	}
	if rest, ok := strings.CutPrefix(s, "−"); ok {
		s, negative = rest, !negative
	}
	s = strings.TrimSuffix(strings.Trim(s, " $€£¥\u00a0"), "%")
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "").Replace(s)
	switch {
	case d.decimalComma && strings.Count(s, ",") == 1:
		s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
	case strings.Contains(s, ","):
		if !grouped(s) {
			return 0, false
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	f, ok := plainNumber([]byte(s))
	if negative {
		f = -f
	}
	return f, ok
}

// plainNumber reads what Go writes, but neither hexadecimal nor inf.
func plainNumber(b []byte) (float64, bool) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	if i == len(b) || b[i] != '.' && (b[i] < '0' || b[i] > '9') {
		return 0, false
	}
	if b[i] == '0' && i+1 < len(b) && b[i+1] >= '0' && b[i+1] <= '9' || bytes.ContainsAny(b, "xX_pP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// grouped tells whether commas stand between groups of three digits.
func grouped(s string) bool {
	whole, _, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	parts := strings.Split(whole, ",")
	for i, p := range parts {
		if i == 0 && (len(p) == 0 || len(p) > 3) || i > 0 && len(p) != 3 {
			return false
		}
	}
	return len(parts) > 1
}

func isBoolean(b []byte) bool {
	if len(b) > 5 {
		return false
	}
	switch strings.ToLower(string(b)) {
	case "true", "false", "yes", "no", "t", "f", "y", "n":
		return true
	}
	return false
}

// precision is how exact a date is.
type precision int

const (
	byYear precision = iota
	byMonth
	byDay
	byMinute
)

// stamp is a date or a time of day, UTC, in minutes since 1970.
type stamp struct {
	minutes int64
	prec    precision
}

func newStamp(y, m, day, minute int, p precision) (stamp, bool) {
	if y < 1 || y > 9999 || m < 1 || m > 12 || day < 1 || day > 31 {
		return stamp{}, false
	}
	t := time.Date(y, time.Month(m), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day {
		return stamp{}, false // the 30th of February
	}
	return stamp{minutes: t.Unix()/60 + int64(minute), prec: p}, true
}

func (s stamp) time() time.Time { return time.Unix(s.minutes*60, 0).UTC() }

// String writes the stamp as exactly as it was read.
func (s stamp) String() string {
	switch s.prec {
	case byYear:
		return s.time().Format("2006")
	case byMonth:
		return s.time().Format("2006-01")
	case byDay:
		return s.time().Format("2006-01-02")
	case byMinute:
		return s.time().Format("2006-01-02T15:04")
	}
	return ""
}

// parseDate reads YYYY-MM, YYYY-MM-DD and ISO times, with / or . too, M/D/YYYY,
// D.M.YYYY and dates with month names. Bare years are parseYear's.
func (d dialect) parseDate(b []byte) (stamp, bool) {
	if len(b) < 6 || len(b) > 40 {
		return stamp{}, false
	}
	parts, n, seps, rest := splitDate(b)
	clock, hasClock := parseClock(rest)
	switch {
	case n < 2 || len(rest) > 0 && !hasClock:
		return namedMonth(string(b))
	case len(parts[0]) == 4 && n == 2 && !hasClock && seps != '.':
		return newStamp(atoi(parts[0]), atoi(parts[1]), 1, 0, byMonth)
	case n != 3:
		return stamp{}, false
	}
	first, second, third := atoi(parts[0]), atoi(parts[1]), atoi(parts[2])
	prec := byDay
	if hasClock {
		prec = byMinute
	}
	if len(parts[0]) == 4 {
		return newStamp(first, second, third, clock, prec)
	}
	if len(parts[2]) != 4 {
		return stamp{}, false
	}
	if seps == '.' || d.dayFirst || first > 12 {
		first, second = second, first
	}
	return newStamp(third, first, second, clock, prec)
}

// parseYear reads a bare year.
func parseYear(b []byte) (stamp, bool) {
	if len(b) != 4 || b[0] != '1' && b[0] != '2' || atoi(b) < 1000 || atoi(b) > 2999 {
		return stamp{}, false
	}
	return newStamp(atoi(b), 1, 1, 0, byYear)
}

// splitDate cuts b into up to three numbers and what follows them.
func splitDate(b []byte) (parts [3][]byte, n int, sep byte, rest []byte) {
	i := 0
	for n < 3 {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		if i == from || i-from > 4 {
			return parts, 0, 0, b
		}
		parts[n] = b[from:i]
		n++
		if n == 3 || i == len(b) || b[i] != '-' && b[i] != '/' && b[i] != '.' {
			break
		}
		if sep != 0 && b[i] != sep {
			return parts, 0, 0, b
		}
		sep = b[i]
		i++
	}
	return parts, n, sep, b[i:]
}

// parseClock reads T15:04, " 15:04:05.000Z" and the like, in minutes of the day.
func parseClock(b []byte) (int, bool) {
	if len(b) < 5 || b[0] != 'T' && b[0] != ' ' {
		return 0, false
	}
	h, rest, ok := bytes.Cut(b[1:], []byte(":"))
	if !ok || len(h) < 1 || len(h) > 2 || len(rest) < 2 {
		return 0, false
	}
	hour, minute := atoi(h), atoi(rest[:2])
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	return hour*60 + minute, true
}

// namedMonth reads dates with month names in English.
func namedMonth(s string) (stamp, bool) {
	if len(s) > 20 || !hasMonth(s) {
		return stamp{}, false
	}
	for _, layout := range []string{
		"Jan 2006", "January 2006", "Jan-2006", "2 Jan 2006", "2 January 2006", "2-Jan-2006", "Jan 2, 2006",
		"January 2, 2006", "Jan 2 2006", "2-Jan-06",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			p := byDay
			if !strings.Contains(layout, "2 ") && !strings.Contains(layout, "2-") && !strings.Contains(layout, "2,") {
				p = byMonth
			}
			return newStamp(t.Year(), int(t.Month()), t.Day(), 0, p)
		}
	}
	return stamp{}, false
}

// hasMonth tells quickly whether an English month begins in s, so that prose costs
// no parsing.
func hasMonth(s string) bool {
	i := strings.IndexFunc(s, unicode.IsLetter)
	if i < 0 || len(s) < i+3 {
		return false
	}
	return strings.Contains("jan feb mar apr may jun jul aug sep oct nov dec", strings.ToLower(s[i:i+3]))
}

// atoi reads digits; anything else is -1.
func atoi(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
