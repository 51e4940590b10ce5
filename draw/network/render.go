package network

import (
	"cmp"
	"math"
	"slices"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

const (
	nameSize = 12.0
	nameStep = 14.0
	// A network of more than maxNamed nodes has names only at its largest nodes, in a larger size
	// and where there is room: more names would be unreadable at the size at which a page is seen.
	maxNamed        = 80
	maxCrowdedNames = 72
	bigSize         = 15.0
)

// mark is a node as it is drawn: a circle with an optional name below.
type mark struct {
	at   svg.Point // centre of the circle
	r    float64
	name []string
	w, h float64 // circle and name together
}

// crowded reports whether only the largest nodes are named.
func (d *drawing) crowded() bool { return len(d.Graph.Nodes) > maxNamed }

// sizes returns what the circles show: the value of each node, or its number of relations if it has none.
func (d *drawing) sizes() []float64 {
	deg := d.Graph.Degrees()
	out := make([]float64, len(deg))
	for i, n := range d.Graph.Nodes {
		out[i] = cmp.Or(n.Value, float64(deg[i]))
	}
	return out
}

func (d *drawing) marks() []mark {
	sizes := d.sizes()
	most := max(1.0, slices.Max(sizes))
	valued := slices.ContainsFunc(d.Graph.Nodes, func(n graph.Node) bool { return n.Value > 0 })
	out := make([]mark, len(d.Graph.Nodes))
	for i, n := range d.Graph.Nodes {
		m := mark{r: 5 + 15*math.Sqrt(sizes[i]/most)}
		if valued && n.Value == 0 {
			m.r = 5
		}
		if d.crowded() {
			m.r *= 0.58
		}
		m.w, m.h = 2*m.r+6, 2*m.r+6
		if !d.crowded() {
			m.name = svg.Wrap(n.Label, nameSize, 120, 2)
			m.h = 2*m.r + nameStep*float64(len(m.name)) + 8
		}
		m.w = max(m.w, svg.Widest(m.name, nameSize)+6)
		out[i] = m
	}
	return out
}

// place lays out the parts of the network, packs them and returns the size of the whole.
func (d *drawing) place(marks []mark, room float64) graph.Size {
	parts := d.Graph.Parts()
	local := make([]int, len(marks))
	for _, part := range parts {
		for k, i := range part {
			local[i] = k
		}
	}
	near := make([][]int, len(marks))
	for _, e := range d.Graph.Edges {
		if e.From != e.To {
			near[e.From], near[e.To] = append(near[e.From], local[e.To]), append(near[e.To], local[e.From])
		}
	}
	sizes := make([]graph.Size, len(parts))
	for k, part := range parts {
		sizes[k] = placePart(part, near, marks, d.crowded())
	}
	at, whole := graph.Pack(sizes, room, 26)
	for k, part := range parts {
		for _, i := range part {
			marks[i].at = marks[i].at.Add(at[k])
		}
	}
	return whole
}

// placePart lays out one connected part from 0, 0 and returns its size.
func placePart(part []int, near [][]int, marks []mark, crowded bool) graph.Size {
	links := make([][]int, len(part))
	w, h := make([]float64, len(part)), make([]float64, len(part))
	for k, i := range part {
		links[k] = near[i]
		w[k], h[k] = marks[i].w, marks[i].h
	}
	// Small networks get long edges, with room for their texts. Names are wider than high, so large
	// networks are stretched horizontally from the start.
	length := max(74, 170-4*float64(len(part)))
	if crowded {
		length = 58
	}
	at := stress(links, length)
	alignHorizontally(at)
	wide := 1.0
	switch {
	case crowded:
		wide = 1.25
	case len(part) > 24:
		wide = 1.7
	}
	for k := range at {
		at[k].X *= wide
	}
	spread(at, w, h)
	lo, hi := svg.Point{X: math.Inf(1), Y: math.Inf(1)}, svg.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for k, p := range at {
		lo = svg.Point{X: min(lo.X, p.X-w[k]/2), Y: min(lo.Y, p.Y-h[k]/2)}
		hi = svg.Point{X: max(hi.X, p.X+w[k]/2), Y: max(hi.Y, p.Y+h[k]/2)}
	}
	for k, i := range part {
		marks[i].at = svg.Point{X: at[k].X - lo.X, Y: at[k].Y - lo.Y - h[k]/2 + marks[i].r + 2}
	}
	return graph.Size{W: hi.X - lo.X, H: hi.Y - lo.Y}
}

const css = ".j{font-size:12px}.jj{font-size:15px;font-weight:600}.q{stroke-opacity:.6}"

// nodes draws the circles, then the names on top of all circles. A circle without a name shows it as a tooltip.
func (d *drawing) nodes(s *svg.Canvas, marks []mark) {
	for i, m := range marks {
		n := d.Graph.Nodes[i]
		colour := max(0, n.Group)
		if n.Group < 0 && len(d.Graph.Groups) > 0 {
			colour = 6 // grey where others have a colour
		}
		class := svg.FillClass(colour) + " p"
		if len(m.name) > 0 {
			s.Circle(m.at, m.r, class)
			continue
		}
		s.Tag(`<circle cx="%s" cy="%s" r="%s" class="%s"><title>%s</title></circle>`, svg.Px(m.at.X), svg.Px(m.at.Y), svg.Px(m.r), class, svg.Escape(svg.Clip(n.Label)))
	}
	for _, m := range marks {
		s.Lines(m.at.X, m.at.Y+m.r+nameSize*0.95, nameStep, "y i j", "middle", m.name)
	}
}

// wires draws the relations; heavier ones are wider.
func (d *drawing) wires(s *svg.Canvas, marks []mark) {
	most := 1.0
	for _, e := range d.Graph.Edges {
		most = max(most, e.Weight)
	}
	for _, e := range d.Graph.Edges {
		a, b := marks[e.From], marks[e.To]
		wide := svg.Px(1 + 3*e.Weight/most*min(1, most-1))
		if e.From == e.To {
			loop(s, a, d.freeAngle(e.From, marks))
			continue
		}
		dx, dy := b.at.X-a.at.X, b.at.Y-a.at.Y
		dist := max(1e-9, math.Hypot(dx, dy))
		ux, uy := dx/dist, dy/dist
		at := func(m mark, far float64) svg.Point { return svg.Point{X: m.at.X + ux*far, Y: m.at.Y + uy*far} }
		from, to := at(a, a.r), at(b, -b.r)
		if e.Tail != graph.NoHead {
			from = at(a, a.r+8)
			graph.DrawHead(s, e.Tail, at(a, a.r+1), svg.Point{X: -ux, Y: -uy})
		}
		if e.Head != graph.NoHead {
			to = at(b, -b.r-8)
			graph.DrawHead(s, e.Head, at(b, -b.r-1), svg.Point{X: ux, Y: uy})
		}
		s.Tag(`<path d="M%sL%s" class="%s q" style="stroke-width:%s"/>`, from, to, e.Class(), wide)
	}
}

// freeAngle returns the direction in radians that is farthest from all relations of a node and avoids its name.
func (d *drawing) freeAngle(node int, marks []mark) float64 {
	best, most := 0.0, -1.0
	for _, way := range []float64{-math.Pi / 4, -3 * math.Pi / 4, 0, math.Pi, -math.Pi / 2} {
		least := math.Pi
		for _, e := range d.Graph.Edges {
			if e.From == e.To || e.From != node && e.To != node {
				continue
			}
			p, q := marks[node].at, marks[e.From+e.To-node].at
			least = min(least, math.Abs(math.Remainder(math.Atan2(q.Y-p.Y, q.X-p.X)-way, 2*math.Pi)))
		}
		if least > most+1e-9 {
			best, most = way, least
		}
	}
	return best
}

func loop(s *svg.Canvas, m mark, way float64) {
	at := func(r, turn float64) string {
		sin, cos := math.Sincos(way + turn)
		return svg.Px(m.at.X+r*cos) + " " + svg.Px(m.at.Y+r*sin)
	}
	s.Tag(`<path d="M%sC%s %s %s" class="e q"/>`, at(m.r, -0.5), at(m.r+24, -0.6), at(m.r+24, 0.6), at(m.r, 0.5))
}
