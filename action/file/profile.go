package file

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a profile, so that any table fits a prompt.
const (
	maxColumns = 20
	maxSeries  = 8
	maxPoints  = 60
	maxGroups  = 1000
	maxNames   = 50_000 // names on an axis that are compared before the largest are chosen
	// A few rows show what they look like; of a table of relations they are the content.
	sampleRows   = 5
	relationRows = 200
)

// table is the profile of a table as models see it.
type table struct {
	RowCount int `json:"rowCount"`
	// Columns are the first 20; MoreColumns names how many there are beyond.
	Columns     []columnView `json:"columns"`
	MoreColumns int          `json:"moreColumns,omitempty"`
	// X, GroupBy and Measure name the columns behind Series and Totals.
	X       string `json:"x,omitempty"`
	GroupBy string `json:"groupBy,omitempty"`
	Measure string `json:"measure,omitempty"`
	// XCount is how many values X has, where the series show only the largest of them.
	XCount int `json:"xCount,omitempty"`
	// Aggregation is how rows became points: none, sum or mean.
	Aggregation string `json:"aggregation"`
	// Bucket is what one point covers where rows were drawn together: month, 2 years.
	Bucket     string     `json:"bucket,omitempty"`
	Series     []series   `json:"series,omitempty"`
	Totals     []total    `json:"totals,omitempty"`
	SampleRows [][]string `json:"sampleRows,omitempty"`
}

// columnView is one column of a profile.
type columnView struct {
	Name    string    `json:"name"`
	Type    valueType `json:"type"`
	Missing int       `json:"missing"`
	// Distinct counts different values, up to 1,000; DistinctCapped says there are more.
	Distinct       int  `json:"distinct"`
	DistinctCapped bool `json:"distinctCapped,omitempty"`
	// Min and Max are numbers or dates; MinAt and MaxAt say in which row, as the
	// row's date or name.
	Min   any        `json:"min,omitempty"`
	Max   any        `json:"max,omitempty"`
	MinAt string     `json:"minAt,omitempty"`
	MaxAt string     `json:"maxAt,omitempty"`
	Mean  *float64   `json:"mean,omitempty"`
	Sum   *float64   `json:"sum,omitempty"`
	Top   []topValue `json:"top,omitempty"`
}

// series is one line, set of bars or slice of a chart.
type series struct {
	Name    string `json:"name"`
	Measure string `json:"measure"`
	// Aggregation is set where it differs from the table's.
	Aggregation string   `json:"aggregation,omitempty"`
	Points      [][2]any `json:"points"`
}

// total is one group's sum (or mean, where adding up means nothing) and its share
// of all groups.
type total struct {
	Group   string   `json:"group"`
	Measure string   `json:"measure"`
	Value   float64  `json:"value"`
	Share   *float64 `json:"share,omitempty"`
}

// profiler makes the profile of one table.
type profiler struct {
	src     rows
	columns []*column
	count   int
	sample  [][]string
	keep    int // rows of the sample
	notes   []string
}

// profile streams the table twice: once for its columns, once for its series.
func profile(ctx context.Context, src rows) (table, []string, error) {
	p := &profiler{src: src, keep: sampleRows}
	if relates(src.header()) {
		p.keep = relationRows
	}
	for _, name := range src.header() {
		p.columns = append(p.columns, newColumn(name, src.dialect()))
	}
	if err := src.each(ctx, p.add); err != nil {
		return table{}, nil, err
	}
	t := table{RowCount: p.count, SampleRows: p.sample, Aggregation: "none"}
	plan := p.plan()
	if plan.usable() {
		s := newSeriesMaker(p, plan)
		if err := src.each(ctx, s.add); err != nil {
			return table{}, nil, err
		}
		s.finish(&t)
		p.notes = append(p.notes, s.notes...)
	}
	p.describe(&t, plan)
	return t, append(p.notes, src.warnings()...), nil
}

// relates tells a table that says what is linked to what by the names of its columns.
func relates(header []string) bool {
	if len(header) > 6 {
		return false
	}
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) })
	}
	return has("from") && has("to") || has("source") && has("target") || has("parent") && has("child")
}

func (p *profiler) add(cells [][]byte) error {
	p.count++
	if len(p.sample) < p.keep {
		p.sample = append(p.sample, keepRow(cells))
	}
	for i, c := range p.columns {
		c.add(cells[i], cells)
	}
	return nil
}

// describe writes the columns into t.
func (p *profiler) describe(t *table, plan plan) {
	for i, c := range p.columns {
		if odd := c.odd(); odd > 0 {
			p.notes = append(p.notes, fmt.Sprintf("%d values of column %q are no %s and are left out of its figures", odd, c.name, c.kind()))
		}
		if i < maxColumns {
			t.Columns = append(t.Columns, p.view(c, plan))
		}
	}
	t.MoreColumns = max(0, len(p.columns)-maxColumns)
	for i, row := range t.SampleRows {
		t.SampleRows[i] = row[:min(len(row), maxColumns)]
	}
}

func (p *profiler) view(c *column, plan plan) columnView {
	v := columnView{Name: c.name, Type: c.kind(), Missing: c.missing, Distinct: len(c.distinct), DistinctCapped: c.capped}
	switch v.Type {
	case typeNumber:
		mean, sum := tidy(c.mean()), tidy(c.sum)
		v.Min, v.Max, v.Mean = tidy(c.low.value), tidy(c.high.value), &mean
		if !c.isIdentity() && !c.isRate() {
			v.Sum = &sum
		}
		v.MinAt, v.MaxAt = p.where(c.low, c, plan), p.where(c.high, c, plan)
	case typeDate:
		if c.dates+c.years > 0 {
			v.Min, v.Max = c.firstDate.String(), c.lastDate.String()
		}
	case typeText, typeBoolean:
		if n := c.top(5); len(n) > 0 && n[0].Count > 1 || len(n) > 0 && len(c.distinct) <= 5 {
			v.Top = n
		}
	}
	return v
}

// where names the row of an extreme: its name, else its date or place on the x axis
// with the group in brackets. Several rows with the same extreme have no name.
func (p *profiler) where(e extreme, self *column, plan plan) string {
	if e.tied || self.isIdentity() {
		return ""
	}
	show := func(i int) string {
		if i < 0 || i >= len(e.row) || p.columns[i] == self {
			return ""
		}
		return p.columns[i].show(e.row[i])
	}
	first, second := show(plan.x), show(plan.group)
	if i := slices.IndexFunc(p.columns, (*column).isName); i >= 0 && i != plan.group {
		first, second = show(i), ""
		if plan.dated {
			second = show(plan.x)
		}
	}
	switch {
	case first == "":
		return second
	case second == "" || second == first:
		return first
	}
	return first + " (" + second + ")"
}

func (p *profiler) firstText() int {
	return slices.IndexFunc(p.columns, func(c *column) bool { return c.kind() == typeText })
}

// show writes a cell as short as its column allows: whole years as years.
func (c *column) show(cell string) string {
	if c.kind() != typeDate {
		return short(cell, 60)
	}
	s, ok := c.stamp([]byte(cell))
	switch {
	case !ok:
		return short(cell, 30)
	case c.wholeYears():
		return strconv.Itoa(s.time().Year())
	}
	return s.String()
}

// stamp reads a date of this column.
func (c *column) stamp(cell []byte) (stamp, bool) {
	if s, ok := parseYear(cell); ok {
		return s, true
	}
	return c.dialect.parseDate(cell)
}

// wholeYears tells a column all of whose dates are first days of a year.
func (c *column) wholeYears() bool {
	return c.dates == 0 || c.all(func(t time.Time) bool { return t.YearDay() == 1 && t.Hour() == 0 && t.Minute() == 0 })
}
