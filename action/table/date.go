package table

import (
	"bytes"
	"strings"
	"time"
	"unicode"
)

// order is the order of day and month in a date.
type order int

const (
	settled   order = iota // by a month's name or a leading year
	dotted                 // 3.4.2024: day first
	undecided              // 3/4/2024: the column decides
	dayOnly                // 13/4/2024
	monthOnly              // 4/13/2024
)

// moment is a date as written, with an optional time.
type moment struct {
	year int
	// month and day are settled, or the first and second number if order is undecided.
	month, day int
	order      order
	// clock is the second of the day, or -1 without a time; nanos are the nanoseconds after it.
	clock, nanos int
	// zone reports whether a time zone is written: Z or +02:00.
	zone bool
	// monthly reports whether no day is written.
	monthly bool
}

// valid reports whether m is a day of the calendar.
func (m moment) valid() bool {
	if m.year < 1 || m.year > 9999 || m.month < 1 || m.month > 12 || m.day < 1 || m.day > 31 {
		return false
	}
	return m.day <= 28 || time.Date(m.year, time.Month(m.month), m.day, 0, 0, 0, 0, time.UTC).Day() == m.day
}

// settle returns the moment under the column's order of day and month.
func (m moment) settle(dayFirst bool) (moment, bool) {
	if dayFirst && m.order != settled && m.order != dotted {
		m.month, m.day = m.day, m.month
	}
	return m, m.valid()
}

// text returns the moment in ISO form.
func (m moment) text(withClock bool) string {
	t := time.Date(m.year, time.Month(m.month), m.day, 0, 0, max(0, m.clock), m.nanos, time.UTC)
	if withClock {
		return t.Format(time.DateTime + ".999999999")
	}
	return t.Format(time.DateOnly)
}

// maxDate is the maximum length of a date, in bytes.
const maxDate = 40

// parseDate reads ISO dates and times, 31.12.2024, 12/31/2024, 31.12.24, 2024-03, 03.2024, 3 March
// 2024, Mar 2024, with optional
// times after them. Bare years are numbers.
func parseDate(b []byte) (moment, bool) {
	if len(b) < 6 || len(b) > maxDate {
		return moment{}, false
	}
	if b[0] < '0' || b[0] > '9' {
		return namedMonth(b)
	}
	parts, n, sep, rest := splitDate(b)
	m := moment{clock: -1}
	if n < 2 || len(rest) > 0 && (n != 3 || !m.time(rest)) {
		return namedMonth(b)
	}
	return m.numeric(parts, n, sep)
}

// compactDate reads 20240301.
func compactDate(b []byte) (moment, bool) {
	if len(b) != 8 {
		return moment{}, false
	}
	m := moment{year: digits(b[:4]), month: digits(b[4:6]), day: digits(b[6:])}
	return m, m.valid()
}

// numeric reads a date of numbers.
func (m moment) numeric(parts [3][]byte, n int, sep byte) (moment, bool) {
	first, second, third := digits(parts[0]), digits(parts[1]), digits(parts[2])
	switch {
	case n == 2:
		m.monthly, m.day = true, 1
		switch {
		case sep == '.' && (len(parts[0]) != 2 || len(parts[1]) != 4 || second < 1900 || second > 2100):
			return moment{}, false // a number, but 03.2024 is March
		case len(parts[0]) == 4 && len(parts[1]) == 2:
			m.year, m.month = first, second
		case len(parts[1]) == 4 && len(parts[0]) <= 2:
			m.year, m.month = second, first
		}
		return m, m.year >= 1000 && m.year < 3000 && m.valid()
	case len(parts[0]) == 4 && len(parts[1]) <= 2 && len(parts[2]) <= 2:
		m.year, m.month, m.day = first, second, third
		return m, m.valid()
	case len(parts[0]) > 2 || len(parts[1]) > 2:
		return moment{}, false
	case len(parts[2]) == 4:
		m.year = third
	case len(parts[2]) == 2 && sep != '-':
		m.year = century(third)
	default:
		return moment{}, false
	}
	if sep == '.' {
		m.order, m.month, m.day = dotted, second, first
		return m, m.valid()
	}
	m.month, m.day, m.order = first, second, undecided
	switch {
	case first > 12 && second > 12:
		return moment{}, false
	case first > 12:
		m.order = dayOnly
		return m, moment{year: m.year, month: second, day: first}.valid()
	case second > 12:
		m.order = monthOnly
	}
	return m, m.order == undecided && first > 0 && second > 0 || m.valid()
}

// century completes a year of two digits: 00 to 69 are in this century, the others in the last one.
func century(y int) int {
	if y < 70 {
		return 2000 + y
	}
	return 1900 + y
}

// splitDate splits b into up to three numbers and the rest.
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
		if n == 3 || i == len(b) || b[i] != '-' && b[i] != '/' && b[i] != '.' || sep != 0 && b[i] != sep {
			break
		}
		sep = b[i]
		i++
	}
	return parts, n, sep, b[i:]
}

// time reads T15:04, " 15:04:05.000Z", " 3:04 PM", " 15:04 Uhr" and similar forms.
func (m *moment) time(b []byte) bool {
	if b[0] != 'T' && b[0] != ' ' && b[0] != ',' {
		return false
	}
	b = bytes.TrimLeft(b, "T, ")
	h, rest, ok := bytes.Cut(b, []byte(":"))
	if !ok || len(h) < 1 || len(h) > 2 || len(rest) < 2 {
		return false
	}
	hour, minute, second := digits(h), digits(rest[:2]), 0
	rest = rest[2:]
	if len(rest) >= 3 && rest[0] == ':' {
		second, rest = digits(rest[1:3]), rest[3:]
		if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
			tail := bytes.TrimLeft(rest[1:], "0123456789")
			m.nanos = digits([]byte((string(rest[1:len(rest)-len(tail)]) + "000000000")[:9]))
			rest = tail
		}
	}
	tail := strings.ToLower(string(bytes.TrimSpace(rest)))
	half, zone, _ := strings.Cut(tail, " ")
	switch half {
	case "am", "a.m.":
		hour %= 12
		tail = zone
	case "pm", "p.m.":
		hour = hour%12 + 12
		tail = zone
	}
	switch {
	case tail == "" || tail == "uhr" || tail == "h":
	case isZone(tail):
		m.zone = true
	default:
		return false
	}
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return false
	}
	m.clock = hour*3600 + minute*60 + second
	return true
}

// isZone reports whether s is a time zone: z, utc, +02:00, gmt+1.
func isZone(s string) bool {
	for _, name := range []string{"utc", "gmt", "z"} {
		if rest, ok := strings.CutPrefix(s, name); ok {
			s = rest
			break
		}
	}
	return s == "" || len(s) >= 2 && (s[0] == '+' || s[0] == '-') && digits([]byte(strings.ReplaceAll(s[1:], ":", ""))) >= 0
}

// namedMonth reads a date with the name of a month.
func namedMonth(b []byte) (moment, bool) {
	if !hasMonth(b) {
		return moment{}, false
	}
	m := moment{clock: -1}
	if i := bytes.IndexByte(b, ':'); i > 0 {
		at := bytes.LastIndexAny(b[:i], " ,T")
		if at < 0 || !m.time(b[at:]) {
			return moment{}, false
		}
		b = b[:at]
	}
	var numbers []string
	for _, w := range strings.FieldsFunc(string(b), func(r rune) bool { return r == ' ' || r == '-' || r == '/' || r == ',' || r == '.' || r == '\u00a0' }) {
		switch {
		case w[0] >= '0' && w[0] <= '9' || w[0] == '\'':
			w = strings.TrimPrefix(w, "'")
			for _, end := range []string{"st", "nd", "rd", "th", "er"} {
				w = strings.TrimSuffix(w, end)
			}
			numbers = append(numbers, w)
		case monthOf(w) > 0 && m.month == 0:
			m.month = monthOf(w)
		case !weekdays[strings.ToLower(w)]:
			return moment{}, false
		}
	}
	var year string
	switch len(numbers) {
	case 1:
		year, m.monthly, m.day = numbers[0], true, 1
	case 2:
		day := numbers[0]
		year = numbers[1]
		if len(day) == 4 {
			day, year = year, day
		}
		if m.day = digits([]byte(day)); len(day) > 2 {
			return moment{}, false
		}
	default:
		return moment{}, false
	}
	m.year = digits([]byte(year))
	if len(year) == 2 {
		m.year = century(m.year)
	} else if len(year) != 4 {
		return moment{}, false
	}
	return m, m.month > 0 && m.valid()
}

// hasMonth reports quickly whether a word of b may be a month, so that prose costs little.
func hasMonth(b []byte) bool {
	if bytes.IndexFunc(b, unicode.IsDigit) < 0 {
		return false
	}
	for w := range bytes.FieldsFuncSeq(b, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if monthOf(string(w)) > 0 {
			return true
		}
	}
	return false
}

// months maps the names of the months in English, German and French to their numbers.
var months = numbered(
	"jan january januar jänner janvier janv", "feb february februar feber février fevrier févr fevr fév", "mar march mär märz maerz mrz mars",
	"apr april avril avr", "may mai", "jun june juni juin", "jul july juli juillet juil", "aug august août aout",
	"sep sept september septembre", "oct october okt oktober octobre", "nov november novembre", "dec december dez dezember décembre déc",
)

func numbered(names ...string) map[string]int {
	m := map[string]int{}
	for i, list := range names {
		for _, name := range strings.Fields(list) {
			m[name] = i + 1
		}
	}
	return m
}

// monthOf returns the number of a named month, or 0 for another word.
func monthOf(w string) int {
	if len(w) < 3 || len(w) > 10 {
		return 0
	}
	return months[strings.ToLower(w)]
}

// weekdays are the names of the days of the week, and other words that occur in dates.
var weekdays = wordSet(`mon tue wed thu fri sat sun tues thur thurs monday tuesday wednesday thursday friday saturday sunday
	mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag
	lundi mardi mercredi jeudi vendredi samedi dimanche of de le den`)

// digits returns the value of up to nine digits, or -1 for anything else.
func digits(b []byte) int {
	if len(b) == 0 || len(b) > 9 {
		return -1
	}
	n := 0
	for _, c := range b {
		if !isDigit(c) {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
