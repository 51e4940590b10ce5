package graph

import (
	"atelier/draw/svg"
)

// Picture is a graph measured and laid out, ready to be drawn.
type Picture struct {
	Graph  *Graph
	Faces  []Face
	Texts  [][]string // lines on each wire
	Layout Layout
}

// Plan says how a graph is to be laid out. The zero value chooses the direction that
// fits and the page's own face.
type Plan struct {
	// Direction is down, right, up, left, or auto or empty.
	Direction string
	Room      float64
	Measure   Measurer
}

// Directions lists the words that Plan knows.
func Directions() []string { return []string{"auto", "down", "right", "up", "left"} }

// tall is how high a page may become before layers had better run across. It is much,
// because people scroll down and not aside.
const tall = 2400

// Arrange measures and lays out a graph.
func Arrange(g *Graph, plan Plan) Picture {
	p := Picture{Graph: g, Faces: make([]Face, len(g.Nodes)), Texts: make([][]string, len(g.Edges))}
	spec := Spec{Graph: g, Sizes: make([]Size, len(g.Nodes)), Labels: make([]Size, len(g.Edges)), Room: plan.Room}
	for i, n := range g.Nodes {
		p.Faces[i] = plan.Measure.Face(n)
		spec.Sizes[i] = p.Faces[i].Size
	}
	labels := g.labels()
	for i, e := range g.Edges {
		if labels[i] != "" {
			p.Texts[i], spec.Labels[i] = plan.Measure.Label(labels[i])
		}
		if broad(e.Head) || broad(e.Tail) {
			spec.LayerGap, spec.PortGap = 72, 26
		}
	}
	turn := func(across, back bool) Layout {
		s := spec
		s.Across, s.Back = across, back
		return Layered(s)
	}
	switch plan.Direction {
	case "down":
		p.Layout = turn(false, false)
	case "up":
		p.Layout = turn(false, true)
	case "right":
		p.Layout = turn(true, false)
	case "left":
		p.Layout = turn(true, true)
	default:
		p.Layout = turn(false, false)
		if other := turn(true, false); fits(other, plan.Room) > fits(p.Layout, plan.Room)+0.05 {
			p.Layout = other
		}
	}
	return p
}

// broad tells heads that need more room than an arrow.
func broad(h Head) bool { return h == Hollow || stem(h) > 0 }

// labels are the texts on the wires. Several edges from a node to itself are drawn as
// one, so the first of them has all their texts.
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

// fits is how much of its own size a layout keeps on a page, and a little more if it
// is not much higher than wide.
func fits(l Layout, room float64) float64 {
	f := min(1, room/l.W, tall/l.H)
	if l.H > 0.9*room {
		f -= min(0.25, 0.15*(l.H/room-0.9)+0.05)
	}
	return f
}

// Draw writes wires, nodes and the texts on wires, moved by at.
func (p Picture) Draw(s *svg.Canvas, at svg.Point) {
	move := func(b svg.Box) svg.Box { return svg.Box{X: b.X + at.X, Y: b.Y + at.Y, W: b.W, H: b.H} }
	for i, e := range p.Graph.Edges {
		pts := make([]svg.Point, len(p.Layout.Routes[i]))
		for k, q := range p.Layout.Routes[i] {
			pts[k] = svg.Point{X: q.X + at.X, Y: q.Y + at.Y}
		}
		drawWire(s, e, pts, p.Layout.Across)
	}
	for i, n := range p.Graph.Nodes {
		drawNode(s, n, p.Faces[i], move(p.Layout.Nodes[i]), p.Class(n))
	}
	for i, lines := range p.Texts {
		WireText(s, move(p.Layout.Labels[i]), lines)
	}
}

// Class colours a node by its group; one without a group is grey where others have one.
func (p Picture) Class(n Node) string {
	if n.Group < 0 && len(p.Graph.Groups) > 0 {
		return "n n6"
	}
	return svg.NodeClass(max(0, n.Group))
}

func drawNode(s *svg.Canvas, n Node, f Face, b svg.Box, class string) {
	switch n.Shape {
	case Dot:
		s.Circle(b.Center(), b.W/2, "h")
		return
	case Target:
		s.Circle(b.Center(), b.W/2-1, "r b")
		s.Circle(b.Center(), b.W/2-6, "h")
		return
	case Bar:
		s.Rect(b, "h", 2)
		return
	case Table:
		drawTable(s, f, b, class)
		return
	default:
	}
	outline(s, n.Shape, b, class)
	f.Text(s, n.Shape, b)
}

// Text writes a node's label and note into its box.
func (f Face) Text(s *svg.Canvas, shape Shape, b svg.Box) {
	h := labelStep*float64(len(f.Label)) + noteStep*float64(len(f.Note))
	x, y := b.X+b.W/2, b.Y+(b.H-h)/2
	if shape == Cylinder {
		y += lid
	}
	s.Lines(x, y+13, labelStep, "d i", "middle", f.Label)
	s.Lines(x, y+labelStep*float64(len(f.Label))+10.5, noteStep, "c i", "middle", f.Note)
}

func outline(s *svg.Canvas, shape Shape, b svg.Box, class string) {
	x, y, r, d := b.X, b.Y, b.Right(), b.Bottom()
	c := b.Center()
	switch shape {
	case Rect:
		s.Rect(b, class, 2)
	case Pill:
		s.Rect(b, class, b.H/2)
	case Circle:
		s.Circle(c, b.W/2, class)
	case Ellipse:
		s.Tag(`<ellipse cx="%s" cy="%s" rx="%s" ry="%s" class="%s"/>`, svg.Px(c.X), svg.Px(c.Y), svg.Px(b.W/2), svg.Px(b.H/2), class)
	case Diamond:
		s.Polygon(class, svg.Point{X: c.X, Y: y}, svg.Point{X: r, Y: c.Y}, svg.Point{X: c.X, Y: d}, svg.Point{X: x, Y: c.Y})
	case Hexagon:
		s.Polygon(class, svg.Point{X: x + hexCut, Y: y}, svg.Point{X: r - hexCut, Y: y}, svg.Point{X: r, Y: c.Y}, svg.Point{X: r - hexCut, Y: d}, svg.Point{X: x + hexCut, Y: d}, svg.Point{X: x, Y: c.Y})
	case Parallelogram:
		s.Polygon(class, svg.Point{X: x + slant, Y: y}, svg.Point{X: r, Y: y}, svg.Point{X: r - slant, Y: d}, svg.Point{X: x, Y: d})
	case Cylinder:
		rx := svg.Px(b.W / 2)
		s.Tag(`<path d="M%s %sA%s %s 0 0 1 %s %sV%sA%s %s 0 0 1 %s %sZ" class="%s"/>`, svg.Px(x), svg.Px(y+lid), rx, svg.Px(lid), svg.Px(r), svg.Px(y+lid), svg.Px(d-lid), rx, svg.Px(lid), svg.Px(x), svg.Px(d-lid), class)
		s.Tag(`<path d="M%s %sA%s %s 0 0 0 %s %s" class="%s" fill-opacity="0"/>`, svg.Px(x), svg.Px(y+lid), rx, svg.Px(lid), svg.Px(r), svg.Px(y+lid), class)
	default:
		s.Rect(b, class, 9)
	}
}

func drawTable(s *svg.Canvas, f Face, b svg.Box, class string) {
	s.Rect(b, class, 6)
	y := b.Y + 7
	s.Lines(b.X+b.W/2, y+10.5, noteStep, "c i", "middle", f.Note)
	y += noteStep * float64(len(f.Note))
	s.Lines(b.X+b.W/2, y+13, labelStep, "d i", "middle", f.Label)
	y += labelStep*float64(len(f.Label)) + 7
	for _, rows := range f.Rows {
		s.Line(b.X, y, b.Right(), y, "r")
		s.Lines(b.X+12, y+17, rowStep, "k i", "start", rows)
		y += 10 + rowStep*float64(len(rows))
	}
}
