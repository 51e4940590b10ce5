package infographic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier/draw/infographic"
	"atelier/draw/svgtest"
)

func chart(n int) map[string]any {
	var labels, values []any
	for i := range n {
		labels, values = append(labels, float64(2000+i)), append(values, float64(i%90))
	}
	return map[string]any{"ChartType": "line", "Title": "Chart title", "Labels": labels, "Series": []any{map[string]any{"name": "s", "values": values}}, "Width": 9.0}
}

func TestInfographics(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]map[string]any{
		"one figure":  {"Title": "T", "Figures": []any{map[string]any{"value": "1", "label": "l"}}},
		"one section": {"Title": "T", "Sections": map[string]any{"heading": "h"}},
		"full": {
			"Title": "T", "Subtitle": "s", "Source": "f.csv", "Figures": []any{map[string]any{"value": 42.0, "unit": "%", "label": "of wind", "icon": "wind"}, map[string]any{"value": strings.Repeat("long ", 20), "label": "x"}, map[string]any{"value": "3", "label": "y"}, map[string]any{"value": "4", "label": "z"}, map[string]any{"value": "5", "label": "five"}},
			"Sections": []any{
				map[string]any{"heading": "Heading", "text": strings.Repeat("Words that go on. ", 60)},
				map[string]any{"chart": chart(12)},
				map[string]any{"heading": "Bars", "items": []any{map[string]any{"label": "a", "value": 3.0}, map[string]any{"label": "b", "value": 0.0}}},
				map[string]any{"heading": "List", "items": []any{"one", map[string]any{"label": "two", "value": -3.0}}},
				map[string]any{"wide": true, "chart": chart(5), "text": "with a text"},
			},
		},
		"narrow": {"Title": "A title that needs more lines than one", "Width": 240.0, "Figures": []any{map[string]any{"value": "1,234,567,890", "label": "l"}, map[string]any{"value": "2", "label": "m"}}, "Sections": []any{map[string]any{"chart": chart(3)}}},
		"json":   {"Title": "T", "Figures": `[{"value":"1","label":"l"}]`, "Sections": `[{"heading":"h","items":["a"]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := svgtest.CheckRepeatable(t, infographic.Draw, p)
			d.NoOverlap(t)
		})
	}
}

func TestAltTextDescribesTheContent(t *testing.T) {
	t.Parallel()
	_, res := svgtest.Draw(t, infographic.Draw, map[string]any{"Title": "Energy", "Figures": []any{map[string]any{"value": 42.0, "unit": "%", "label": "from wind"}}, "Sections": []any{map[string]any{"heading": "Why", "text": "It blows."}, map[string]any{"chart": chart(3)}}})
	if got, want := res.Alt, "Infographic: Energy. 42 % from wind. Why: It blows. . Line chart"; got[:30] != want[:30] || !strings.Contains(got, "Why: It blows.") || !strings.Contains(got, "Line chart: Chart title.") {
		t.Error(got)
	}
}

func TestTenThousandPointsAndManySections(t *testing.T) {
	t.Parallel()
	var sections []any
	for i := range 300 {
		sections = append(sections, map[string]any{"heading": fmt.Sprint("Section ", i), "items": []any{"x"}})
	}
	sections[0] = map[string]any{"chart": chart(10_000)}
	_, res := svgtest.CheckRepeatable(t, infographic.Draw, map[string]any{"Title": "T", "Sections": sections})
	if res.Facts["SectionCount"] != 24 || !strings.Contains(fmt.Sprint(res.Warnings), "first 24 of 300 Sections") {
		t.Errorf("%v %v", res.Facts["SectionCount"], res.Warnings)
	}
}

func TestIcons(t *testing.T) {
	t.Parallel()
	_, res := svgtest.Draw(t, infographic.Draw, map[string]any{"Title": "T", "Sections": map[string]any{"heading": "h"}})
	names := res.Facts["Icons"].([]string)
	if len(names) < 30 || !slices.IsSorted(names) {
		t.Errorf("icons %v", names)
	}
	for _, n := range names {
		data, _ := svgtest.Draw(t, infographic.Draw, map[string]any{"Title": "T", "Figures": []any{map[string]any{"value": "1", "label": "zzz", "icon": n}}})
		d := svgtest.Check(t, data)
		if !slices.ContainsFunc(d.Elements, func(e svgtest.Element) bool { return e.Has("ic") }) {
			t.Errorf("icon %s is not drawn", n)
		}
	}
	data, _ := svgtest.Draw(t, infographic.Draw, map[string]any{"Title": "T", "Sections": map[string]any{"heading": "More forests", "icon": "no such icon"}})
	if !strings.Contains(string(data), "ic s0") {
		t.Error("no icon was found by the heading")
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	svgtest.Survives(t, infographic.Draw, func(s string) map[string]any {
		return map[string]any{"Title": s, "Subtitle": s, "Source": s, "Figures": []any{map[string]any{"value": s + "v", "label": s, "icon": s}}, "Sections": []any{map[string]any{"heading": s, "text": s, "icon": s, "items": []any{s, map[string]any{"label": s, "value": 3.0}}, "chart": map[string]any{"ChartType": "bar", "Title": s, "Labels": []any{s, "b"}, "Series": []any{map[string]any{"name": s, "values": []any{1.0, 2.0}}}}}}}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	section := func(s map[string]any) map[string]any { return map[string]any{"Title": "T", "Sections": []any{s}} }
	svgtest.Refuses(t, infographic.Draw, map[string]map[string]any{
		"Title is missing":               {"Sections": map[string]any{"heading": "h"}},
		"Figures and Sections are empty": {"Title": "T"},
		"Figures[0] has no value":        {"Title": "T", "Figures": []any{map[string]any{"label": "l"}}},
		"Figures[0] is not an object":    {"Title": "T", "Figures": []any{"x"}},
		"Sections is not valid JSON":     {"Title": "T", "Sections": "[{"},
		"Sections must be an array":      {"Title": "T", "Sections": 5.0},
		"Sections[0] is empty":           section(map[string]any{"icon": "sun"}),
		"Sections[0].chart is not an":    section(map[string]any{"chart": []any{1.0}}),
		"Sections[0].chart: ChartType":   section(map[string]any{"chart": map[string]any{"ChartType": "cube"}}),
	})
}

func BenchmarkInfographic(b *testing.B) {
	p := map[string]any{"Title": "T", "Figures": []any{map[string]any{"value": "1", "label": "l"}}, "Sections": []any{map[string]any{"chart": chart(40)}, map[string]any{"heading": "h", "text": "t"}}}
	for b.Loop() {
		svgtest.Draw(b, infographic.Draw, p)
	}
}

// TestNumbersAndListsAreAsGiven: a number of an item is not rounded, and the alternative text has the items.
func TestNumbersAndListsAreAsGiven(t *testing.T) {
	t.Parallel()
	p := map[string]any{"Title": "T", "Sections": []any{
		map[string]any{"text": "Only a text."},
		map[string]any{"heading": "Bars", "items": []any{map[string]any{"label": "a", "value": 1234.567, "unit": "t"}, map[string]any{"label": "b", "value": 20001.5}}},
		map[string]any{"heading": "List", "items": []any{"one", "two."}},
	}}
	data, res := svgtest.Draw(t, infographic.Draw, p)
	if want := "Infographic: T. Only a text. Bars: a: 1,234.567 t; b: 20,001.5. List: one; two."; res.Alt != want {
		t.Errorf("got  %s\nwant %s", res.Alt, want)
	}
	if !strings.Contains(string(data), ">20,001.5<") {
		t.Error("a number is rounded")
	}
	p["Language"] = "de"
	if data, _ = svgtest.Draw(t, infographic.Draw, p); !strings.Contains(string(data), ">20.001,5<") {
		t.Error("a number is not German")
	}
}

// TestNumbersAreWhole: a number that a narrower card would cut off gets a wider one.
func TestNumbersAreWhole(t *testing.T) {
	t.Parallel()
	var figures, items []any
	for range 4 {
		figures = append(figures, map[string]any{"value": "US$1,234,567,890", "label": "costs", "icon": "money"})
		items = append(items, map[string]any{"label": "a label of some length", "value": 1234567890123.0, "unit": "kWh"})
	}
	data, _ := svgtest.Draw(t, infographic.Draw, map[string]any{"Title": "T", "Figures": figures, "Sections": []any{map[string]any{"heading": "h", "items": items}, map[string]any{"heading": "i"}}})
	d := svgtest.Check(t, data)
	d.NoOverlap(t)
	if s := string(data); strings.Count(s, ">US$1,234,567,890<") != 4 || strings.Count(s, ">1,234,567,890,123 kWh<") != 4 {
		t.Error("a number is cut off")
	}
}
