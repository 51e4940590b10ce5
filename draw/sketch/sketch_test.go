package sketch_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier/draw/sketch"
	"atelier/draw/svgtest"
)

func TestSketches(t *testing.T) {
	t.Parallel()
	var shapes []any
	for _, s := range []string{"box", "round", "pill", "ellipse", "circle", "diamond", "hexagon", "cylinder", "parallelogram"} {
		shapes = append(shapes, map[string]any{"id": s, "shape": s, "note": "a note"})
	}
	for name, p := range map[string]map[string]any{
		"one":    {"Title": "T", "Nodes": []any{"a"}},
		"cycle":  {"Title": "T", "Edges": "a -> b: x\nb -> c\nc -> a: back\na -> a: again\na -> a: and again"},
		"apart":  {"Title": "T", "Source": "x", "Edges": "a -> b\nc <-> d", "Nodes": []any{"lone"}},
		"shapes": {"Title": "T", "Direction": "right", "Nodes": shapes, "Edges": "box -> circle"},
		"groups": {"Title": "T", "Nodes": []any{map[string]any{"id": "a", "group": "g"}, map[string]any{"id": "b", "group": "h"}, "c"}, "Edges": []any{map[string]any{"from": "a", "to": "b", "style": "dashed"}, map[string]any{"from": "b", "to": "c", "style": "thick"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := svgtest.CheckRepeatable(t, sketch.Draw, p)
			d.NoOverlap(t)
		})
	}
}

func TestLinesLookDrawnByHand(t *testing.T) {
	t.Parallel()
	data, _ := svgtest.Draw(t, sketch.Draw, map[string]any{"Title": "T", "Edges": "a -> b"})
	d := svgtest.Parse(t, data)
	hatches, strokes := 0, 0
	for _, e := range d.Elements {
		if e.Has("hatch") {
			hatches++
		}
		if e.Has("ink") {
			strokes += strings.Count(e.Attrs["d"], "C")
		}
	}
	if hatches != 2 || strokes < 16 {
		t.Errorf("%d hatched shapes, %d bowed strokes: want 2 and two for each side", hatches, strokes)
	}
}

func TestTenThousandNodes(t *testing.T) {
	t.Parallel()
	var edges []any
	for i := 1; i < 10_000; i++ {
		edges = append(edges, []any{fmt.Sprint("n", i/3), fmt.Sprint("n", i)})
	}
	_, res := svgtest.Draw(t, sketch.Draw, map[string]any{"Title": "T", "Edges": edges})
	if res.Facts["NodeCount"] != 50 || len(res.Warnings) != 1 {
		t.Errorf("%v, %v", res.Facts["NodeCount"], res.Warnings)
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	svgtest.Survives(t, sketch.Draw, func(s string) map[string]any {
		return map[string]any{"Title": s, "Subtitle": s, "Source": s, "Nodes": []any{map[string]any{"id": "a", "label": s, "note": s, "group": s}, "b"}, "Edges": []any{map[string]any{"from": "a", "to": "b", "label": s}}}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	svgtest.Refuses(t, sketch.Draw, map[string]map[string]any{
		"Title is missing":              {"Edges": "a -> b"},
		"are empty":                     {"Title": "T"},
		`Direction "around" is unknown`: {"Title": "T", "Edges": "a -> b", "Direction": "around"},
	})
}

func BenchmarkSketch(b *testing.B) {
	p := map[string]any{"Title": "T", "Edges": "a -> b\nb -> c\nc -> d\na -> d"}
	for b.Loop() {
		svgtest.Draw(b, sketch.Draw, p)
	}
}
