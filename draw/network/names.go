package network

import (
	"cmp"
	"slices"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

// tag is a name and its place.
type tag struct {
	text, class string
	box         svg.Box
}

// tags places the names of the largest nodes of a crowded network below, above, right or left of
// the circle, clear of circles and other names.
func (d *drawing) tags(marks []mark, size graph.Size) []tag {
	sizes := d.sizes()
	var taken []svg.Box
	for _, m := range marks {
		taken = append(taken, svg.Box{X: m.at.X, Y: m.at.Y}.Grow(m.r))
	}
	order := graph.Ranked(len(sizes), func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	var out []tag
	for _, i := range order[:maxCrowdedNames] {
		text, m := svg.Fit(d.Graph.Nodes[i].Label, bigSize, 190), marks[i]
		w, h := svg.Width(text, bigSize), bigSize*1.05
		for _, b := range around(m, w, h) {
			if b.X < 0 || b.Right() > size.W || b.Y < 0 || b.Bottom() > size.H || slices.ContainsFunc(taken, b.Overlaps) {
				continue
			}
			taken, out = append(taken, b), append(out, tag{text, "y i jj", b})
			break
		}
	}
	return out
}

// around returns the places for a name at a circle, best first.
func around(m mark, w, h float64) []svg.Box {
	var out []svg.Box
	for _, far := range []float64{1, 7} {
		r := m.r + far
		mid, left, right, high := m.at.X-w/2, m.at.X-r-w-2, m.at.X+r+2, m.at.Y-h/2
		for _, at := range []svg.Point{
			{X: mid, Y: m.at.Y + r},
			{X: mid, Y: m.at.Y - r - h},
			{X: right, Y: high},
			{X: left, Y: high},
			{X: right - r/2, Y: m.at.Y + r/2},
			{X: left + r/2, Y: m.at.Y + r/2},
			{X: right - r/2, Y: m.at.Y - r/2 - h},
			{X: left + r/2, Y: m.at.Y - r/2 - h},
		} {
			out = append(out, svg.Box{X: at.X, Y: at.Y, W: w, H: h})
		}
	}
	return out
}

// maxWireTexts is the maximum number of relations that are named; more would be clutter.
const maxWireTexts = 60

// wireTags places the names of relations near their middle where there is room, and returns how many have a name.
func (d *drawing) wireTags(marks []mark) (out []tag, named int) {
	var taken []svg.Box
	for _, m := range marks {
		taken = append(taken, svg.Box{X: m.at.X - m.w/2, Y: m.at.Y - m.r - 2, W: m.w, H: m.h})
	}
	for _, e := range d.Graph.Edges {
		if e.Label == "" {
			continue
		}
		if named++; e.From == e.To || len(d.Graph.Edges) > maxWireTexts {
			continue
		}
		text := svg.Fit(e.Label, 11, 110)
		w := svg.Width(text, 11)
		for _, t := range []float64{0.5, 0.4, 0.6, 0.3, 0.7} {
			p := marks[e.From].at.To(marks[e.To].at, t)
			b := svg.Box{X: p.X - w/2, Y: p.Y - 7, W: w, H: 14}
			if slices.ContainsFunc(taken, b.Overlaps) {
				continue
			}
			taken, out = append(taken, b), append(out, tag{text, "y m c", b})
			break
		}
	}
	return out, named
}
