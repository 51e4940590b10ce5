package graph

import (
	"atelier/draw/svg"
)

// Size is how much room something needs, in pixels.
type Size struct{ W, H float64 }

// spec says what to lay out. sizes has one entry per node, labels one per edge, zero where there is none.
type spec struct {
	graph         *Graph
	sizes, labels []Size
	// across lays the layers from left to right instead of from top to bottom, back
	// turns the way round: from right to left or from bottom to top.
	across, back bool
	layerGap     float64 // least distance of layers
	portGap      float64 // distance of edges that leave one side of a node, where it is wide enough
	room         float64 // width to aim for when separate parts are put side by side
}

// gapInLayer is the least distance of neighbours in a layer.
const gapInLayer = 28.0

// turn is a size as it lies in the layers: width along them, height across.
func (s *spec) turn(size Size) Size {
	if s.across {
		return Size{size.H, size.W}
	}
	return size
}

// Layout is where everything stands. Routes has one list of points per edge: its pieces are in turn a curve and a
// straight line, tangents run along the layers' axis. A route of a loop is a plain line.
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
	x       float64 // middle
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
	tops    []float64     // upper side of each layer
	heights []float64
	w, h    float64
}

// layered lays a graph out in layers, so that as many edges as possible point the
// same way and few cross. Separate parts stand side by side.
func layered(s spec) Layout {
	out := Layout{Nodes: make([]svg.Box, len(s.graph.Nodes)), Routes: make([][]svg.Point, len(s.graph.Edges)), Labels: make([]svg.Box, len(s.graph.Edges)), Across: s.across}
	parts := split(&s)
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

// Parts are the nodes of each connected part, the one with the first node first.
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

// split makes a part for each connected piece.
func split(s *spec) []*part {
	var list []*part
	of := make([]*part, len(s.graph.Nodes))
	for _, nodes := range s.graph.Parts() {
		p := &part{spec: s, nodes: nodes, of: map[int]int{}, chains: map[int][]int{}, turned: map[int]bool{}}
		for _, n := range nodes {
			of[n] = p
		}
		list = append(list, p)
	}
	for i, e := range s.graph.Edges {
		of[e.From].edges = append(of[e.From].edges, i)
	}
	return list
}

func (p *part) layout() {
	for _, n := range p.nodes {
		size := p.spec.turn(p.spec.sizes[n])
		p.of[n] = len(p.v)
		p.v = append(p.v, vertex{node: n, w: size.W + 2*p.loopRoom(n), h: size.H})
	}
	p.breakCycles()
	p.rankNodes()
	p.addBends()
	p.orderLayers()
	p.placeX()
	p.placeY()
}

// loopRoom is the room beside a node for edges from it to itself.
func (p *part) loopRoom(n int) float64 {
	room := 0.0
	for _, i := range p.edges {
		if e := p.spec.graph.Edges[i]; e.From == n && e.To == n {
			room = max(room, loopReach+6+p.spec.turn(p.spec.labels[i]).W)
		}
	}
	return room
}

const loopReach = 26.0

func (p *part) loop(i int) bool {
	e := p.spec.graph.Edges[i]
	return e.From == e.To
}

// ends are an edge's vertices, the upper one first.
func (p *part) ends(i int) (from, to int) {
	e := p.spec.graph.Edges[i]
	from, to = p.of[e.From], p.of[e.To]
	if p.turned[i] {
		from, to = to, from
	}
	return from, to
}
