package graph

import (
	"atelier/draw/svg"
)

// Size is a width and a height in pixels.
type Size struct{ W, H float64 }

// spec describes what to lay out. sizes has one entry per node; labels has one per edge, zero if it has no label.
type spec struct {
	graph         *Graph
	sizes, labels []Size
	// across runs the layers from left to right instead of from top to bottom; back reverses the direction.
	across, back bool
	layerGap     float64 // minimum distance between layers
	portGap      float64 // distance between edges on one side of a node, if it is wide enough
	room         float64 // target width for separate parts side by side
}

// gapInLayer is the minimum distance between neighbours in a layer.
const gapInLayer = 28.0

// turn returns a size relative to the layers: width along them, height across.
func (s *spec) turn(size Size) Size {
	if s.across {
		return Size{size.H, size.W}
	}
	return size
}

// Layout holds the positions of everything. Routes has one list of points per edge: its pieces alternate between curves
// and straight lines, with tangents along the axis of the layers. The route of a loop is its four corners.
type Layout struct {
	W, H   float64
	Nodes  []svg.Box
	Routes [][]svg.Point
	Labels []svg.Box
	Across bool
}

// vertex is a node, a bend of an edge, or the place of an edge's label.
type vertex struct {
	node    int // -1 for bends and labels
	label   bool
	rank    int
	order   int
	w, h    float64 // along the layer, across it
	x       float64 // centre
	up, dn  []int   // neighbours in the layers before and after
	portsUp []float64
	portsDn []float64
}

// part is one connected piece of the graph while it is laid out.
type part struct {
	spec    *spec
	nodes   []int
	edges   []int
	v       []vertex
	of      map[int]int // vertex of a node
	layers  [][]int
	chains  map[int][]int // vertices of an edge from its upper to its lower end
	turned  map[int]bool  // edges that run against the layers
	sorted  []int         // vertices, successors first
	tops    []float64     // upper side of each layer
	heights []float64
	w, h    float64
}

// layered lays out a graph in layers, so that as many edges as possible point the same way and few
// cross. Separate parts are placed side by side.
func layered(s spec) Layout {
	out := Layout{Nodes: make([]svg.Box, len(s.graph.Nodes)), Routes: make([][]svg.Point, len(s.graph.Edges)), Labels: make([]svg.Box, len(s.graph.Edges)), Across: s.across}
	var parts []*part
	of := make([]*part, len(s.graph.Nodes))
	for _, nodes := range s.graph.Parts() {
		p := &part{spec: &s, nodes: nodes, of: map[int]int{}, chains: map[int][]int{}, turned: map[int]bool{}}
		for _, n := range nodes {
			of[n] = p
		}
		parts = append(parts, p)
	}
	for i, e := range s.graph.Edges {
		of[e.From].edges = append(of[e.From].edges, i)
	}
	sizes := make([]Size, len(parts))
	for i, p := range parts {
		p.layout()
		sizes[i] = s.turn(Size{p.w, p.h})
	}
	at, whole := Pack(sizes, s.room, gapInLayer*1.4)
	out.W, out.H = whole.W, whole.H
	for i, p := range parts {
		p.emit(&out, at[i])
	}
	return out
}

// Parts returns the nodes of each connected part; parts are in the order of their first nodes.
func (g *Graph) Parts() [][]int {
	root := make([]int, len(g.Nodes))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for _, e := range g.Edges {
		a, b := find(e.From), find(e.To)
		root[max(a, b)] = min(a, b)
	}
	var parts [][]int
	at := map[int]int{} // the part of a root, which is its first node
	for i := range root {
		r := find(i)
		if r == i {
			at[r] = len(parts)
			parts = append(parts, nil)
		}
		parts[at[r]] = append(parts[at[r]], i)
	}
	return parts
}

func (p *part) layout() {
	for _, n := range p.nodes {
		size := p.spec.turn(p.spec.sizes[n])
		p.of[n] = len(p.v)
		beside, high := p.loopRoom(n)
		p.v = append(p.v, vertex{node: n, w: size.W + 2*beside, h: max(size.H, high)})
	}
	p.breakCycles()
	p.rankNodes()
	p.addBends()
	p.orderLayers()
	p.placeX()
	p.placeY()
}

// loopRoom returns the room beside a node for edges from it to itself, and the height of their labels across the layer.
func (p *part) loopRoom(n int) (beside, high float64) {
	for _, i := range p.edges {
		if e := p.spec.graph.Edges[i]; e.From == n && e.To == n {
			label := p.spec.turn(p.spec.labels[i])
			beside, high = max(beside, loopReach+6+label.W), max(high, label.H)
		}
	}
	return beside, high
}

const loopReach = 26.0

func (p *part) loop(i int) bool {
	e := p.spec.graph.Edges[i]
	return e.From == e.To
}

// ends returns an edge's vertices, the upper one first.
func (p *part) ends(i int) (from, to int) {
	e := p.spec.graph.Edges[i]
	from, to = p.of[e.From], p.of[e.To]
	if p.turned[i] {
		from, to = to, from
	}
	return from, to
}
