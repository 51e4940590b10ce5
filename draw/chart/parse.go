package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

func parse(p map[string]any) (*chart, error) {
	page, err := svg.ReadPage(p, DefaultWidth, DefaultHeight)
	if err != nil {
		return nil, err
	}
	c := &chart{
		Page: page, yLabel: value.Text(p["YLabel"]), unit: value.Text(p["Unit"]),
		dataset: dataset{kind: kind(strings.ToLower(value.Text(p["ChartType"]))), locale: locale(page.Language), xLabel: value.Text(p["XLabel"])},
	}
	c.kind = cmp.Or(map[kind]kind{"doughnut": kindDonut, "column": kindBar}[c.kind], c.kind)
	if !slices.Contains(Kinds(), string(c.kind)) {
		return nil, svg.Invalid("ChartType %q is unknown: use %s", svg.Clip(string(c.kind)), strings.Join(Kinds(), ", "))
	}
	c.horizontal, _ = value.Flag(p["Horizontal"])
	c.horizontal = c.horizontal && c.bars()
	if c.labels, err = labelsOf(p["Labels"]); err != nil {
		return nil, err
	}
	if c.series, err = seriesOf(p["Series"], c.Title); err != nil {
		return nil, err
	}
	if err := c.place(); err != nil {
		return nil, err
	}
	c.autoHorizontal = p["Horizontal"] == nil
	return c.sized(c.W, c.H), nil
}

// prefersHorizontal reports whether horizontal bars read better: few bars with names too long to fit below them.
func (c *chart) prefersHorizontal() bool {
	n := len(c.labels)
	if !c.bars() || n > 16 || n*len(c.series) > 36 || ordered(c.labels) {
		return false
	}
	plan := planLabels(c.labels, c.band(), false)
	return plan.angle != 0 && slices.ContainsFunc(c.labels, func(l string) bool { return svg.Width(l, 12.5) > 130 })
}

// seriesOf reads the Series parameter in any of its forms. Series of values have no x yet.
func seriesOf(v any, title string) ([]series, error) {
	v, err := value.Decode(v)
	if err != nil {
		return nil, svg.Invalid("Series is not valid JSON: %v", err)
	}
	if m, ok := v.(map[string]any); ok {
		inner, wrapped := value.Field(m, "series").([]any)
		switch {
		case value.Field(m, "values", "data", "points") != nil:
			v = []any{m}
		case wrapped:
			v = inner
		default: // {"Coal": [1, 2], "Gas": [3, 4]}
			var all []any
			for _, k := range slices.Sorted(maps.Keys(m)) {
				all = append(all, map[string]any{"name": k, "values": m[k]})
			}
			v = all
		}
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, svg.Invalid(`Series is empty: give [{"name": "…", "values": [1, 2, 3]}]`)
	}
	if _, one := list[0].(map[string]any); !one {
		list = []any{map[string]any{"name": title, "values": list}}
	}
	if len(list) > maxSeries {
		return nil, svg.Invalid("Series has %d series: a chart shows at most %d; group the smaller ones", len(list), maxSeries)
	}
	var out []series
	for i, item := range list {
		s, err := oneSeries(item, i)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func oneSeries(item any, i int) (series, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return series{}, svg.Invalid("Series[%d] is not an object with name and values", i)
	}
	s := series{name: cmp.Or(value.Text(value.Field(m, "name", "label")), fmt.Sprintf("Series %d", i+1))}
	pts, vals := value.Field(m, "points"), value.Field(m, "values", "data", "y")
	if list, ok := vals.([]any); ok && pts == nil && len(list) > 0 {
		_, pair := list[0].([]any)
		if o, _ := list[0].(map[string]any); pair || value.Field(o, "x") != nil {
			pts = list
		}
	}
	if pts != nil {
		err := s.readPoints(pts)
		return s, err
	}
	list, ok := vals.([]any)
	if !ok {
		return s, svg.Invalid("series %q has no values: give an array of numbers, null for a gap", svg.Clip(s.name))
	}
	if len(list) > maxValues {
		return s, svg.Invalid("series %q has %d values: at most %d can be charted; summarise first", svg.Clip(s.name), len(list), maxValues)
	}
	for k, v := range list {
		if o, obj := v.(map[string]any); obj {
			s.labels = append(s.labels, value.Text(value.Field(o, "label", "name", "category")))
			v = value.Field(o, "value", "y")
		}
		f, ok := value.Number(v)
		if !ok {
			return s, svg.Invalid("series %q, value %d is %s: give a number, or null for a gap", svg.Clip(s.name), k+1, svg.Clip(fmt.Sprintf("%q", fmt.Sprint(v))))
		}
		s.y = append(s.y, f)
	}
	return s, nil
}

func (s *series) readPoints(v any) error {
	list, ok := v.([]any)
	if !ok {
		return svg.Invalid("series %q: points must be an array of [x, y]", svg.Clip(s.name))
	}
	if len(list) > maxValues {
		return svg.Invalid("series %q has %d points: at most %d can be charted", svg.Clip(s.name), len(list), maxValues)
	}
	for i, item := range list {
		var x, y any
		switch t := item.(type) {
		case []any:
			if len(t) != 2 {
				return svg.Invalid("series %q, point %d has %d numbers: give [x, y]", svg.Clip(s.name), i+1, len(t))
			}
			x, y = t[0], t[1]
		case map[string]any:
			x, y = value.Field(t, "x"), value.Field(t, "y", "value")
		}
		fx, okx := value.Number(x)
		fy, oky := value.Number(y)
		if !okx || !oky || math.IsNaN(fx) {
			return svg.Invalid("series %q, point %d is not [x, y]: give two numbers", svg.Clip(s.name), i+1)
		}
		s.add(fx, fy)
	}
	return nil
}

// labelsOf reads labels: strings or numbers, as an array, JSON text or a comma-separated line.
func labelsOf(v any) ([]string, error) {
	if s, ok := v.(string); ok && !strings.HasPrefix(strings.TrimSpace(s), "[") {
		if strings.TrimSpace(s) == "" {
			return nil, nil
		}
		v = strings.Split(s, ",")
	}
	v, err := value.Decode(v)
	if err != nil {
		return nil, svg.Invalid("Labels is not valid JSON: %v", err)
	}
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, svg.Invalid("Labels must be an array of strings")
	}
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = value.Text(x)
	}
	return out, nil
}
