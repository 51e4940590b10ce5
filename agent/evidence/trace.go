package evidence

import (
	"math"
	"slices"
)

// Support says how the evidence supports a number.
type Support int

// The kinds of support.
const (
	// Unsupported: no source contains the number.
	Unsupported Support = iota
	// Held: a query or a text contains the number, after rounding to the written places.
	Held
	// Derived: the number is computed from two cells of one query.
	Derived
)

// Verdict is the result of Trace for a number.
type Verdict struct {
	Support Support
	// Query is the index of the query that contains the number or from which it is computed, or -1
	// if a text contains it. Text is the index of that text, otherwise -1.
	Query, Text int
	// Kind and From say how a derived number is computed from the two cells: "sum", "difference",
	// "ratio", "share" or "change".
	Kind string
	From [2]float64
}

// Limits for derived numbers.
const (
	// maxDerivedRows is the maximum number of rows of a result from which numbers are derived.
	maxDerivedRows = 60
	// maxRowPairs is the maximum number of pairs of cells in the rows of such a result: 29 columns of 60 rows.
	maxRowPairs = 25_000
	// allPairsRows is the maximum number of rows up to which any two cells of a column form a pair.
	// In larger results, only neighbours, first and last, and smallest and largest do.
	allPairsRows = 6
	// freeCells is the maximum number of numeric cells without years, over all results, up to which
	// derived numbers need no check for chance.
	freeCells = 6
	// maxChance is the maximum probability that a random number near the written one is derived.
	maxChance = 0.15
)

// candidate is a value computed from two cells of one result.
type candidate struct {
	v     float64
	kind  string
	from  [2]float64
	query int
}

// Trace determines whether the evidence contains a number: a cell of a query or a number in a text equals it after
// rounding to the written places, with thousands separators, percent (0.123 is 12.3 %) or a scale word (million). If
// several queries match, the one with the smallest result is used. Queries take precedence over texts.
//
// Otherwise the number is derived if it is the sum, the difference, the ratio, the share in percent or the change in
// percent of two cells of one column or one row of one result. Results of more than 60 rows, or with more than 25,000
// pairs of cells in their rows, are ignored. If all results together have more than six numbers, the match must be
// unlikely to be chance: there must be so few derived values between a quarter of the number and four times the number
// that a random number in that range, written with as many places, equals one of them in at most 15 of 100 cases. With
// these limits, fewer than 5 in 100 random numbers count as derived, as a test verifies.
func (s *Set) Trace(n Number) Verdict {
	s.prepare()
	if y, ok := n.year(); ok && s.years[y] {
		return Verdict{Support: Held, Query: -1, Text: -1} // a year in the question needs no query
	}
	best := Verdict{Query: -1, Text: -1}
	for i, q := range s.Queries {
		if q.contains(n) && (best.Query < 0 || q.cells < s.Queries[best.Query].cells) {
			best.Support, best.Query = Held, i
		}
	}
	if best.Support == Held {
		return best
	}
	for i, t := range s.Texts {
		if t.numbers.contains(n) {
			return Verdict{Support: Held, Query: -1, Text: i}
		}
	}
	for _, r := range n.readings {
		for _, f := range n.factors() {
			if v := s.derivedAs(n, r, f); v.Support == Derived {
				return v
			}
		}
	}
	return best
}

// contains reports whether a cell, or a text of the query, contains the number.
func (q Query) contains(n Number) bool {
	for _, row := range q.Rows {
		for c, v := range row {
			if math.IsNaN(v) {
				continue
			}
			if n.equals(value{v: v, percent: q.percent[c]}) || q.factors[c] != 1 && n.equals(value{v: v * q.factors[c]}) {
				return true
			}
		}
	}
	return q.textNumbers.contains(n)
}

func (l numbers) contains(n Number) bool { return slices.ContainsFunc(l.list, n.equals) }

// equals reports whether the number as written equals a value.
func (n Number) equals(s value) bool {
	if n.sign != 0 && s.v != 0 && (s.v < 0) != (n.sign < 0) {
		return false
	}
	v := math.Abs(s.v)
	for _, r := range n.readings {
		for _, f := range n.factors() {
			if r.matches(v / f) {
				return true
			}
		}
		switch {
		case n.Percent:
			if r.matches(v * 100) {
				return true
			}
		case s.percent && r.places > 0:
			if r.matches(v / 100) {
				return true
			}
		}
	}
	return false
}

// window returns the width of the range of values that round to the reading.
func (r reading) window() float64 { return math.Pow10(-r.places) }

// matches reports whether a value equals the reading after rounding to its places.
func (r reading) matches(v float64) bool {
	return math.Abs(v-r.value) <= r.window()/2*(1+1e-9)+math.Abs(r.value)*1e-12
}

// derivedAs searches for two cells from which a reading of the number, with one of its factors, can be computed.
func (s *Set) derivedAs(n Number, r reading, factor float64) Verdict {
	out := Verdict{Query: -1, Text: -1}
	near := 0
	for _, c := range s.derived {
		if r.value == 0 || !n.canBe(c) {
			continue
		}
		v := math.Abs(c.v)
		if c.kind == kindSum || c.kind == kindDifference {
			v /= factor
		}
		if v >= r.value/4 && v <= r.value*4 {
			near++
		}
		if out.Support != Derived && r.matches(v) {
			out = Verdict{Support: Derived, Query: c.query, Text: -1, Kind: c.kind, From: c.from}
		}
	}
	if chance := float64(near) * r.window() / (r.value * 3.75); !s.sparse && chance > maxChance {
		return Verdict{Query: -1, Text: -1}
	}
	return out
}

const (
	kindSum        = "sum"
	kindDifference = "difference"
	kindRatio      = "ratio"
	kindShare      = "share"
	kindChange     = "change"
)

// canBe reports whether a number written in this form may be such a value.
func (n Number) canBe(c candidate) bool {
	switch c.kind {
	case kindShare:
		return n.Percent
	case kindChange:
		return n.Percent && (n.sign == 0 || (c.v < 0) == (n.sign < 0))
	case kindRatio:
		return !n.Percent && len(n.scales) == 0
	case kindSum:
		return !n.Percent && (n.sign == 0 || (c.v < 0) == (n.sign < 0))
	}
	return true // a difference: either cell may come first
}

// prepare computes the values of pairs of cells, once.
func (s *Set) prepare() {
	if s.ready {
		return
	}
	s.ready, s.derived = true, nil
	amounts := 0
	for _, q := range s.Queries {
		amounts += q.amounts()
	}
	s.sparse = amounts <= freeCells
	for i := range s.Queries {
		if q, n := s.Queries[i], len(s.Queries[i].Columns); len(q.Rows) <= maxDerivedRows && len(q.Rows)*n*(n-1)/2 <= maxRowPairs {
			q.pairs(func(a, b float64, years bool) {
				s.derived = append(s.derived, derivedFrom(a, b, years, i)...)
			})
		}
	}
}

// column returns the numbers of a column, and whether they are all years.
func (q Query) column(c int) (cells []float64, years bool) {
	years = true
	for _, row := range q.Rows {
		if c < len(row) && !math.IsNaN(row[c]) {
			cells = append(cells, row[c])
			_, year := asYear(row[c])
			years = years && year
		}
	}
	return cells, years
}

// amounts returns the number of numeric cells in columns that do not consist of years.
func (q Query) amounts() (n int) {
	for c := range q.Columns {
		if cells, years := q.column(c); !years {
			n += len(cells)
		}
	}
	return n
}

// pairs calls f with every pair of cells from which a number may be computed.
func (q Query) pairs(f func(a, b float64, years bool)) {
	years := make([]bool, len(q.Columns))
	for c := range q.Columns {
		var column []float64
		column, years[c] = q.column(c)
		columnPairs(column, func(a, b float64) { f(a, b, years[c]) })
	}
	for _, row := range q.Rows {
		for i := range row {
			for j := range i {
				if !years[i] && !years[j] && !math.IsNaN(row[i]) && !math.IsNaN(row[j]) {
					f(row[j], row[i], false)
				}
			}
		}
	}
}

// columnPairs calls f with the pairs of a column, each once.
func columnPairs(column []float64, f func(a, b float64)) {
	least, most := 0, 0
	for i, v := range column {
		if v < column[least] {
			least = i
		}
		if v > column[most] {
			most = i
		}
	}
	last := len(column) - 1
	for i := range column {
		for j := range i {
			ends := j == 0 && i == last || j == min(least, most) && i == max(least, most)
			if len(column) <= allPairsRows || i-j == 1 || ends {
				f(column[j], column[i])
			}
		}
	}
}

// derivedFrom returns the values computed from two cells. For two years, only the difference makes sense.
func derivedFrom(a, b float64, years bool, query int) []candidate {
	from := [2]float64{a, b}
	out := []candidate{{b - a, kindDifference, from, query}}
	if years {
		return out
	}
	out = append(out, candidate{a + b, kindSum, from, query})
	if a != 0 {
		out = append(out, candidate{b / a, kindRatio, from, query}, candidate{100 * b / a, kindShare, from, query}, candidate{100 * (b - a) / a, kindChange, from, query})
	}
	if b != 0 {
		back := [2]float64{b, a}
		out = append(out, candidate{a / b, kindRatio, back, query}, candidate{100 * a / b, kindShare, back, query}, candidate{100 * (a - b) / b, kindChange, back, query})
	}
	return out
}
