package network_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier/draw/network"
	"atelier/draw/svgtest"
)

func edges(n int) []any {
	var out []any
	for i := 1; i < n; i++ {
		out = append(out, map[string]any{"from": fmt.Sprint("node ", i*i%i+i/3), "to": fmt.Sprint("node ", i), "weight": float64(i%7 + 1)})
	}
	return out
}

// apart checks that names overlap neither each other nor a circle.
func apart(t *testing.T, d svgtest.Drawing) {
	t.Helper()
	d.NoOverlap(t)
	for _, c := range d.Elements {
		if c.Name != "circle" {
			continue
		}
		b, _ := c.Box(d)
		for _, x := range d.Texts("j") {
			if o, _ := x.Box(d); b.Grow(-1).Overlaps(o.Grow(-1)) {
				t.Errorf("%q overlaps a circle at %+v", x.Text, b)
			}
		}
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]map[string]any{
		"one":      {"Title": "T", "Nodes": []any{"a"}},
		"two":      {"Title": "T", "Edges": "a -> b"},
		"lone":     {"Title": "T", "Nodes": []any{"a", "b", "c", "d"}},
		"cycle":    {"Title": "T", "Edges": "a -> b: x\nb -> c\nc -> a: back\na -> a"},
		"directed": {"Title": "T", "Directed": true, "Edges": edges(12), "Source": "x"},
		"groups":   {"Title": "T", "Nodes": []any{map[string]any{"id": "a", "group": "g", "value": 3.0}, map[string]any{"id": "b", "group": "h"}, "c"}, "Edges": []any{[]any{"a", "b"}, []any{"b", "c"}}},
		"star":     {"Title": "T", "Edges": map[string]any{"hub": leaves(80)}},
		"full":     {"Title": "T", "Edges": full(12)},
		"labels":   {"Title": "T", "Edges": "a -> b: knows well\nb -> c: has heard of\nc -> d: a text that is too long for any place"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := svgtest.CheckRepeatable(t, network.Draw, p)
			apart(t, d)
		})
	}
}

func leaves(n int) []any {
	var out []any
	for i := range n {
		out = append(out, fmt.Sprint("leaf number ", i))
	}
	return out
}

func full(n int) []any {
	var out []any
	for i := range n {
		for j := range i {
			out = append(out, []any{fmt.Sprint(i), fmt.Sprint(j)})
		}
	}
	return out
}

func TestFiveHundredNodesStayReadable(t *testing.T) {
	t.Parallel()
	d, res := svgtest.CheckRepeatable(t, network.Draw, map[string]any{"Title": "T", "Edges": edges(500)})
	if res.Facts["NodeCount"] != 500 || len(res.Warnings) != 1 || !strings.HasPrefix(res.Warnings[0], "Names stand at ") {
		t.Errorf("count %v, warnings %v", res.Facts["NodeCount"], res.Warnings)
	}
	if n := len(d.Texts("jj")); n < 20 || n > 72 {
		t.Errorf("%d names, want 20 to 72", n)
	}
	d.NoOverlap(t)
	apart(t, d)
	if d.W > 2000 || d.H > 2000 {
		t.Errorf("the page is %g × %g", d.W, d.H)
	}
}

func TestTenThousandNodes(t *testing.T) {
	t.Parallel()
	_, res := svgtest.Draw(t, network.Draw, map[string]any{"Title": "T", "Edges": edges(10_000)})
	if res.Facts["NodeCount"] != 500 || !strings.Contains(res.Alt, "500 best-connected of 10000") {
		t.Errorf("count %v: %v", res.Facts["NodeCount"], res.Alt)
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	svgtest.Survives(t, network.Draw, func(s string) map[string]any {
		return map[string]any{"Title": s, "Subtitle": s, "Source": s, "Directed": true, "Nodes": []any{map[string]any{"id": "a", "label": s, "group": s}, "b"}, "Edges": []any{map[string]any{"from": "a", "to": "b", "label": s}}}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	svgtest.Refuses(t, network.Draw, map[string]map[string]any{
		"Title is missing":              {"Edges": "a -> b"},
		"are empty":                     {"Title": "T"},
		"Edges[0] has no from or no to": {"Title": "T", "Edges": []any{map[string]any{"to": "a"}}},
	})
}

func BenchmarkNetwork(b *testing.B) {
	for _, n := range []int{50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := map[string]any{"Title": "T", "Edges": edges(n)}
			for b.Loop() {
				svgtest.Draw(b, network.Draw, p)
			}
		})
	}
}

// heads counts the arrowheads of a drawing.
func heads(d svgtest.Drawing) int {
	n := 0
	for _, e := range d.Elements {
		if e.Name == "polygon" && e.Has("h") {
			n++
		}
	}
	return n
}

func TestBothDirectionsHaveHeads(t *testing.T) {
	t.Parallel()
	data, res := svgtest.Draw(t, network.Draw, map[string]any{"Title": "T", "Directed": true, "Edges": []any{map[string]any{"from": "a", "to": "b", "both": true, "dashed": true}, []any{"b", "c"}}})
	d := svgtest.Parse(t, data)
	if n := heads(d); n != 3 || !strings.Contains(res.Alt, "a ↔ b. b → c.") || !strings.Contains(string(data), `class="e x q"`) {
		t.Errorf("%d heads: %s", n, res.Alt)
	}
	_, res = svgtest.Draw(t, network.Draw, map[string]any{"Title": "T", "Edges": "a -> b"})
	if !strings.Contains(res.Alt, "a – b.") {
		t.Errorf("a relation without a direction: %s", res.Alt)
	}
}

// TestOmittedLabelsAreSaid: a caller learns that labels of relations are not drawn.
func TestOmittedLabelsAreSaid(t *testing.T) {
	t.Parallel()
	var many []any
	for i := range 61 {
		many = append(many, []any{fmt.Sprint("n", i/2), fmt.Sprint("n", i+1), "knows"})
	}
	for want, list := range map[string]any{"0 of 61": many, "1 of 2": "a -> b: knows\na -> a: itself", "": "a -> b: knows"} {
		_, res := svgtest.Draw(t, network.Draw, map[string]any{"Title": "T", "Edges": list})
		if got := strings.Join(res.Warnings, ""); want == "" && got != "" || !strings.Contains(got, want) || !strings.Contains(res.Alt, got) {
			t.Errorf("warning %q, want %q", got, want)
		}
	}
}
