package svgtest_test

import (
	"fmt"
	"math"
	"strings"

	"atelier/draw/chart"
	"atelier/draw/diagram"
	"atelier/draw/infographic"
	"atelier/draw/mermaid"
	"atelier/draw/network"
	"atelier/draw/sketch"
	"atelier/draw/svgtest"
	"atelier/draw/wordcloud"
)

// shape is data of one kind: as many values as labels. Every package must draw plain data unless it says why not.
type shape struct {
	name   string
	plain  bool
	labels []string
	values []any
}

func shapes() []shape {
	list := func(n int, label func(i int) string, v func(i int) any) (l []string, out []any) {
		for i := range n {
			l, out = append(l, label(i)), append(out, v(i))
		}
		return l, out
	}
	named := func(format string) func(i int) string { return func(i int) string { return fmt.Sprintf(format, i+1) } }
	of := func(name string, plain bool, n int, label func(int) string, v func(int) any) shape {
		l, out := list(n, label, v)
		return shape{name, plain, l, out}
	}
	text := func(s string) func(int) string { return func(i int) string { return fmt.Sprintf("%s %d", s, i+1) } }
	rising := func(i int) any { return float64(i + 1) }
	return []shape{
		of("ordinary", true, 6, named("Part %d"), func(i int) any { return float64(3 + i*i) }),
		of("empty", false, 0, named("%d"), rising),
		of("one row", true, 1, named("Only %d"), rising),
		of("all equal", true, 8, named("Same %d"), func(int) any { return 7.0 }),
		of("all zero", false, 5, named("Zero %d"), func(int) any { return 0.0 }),
		of("negative", false, 6, named("Below %d"), func(i int) any { return -float64(i + 1) }),
		of("not a number", false, 5, named("Gap %d"), func(i int) any { return []any{math.NaN(), math.Inf(1), 4.0, nil, "NaN"}[i] }),
		of("only gaps", false, 4, named("Gap %d"), func(int) any { return nil }),
		of("huge", true, 4, named("Size %d"), func(i int) any { return math.Pow(10, float64(i)*10) }),
		of("too huge", false, 3, named("Size %d"), func(i int) any { return math.MaxFloat64 / float64(i+1) }),
		of("tiny", true, 4, named("Size %d"), func(i int) any { return math.Pow(10, -3*float64(i+1)) }),
		of("mixed", false, 6, named("Mixed %d"), func(i int) any { return []any{1.5, "2,000", true, []any{3.0}, "four", map[string]any{"value": 5.0}}[i] }),
		of("numbers as text", true, 4, named("Text %d"), func(i int) any { return []any{"1", "2,500", "12%", " 4.5 "}[i] }),
		of("10,000 categories", true, 10_000, named("Category number %d"), func(i int) any { return float64(i*7919%1000 + 1) }),
		of("10,000 days", true, 10_000, func(i int) string { return fmt.Sprintf("%04d-%02d-%02d", 1990+i/336, i/28%12+1, i%28+1) }, rising),
		of("same labels", true, 5, func(int) string { return "twin" }, rising),
		of("blank labels", false, 4, func(int) string { return " " }, rising),
		of("long labels", true, 6, text(strings.Repeat("a label that does not end ", 30)), rising),
		of("long words", true, 6, text(strings.Repeat("Rindfleischetikettierung", 20)), rising),
		of("right to left", true, 6, text("طاقة الرياح עברית"), rising),
		of("emoji", true, 6, text("👩🏽‍🚀🏳️‍🌈 🚀"), rising),
		of("Chinese", true, 6, text("漢字とかなだけの長い文章"), rising),
		of("heaps of marks", true, 4, text("Z"+strings.Repeat("\u0301\u0302", 400)), rising),
		of("markup", true, 4, text(`</text></svg><script>alert("x")</script>&amp;<!-- ]]> `), rising),
		of("control", true, 4, text("a\x00b\x1b[31m\u202e\ufffe\xff%s%!d"), rising),
	}
}

// maker converts a shape to the parameters of a drawing. refuses names the plain shapes that it may refuse.
type maker struct {
	name    string
	draw    svgtest.DrawFunc
	params  func(s shape) map[string]any
	refuses map[string]bool
}

// graphDrawings returns the functions that draw graphs.
func graphDrawings() map[string]svgtest.DrawFunc {
	return map[string]svgtest.DrawFunc{"diagram": diagram.Draw, "network": network.Draw, "sketch": sketch.Draw}
}

func makers() []maker {
	var out []maker
	for _, kind := range []string{"bar", "line", "area", "pie", "donut", "scatter", "stacked"} {
		m := maker{name: "chart " + kind, draw: chart.Draw, params: func(s shape) map[string]any {
			p := map[string]any{"ChartType": kind, "Title": "T " + s.name, "Unit": "GWh", "Labels": anys(s.labels), "Series": map[string]any{"One": s.values, "Two": s.values, "Three": s.values}}
			switch kind {
			case "scatter":
				var pts []any
				for i, v := range s.values {
					pts = append(pts, []any{float64(i), v})
				}
				p["Labels"], p["Series"] = nil, []any{map[string]any{"name": strings.Join(s.labels[:min(1, len(s.labels))], ""), "points": pts}}
			case "pie", "donut":
				p["Series"] = []any{map[string]any{"name": "One", "values": s.values}}
			}
			return p
		}}
		out = append(out, m)
	}
	for name, draw := range graphDrawings() {
		out = append(out, maker{name: name, draw: draw, params: func(s shape) map[string]any {
			return map[string]any{"Title": "T " + s.name, "Edges": links(s), "Nodes": nodes(s)}
		}})
	}
	out = append(out,
		maker{name: "word cloud", draw: wordcloud.Draw, params: func(s shape) map[string]any {
			var words []any
			for i, l := range s.labels {
				words = append(words, []any{l, s.values[i]})
			}
			return map[string]any{"Title": "T " + s.name, "Words": words}
		}},
		maker{name: "infographic", draw: infographic.Draw, params: infographicOf, refuses: map[string]bool{}},
	)
	for _, kind := range []string{"pie", "flowchart", "sequence", "class", "state", "er", "gantt"} {
		out = append(out, maker{name: "mermaid " + kind, draw: mermaid.Draw, refuses: map[string]bool{"10,000 categories": true, "10,000 days": true, "markup": true}, params: func(s shape) map[string]any {
			return map[string]any{"Code": mermaidOf(kind, s)}
		}})
	}
	return out
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, l := range list {
		out[i] = l
	}
	return out
}

func nodes(s shape) []any {
	var out []any
	for i, l := range s.labels {
		out = append(out, map[string]any{"id": fmt.Sprint("n", i), "label": l, "note": l, "group": l[:min(len(l), 4)], "value": s.values[i]})
	}
	return out
}

func links(s shape) []any {
	var out []any
	for i := 1; i < len(s.labels); i++ {
		out = append(out, map[string]any{"from": fmt.Sprint("n", i/3), "to": fmt.Sprint("n", i), "label": s.labels[i], "weight": s.values[i]})
	}
	return out
}

func infographicOf(s shape) map[string]any {
	var figures, items []any
	for i, l := range s.labels {
		figures = append(figures, map[string]any{"value": s.values[i], "label": l})
		items = append(items, map[string]any{"label": l, "value": s.values[i]})
	}
	sections := []any{
		map[string]any{"heading": strings.Join(s.labels[:min(2, len(s.labels))], " "), "text": strings.Join(s.labels[:min(9, len(s.labels))], " "), "items": items},
		map[string]any{"heading": "Points", "items": anys(s.labels)},
	}
	if len(s.labels) > 0 {
		sections = append(sections, map[string]any{"heading": "Chart", "chart": map[string]any{"ChartType": "bar", "Labels": anys(s.labels), "Series": []any{map[string]any{"name": "v", "values": s.values}}}})
	}
	return map[string]any{"Title": "T " + s.name, "Figures": figures, "Sections": sections}
}

// mermaidOf writes the shape as a model would.
func mermaidOf(kind string, s shape) string {
	var b strings.Builder
	b.WriteString(map[string]string{"pie": "pie showData\n title T", "flowchart": "flowchart TD", "sequence": "sequenceDiagram", "class": "classDiagram", "state": "stateDiagram-v2", "er": "erDiagram", "gantt": "gantt\n dateFormat YYYY-MM-DD\n title T"}[kind])
	for i, l := range s.labels {
		q := strings.ReplaceAll(l, `"`, "'")
		switch kind {
		case "pie":
			fmt.Fprintf(&b, "\n  \"%s\" : %v", q, s.values[i])
		case "flowchart":
			fmt.Fprintf(&b, "\n  n%d[\"%s\"] -->|\"%v\"| n%d", i/2, q, s.values[i], i+1)
		case "sequence":
			fmt.Fprintf(&b, "\n  participant p%d as %s\n  p%d->>p%d: %s", i, q, i/2, i, q)
		case "class":
			fmt.Fprintf(&b, "\n  class C%d[\"%s\"] {\n    +int value%d\n  }\n  C%d <|-- C%d", i, q, i, i/2, i)
		case "state":
			fmt.Fprintf(&b, "\n  state \"%s\" as s%d\n  s%d --> s%d : %v", q, i, i/2, i, s.values[i])
		case "er":
			fmt.Fprintf(&b, "\n  E%d ||--o{ E%d : \"%s\"", i/2, i+1, q)
		case "gantt":
			fmt.Fprintf(&b, "\n  section S%d\n  %s :t%d, 2026-01-%02d, 5d", i/4, strings.NewReplacer(":", " ", "#", " ", ";", " ").Replace(q), i, i%28+1)
		}
	}
	return b.String()
}

// graphs returns graphs that layouts often get wrong.
func graphs() map[string]func() []any {
	pair := func(a, b int) any { return []any{fmt.Sprint("n", a), fmt.Sprint("n", b)} }
	each := func(n int, to func(i int) (int, int)) func() []any {
		return func() []any {
			var out []any
			for i := range n {
				out = append(out, pair(to(i)))
			}
			return out
		}
	}
	return map[string]func() []any{
		"cycle":         each(12, func(i int) (int, int) { return i, (i + 1) % 12 }),
		"many cycles":   each(60, func(i int) (int, int) { return i * 7 % 20, i * 11 % 20 }),
		"loops only":    each(9, func(i int) (int, int) { return i, i }),
		"parallel":      each(30, func(i int) (int, int) { return i % 2, 1 - i%2 }),
		"disconnected":  each(40, func(i int) (int, int) { return 2 * i, 2*i + 1 }),
		"star":          each(300, func(i int) (int, int) { return 0, i + 1 }),
		"chain":         each(240, func(i int) (int, int) { return i, i + 1 }),
		"full":          each(400, func(i int) (int, int) { return i / 20, i % 20 }),
		"10,000 nodes":  each(10_000, func(i int) (int, int) { return i / 3, i + 1 }),
		"10,000 cycles": each(30_000, func(i int) (int, int) { return i, i - i%3 + (i+1)%3 }),
	}
}
