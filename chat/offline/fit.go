package offline

import (
	"fmt"
	"slices"
	"strings"
)

// drawn are the kinds of charts that Create SVG Chart knows.
var drawn = []string{"bar", "line", "area", "stacked", "pie", "donut", "scatter"}

// mostSlices is how many parts a pie shows at most.
const mostSlices = 8

// chosen gives the charts of a report, those that the task names in the kind that it
// names, and says of each wish that the data does not allow why.
func (m *material) chosen(o order, ways string) (cs []chart, needs []string) {
	byTable, left := make([][]chart, len(m.Tables)), make([][]chart, len(m.Tables))
	for i, t := range m.Tables {
		byTable[i] = charts(t.Path, t.Table)
		left[i] = slices.Clone(byTable[i])
	}
	for _, want := range o.charts {
		i, named := m.tableFor(want.about, byTable)
		if i < 0 {
			needs = append(needs, lacks(want, ways, len(m.Tables) > 0))
			continue
		}
		if !named && want.about != "" {
			needs = append(needs, fmt.Sprintf("No table speaks of %s by name; the charts show what the tables hold.", want.about))
		}
		if want.kind == "" && !named {
			continue // what fits is drawn below
		}
		ch, used, why := shape(byTable[i], m.Tables[i].Table, want.kind)
		if why != "" {
			needs = append(needs, why)
		}
		known := func(c chart) bool {
			return c.path == ch.path && c.params["Title"] == ch.params["Title"] && c.params["ChartType"] == ch.params["ChartType"]
		}
		if !slices.ContainsFunc(cs, known) {
			cs = append(cs, ch)
		}
		left[i] = slices.DeleteFunc(left[i], func(c chart) bool { return c.params["Title"] == used.params["Title"] })
	}
	return fill(cs, left), needs
}

// fill adds what the task does not name: a chart of each table that has none yet, then
// second ones while there is room.
func fill(first []chart, left [][]chart) []chart {
	var more []chart
	for _, list := range left {
		if len(list) > 0 && !slices.ContainsFunc(first, func(c chart) bool { return c.path == list[0].path }) {
			first, list = append(first, list[0]), list[1:]
		}
		more = append(more, list...)
	}
	first = first[:min(len(first), mostCharts)]
	return append(first, more[:min(len(more), mostCharts-len(first))]...)
}

// lacks says what a visual needs that nobody gave.
func lacks(want request, ways string, tables bool) string {
	example := want.about
	if example == "" {
		example = "share"
	}
	if tables {
		return fmt.Sprintf("The %s needs at least two values that can be compared, and the sources hold none: %s, or write them into the task. No number is made up here.", want.name(), ways)
	}
	return fmt.Sprintf("The %s needs numbers, and there are none: %s, or write them into the task, such as “%s: A 40 %%, B 35 %%, C 25 %%”. No number is made up here.",
		want.name(), ways, example)
}

// tableFor chooses the table that a wish speaks of, else the first that can be drawn.
func (m *material) tableFor(about string, byTable [][]chart) (at int, named bool) {
	at, best := -1, 0
	want := words(about)
	for i, t := range m.Tables {
		if len(byTable[i]) == 0 {
			continue
		}
		n := t.speaksOf(want)
		if t.Path == theTask {
			n++ // what the task states, it means
		}
		if at < 0 || n > best {
			at, best = i, n
		}
	}
	return at, best > 0
}

// shape finds among the charts of a table one of the wanted kind, or turns one into it;
// used is the one that it was, and why says what stands in for a kind that does not fit.
func shape(list []chart, t *table, kind string) (ch, used chart, why string) {
	if kind == "" {
		return list[0], list[0], ""
	}
	standIn := fmt.Sprintf("a %s chart of %s stands in.", list[0].params["ChartType"], list[0].path)
	if !slices.Contains(drawn, kind) {
		return list[0], list[0], fmt.Sprintf("A %s cannot be drawn here: %s", strings.TrimSuffix(kind, "s"), standIn)
	}
	for _, c := range list {
		if c.params["ChartType"] == kind {
			return c, c, ""
		}
	}
	for _, c := range list {
		if turned, ok := c.as(kind, t); ok {
			return turned, c, ""
		}
	}
	return list[0], list[0], fmt.Sprintf("A %s chart does not fit the data: %s", kind, standIn)
}

// as draws the same data as another kind, if that makes sense.
func (c chart) as(kind string, t *table) (chart, bool) {
	series, _ := c.params["Series"].([]any)
	labels, _ := c.params["Labels"].([]string)
	if len(series) == 0 {
		return c, false
	}
	switch kind {
	case "line", "area":
		return c.turned(kind), t.temporal() && len(labels) > 1
	case "stacked":
		return c.turned(kind), len(series) > 1 && whole(series)
	case "bar":
		if len(labels)*len(series) <= 40 {
			return c.turned(kind), true
		}
		return c.latest(kind, series, labels)
	case "pie", "donut":
		if len(series) > 1 {
			return c.latest(kind, series, labels)
		}
		return c.turned(kind), len(labels) <= mostSlices && len(labels) > 1 && whole(series)
	case "scatter":
		return c.scatter(series)
	}
	return c, false
}

// turned is the chart with another type; what only the old one had is left out.
func (c chart) turned(kind string) chart {
	params := map[string]any{}
	for k, v := range c.params {
		if k != "Horizontal" || kind == "bar" {
			params[k] = v
		}
	}
	params["ChartType"] = kind
	return chart{path: c.path, params: params}
}

// latest compares the series at their last label.
func (c chart) latest(kind string, series []any, labels []string) (chart, bool) {
	var names []string
	var values []any
	for _, s := range series {
		one, _ := s.(map[string]any)
		list, _ := one["values"].([]any)
		if len(list) == 0 || list[len(list)-1] == nil {
			continue
		}
		names, values = append(names, fmt.Sprint(one["name"])), append(values, list[len(list)-1])
	}
	if len(names) < 2 || kind != "bar" && (len(names) > mostSlices || !whole([]any{map[string]any{"values": values}})) {
		return c, false
	}
	out := c.turned(kind)
	measure := fmt.Sprint(c.params["YLabel"])
	if c.params["YLabel"] == nil {
		measure = "Value"
	}
	out.params["Labels"], out.params["Series"] = names, []any{map[string]any{"name": measure, "values": values}}
	out.params["Title"] = fmt.Sprintf("%s, %s", c.params["Title"], when(labels[len(labels)-1]))
	delete(out.params, "XLabel")
	return out, true
}

// scatter sets the first two series against each other.
func (c chart) scatter(series []any) (chart, bool) {
	if len(series) < 2 {
		return c, false
	}
	a, _ := series[0].(map[string]any)
	b, _ := series[1].(map[string]any)
	x, _ := a["values"].([]any)
	y, _ := b["values"].([]any)
	var points []any
	for i := range min(len(x), len(y)) {
		if x[i] != nil && y[i] != nil {
			points = append(points, []any{x[i], y[i]})
		}
	}
	out := c.turned("scatter")
	delete(out.params, "Labels")
	out.params["Series"] = []any{map[string]any{"name": fmt.Sprint(c.params["Title"]), "points": points}}
	out.params["XLabel"], out.params["YLabel"] = a["name"], b["name"]
	out.params["Title"] = fmt.Sprintf("%v against %v", b["name"], a["name"])
	return out, len(points) > 1
}

// whole tells whether all values can be parts of something.
func whole(series []any) bool {
	sum := 0.0
	for _, s := range series {
		one, _ := s.(map[string]any)
		list, _ := one["values"].([]any)
		for _, v := range list {
			f, ok := v.(float64)
			if v != nil && (!ok || f < 0) {
				return false
			}
			sum += f
		}
	}
	return sum > 0
}
