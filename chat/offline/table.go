package offline

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// table is the profile that the Read File action makes of a table.
type table struct {
	RowCount    int64    `json:"rowCount"`
	Columns     []column `json:"columns"`
	X           string   `json:"x,omitempty"`
	GroupBy     string   `json:"groupBy,omitempty"`
	Measure     string   `json:"measure,omitempty"`
	Series      []line   `json:"series,omitempty"`
	Totals      []total  `json:"totals,omitempty"`
	Aggregation string   `json:"aggregation,omitempty"`
	// Bucket is what one point of a long series stands for: month, 2 years.
	Bucket string `json:"bucket,omitempty"`
	// XCount is how many names the axis has of which the series show the largest.
	XCount int `json:"xCount,omitempty"`
	// SampleRows are the first rows; of a table of relations, all that fit.
	SampleRows [][]string `json:"sampleRows,omitempty"`
	// Name and Unit are those of numbers that a task itself gives.
	Name string `json:"-"`
	Unit string `json:"-"`
}

type column struct {
	Name string   `json:"name"`
	Type string   `json:"type"`
	Min  any      `json:"min,omitempty"`
	Max  any      `json:"max,omitempty"`
	Mean *float64 `json:"mean,omitempty"`
	Sum  *float64 `json:"sum,omitempty"`
	Top  []topOne `json:"top,omitempty"`
}

type topOne struct {
	Value any     `json:"value"`
	Count float64 `json:"count"`
}

type line struct {
	Name    string  `json:"name"`
	Measure string  `json:"measure,omitempty"`
	Points  []point `json:"points"`
}

type total struct {
	Group   string  `json:"group"`
	Measure string  `json:"measure,omitempty"`
	Value   float64 `json:"value"`
	Share   float64 `json:"share"`
}

// point is one [x, y] pair; y may be null.
type point struct {
	X string
	Y *float64
}

// UnmarshalJSON reads a pair.
func (p *point) UnmarshalJSON(b []byte) error {
	var pair []any
	if err := json.Unmarshal(b, &pair); err != nil || len(pair) < 2 {
		return err
	}
	switch x := pair[0].(type) {
	case string:
		p.X = x
	case float64:
		p.X = strconv.FormatFloat(x, 'f', -1, 64)
	}
	if y, ok := pair[1].(float64); ok && !math.IsNaN(y) {
		p.Y = &y
	}
	return nil
}

// MarshalJSON writes a pair.
func (p point) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.X, p.Y}) }

// ends gives the first and last points that have a value.
func (l line) ends() (first, last point, ok bool) {
	for _, p := range l.Points {
		if p.Y == nil {
			continue
		}
		if !ok {
			first = p
		}
		last, ok = p, true
	}
	return first, last, ok && first.X != last.X
}

// extremes gives the points with the least and the greatest value.
func (l line) extremes() (low, high point, ok bool) {
	for _, p := range l.Points {
		if p.Y == nil {
			continue
		}
		if !ok || *p.Y < *low.Y {
			low = p
		}
		if !ok || *p.Y > *high.Y {
			high = p
		}
		ok = true
	}
	return low, high, ok
}

func (l line) sum() float64 {
	s := 0.0
	for _, p := range l.Points {
		if p.Y != nil {
			s += *p.Y
		}
	}
	return s
}

// aggregateName tells a group that is the sum of the others by its name.
func aggregateName(name string) bool {
	n := strings.ToLower(strings.TrimSpace(name))
	return n == "all" || n == "total" || n == "world" || strings.HasPrefix(n, "all ") || strings.HasPrefix(n, "total ") || strings.HasSuffix(n, " total")
}

// split separates a table's series into parts and the aggregate of them, if the
// table has one beside its parts.
func (t *table) split() (parts []line, all *line) {
	for i, l := range t.Series {
		if len(t.Series) > 2 && aggregateName(l.Name) && all == nil {
			all = &t.Series[i]
			continue
		}
		parts = append(parts, l)
	}
	return parts, all
}

// mostTotals is how many totals a profile names; there may be more.
const mostTotals = 15

// shares gives each part's share of the sum, largest first, aggregates left out.
func (t *table) shares() []total {
	var out []total
	sum, known := 0.0, 0.0
	for _, v := range t.Totals {
		if len(t.Totals) > 2 && aggregateName(v.Group) {
			continue
		}
		if v.Value < 0 {
			return nil
		}
		sum, known = sum+v.Value, known+v.Share
		out = append(out, v)
	}
	if sum == 0 || len(out) < 2 || known == 0 && len(t.Totals) >= mostTotals {
		return nil
	}
	for i := range out {
		if known == 0 { // else they are parts of a whole of which only the largest are here
			out[i].Share = out[i].Value / sum
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Value > out[j].Value })
	return out
}

// temporal tells whether the axis is time, so that first and last mean something.
func (t *table) temporal() bool {
	return slices.ContainsFunc(t.Columns, func(c column) bool { return c.Name == t.X && c.Type == "date" }) || t.X == "" && t.dated()
}

// dated tells whether every point of the series stands at a date or a year.
func (t *table) dated() bool {
	for _, l := range t.Series {
		for _, p := range l.Points {
			if !sortable([]string{p.X}) {
				return false
			}
		}
	}
	return len(t.Series) > 0
}

// additive tells whether the sum of a measure over time means something: shares,
// rates, means, temperatures and concentrations do not add up.
func (t *table) additive() bool {
	return t.Aggregation != "mean" && t.GroupBy != ""
}

// label shortens a date on an axis to what varies: 2001-01-01 → 2001.
func label(xs []string) []string {
	yearly := len(xs) > 0
	for _, x := range xs {
		yearly = yearly && len(x) == 10 && strings.HasSuffix(x, "-01-01")
	}
	if !yearly {
		return xs
	}
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = x[:4]
	}
	return out
}

// when writes one x value for a sentence.
func when(x string) string {
	if len(x) == 10 && strings.HasSuffix(x, "-01-01") {
		return x[:4]
	}
	if len(x) == 10 && x[4] == '-' && x[7] == '-' {
		return x[:7]
	}
	return x
}
