package svgtest_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier/draw/mermaid"
	"atelier/draw/network"
	"atelier/draw/svgtest"
)

// TestHundredKilobytesOfMermaid draws or refuses sources of 100 kB, on many lines and on a single line.
func TestHundredKilobytesOfMermaid(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"pie", "flowchart", "sequence", "class", "state", "er", "gantt"} {
		s := shape{name: "large"}
		for i := 0; len(mermaidOf(kind, s)) < 100_000; i += 100 {
			for k := range 100 {
				s.labels, s.values = append(s.labels, fmt.Sprintf("Thing number %d", i+k)), append(s.values, float64(k+1))
			}
		}
		code := mermaidOf(kind, s)
		for name, text := range map[string]string{"lines": code, "one line": strings.ReplaceAll(code, "\n", "; "), "cut": code[:99_999], "doubled ends": code + strings.Repeat("\nend", 900)} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				judge(t, mermaid.Draw, func() map[string]any { return map[string]any{"Code": text} })
			})
		}
	}
	for name, code := range map[string]string{
		"brackets": "flowchart TD\n" + strings.Repeat("A[", 50_000),
		"dashes":   "flowchart TD\nA " + strings.Repeat("-- x ", 20_000),
		"links":    "flowchart TD\nA" + strings.Repeat("-->B", 25_000),
		"quotes":   "flowchart TD\nA" + strings.Repeat(`"`, 100_000),
		"nesting":  "flowchart TD\n" + strings.Repeat("subgraph x\n", 9_000),
		"blocks":   "sequenceDiagram\n" + strings.Repeat("loop x\n", 14_000),
		"states":   "stateDiagram-v2\n" + strings.Repeat("state A {\n", 10_000),
		"percent":  strings.Repeat("%%{", 33_000),
		"fences":   strings.Repeat("```\n", 25_000),
		"entities": "flowchart TD\nA[" + strings.Repeat("#35;", 25_000) + "]",
		"crosses":  "flowchart TD\nA" + strings.Repeat("--xB", 25_000),
		"products": "flowchart TD\n" + strings.Repeat("A&", 20_000) + "A-->" + strings.Repeat("B&", 20_000) + "B",
		"spaces":   "flowchart TD\nA" + strings.Repeat(" ", 99_000) + "-->B",
		"too long": strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge(t, mermaid.Draw, func() map[string]any { return map[string]any{"Code": code} })
		})
	}
}

func BenchmarkVisual(b *testing.B) {
	for _, m := range makers() {
		for _, s := range shapes() {
			if s.name != "ordinary" && s.name != "10,000 categories" || m.refuses[s.name] {
				continue
			}
			b.Run(m.name+"/"+s.name, func(b *testing.B) {
				p, size := m.params(s), 0
				for b.Loop() {
					data, _ := drawn(b, m.draw, p)
					size = len(data)
				}
				b.ReportMetric(float64(size)/1024, "kB")
			})
		}
	}
	b.Run("mermaid/100 kB", func(b *testing.B) {
		code := "flowchart TD\n" + strings.Repeat("A-->B\n", 16_000)
		for b.Loop() {
			svgtest.Draw(b, mermaid.Draw, map[string]any{"Code": code})
		}
	})
	b.Run("network/500 nodes", func(b *testing.B) {
		edges := graphs()["10,000 nodes"]()[:499]
		for b.Loop() {
			svgtest.Draw(b, network.Draw, map[string]any{"Title": "T", "Edges": edges})
		}
	})
}
