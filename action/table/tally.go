package table

import (
	"bytes"
	"slices"
)

// tally counts the forms of the cells of one column, before its type is settled.
type tally struct {
	name string
	// missing counts cells without a value in any column, weak those that are values only in text, values all others
	// and weak. codes counts two capital letters, nas the cells "NA".
	missing, weak, values, codes, nas int
	// broken counts spreadsheet errors such as #REF!, wordy values without a digit.
	broken, wordy                 int
	numbers, pointOnly, commaOnly int
	fractionPoint, fractionComma  int
	typed, twofold                int // numbers with a fraction that the format types as such; twofold ones are two numbers as a text
	zeros, width, minWidth        int
	plain                         int // digits alone
	units                         map[string]int
	dates, firstOnes, lastOnes    int
	orders                        [monthOnly + 1]int // of day and month in dates
	clocked, midnight             int
	zoned, monthly, compact       int
	months                        int // numbers that may be months: 03.2024
	newYears                      int // dates that are the first day of a year
	bools, letters                int
	seenTrue, seenFalse           bool
	sumPoint, sumComma            sums
	// small counts whole numbers below 1,000, sentinels the numbers that mean "missing"; low and high are the range of
	// the others, including zero.
	small, sentinels int
	low, high        float64
}

// sums are the sums of all rows so far, and of those since the last subtotal.
type sums struct{ all, part float64 }

func (s *sums) add(v float64) { s.all += v; s.part += v }

// add counts one cell.
func (t *tally) add(c cell) {
	if isMissing(c.text) {
		t.missing++
		if string(c.text) == "NA" {
			t.nas++
		}
		return
	}
	t.values++
	if isWeaklyMissing(c.text) {
		t.weak++
		return
	}
	if c.text[0] == '#' && broken[string(c.text)] {
		t.broken++
		return
	}
	if n, ok := numberOf(c); ok {
		t.number(n, c)
		return
	}
	if !bytes.ContainsAny(c.text, "0123456789") {
		t.wordy++
	}
	if m, ok := parseDate(c.text); ok {
		t.date(m)
		return
	}
	if v, letter, ok := truth(c.text); ok {
		t.bools++
		t.seenTrue, t.seenFalse = t.seenTrue || v, t.seenFalse || !v
		if letter {
			t.letters++
		}
	}
	if b := c.text; len(b) == 2 && b[0] >= 'A' && b[0] <= 'Z' && b[1] >= 'A' && b[1] <= 'Z' {
		t.codes++ // such as a country: NA can be Namibia
	}
}

// numberOf reads a number. A number that its format types as such has a decimal point.
func numberOf(c cell) (number, bool) {
	n, ok := parseNumber(c.text)
	if ok && c.exact {
		n.twofold = n.okComma && n.comma != n.point
		n.okComma, n.comma, n.decimalsComma = n.okPoint, n.point, n.decimalsPoint
	}
	return n, ok
}

func (t *tally) number(n number, c cell) {
	if b := c.text; isPlain(b) {
		t.plain++
		if t.minWidth == 0 || len(b) < t.minWidth {
			t.minWidth = len(b)
		}
		t.width = max(t.width, len(b))
		if _, ok := compactDate(b); ok && b[0] <= '2' {
			t.compact++
		}
	}
	if m, ok := parseDate(c.text); ok && m.monthly {
		t.months++
	}
	if n.zeros {
		t.zeros++
		return
	}
	t.numbers++
	switch {
	case n.twofold:
		t.twofold++
	case c.exact && n.decimalsPoint > 0:
		t.typed++
	case n.okPoint && !n.okComma:
		t.pointOnly++
	case n.okComma && !n.okPoint:
		t.commaOnly++
	}
	if n.decimalsPoint > 0 || !n.okPoint && n.decimalsComma > 0 {
		t.fractionPoint++
	}
	if n.decimalsComma > 0 || !n.okComma && n.decimalsPoint > 0 {
		t.fractionComma++
	}
	if n.unit != "" {
		if t.units == nil {
			t.units = map[string]int{}
		}
		if len(t.units) < 50 || t.units[n.unit] > 0 {
			t.units[n.unit]++
		}
	}
	v, whole := n.value(false)
	if isSentinel(v) {
		t.sentinels++
	} else {
		t.low, t.high = min(t.low, v), max(t.high, v)
	}
	if whole && v > -1000 && v < 1000 {
		t.small++
	}
	t.sumPoint.add(v)
	v, _ = n.value(true)
	t.sumComma.add(v)
}

// isSentinel reports whether v is a number that means a missing value in measurements.
func isSentinel(v float64) bool { return v == -999 || v == -9999 || v == -99999 || v == -999.9 }

// isPlain reports whether b contains only digits.
func isPlain(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return !isDigit(c) })
}

func (t *tally) date(m moment) {
	t.dates++
	t.orders[m.order]++
	if m.order == undecided && m.month == 1 {
		t.firstOnes++
	}
	if m.order == undecided && m.day == 1 {
		t.lastOnes++
	}
	if m.clock >= 0 {
		t.clocked++
		if m.clock == 0 && m.nanos == 0 {
			t.midnight++
		}
	}
	if m.zone {
		t.zoned++
	}
	if m.month == 1 && m.day == 1 && m.clock <= 0 {
		t.newYears++
	}
	if m.monthly {
		t.monthly++
	}
}
