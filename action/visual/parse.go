package visual

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// parse checks the parameters of a call.
func parse(p map[string]any) (*chart, error) {
	c := &chart{
		kind: kind(strings.ToLower(text(p["ChartType"]))), title: text(p["Title"]), subtitle: text(p["Subtitle"]), source: text(p["Source"]), alt: text(p["AltText"]),
		xLabel: text(p["XLabel"]), yLabel: text(p["YLabel"]), unit: text(p["Unit"]), w: defaultWidth, h: defaultHeight,
	}
	switch string(c.kind) {
	case "doughnut":
		c.kind = kindDonut
	case "column":
		c.kind = kindBar
	}
	if !slices.Contains(kindNames(), string(c.kind)) {
		return nil, invalid("ChartType %q is unknown: use %s", clipLabel(string(c.kind)), strings.Join(kindNames(), ", "))
	}
	if c.title == "" {
		return nil, invalid("Title is missing: say in one line what the chart shows")
	}
	if err := c.sides(p); err != nil {
		return nil, err
	}
	c.horizontal, _ = flag(p["Horizontal"])
	c.horizontal = c.horizontal && c.bars()
	var err error
	if c.labels, err = labelsOf(p["Labels"]); err != nil {
		return nil, err
	}
	raw, err := seriesOf(p["Series"], c.title)
	if err != nil {
		return nil, err
	}
	return c, c.place(raw)
}

func (c *chart) sides(p map[string]any) error {
	for _, side := range []struct {
		name   string
		to     *float64
		lo, hi float64
	}{{"Width", &c.w, 240, 4000}, {"Height", &c.h, 160, 4000}} {
		if p[side.name] == nil {
			continue
		}
		v, ok := number(p[side.name])
		if !ok || !(v >= side.lo && v <= side.hi) {
			return invalid("%s is %v: give pixels from %g to %g", side.name, clipLabel(fmt.Sprint(p[side.name])), side.lo, side.hi)
		}
		*side.to = math.Round(v)
	}
	return nil
}

// rawSeries is a series as given: values by label, or points.
type rawSeries struct {
	name   string
	values []float64
	points [][2]float64
}

// seriesOf reads the Series parameter in any of its shapes.
func seriesOf(v any, title string) ([]rawSeries, error) {
	v, err := decoded(v)
	if err != nil {
		return nil, invalid("Series is not valid JSON: %v", err)
	}
	if m, ok := v.(map[string]any); ok {
		v = listOf(m)
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, invalid(`Series is empty: give [{"name": "…", "values": [1, 2, 3]}]`)
	}
	if _, one := list[0].(map[string]any); !one {
		list = []any{map[string]any{"name": title, "values": list}}
	}
	if len(list) > maxSeries {
		return nil, invalid("Series has %d series: a chart shows at most %d; group the smaller ones", len(list), maxSeries)
	}
	var out []rawSeries
	for i, item := range list {
		s, err := oneSeries(item, i)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// listOf turns one series, or {"Coal": [1, 2], "Gas": [3, 4]}, into a list.
func listOf(m map[string]any) []any {
	if field(m, "values", "data", "points") != nil {
		return []any{m}
	}
	if inner, ok := field(m, "series").([]any); ok {
		return inner
	}
	var names []string
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	var out []any
	for _, k := range names {
		out = append(out, map[string]any{"name": k, "values": m[k]})
	}
	return out
}

func oneSeries(item any, i int) (rawSeries, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return rawSeries{}, invalid("Series[%d] is not an object with name and values", i)
	}
	s := rawSeries{name: text(field(m, "name", "label"))}
	if s.name == "" {
		s.name = fmt.Sprintf("Series %d", i+1)
	}
	pts, vals := field(m, "points"), field(m, "values", "data", "y")
	if list, ok := vals.([]any); ok && pts == nil && len(list) > 0 {
		if _, pair := list[0].([]any); pair {
			pts = list
		} else if o, obj := list[0].(map[string]any); obj && field(o, "x") != nil {
			pts = list
		}
	}
	if pts != nil {
		var err error
		s.points, err = pointsOf(pts, s.name)
		return s, err
	}
	list, ok := vals.([]any)
	if !ok {
		return s, invalid("series %q has no values: give an array of numbers, null for a gap", clipLabel(s.name))
	}
	if len(list) > maxValues {
		return s, invalid("series %q has %d values: at most %d can be charted; summarise first", clipLabel(s.name), len(list), maxValues)
	}
	for k, v := range list {
		if o, obj := v.(map[string]any); obj {
			v = field(o, "value", "y")
		}
		f, ok := number(v)
		if !ok {
			return s, invalid("series %q, value %d is %s: give a number, or null for a gap", clipLabel(s.name), k+1, clipLabel(fmt.Sprintf("%q", fmt.Sprint(v))))
		}
		s.values = append(s.values, f)
	}
	return s, nil
}

func pointsOf(v any, name string) ([][2]float64, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, invalid("series %q: points must be an array of [x, y]", clipLabel(name))
	}
	if len(list) > maxValues {
		return nil, invalid("series %q has %d points: at most %d can be charted", clipLabel(name), len(list), maxValues)
	}
	var out [][2]float64
	for i, item := range list {
		var x, y any
		switch t := item.(type) {
		case []any:
			if len(t) != 2 {
				return nil, invalid("series %q, point %d has %d numbers: give [x, y]", clipLabel(name), i+1, len(t))
			}
			x, y = t[0], t[1]
		case map[string]any:
			x, y = field(t, "x"), field(t, "y", "value")
		}
		fx, okx := number(x)
		fy, oky := number(y)
		if !okx || !oky || math.IsNaN(fx) {
			return nil, invalid("series %q, point %d is not [x, y] with two numbers", clipLabel(name), i+1)
		}
		out = append(out, [2]float64{fx, fy})
	}
	return out, nil
}

// labelsOf reads labels: strings or numbers, as an array, JSON text or a comma-separated line.
func labelsOf(v any) ([]string, error) {
	if s, ok := v.(string); ok && !strings.HasPrefix(strings.TrimSpace(s), "[") {
		if strings.TrimSpace(s) == "" {
			return nil, nil
		}
		v = strings.Split(s, ",")
	}
	v, err := decoded(v)
	if err != nil {
		return nil, invalid("Labels is not valid JSON: %v", err)
	}
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, invalid("Labels must be an array of strings")
	}
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = text(x)
	}
	return out, nil
}

// decoded brings any JSON-like value, or JSON text, to the types of encoding/json.
func decoded(v any) (any, error) {
	var raw []byte
	switch t := v.(type) {
	case nil:
		return nil, nil
	case []any, map[string]any:
		return v, nil
	case string:
		raw = []byte(t)
	default:
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	var out any
	err := json.Unmarshal(raw, &out)
	return out, err
}

// field finds a key without regard to case.
func field(m map[string]any, names ...string) any {
	for _, n := range names {
		if v, ok := m[n]; ok {
			return v
		}
	}
	for _, n := range names {
		for k, v := range m {
			if strings.EqualFold(k, n) {
				return v
			}
		}
	}
	return nil
}

// text gives a value as one clean line.
func text(v any) string {
	var s string
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		s = t
	case float64:
		s = strconv.FormatFloat(t, 'f', -1, 64)
	default:
		s = fmt.Sprint(t)
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return strings.Join(strings.Fields(s), " ")
}

// number reads a number, also as text with thousands separators or a percent sign;
// null, empty text, NaN and infinities are gaps (NaN). ok is false for anything else.
func number(v any) (f float64, ok bool) {
	switch t := v.(type) {
	case nil:
		return math.NaN(), true
	case float64:
		f = t
	case float32:
		f = float64(t)
	case int:
		f = float64(t)
	case int64:
		f = float64(t)
	case json.Number:
		return number(t.String())
	case string:
		s := strings.TrimSuffix(strings.ReplaceAll(strings.TrimSpace(t), ",", ""), "%")
		switch strings.ToLower(s) {
		case "", "null", "nan", "n/a", "na", "-", "–", "none":
			return math.NaN(), true
		}
		var err error
		if f, err = strconv.ParseFloat(strings.TrimSpace(s), 64); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	switch a := math.Abs(f); {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return math.NaN(), true
	case a > 1e150: // sums and squares would overflow
		return 0, false
	case a < 1e-150:
		return 0, true
	}
	return f, true
}

func flag(v any) (b, ok bool) {
	switch t := v.(type) {
	case bool:
		return t, true
	case string:
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(t)))
		return b, err == nil
	}
	return false, false
}
