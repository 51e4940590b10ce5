package table

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/media"
)

const (
	// minPeriods is the minimum number of columns named by periods in a wide table, maxPeriods the maximum number in
	// its long form: SQLite joins no more selects.
	minPeriods = 3
	maxPeriods = 400
)

// period is a column named by a year, month or quarter.
type period struct {
	column *column
	// year is set for years, month for months without a year, text for others; text sorts by time.
	year, month int
	text        string
}

// lengthen adds the long form of a wide table (one column for each year or month) as a view: the columns that are not
// numbers, year or period, and value.
func (s *store) lengthen(ctx context.Context, tb *table, n names) (*table, error) {
	all := periodsOf(tb)
	if len(all) < minPeriods || tb.rows == 0 {
		return nil, nil
	}
	what := "years"
	if all[0].year == 0 {
		what = "periods"
	}
	if len(all) > maxPeriods {
		tb.notes = append(tb.notes, fmt.Sprintf("%d columns are %s", len(all), what))
		return nil, nil
	}
	long := &table{name: n.unique(identifier(tb.name + "_long")), path: tb.path, sheet: tb.sheet, title: tb.title, rows: tb.rows * len(all)}
	var ids []*column
	for _, c := range tb.columns {
		if c.kind != Integer && c.kind != Number && !slices.ContainsFunc(all, func(p period) bool { return p.column == c }) {
			ids = append(ids, c)
			repeated := *c
			repeated.missing, repeated.unusable, repeated.notes = c.missing*len(all), c.unusable*len(all), nil
			long.columns = append(long.columns, &repeated)
		}
	}
	when, value := timeColumn(all), valueColumn(all)
	for _, c := range []*column{when, value} {
		for slices.ContainsFunc(ids, func(o *column) bool { return strings.EqualFold(o.name, c.name) }) {
			c.name += "_2"
		}
		long.columns = append(long.columns, c)
	}
	if _, err := s.conn.ExecContext(ctx, long.createView(tb, ids, all)); err != nil {
		return nil, media.Errorf(media.CodeInternal, "create the long form of %s: %w", tb.name, err)
	}
	tb.notes = append(tb.notes, fmt.Sprintf("wide: %d columns are %s; the table %s has one row for each, with %s and %s", len(all), what, long.name, when.name, value.name))
	long.notes = []string{fmt.Sprintf("the long form of %s: one row for each row and column of %q to %q", tb.name, all[0].column.name, all[len(all)-1].column.name)}
	if when.kind == Integer && all[0].month > 0 {
		long.notes = append(long.notes, fmt.Sprintf("%q is the number of the month", when.name))
	}
	return long, nil
}

// when returns the period as it is stored.
func (p period) when() any {
	if p.text != "" {
		return p.text
	}
	return int64(p.year + p.month)
}

// createView returns the statement that creates the long form.
func (tb *table) createView(of *table, ids []*column, all []period) string {
	var head strings.Builder
	for _, c := range ids {
		head.WriteString(quote(c.name) + ", ")
	}
	n := len(tb.columns)
	selects := make([]string, len(all))
	for i, p := range all {
		when := fmt.Sprintf("CAST(%v AS INTEGER)", p.when()) // compares with text as a column of integers does
		if p.text != "" {
			when = "'" + strings.ReplaceAll(p.text, "'", "''") + "'"
		}
		selects[i] = fmt.Sprintf("SELECT %s%s AS %s, %s AS %s FROM %s", head.String(), when, quote(tb.columns[n-2].name), quote(p.column.name), quote(tb.columns[n-1].name), quote(of.name))
	}
	return "CREATE VIEW " + quote(tb.name) + " AS " + strings.Join(selects, " UNION ALL ")
}

// periodsOf returns the columns of numbers that are named by periods of the most frequent kind.
func periodsOf(tb *table) []period {
	var kinds [3][]period // of years, of months, of others
	for _, c := range tb.columns {
		if c.kind != Integer && c.kind != Number && c.missing+c.unusable < tb.rows {
			continue
		}
		p, ok := periodOf(c.name)
		if !ok {
			continue
		}
		kind := 2
		if p.year > 0 {
			kind = 0
		} else if p.month > 0 {
			kind = 1
		}
		p.column = c
		kinds[kind] = append(kinds[kind], p)
	}
	return slices.MaxFunc(kinds[:], func(a, b []period) int { return cmp.Compare(len(a), len(b)) })
}

// periodOf reads 2019, FY2019, Jan, März, 2024-01, Jan 2024, Q1 and 2024 Q1.
func periodOf(name string) (period, bool) {
	s := strings.TrimSpace(name)
	trimmed := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "FY"), "Y"), "X")
	trimmed = strings.TrimSpace(trimmed)
	if y := digits([]byte(trimmed)); len(trimmed) == 4 && y >= 1500 && y < 2200 {
		return period{year: y}, true
	}
	if m := monthOf(strings.TrimSuffix(s, ".")); m > 0 {
		return period{month: m}, true
	}
	if q, ok := quarterOf(s); ok {
		return period{text: q}, true
	}
	if m, ok := parseDate([]byte(s)); ok {
		if m, ok = m.settle(true); ok {
			return period{text: m.text(false)}, true
		}
	}
	return period{}, false
}

// quarterOf reads Q1, Q1 2024, 2024-Q1 and 1. Quartal 2024 as text that sorts by time.
func quarterOf(s string) (string, bool) {
	quarter, year := "", ""
	for _, w := range strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return strings.ContainsRune(" -/_.'", r) }) {
		switch {
		case len(w) == 2 && (w[0] == 'Q' || w[0] == 'T') && w[1] >= '1' && w[1] <= '4' && quarter == "":
			quarter = "Q" + w[1:]
		case len(w) == 1 && w[0] >= '1' && w[0] <= '4' && quarter == "":
			quarter = "Q" + w
		case (w == "QUARTAL" || w == "QUARTER" || w == "TRIMESTRE") && len(quarter) == 2:
		case len(w) == 4 && digits([]byte(w)) >= 1500 && year == "":
			year = w + "-"
		default:
			return "", false
		}
	}
	return year + quarter, quarter != "" && strings.ContainsAny(strings.ToUpper(s), "QT")
}

// timeColumn describes the column of periods.
func timeColumn(all []period) *column {
	c := &column{name: "year", kind: Integer}
	if all[0].year == 0 {
		c.name = "period"
	}
	if all[0].text != "" {
		c.kind = Text
		if _, ok := parseDate([]byte(all[0].text)); ok {
			c.kind = Date
		}
	}
	for _, p := range all {
		c.note(p.when())
	}
	return c
}

// valueColumn describes the column of the values of all periods.
func valueColumn(all []period) *column {
	c := &column{name: "value", kind: Integer, unit: all[0].column.unit}
	if slices.ContainsFunc(all, func(p period) bool { return p.column.kind == Number }) {
		c.kind = Number
	}
	for _, p := range all {
		o := p.column
		c.missing += o.missing
		c.unusable += o.unusable
		for _, s := range o.shown {
			c.show(s)
		}
		for _, v := range slices.Concat(slices.Collect(maps.Keys(o.counts)), []any{o.low, o.high}) {
			if n, ok := v.(int64); ok && c.kind == Number {
				v = float64(n)
			}
			c.note(v)
		}
		c.capped = c.capped || o.capped
	}
	return c
}
