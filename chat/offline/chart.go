package offline

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
)

// mostCharts bounds the charts of one report.
const mostCharts = 10

// chart is one chart that fits a table, as the Create SVG Chart action takes it.
type chart struct {
	path   string
	params map[string]any
}

// charts chooses for each table the charts that suit its shape.
func charts(path string, t *table) []chart {
	var out []chart
	add := func(kind, title string, labels []string, series []any, extra map[string]any) {
		p := map[string]any{"ChartType": kind, "Title": title, "Labels": labels, "Series": series, "Source": path}
		for k, v := range extra {
			p[k] = v
		}
		out = append(out, chart{path: path, params: p})
	}
	parts, all := t.split()
	switch {
	case len(parts) > 0 && longest(parts) > 1:
		for _, alike := range t.comparable(parts) {
			heading, axes := chartTitle(path, t, alike), t.axes(alike)
			if most, all := t.mostBars(alike), max(t.XCount, longest(alike)); all > most {
				alike = largestFirst(alike, most)
				heading = fmt.Sprintf("%s, the %d largest of %s", heading, most, number(float64(all)))
				axes["Horizontal"], axes["XLabel"], axes["YLabel"] = true, axes["YLabel"], axes["XLabel"]
			}
			labels, series := align(alike)
			add(t.kindFor(alike), heading, labels, series, axes)
		}
		if s := t.shares(); len(s) >= 2 && t.additive() {
			names, values := shareSeries(s)
			add("bar", title(t.Measure)+" by "+human(t.GroupBy)+", "+span(parts), names, values, map[string]any{"Horizontal": true, "XLabel": title(t.Measure)})
		}
		if all != nil && len(out) < 2 {
			labels, series := align([]line{*all})
			add("area", title(all.Name), labels, series, t.axes([]line{*all}))
		}
	case len(t.shares()) >= 2:
		s := t.shares()
		names, values := shareSeries(s)
		kind := "bar"
		if len(s) <= 6 {
			kind = "donut"
		}
		add(kind, title(t.Measure)+" by "+human(t.GroupBy), names, values, nil)
	default:
		if c, ok := mostFrequent(t); ok {
			names, values := frequency(c)
			add("bar", "Most frequent values of "+human(c.Name), names, values, map[string]any{"Horizontal": true, "XLabel": "Rows"})
		}
	}
	return out
}

// mostNames is how many bars can be told apart and read.
const mostNames = 20

// mostBars is how many points a chart of these series can show: any number over time.
func (t *table) mostBars(parts []line) int {
	if t.temporal() || t.kindFor(parts) != "bar" {
		return math.MaxInt
	}
	return mostNames
}

// size is a point's absolute value; one without a value is smallest.
func (p point) size() float64 {
	if p.Y == nil {
		return -1
	}
	return math.Abs(*p.Y)
}

// largestFirst keeps the names at which the first series is largest.
func largestFirst(parts []line, most int) []line {
	first := slices.Clone(parts[0].Points)
	slices.SortStableFunc(first, func(a, b point) int {
		return cmp.Compare(b.size(), a.size())
	})
	at := map[string]int{}
	for i, p := range first[:min(most, len(first))] {
		at[p.X] = i
	}
	out := make([]line, 0, len(parts))
	for _, l := range parts {
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p point) bool { _, keep := at[p.X]; return !keep })
		slices.SortStableFunc(l.Points, func(a, b point) int { return cmp.Compare(at[a.X], at[b.X]) })
		out = append(out, l)
	}
	return out
}

// comparable splits series that are columns of their own into those that one axis
// can show: of like size. Groups of one measure belong together.
func (t *table) comparable(parts []line) [][]line {
	if t.GroupBy != "" {
		return [][]line{parts}
	}
	var out [][]line
	for _, l := range parts {
		i := slices.IndexFunc(out, func(have []line) bool {
			a, b := have[0].size(), l.size()
			return a <= 20*b && b <= 20*a
		})
		if i < 0 {
			out = append(out, []line{l})
			continue
		}
		out[i] = append(out[i], l)
	}
	return out
}

// size is the largest absolute value of a series.
func (l line) size() float64 {
	low, high, ok := l.extremes()
	if !ok {
		return 0
	}
	return math.Max(math.Abs(*low.Y), math.Abs(*high.Y))
}

func (t *table) kindFor(parts []line) string {
	switch {
	case t.additive() && len(parts) > 1 && positive(parts):
		return "stacked"
	case t.temporal():
		return "line"
	}
	return "bar"
}

// axes names the axes; series of several measures have no common name.
func (t *table) axes(parts []line) map[string]any {
	out := map[string]any{"XLabel": title(t.X)}
	switch {
	case t.GroupBy != "":
		out["YLabel"] = title(t.Measure)
	case len(parts) == 1:
		out["YLabel"] = title(parts[0].Name)
	}
	if len(parts) == 1 {
		if u := t.unit(parts[0]); u != "" {
			out["Unit"] = u
		}
	}
	return out
}

// span says which time the series cover.
func span(parts []line) string {
	for _, l := range parts {
		if first, last, ok := l.ends(); ok {
			return when(first.X) + "–" + when(last.X)
		}
	}
	return "whole period"
}

func chartTitle(file string, t *table, parts []line) string {
	name := heading(file, t)
	if t.Name != "" {
		return name
	}
	if t.GroupBy != "" {
		return name + " by " + human(t.GroupBy)
	}
	if !t.temporal() {
		name += " by " + human(t.X)
	}
	if len(parts) == 1 && !strings.Contains(strings.ToLower(name), strings.ToLower(human(parts[0].Name))) {
		return name + ": " + human(parts[0].Name)
	}
	return name
}

// heading makes a title of a file name. A word that is also a word of a column gets
// the column's capitals: co2-concentration with a column CO2 becomes CO2 concentration.
func heading(file string, t *table) string {
	if t.Name != "" {
		return t.Name
	}
	words := strings.Fields(human(strings.TrimSuffix(path.Base(file), path.Ext(file))))
	for i, w := range words {
		for _, c := range t.Columns {
			for _, known := range strings.Fields(human(c.Name)) {
				if strings.EqualFold(w, known) && strings.ToUpper(known) == known {
					words[i] = known
				}
			}
		}
	}
	return title(strings.Join(words, " "))
}

func longest(parts []line) int {
	n := 0
	for _, l := range parts {
		n = max(n, len(l.Points))
	}
	return n
}

func positive(parts []line) bool {
	for _, l := range parts {
		for _, p := range l.Points {
			if p.Y != nil && *p.Y < 0 {
				return false
			}
		}
	}
	return true
}

// align puts all series on one axis; where a series has no value stands null.
func align(parts []line) (labels []string, series []any) {
	seen := map[string]bool{}
	var xs []string
	for _, l := range parts {
		for _, p := range l.Points {
			if !seen[p.X] {
				seen[p.X] = true
				xs = append(xs, p.X)
			}
		}
	}
	if sortable(xs) {
		slices.Sort(xs)
	}
	for _, l := range parts {
		at := map[string]*float64{}
		for _, p := range l.Points {
			at[p.X] = p.Y
		}
		values := make([]any, len(xs))
		for i, x := range xs {
			if y := at[x]; y != nil {
				values[i] = *y
			}
		}
		series = append(series, map[string]any{"name": title(l.Name), "values": values})
	}
	return label(xs), series
}

// sortable tells whether x values are dates or years, which sort as text.
func sortable(xs []string) bool {
	for _, x := range xs {
		if len(x) < 4 || len(x) != len(xs[0]) || x[0] < '0' || x[0] > '9' {
			return false
		}
	}
	return true
}

func shareSeries(s []total) (names []string, series []any) {
	values := make([]any, 0, len(s))
	for _, v := range s {
		names = append(names, v.Group)
		values = append(values, v.Value)
	}
	return names, []any{map[string]any{"name": title(s[0].Measure), "values": values}}
}

func mostFrequent(t *table) (column, bool) {
	i := slices.IndexFunc(t.Columns, func(c column) bool { return len(c.Top) > 1 && c.Top[0].Count > 1 })
	if i < 0 {
		return column{}, false
	}
	return t.Columns[i], true
}

func frequency(c column) (names []string, series []any) {
	var values []any
	for _, v := range c.Top {
		names = append(names, value(v.Value))
		values = append(values, v.Count)
	}
	return names, []any{map[string]any{"name": "Rows", "values": values}}
}
