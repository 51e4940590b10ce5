package graph

import (
	"math"

	"atelier/draw/svg"
)

const (
	hexCut = 14.0 // horizontal inset of a hexagon's corners
	slant  = 16.0 // horizontal slant of a parallelogram
	lid    = 6.0  // half the height of a cylinder's lid
)

// Type sizes and line spacing of nodes and wires.
const (
	labelSize = 13 * svg.Bold
	labelStep = 17.0
	noteSize  = 11.0
	noteStep  = 14.0
	rowSize   = 12.5
	rowStep   = 17.0
	wireSize  = 12.0
)

// Outline returns the corners of a shape, for pens that draw by hand; round shapes have many.
func Outline(s Shape, b svg.Box) []svg.Point {
	x, y, r, d, c := b.X, b.Y, b.Right(), b.Bottom(), b.Center()
	switch s {
	case Circle, Ellipse, Dot, Target, Pill:
		var out []svg.Point
		const corners = 28
		for i := range corners {
			sin, cos := math.Sincos(2*math.Pi*(float64(i)+0.5)/corners - math.Pi/2)
			p := svg.Point{X: c.X + b.W/2*cos, Y: c.Y + b.H/2*sin}
			if s == Pill { // two half circles
				p.X = c.X + b.H/2*cos + math.Copysign((b.W-b.H)/2, cos)
			}
			out = append(out, p)
		}
		return out
	case Diamond:
		return []svg.Point{{X: c.X, Y: y}, {X: r, Y: c.Y}, {X: c.X, Y: d}, {X: x, Y: c.Y}}
	case Hexagon:
		return []svg.Point{{X: x + hexCut, Y: y}, {X: r - hexCut, Y: y}, {X: r, Y: c.Y}, {X: r - hexCut, Y: d}, {X: x + hexCut, Y: d}, {X: x, Y: c.Y}}
	case Parallelogram:
		return []svg.Point{{X: x + slant, Y: y}, {X: r, Y: y}, {X: r - slant, Y: d}, {X: x, Y: d}}
	default:
		return []svg.Point{{X: x, Y: y}, {X: r, Y: y}, {X: r, Y: d}, {X: x, Y: d}}
	}
}

// Face is a node's text, broken into lines, and the size of its shape.
type Face struct {
	Label, Note []string
	Rows        [][]string
	Size        Size
}

// shapeRoom is how the size of a shape follows from the size of its text: factors, then pixels.
var shapeRoom = map[Shape]struct{ factor, more Size }{
	Rect: {Size{1, 1}, Size{26, 18}}, Round: {Size{1, 1}, Size{26, 18}}, Pill: {Size{1, 1}, Size{34, 18}},
	Ellipse: {Size{1.25, 1.3}, Size{20, 16}}, Diamond: {Size{1.5, 3}, Size{20, 20}}, // a box of w × h fits into a diamond if w/W + h/H = 1
	Hexagon: {Size{1, 1}, Size{2*hexCut + 14, 18}}, Parallelogram: {Size{1, 1}, Size{2*slant + 10, 18}}, Cylinder: {Size{1, 1}, Size{26, 18 + 4*lid}},
}

// face breaks a node's text into lines and computes the size of its shape. Text is wide times as
// wide as in the page's own typeface.
func face(n Node, wide float64) Face {
	switch n.Shape {
	case Dot:
		return Face{Size: Size{18, 18}}
	case Target:
		return Face{Size: Size{22, 22}}
	case Bar:
		return Face{Size: Size{64, 7}}
	case Table:
		return table(n)
	default:
	}
	f := Face{Label: svg.Wrap(n.Label, labelSize*wide, 170, 4), Note: svg.Wrap(n.Note, noteSize*wide, 180, 4)}
	w := max(34, svg.Widest(f.Label, labelSize*wide), svg.Widest(f.Note, noteSize*wide))
	h := f.high()
	if n.Shape == Circle {
		d := math.Hypot(w, h) + 8
		f.Size = Size{d, d}
	} else {
		r := shapeRoom[n.Shape]
		f.Size = Size{w*r.factor.W + r.more.W, h*r.factor.H + r.more.H}
	}
	return f
}

// high returns the height of label and note.
func (f Face) high() float64 {
	return labelStep*float64(len(f.Label)) + noteStep*float64(len(f.Note))
}

func table(n Node) Face {
	f := Face{Label: svg.Wrap(n.Label, labelSize, 230, 2), Note: svg.Wrap(n.Note, noteSize, 230, 1)}
	w := max(90, svg.Widest(f.Label, labelSize), svg.Widest(f.Note, noteSize))
	h := 14 + f.high()
	for _, rows := range n.Sections {
		if len(rows) == 0 {
			continue
		}
		var lines []string
		for _, r := range rows {
			lines = append(lines, svg.Fit(r, rowSize, 300))
		}
		f.Rows = append(f.Rows, lines)
		w, h = max(w, svg.Widest(lines, rowSize)), h+10+rowStep*float64(len(lines))
	}
	f.Size = Size{w + 24, h}
	return f
}
