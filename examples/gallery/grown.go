package main

import (
	"fmt"
	"math"
	"time"
)

// grown returns the samples that are too large to write by hand.
func grown() []sample {
	return []sample{
		{name: "chart-90-points", Action: "Create SVG Chart", Note: "10,000 points in each of two groups: some are drawn.", Params: map[string]any{"ChartType": "scatter", "Title": "Twenty thousand readings", "XLabel": "Load", "YLabel": "Delay", "Unit": "ms", "Series": []any{cloud("Old engine", 10_000, 3), cloud("New engine", 10_000, 2)}}},
		{name: "chart-91-days", Action: "Create SVG Chart", Note: "10,000 days as a line: peaks are kept.", Params: map[string]any{"ChartType": "line", "Title": "Ten thousand days of a river", "YLabel": "Level", "Unit": "cm", "Labels": days(10_000), "Series": []any{map[string]any{"name": "Level", "values": waves(10_000, 1)}}}},
		{name: "chart-92-categories", Action: "Create SVG Chart", Note: "10,000 categories: neighbours are put together.", Params: map[string]any{"ChartType": "bar", "Title": "Ten thousand products", "Labels": products(10_000), "Series": []any{map[string]any{"name": "Sold", "values": waves(10_000, 1)}}}},
		{name: "chart-93-many-series", Action: "Create SVG Chart", Note: "20 lines.", Params: map[string]any{"ChartType": "line", "Title": "Twenty regions", "Labels": years(24), "Series": manySeries(20, 24)}},
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

// tree returns the edges of a tree with n nodes, irregular but always the same.
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

func products(n int) []any {
	var out []any
	for i := range n {
		out = append(out, fmt.Sprintf("product %d", i+1))
	}
	return out
}

// noise returns a number from -1 to 1 that looks random but is always the same.
func noise(i int) float64 {
	s := math.Sin(float64(i)*12.9898) * 43758.5453
	return 2*(s-math.Floor(s)) - 1
}

func waves(n, k int) []any {
	var out []any
	for i := range n {
		out = append(out, math.Round(300+120*math.Sin(float64(i*k)/180)+60*math.Sin(float64(i)/29)+40*noise(i*k)))
	}
	return out
}

func days(n int) []any {
	var out []any
	first := time.Date(1998, 5, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		out = append(out, first.AddDate(0, 0, i).Format(time.DateOnly))
	}
	return out
}

func years(n int) []any {
	var out []any
	for i := range n {
		out = append(out, fmt.Sprint(2000+i))
	}
	return out
}

func cloud(name string, n int, steep float64) map[string]any {
	var pts []any
	for i := range n {
		x := 50 + 45*noise(i)
		pts = append(pts, []any{x, 40 + steep*x + 30*noise(i+n) + 25*noise(i+2*n)})
	}
	return map[string]any{"name": name, "points": pts}
}

func manySeries(n, values int) []any {
	var out []any
	for k := range n {
		out = append(out, map[string]any{"name": fmt.Sprintf("Region %d", k+1), "values": waves(values, 30+7*k)})
	}
	return out
}
