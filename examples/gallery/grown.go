package main

import "fmt"

// grown makes the samples that are too large to write by hand.
func grown() []sample {
	return []sample{
		{name: "diagram-90-large", Action: "Create SVG Diagram", Note: "10,000 nodes: the best-connected are shown.", Params: map[string]any{"Title": "Ten thousand modules", "Edges": tree(10_000)}},
		{name: "diagram-91-sixty", Action: "Create SVG Diagram", Note: "60 nodes.", Params: map[string]any{"Title": "Sixty modules and what they import", "Edges": append(tree(60), tree(30)[3:9]...)}},
		{name: "network-90-five-hundred", Action: "Create SVG Network", Note: "500 nodes.", Params: map[string]any{"Title": "Five hundred modules", "Edges": append(tree(500), tree(120)[20:60]...), "Nodes": groups(500)}},
		{name: "network-91-large", Action: "Create SVG Network", Note: "10,000 nodes: the best-connected are shown.", Params: map[string]any{"Title": "Ten thousand modules", "Edges": tree(10_000)}},
		{name: "wordcloud-90-large", Action: "Create SVG Word Cloud", Note: "10,000 words: the heaviest are shown.", Params: map[string]any{"Title": "Ten thousand words", "MaxWords": 250.0, "Words": vocabulary(10_000)}},
	}
}

func vocabulary(n int) []any {
	var out []any
	for i := range n {
		out = append(out, []any{fmt.Sprintf("word%d", i*7919%n), 1000.0 / float64(i+1)})
	}
	return out
}

// tree gives the edges of a tree with n nodes, irregular but always the same.
func tree(n int) []any {
	var out []any
	for i := 1; i < n; i++ {
		out = append(out, map[string]any{"from": fmt.Sprintf("module %d", (i*i+i/3)%i/2+i/6), "to": fmt.Sprintf("module %d", i)})
	}
	return out
}

func groups(n int) []any {
	var out []any
	for i := range n {
		out = append(out, map[string]any{"id": fmt.Sprintf("module %d", i), "group": fmt.Sprintf("team %d", i%5)})
	}
	return out
}
