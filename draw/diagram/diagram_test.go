package diagram_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier/draw/diagram"
	"atelier/draw/svgtest"
)

func edges(n int) []any {
	var out []any
	for i := 1; i < n; i++ {
		out = append(out, map[string]any{"from": fmt.Sprint("n", i/2), "to": fmt.Sprint("n", i)})
	}
	return out
}

func TestDiagrams(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]map[string]any{
		"one":       {"Title": "T", "Nodes": []any{"a"}},
		"cycle":     {"Title": "T", "Edges": "a -> b: x\nb -> c\nc -> a: back\na -> a: again"},
		"apart":     {"Title": "T", "Subtitle": "s", "Source": "f.csv", "Edges": "a -> b\nc -> d", "Nodes": []any{"lone", "other"}},
		"double":    {"Title": "T", "Edges": "a -> b: one\na -> b: two\nb -> a: three", "Direction": "LR"},
		"shapes":    {"Title": "T", "Direction": "up", "Edges": "a -> b", "Nodes": shapes()},
		"groups":    {"Title": "T", "Nodes": []any{map[string]any{"id": "a", "group": "g"}, map[string]any{"id": "b", "group": "h"}, "c"}, "Edges": []any{[]any{"a", "b"}, []any{"b", "c"}}},
		"no arrows": {"Title": "T", "Arrows": false, "Edges": map[string]any{"a": []any{"b", "c"}}},
		"sixty":     {"Title": "T", "Edges": edges(60)},
		"narrow":    {"Title": strings.Repeat("A long title ", 20), "Width": 240.0, "Edges": edges(9)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := svgtest.CheckRepeatable(t, diagram.Draw, p)
			d.NoOverlap(t)
		})
	}
}

func shapes() []any {
	var out []any
	for _, s := range []string{"box", "round", "pill", "ellipse", "circle", "diamond", "hexagon", "cylinder", "parallelogram", "decision", "database"} {
		out = append(out, map[string]any{"id": s, "shape": s, "note": "a note"})
	}
	return out
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	svgtest.Survives(t, diagram.Draw, func(s string) map[string]any {
		return map[string]any{"Title": s, "Subtitle": s, "Source": s, "AltText": s, "Nodes": []any{map[string]any{"id": "a", "label": s, "note": s, "group": s}, "b"}, "Edges": []any{map[string]any{"from": "a", "to": "b", "label": s}, map[string]any{"from": "b", "to": "b", "label": s}}}
	})
}

func TestTenThousandNodes(t *testing.T) {
	t.Parallel()
	_, res := svgtest.CheckRepeatable(t, diagram.Draw, map[string]any{"Title": "T", "Edges": edges(10_000)})
	if res.Facts["NodeCount"] != 80 || len(res.Warnings) == 0 || !strings.Contains(res.Alt, "80 best-connected of 10000 nodes") {
		t.Errorf("count %v, warnings %v", res.Facts["NodeCount"], res.Warnings)
	}
}

func TestAltText(t *testing.T) {
	t.Parallel()
	_, res := svgtest.Draw(t, diagram.Draw, map[string]any{"Title": "Pay.", "Edges": "Shop -> Bank: asks\nBank -> Shop"})
	if want := "Diagram: Pay. 2 nodes, 2 connections. Shop → Bank (asks). Bank → Shop."; res.Alt != want {
		t.Errorf("alt = %v", res.Alt)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	svgtest.Refuses(t, diagram.Draw, map[string]map[string]any{
		"Title is missing":               {"Edges": "a -> b"},
		"are empty":                      {"Title": "T"},
		`Direction "inwards" is unknown`: {"Title": "T", "Edges": "a -> b", "Direction": "inwards"},
		"Width is 3":                     {"Title": "T", "Edges": "a -> b", "Width": 3.0},
	})
}

func BenchmarkDiagram(b *testing.B) {
	p := map[string]any{"Title": "T", "Edges": edges(40)}
	b.ReportAllocs()
	for b.Loop() {
		svgtest.Draw(b, diagram.Draw, p)
	}
}
