package file

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// maxDistinct is how many different values of a column are told apart; more are
// reported as this many with distinctCapped.
const maxDistinct = 1000

// column gathers what one column of a table holds, in fixed memory.
type column struct {
	name    string
	dialect dialect
	yearly  bool // its name says that whole numbers are years

	missing, count               int
	numbers, dates, years, bools int
	sum                          float64
	low, high                    extreme
	firstDate, lastDate          stamp
	distinct                     map[string]*int
	capped                       bool
	length                       int // characters of all values, for telling prose

	previous      stamp
	rising, falls bool // dates strictly ordered so far
	whole         bool // numbers without fractions so far
}

// extreme is a smallest or largest number and the row where it stood; tied says
// that other rows have it too.
type extreme struct {
	value float64
	row   []string
	tied  bool
}

func newColumn(name string, d dialect) *column {
	return &column{
		name: name, dialect: d, yearly: saysYear(name), distinct: map[string]*int{},
		rising: true, falls: true, whole: true,
	}
}

// saysYear tells a column of years by its name.
func saysYear(name string) bool {
	n := strings.ToLower(strings.TrimSpace(name))
	return n == "yr" || n == "date" || n == "time" || n == "period" || strings.HasPrefix(n, "year") || strings.HasSuffix(n, "year")
}

// add takes one cell; row is the whole record, copied only for an extreme.
func (c *column) add(cell []byte, row [][]byte) {
	if isMissing(cell) {
		c.missing++
		return
	}
	c.count++
	c.length += len(cell)
	c.tally(cell)
	if s, ok := parseYear(cell); ok {
		c.years++
		c.date(s)
	} else if s, ok := c.dialect.parseDate(cell); ok {
		c.dates++
		c.date(s)
		return
	}
	if f, ok := c.dialect.parseNumber(cell); ok {
		c.number(f, row)
		return
	}
	if isBoolean(cell) {
		c.bools++
	}
}

func (c *column) tally(cell []byte) {
	cell = cell[:min(len(cell), 200)] // longer ones are told apart by their beginning
	if n, ok := c.distinct[string(cell)]; ok {
		*n++
		return
	}
	if len(c.distinct) >= maxDistinct {
		c.capped = true
		return
	}
	one := 1
	c.distinct[string(cell)] = &one
}

func (c *column) number(f float64, row [][]byte) {
	c.low.take(f, row, c.numbers == 0 || f < c.low.value)
	c.high.take(f, row, c.numbers == 0 || f > c.high.value)
	c.whole = c.whole && f == math.Trunc(f)
	c.numbers++
	c.sum += f
}

// take notes a value that is the most extreme so far, or equals it.
func (e *extreme) take(f float64, row [][]byte, further bool) {
	if further {
		*e = extreme{value: f, row: keepRow(row)}
	} else if f == e.value {
		e.tied = true
	}
}

func (c *column) date(s stamp) {
	if c.dates+c.years == 1 {
		c.firstDate, c.lastDate, c.previous = s, s, s
		return
	}
	c.rising = c.rising && s.minutes > c.previous.minutes
	c.falls = c.falls && s.minutes < c.previous.minutes
	c.previous = s
	if s.minutes < c.firstDate.minutes {
		c.firstDate = s
	}
	if s.minutes > c.lastDate.minutes {
		c.lastDate = s
	}
}

func keepRow(row [][]byte) []string {
	kept := make([]string, len(row))
	for i, cell := range row {
		kept[i] = short(string(cell), 60)
	}
	return kept
}

// kind is what at least nine of ten values are.
func (c *column) kind() valueType {
	most := func(n int) bool { return n > 0 && n*10 >= c.count*9 }
	switch {
	case most(c.dates), c.yearly && most(c.years+c.dates):
		return typeDate
	case most(c.numbers):
		return typeNumber
	case most(c.bools):
		return typeBoolean
	}
	return typeText
}

// odd is how many values are not of the column's kind.
func (c *column) odd() int {
	switch c.kind() {
	case typeDate:
		return c.count - c.dates - c.years
	case typeNumber:
		return c.count - c.numbers
	case typeBoolean:
		return c.count - c.bools
	case typeText:
	}
	return 0
}

// unique tells whether no value stands twice, as far as is known.
func (c *column) unique() bool {
	if c.kind() == typeDate && (c.rising || c.falls) {
		return true
	}
	return !c.capped && len(c.distinct) == c.count
}

// mean is the average of the numbers.
func (c *column) mean() float64 {
	if c.numbers == 0 {
		return 0
	}
	return c.sum / float64(c.numbers)
}

// top lists the n most frequent values, ties by value.
func (c *column) top(n int) []topValue {
	all := make([]topValue, 0, len(c.distinct))
	for v, count := range c.distinct {
		all = append(all, topValue{Value: v, Count: *count})
	}
	slices.SortFunc(all, func(a, b topValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	all = all[:min(n, len(all))]
	for i := range all {
		all[i].Value = short(all[i].Value, 40)
	}
	return all
}

// topValue is one frequent value.
type topValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// isIdentity tells columns whose numbers name things: sums of them mean nothing.
func (c *column) isIdentity() bool {
	n := strings.ToLower(c.name)
	words := strings.FieldsFunc(n, func(r rune) bool { return r == '_' || r == ' ' || r == '-' || r == '.' })
	for _, w := range words {
		switch w {
		case "id", "code", "zip", "postcode", "fips", "lat", "lon", "lng", "long", "latitude", "longitude", "index", "rank", "phone", "number", "no":
			return true
		}
	}
	return strings.HasSuffix(c.name, "Id") || strings.HasSuffix(c.name, "ID")
}

// isRate tells a column that is averaged rather than added up: by its name, or
// because all of it are fractions of one.
func (c *column) isRate() bool {
	return isRate(c.name) || c.numbers > 0 && !c.whole && c.low.value >= 0 && c.high.value <= 1
}

// isName tells a column of texts that tell the rows apart.
func (c *column) isName() bool {
	return c.kind() == typeText && c.count > 0 && c.length/c.count <= 60 && (c.capped || len(c.distinct)*10 >= c.count*8)
}

// isRate tells names of columns that are averaged rather than added up.
func isRate(name string) bool {
	n := strings.ToLower(name)
	if strings.Contains(n, "%") || strings.Contains(n, " per ") || strings.Contains(n, "_per_") {
		return true
	}
	words := strings.FieldsFunc(n, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case "age", "open", "close", "adjclose", "high", "low", "min", "max", "wind", "share", "level", "index", "score", "ppm", "co2", "rate", "ratio",
			"mm", "cm", "km", "kg", "g", "lb", "mph", "mpg", "horsepower", "acceleration":
			return true
		}
		for _, begin := range []string{
			"temp", "price", "pct", "percent", "mean", "avg", "averag", "median", "concentr", "speed", "pressur", "humid", "densit", "income", "expectanc", "adjusted", "degree", "height", "weight",
			"depth", "length", "width", "mass", "diameter", "rating", "fertil", "life", "duration", "voltage", "frequenc",
		} {
			if strings.HasPrefix(w, begin) {
				return true
			}
		}
		return false
	})
}

// tidy rounds to six significant digits, so that numbers stay short.
func tidy(f float64) float64 {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return f
	}
	digits := max(0, 6-int(math.Ceil(math.Log10(math.Abs(f)))))
	scale := math.Pow(10, float64(digits))
	return math.Round(f*scale) / scale
}
