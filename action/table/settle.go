package table

import (
	"cmp"
	"fmt"
	"slices"
)

// threshold is the percentage of a column's values that must be numbers (or dates) to make it a column of numbers (or
// dates). wordyThreshold suffices if all other values are words without a digit, such as "see note". The others are
// then unusable.
const (
	threshold      = 80
	wordyThreshold = 66
)

// reachesThreshold reports whether n reaches the threshold of the values that are not missing. Spreadsheet errors do
// not count.
func (t *tally) reachesThreshold(n int) bool {
	all := t.values - t.weak - t.broken
	return n > 0 && (n*100 >= all*threshold || n*100 >= all*wordyThreshold && n+t.wordy == all)
}

// column is the settled description of one column.
type column struct {
	name string
	kind Type
	unit string
	// comma reads ambiguous numbers with a decimal comma; dayFirst reads 3/4/2024 as 3 April.
	comma, dayFirst bool
	// retyped reads 1.234 as a text although it is typed as a number.
	retyped bool
	// compact reads 20240301 as a date, yearly 2024-01-01 as the year 2024, zeros 03 as 3, code NA as a value and
	// sentinel -999 as missing.
	compact, yearly, zeros, code, sentinel bool
	notes                                  []string
	stats
}

// settle determines the type of a column. hint is how the file writes ambiguous numbers and dates.
func (t *tally) settle(hint style) *column {
	c := &column{name: t.name, kind: Text, code: t.codes*100 >= t.values*threshold && t.codes > 0}
	calendar := t.zeros > 0 && isCalendar(t.name) && t.width <= 4
	numeric := t.numbers
	if calendar {
		c.zeros, numeric = true, t.numbers+t.zeros
	}
	keyed := t.zeros > 0 && !calendar && (t.zeros*100 >= t.values || t.minWidth == t.width) || isKey(t.name) && t.fractionPoint == 0 && len(t.units) == 0
	switch {
	case t.values == t.weak:
	case t.reachesThreshold(t.compact) && isDateName(t.name):
		c.kind, c.compact = Date, true
	case t.months > 0 && t.months+t.dates == t.values-t.weak && (t.dates > 0 || isDateName(t.name)):
		c.kind, t.monthly, t.dates = Date, t.months+t.monthly, t.months+t.dates
		t.settleDates(c, hint)
	case t.dates == t.values-t.weak && t.newYears == t.dates && slices.ContainsFunc(words(t.name), func(w string) bool { return yearWords[w] }):
		c.kind, c.yearly = Integer, true
		c.notes = append(c.notes, "dates, all of them 1 January, are stored as years")
	case t.reachesThreshold(t.dates):
		c.kind = Date
		t.settleDates(c, hint)
	case t.bools == t.values-t.weak-t.broken && t.bools > 0 && (t.letters == 0 || t.seenTrue && t.seenFalse):
		c.kind = Boolean
	case keyed || t.plain == t.values && t.minWidth == t.width && t.width >= 12:
	case t.reachesThreshold(numeric):
		t.settleNumbers(c, hint)
	}
	return c
}

// settleNumbers determines decimal sign and unit.
func (t *tally) settleNumbers(c *column, hint style) {
	unit, n, with := "", 0, 0
	for u, count := range t.units {
		with += count
		if count > n || count == n && u < unit {
			unit, n = u, count
		}
	}
	// A currency may accompany only some numbers; any other unit must accompany at least half of them.
	if _, money := currency(unit); n*2 < t.numbers && (!money || with != n) {
		unit, n = "", 0
	}
	if with > n && (t.numbers-with+n)*100 < (t.values-t.weak)*threshold {
		return // several units: the numbers cannot be compared
	}
	c.unit = unit
	c.comma = t.commaOnly > t.pointOnly || t.commaOnly == t.pointOnly && hint.comma
	c.retyped = t.twofold > 0 && t.typed == 0 && t.commaOnly > 0 // numbers that a workbook stores as text
	fraction := t.fractionPoint
	if c.comma {
		fraction = t.fractionComma
	}
	c.kind = Integer
	if fraction > 0 {
		c.kind = Number
	}
	if other := min(t.commaOnly, t.pointOnly); other > 0 {
		c.notes = append(c.notes, counted(other, "number has the other decimal sign", "numbers have the other decimal sign"))
	}
	grouped := c.kind == Integer && t.small > 0 && t.width <= 3 // 1,200 next to 450, and no 1200
	if t.commaOnly+t.pointOnly == 0 && t.fractionPoint != t.fractionComma && !hint.sure && !grouped {
		sign := "."
		if c.comma {
			sign = ","
		}
		c.notes = append(c.notes, "ambiguous thousands and decimal signs are read with the decimal sign "+sign)
	}
	if t.sentinels > 0 && t.low > -90 {
		c.sentinel = true
		c.notes = append(c.notes, fmt.Sprintf("-999 and the like (%s) are taken as missing", counted(t.sentinels, "time", "times")))
	}
}

// settleDates determines the order of day and month, and whether the column has times.
func (t *tally) settleDates(c *column, hint style) {
	if t.clocked > t.midnight {
		c.kind = DateTime
	}
	switch {
	case t.orders[dayOnly] != t.orders[monthOnly]:
		c.dayFirst = t.orders[dayOnly] > t.orders[monthOnly]
	case t.orders[undecided] == 0:
	case t.firstOnes == t.orders[undecided] && t.lastOnes < t.orders[undecided]:
		c.dayFirst = true // the first days of months
	case t.lastOnes == t.orders[undecided] && t.firstOnes < t.orders[undecided]:
	default:
		c.dayFirst = hint.comma
		order := "month/day"
		if c.dayFirst {
			order = "day/month"
		}
		c.notes = append(c.notes, "the order of day and month is ambiguous and is read as "+order)
	}
	if t.orders[dayOnly] > 0 && t.orders[monthOnly] > 0 {
		c.notes = append(c.notes, "dates have both orders of day and month")
	}
	if t.monthly > 0 && t.monthly == t.dates {
		c.notes = append(c.notes, "months, each stored as its first day")
	}
	if t.zoned > 0 {
		c.notes = append(c.notes, "times are stored as written, without their time zone")
	}
}

// commonStyle returns how the other columns of the file write numbers, for columns that are ambiguous: sure if at least
// one shows it.
func commonStyle(tallies []*tally, hint style) style {
	point, comma := 0, 0
	for _, t := range tallies {
		if !t.reachesThreshold(t.numbers) && !t.reachesThreshold(t.dates) {
			continue
		}
		switch {
		case t.commaOnly > t.pointOnly || t.orders[dayOnly] > t.orders[monthOnly] && !hint.sure || t.orders[dotted]*2 > t.dates && t.dates > 0:
			comma++
		case t.pointOnly > t.commaOnly || t.orders[monthOnly] > t.orders[dayOnly]:
			point++
		}
	}
	order := cmp.Compare(comma, point)
	return style{comma: order > 0 || order == 0 && hint.comma, sure: order != 0}
}
