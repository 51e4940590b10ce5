package graph

import (
	"cmp"
	"slices"
	"strings"

	"atelier/draw/svg"
)

// Picture is a measured and laid out graph, ready to be drawn.
type Picture struct {
	Graph  *Graph
	Faces  []Face
	Texts  [][]string // lines on each wire
	Layout Layout
}

// Plan describes how to lay out a graph. The zero value means the direction that fits best and the page's own typeface.
type Plan struct {
	// Direction is down, right, up, left or auto; empty means auto.
	Direction      string
	AvailableWidth float64
	// TextScale is the width of text relative to the page's own typeface; less than 1 means 1.
	TextScale float64
}

// Directions returns the directions that Plan accepts.
func Directions() []string { return []string{"auto", "down", "right", "up", "left"} }

// Direction converts what people write (LR, td, vertical) to a direction of Plan. It returns false
// for anything else. Empty stays empty.
func Direction(s string) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	s = cmp.Or(map[string]string{"tb": "down", "td": "down", "vertical": "down", "top-down": "down", "lr": "right", "horizontal": "right", "bt": "up", "rl": "left"}[s], s)
	return s, s == "" || slices.Contains(Directions(), s)
}

// maxPageHeight is the height above which a layout counts as too high for a page. It is large, because
// people scroll down, not sideways.
const maxPageHeight = 2400

// Arrange measures and lays out a graph.
func Arrange(g *Graph, plan Plan) Picture {
	p := Picture{Graph: g, Faces: make([]Face, len(g.Nodes)), Texts: make([][]string, len(g.Edges))}
	s := spec{graph: g, sizes: make([]Size, len(g.Nodes)), labels: make([]Size, len(g.Edges)), room: plan.AvailableWidth, layerGap: 48, portGap: 18}
	wide := max(1, plan.TextScale)
	for i, n := range g.Nodes {
		p.Faces[i] = face(n, wide)
		s.sizes[i] = p.Faces[i].Size
	}
	labels := g.labels()
	for i, e := range g.Edges {
		p.Texts[i] = svg.Wrap(labels[i], wireSize*wide, 150, 3)
		s.labels[i] = Size{svg.Widest(p.Texts[i], wireSize*wide), 15 * float64(len(p.Texts[i]))}
		for _, h := range []Head{e.Head, e.Tail} { // these need more room than an arrow
			if h == Hollow || headRoom[h] == crow {
				s.layerGap, s.portGap = 72, 26
			}
		}
	}
	s.across = plan.Direction == "right" || plan.Direction == "left"
	s.back = plan.Direction == "up" || plan.Direction == "left"
	p.Layout = layered(s)
	if plan.Direction == "auto" || plan.Direction == "" {
		s.across = true
		if other := layered(s); fits(other, plan.AvailableWidth) > fits(p.Layout, plan.AvailableWidth)+0.05 {
			p.Layout = other
		}
	}
	return p
}

// labels returns the texts on the wires. Several edges from a node to itself are drawn as one, so
// the first of them has all their texts.
func (g *Graph) labels() []string {
	out := make([]string, len(g.Edges))
	first := map[int]int{}
	for i, e := range g.Edges {
		out[i] = e.Label
		if e.From != e.To {
			continue
		}
		k, again := first[e.From]
		if !again {
			first[e.From] = i
			continue
		}
		out[i] = ""
		if out[k] != "" && e.Label != "" {
			out[k] += ", "
		}
		out[k] += e.Label
	}
	return out
}

// fits returns the scale at which a layout fits on a page, reduced if it is high for its room.
func fits(l Layout, room float64) float64 {
	f := min(1, room/l.W, maxPageHeight/l.H)
	if l.H > 0.9*room {
		f -= min(0.25, 0.15*(l.H/room-0.9)+0.05)
	}
	return f
}

// Draw draws wires, nodes and the texts on wires, offset by at.
func (p Picture) Draw(s *svg.Canvas, at svg.Point) {
	p.DrawWith(s, at, func(e Edge, pts []svg.Point) { drawWire(s, e, pts, p.Layout.Across) }, func(n Node, f Face, b svg.Box, class string) { drawNode(s, n, f, b, class) })
}

// DrawWith is like Draw, but the caller draws the wires and nodes.
func (p Picture) DrawWith(s *svg.Canvas, at svg.Point, wire func(e Edge, pts []svg.Point), node func(n Node, f Face, b svg.Box, class string)) {
	for i, e := range p.Graph.Edges {
		pts := slices.Clone(p.Layout.Routes[i])
		for k := range pts {
			pts[k] = pts[k].Add(at)
		}
		wire(e, pts)
	}
	for i, n := range p.Graph.Nodes {
		class := svg.NodeClass(max(0, n.Group))
		if n.Group < 0 && len(p.Graph.Groups) > 0 {
			class = svg.NodeClass(6) // grey where others have a colour
		}
		node(n, p.Faces[i], p.Layout.Nodes[i].Move(at), class)
	}
	for i, lines := range p.Texts {
		if len(lines) == 0 {
			continue
		}
		// Draw a background, so that no line shows between the words.
		b := p.Layout.Labels[i].Move(at)
		s.Rect(svg.Box{X: b.X + 2, Y: b.Y, W: max(4, b.W-4), H: b.H}, "b", 3)
		s.Lines(b.X+b.W/2, b.Y+11.5, 15, "y m", "middle", lines)
	}
}

func drawNode(s *svg.Canvas, n Node, f Face, b svg.Box, class string) {
	c := b.Center()
	switch n.Shape {
	case Dot:
		s.Circle(c, b.W/2, "h")
		return
	case Target:
		s.Circle(c, b.W/2-1, "r b")
		s.Circle(c, b.W/2-6, "h")
		return
	case Bar:
		s.Rect(b, "h", 2)
		return
	case Table:
		s.Rect(b, class, 6)
		y := b.Y + 7
		s.Lines(c.X, y+10.5, noteStep, "c i", "middle", f.Note)
		y += noteStep * float64(len(f.Note))
		s.Lines(c.X, y+13, labelStep, "d i", "middle", f.Label)
		y += labelStep*float64(len(f.Label)) + 7
		for _, rows := range f.Rows {
			s.Line(b.X, y, b.Right(), y, "r")
			s.Lines(b.X+12, y+17, rowStep, "k i", "start", rows)
			y += 10 + rowStep*float64(len(rows))
		}
		return
	case Rect:
		s.Rect(b, class, 2)
	case Pill:
		s.Rect(b, class, b.H/2)
	case Circle:
		s.Circle(c, b.W/2, class)
	case Ellipse:
		s.Tag(`<ellipse cx="%s" cy="%s" rx="%s" ry="%s" class="%s"/>`, svg.Px(c.X), svg.Px(c.Y), svg.Px(b.W/2), svg.Px(b.H/2), class)
	case Diamond, Hexagon, Parallelogram:
		s.Polygon(class, Outline(n.Shape, b)...)
	case Cylinder:
		left, right, top, bottom, rx, ry := svg.Px(b.X), svg.Px(b.Right()), svg.Px(b.Y+lid), svg.Px(b.Bottom()-lid), svg.Px(b.W/2), svg.Px(lid)
		s.Tag(`<path d="M%s %sA%s %s 0 0 1 %s %sV%sA%s %s 0 0 1 %s %sZ" class="%s"/>`, left, top, rx, ry, right, top, bottom, rx, ry, left, bottom, class)
		s.Tag(`<path d="M%s %sA%s %s 0 0 0 %s %s" class="%s" fill-opacity="0"/>`, left, top, rx, ry, right, top, class)
	default:
		s.Rect(b, class, 9)
	}
	f.Text(s, n.Shape, b)
}

// Text writes a node's label and note into its box.
func (f Face) Text(s *svg.Canvas, shape Shape, b svg.Box) {
	x, y := b.X+b.W/2, b.Y+(b.H-f.high())/2
	if shape == Cylinder {
		y += lid
	}
	s.Lines(x, y+13, labelStep, "d i", "middle", f.Label)
	s.Lines(x, y+labelStep*float64(len(f.Label))+10.5, noteStep, "c i", "middle", f.Note)
}
