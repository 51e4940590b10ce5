package graph

import (
	"fmt"
	"math"
	"strings"

	"atelier/draw/svg"
)

// headRoom is the length of a wire's end that its head covers. A crow's foot is transparent: the
// wire continues to its tip.
var headRoom = map[Head]float64{
	Arrow: 8, Ball: 8, Hollow: 12, FullDiamond: 16, HollowDiamond: 16,
	One: crow, ZeroOrOne: crow, OneOrMore: crow, ZeroOrMore: crow,
}

const crow = 20.0

func drawWire(s *svg.Canvas, e Edge, pts []svg.Point, across bool) {
	n := len(pts)
	if n < 2 {
		return
	}
	loop := e.From == e.To
	out, in := direction(pts[0], pts[1], across != loop), direction(pts[n-2], pts[n-1], across != loop)
	tip, root := pts[n-1], pts[0]
	head, tail := headRoom[e.Head], headRoom[e.Tail]
	pts[n-1] = svg.Point{X: tip.X - in.X*head, Y: tip.Y - in.Y*head}
	pts[0] = svg.Point{X: root.X + out.X*tail, Y: root.Y + out.Y*tail}
	d := path(pts, across)
	if loop {
		d = fmt.Sprintf("M%s C%s %s %s", pts[0], pts[1], pts[2], pts[3])
	}
	if tail == crow {
		d = "M" + root.String() + "L" + d[1:]
	}
	if head == crow {
		d += "L" + tip.String()
	}
	s.Tag(`<path d="%s" class="%s"/>`, d, e.Class())
	DrawHead(s, e.Head, tip, in)
	DrawHead(s, e.Tail, root, svg.Point{X: -out.X, Y: -out.Y})
}

// Class returns the CSS classes of a wire.
func (e Edge) Class() string {
	class := "e"
	if e.Dashed {
		class += " x"
	}
	if e.Thick {
		class += " w"
	}
	return class
}

// direction returns the unit vector along the axis of the layers that points from a to b.
func direction(a, b svg.Point, across bool) svg.Point {
	if across {
		return svg.Point{X: math.Copysign(1, b.X-a.X)}
	}
	return svg.Point{Y: math.Copysign(1, b.Y-a.Y)}
}

// path formats a route as alternating curves and straight lines.
func path(pts []svg.Point, across bool) string {
	var b strings.Builder
	b.WriteString("M" + pts[0].String())
	drawn := pts[0]
	line := func(to svg.Point) { // one line for all straight pieces in a row
		if drawn != to {
			b.WriteString("L" + to.String())
		}
	}
	for i := 1; i < len(pts); i += 2 {
		a, q := pts[i-1], pts[i]
		if across && a.Y == q.Y || !across && a.X == q.X {
			continue
		}
		line(a)
		c1, c2 := bend(a, q, across)
		b.WriteString("C" + c1.String() + " " + c2.String() + " " + q.String())
		drawn = q
	}
	line(pts[len(pts)-1])
	return b.String()
}

// bend returns the control points of a curve that starts and ends along the axis.
func bend(a, b svg.Point, across bool) (c1, c2 svg.Point) {
	if across {
		mid := (a.X + b.X) / 2
		return svg.Point{X: mid, Y: a.Y}, svg.Point{X: mid, Y: b.Y}
	}
	mid := (a.Y + b.Y) / 2
	return svg.Point{X: a.X, Y: mid}, svg.Point{X: b.X, Y: mid}
}

// Trace returns a route as short straight segments, for pens that do not draw curves.
func Trace(pts []svg.Point, across bool) []svg.Point {
	out := []svg.Point{pts[0]}
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		if i%2 == 0 || a.X == b.X || a.Y == b.Y {
			out = append(out, b)
			continue
		}
		c1, c2 := bend(a, b, across)
		const pieces = 10
		for k := 1; k <= pieces; k++ {
			t := float64(k) / pieces
			u := 1 - t
			out = append(out, svg.Point{
				X: u*u*u*a.X + 3*u*u*t*c1.X + 3*u*t*t*c2.X + t*t*t*b.X,
				Y: u*u*u*a.Y + 3*u*u*t*c1.Y + 3*u*t*t*c2.Y + t*t*t*b.Y,
			})
		}
	}
	return out
}
