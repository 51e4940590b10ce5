package graph

import (
	"cmp"
	"math"
	"slices"

	"atelier/draw/svg"
)

// emit writes the positions of a part into the layout, in its direction.
func (p *part) emit(out *Layout, at svg.Point) {
	place := func(x, y float64) svg.Point {
		if p.spec.back {
			y = p.h - y
		}
		if p.spec.across {
			x, y = y, x
		}
		return svg.Point{X: at.X + x, Y: at.Y + y}
	}
	for _, n := range p.nodes {
		v := p.v[p.of[n]]
		out.Nodes[n] = boxAround(place(v.x, p.tops[v.rank]+p.heights[v.rank]/2), p.spec.sizes[n])
	}
	for k := range p.v { // each edge gets a port on the upper or lower side of its nodes
		p.v[k].portsUp, p.v[k].portsDn = p.spread(k, p.v[k].up), p.spread(k, p.v[k].dn)
	}
	for _, i := range p.edges {
		if p.loop(i) {
			p.emitLoop(out, i)
			continue
		}
		var pts []svg.Point
		for _, q := range p.smooth(p.stops(i)) {
			pts = append(pts, place(q.x, q.in))
			if q.k >= 0 {
				pts = append(pts, place(q.x, q.out))
			}
		}
		if p.turned[i] {
			slices.Reverse(pts)
		}
		out.Routes[i] = pts
		for _, k := range p.chains[i] {
			if v := p.v[k]; v.label {
				out.Labels[i] = boxAround(place(v.x, p.tops[v.rank]+p.heights[v.rank]/2), p.spec.labels[i])
			}
		}
	}
}

func boxAround(c svg.Point, s Size) svg.Box {
	return svg.Box{X: c.X - s.W/2, Y: c.Y - s.H/2, W: s.W, H: s.H}
}

// spread places the edges to the neighbours near along a side, in the order of the neighbours. An
// edge whose next bend is directly above or below the node runs straight to it.
func (p *part) spread(k int, near []int) []float64 {
	v := p.v[k]
	out := make([]float64, len(near))
	if v.node < 0 || len(near) == 0 {
		return out
	}
	width := p.spec.turn(p.spec.sizes[v.node]).W
	order := Ranked(len(near), func(a, b int) int { return cmp.Compare(p.v[near[a]].x, p.v[near[b]].x) })
	room := width * 0.7
	switch p.spec.graph.Nodes[v.node].Shape {
	case Diamond, Circle, Ellipse, Target, Dot:
		room = width * 0.35
	default:
	}
	step := min(p.spec.portGap, room/float64(len(near)))
	half := (room - step) / 2
	wishes := make([]float64, len(near))
	for i, e := range order {
		if n := p.v[near[e]]; n.node < 0 && math.Abs(n.x-v.x) <= half {
			wishes[i] = n.x - v.x
		}
		wishes[i] -= float64(i) * step
	}
	for i, x := range isotonic(wishes, slices.Repeat([]float64{1}, len(near))) {
		// A side has room for all ports: clamp each one so that the others fit.
		out[order[i]] = max(-half+float64(i)*step, min(x+float64(i)*step, half-float64(len(near)-1-i)*step))
	}
	return out
}

// stop is a point of a route: a bend with the sides of its layer, or an end.
type stop struct {
	k          int // vertex of a bend, -1 for an end
	x, in, out float64
}

// stops returns all points of an edge, from its upper to its lower end.
func (p *part) stops(i int) []stop {
	chain := p.chains[i]
	var list []stop
	for c, k := range chain {
		v := &p.v[k]
		top, bottom := p.tops[v.rank], p.tops[v.rank]+p.heights[v.rank]
		if v.node < 0 {
			list = append(list, stop{k, v.x, top, bottom})
			continue
		}
		size, side := p.spec.turn(p.spec.sizes[v.node]), 1.0 // the lower side of the first node
		var dx float64
		if c == 0 {
			dx = take(v.dn, v.portsDn, chain[1])
		} else {
			dx, side = take(v.up, v.portsUp, chain[c-1]), -1
		}
		y := (top+bottom)/2 + side*(size.H/2-p.inset(v.node, size, dx, p.spec.across))
		list = append(list, stop{-1, v.x + dx, y, y})
	}
	return list
}

// ahead is how many stops ahead one curve may reach.
const ahead = 6

// smooth omits bends if one curve passes between the same nodes and labels.
func (p *part) smooth(list []stop) []stop {
	out := []stop{list[0]}
	for i := 0; i < len(list)-1; {
		next := i + 1
		for j := min(len(list)-1, i+ahead); j > i+1; j-- {
			if p.clear(list[i], list[i+1:j], list[j]) {
				next = j
				break
			}
		}
		out = append(out, list[next])
		i = next
	}
	return out
}

// clear reports whether the curve between two stops avoids everything beside the bends that it would replace.
func (p *part) clear(a stop, between []stop, b stop) bool {
	for _, q := range between {
		if p.v[q.k].label {
			return false
		}
		lo, hi := p.free(q.k)
		const pieces = 24
		for k := 1; k < pieces; k++ {
			t := float64(k) / pieces
			s := t * t * (3 - 2*t)
			mid := (a.out + b.in) / 2
			u := 1 - t
			y := u*u*u*a.out + 3*u*t*mid + t*t*t*b.in
			if x := a.x + (b.x-a.x)*s; y > q.in-8 && y < q.out+8 && (x < lo || x > hi) {
				return false
			}
		}
	}
	return true
}

// free returns the room beside a bend, up to the next node or label on either side.
func (p *part) free(k int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, i := range p.layers[p.v[k].rank] {
		switch v := &p.v[i]; {
		case v.node < 0 && !v.label:
		case v.order < p.v[k].order:
			lo = v.x + v.w/2 + 7
		case v.order > p.v[k].order:
			return lo, v.x - v.w/2 - 7
		}
	}
	return lo, hi
}

// take returns the port of the next edge to a neighbour; edges between the same two nodes use successive ports.
func take(near []int, ports []float64, to int) float64 {
	for i, at := range ports {
		if near[i] == to && !math.IsNaN(at) {
			ports[i] = math.NaN()
			return at
		}
	}
	return 0
}

// inset returns how far below the upper side of its box an outline begins, at dx from the centre; with across, how far
// from the left or right side.
func (p *part) inset(n int, size Size, dx float64, across bool) float64 {
	u := min(1, math.Abs(dx)/(size.W/2))
	switch s := p.spec.graph.Nodes[n].Shape; {
	case s == Ellipse || s == Circle || s == Target || s == Dot:
		return size.H / 2 * (1 - math.Sqrt(1-u*u))
	case s == Diamond:
		return size.H / 2 * u
	case s == Pill && across:
		return size.W / 2 * (1 - math.Sqrt(1-u*u))
	case s == Hexagon && across:
		return u * hexCut
	case s == Parallelogram && across:
		return slant / 2
	case s == Cylinder && !across:
		return lid * (1 - math.Sqrt(1-u*u))
	}
	return 0
}

// emitLoop routes an edge from a node to itself on the node's right side, or below it if the layers run across.
func (p *part) emitLoop(out *Layout, i int) {
	n := p.spec.graph.Edges[i].From
	b := out.Nodes[n]
	label := p.spec.labels[i]
	if p.spec.across {
		d := min(12, b.W/4)
		x, y := b.X+b.W/2, b.Bottom()
		in := y - p.inset(n, Size{b.W, b.H}, d, false)
		out.Routes[i] = []svg.Point{{X: x - d, Y: in}, {X: x - d, Y: y + loopReach}, {X: x + d, Y: y + loopReach}, {X: x + d, Y: in}}
		out.Labels[i] = svg.Box{X: x - label.W/2, Y: y + loopReach + 3, W: label.W, H: label.H}
		return
	}
	d, x, y := min(9, b.H/4), b.Right(), b.Y+b.H/2
	in := x - p.inset(n, Size{b.H, b.W}, d, true)
	out.Routes[i] = []svg.Point{{X: in, Y: y - d}, {X: x + loopReach, Y: y - d}, {X: x + loopReach, Y: y + d}, {X: in, Y: y + d}}
	out.Labels[i] = svg.Box{X: x + loopReach + 3, Y: y - label.H/2, W: label.W, H: label.H}
}
