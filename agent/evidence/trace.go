package evidence

import (
	"math"
	"slices"
)

// Support is how the evidence bears a number.
type Support int

// The kinds of support.
const (
	// Unsupported: no source holds the number.
	Unsupported Support = iota
	// Held: a query or a text has the number, after rounding to the written places.
	Held
	// Derived: the number is computed from two cells of one query.
	Derived
)

// Verdict is what Trace says of a number.
type Verdict struct {
	Support Support
	// Query is the index of the query that holds the number or that it is computed from,
	// -1 where a text holds it; Text is the index of that text, else -1.
	Query, Text int
	// Kind and From say how a derived number is computed: "sum", "difference", "ratio",
	// "share" or "change", of the two cells.
	Kind string
	From [2]float64
}

// The bounds of what counts as derived.
const (
	// maxDerivedRows is how many rows a result may have that numbers are derived from.
	maxDerivedRows = 60
	// allPairsRows is up to how many rows any two cells of a column are a pair; in larger
	// results neighbours, first and last, and smallest and largest are.
	allPairsRows = 6
	// freeCells is up to how many numeric cells, years left out, all results together are so
	// few that what is derived from them needs no check of chance.
	freeCells = 6
	// maxChance is how likely a random number near the one written may be derived, at most.
	maxChance = 0.15
)

// candidate is a value that two cells of one result give.
type candidate struct {
	v     float64
	kind  string
	from  [2]float64
	query int
}

// Trace decides whether the evidence holds a number: a cell of a query or a number of a
// text equals it after rounding to the written places, with thousands separators, percent
// (0.123 is 12.3 %) or a scale word (million). Of several queries the smallest result
// counts, and queries count before texts.
//
// Else it is derived if it is the sum, the difference, the ratio, the share in percent or
// the change in percent of two cells of one column or one row of one result. Results of
// more than 60 rows do not count, and where all results together have more than six
// numbers the match must not be chance: the values that all results give between a quarter of the number and
// four times it must be so few that a random number there, written with as many places,
// equals one of them in at most 15 of 100 cases. Of all random numbers fewer than 5 in 100
// are then taken for derived ones, which a test measures.
func (s *Set) Trace(n Number) Verdict {
	s.prepare()
	if y, ok := n.year(); ok && s.years[y] {
		return Verdict{Support: Held, Query: -1, Text: -1} // a year of the question needs no query
	}
	best := Verdict{Query: -1, Text: -1}
	for i, q := range s.Queries {
		if q.holds(n) && (best.Query < 0 || q.cells < s.Queries[best.Query].cells) {
			best.Support, best.Query = Held, i
		}
	}
	if best.Support == Held {
		return best
	}
	for i, t := range s.Texts {
		if t.numbers.hold(n) {
			return Verdict{Support: Held, Query: -1, Text: i}
		}
	}
	return s.derive(n)
}

// holds reports whether a cell, or a word beside the cells, has the number.
func (q Query) holds(n Number) bool {
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
	return q.words.hold(n)
}

func (l numbers) hold(n Number) bool { return slices.ContainsFunc(l.list, n.equals) }

// equals compares the number as it is written with a value.
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

// window is the width of the values that round to the reading.
func (r reading) window() float64 { return math.Pow10(-r.places) }

// matches reports whether a value is the reading after rounding to its places.
func (r reading) matches(v float64) bool {
	return math.Abs(v-r.value) <= r.window()/2*(1+1e-9)+math.Abs(r.value)*1e-12
}

// derive looks for two cells that give the number.
func (s *Set) derive(n Number) Verdict {
	for _, r := range n.readings {
		for _, f := range n.factors() {
			if v := s.derivedAs(n, r, f); v.Support == Derived {
				return v
			}
		}
	}
	return Verdict{Query: -1, Text: -1}
}

// derivedAs is derive for one reading with one factor.
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
	if chance := float64(near) * r.window() / (r.value * 3.75); !s.few && chance > maxChance {
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

// canBe reports whether a number written like this may be such a value.
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
	return true // a difference: either cell may be the first
}

// prepare makes what pairs of cells give, once.
func (s *Set) prepare() {
	if s.ready {
		return
	}
	s.ready, s.derived = true, nil
	amounts := 0
	for _, q := range s.Queries {
		amounts += q.amounts()
	}
	s.few = amounts <= freeCells
	for i := range s.Queries {
		if q := s.Queries[i]; len(q.Rows) <= maxDerivedRows {
			q.pairs(func(a, b float64, years bool) {
				s.derived = append(s.derived, derivedFrom(a, b, years, i)...)
			})
		}
	}
}

// column gives the numbers of a column, and whether they are all years.
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

// amounts counts the numeric cells that are no years.
func (q Query) amounts() (n int) {
	for c := range q.Columns {
		if cells, years := q.column(c); !years {
			n += len(cells)
		}
	}
	return n
}

// pairs calls f with every two cells that a number may be computed from.
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

// derivedFrom lists what two cells give. Of two years only the span makes sense.
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
