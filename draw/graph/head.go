package graph

import "atelier/draw/svg"

// DrawHead draws the head of a wire at its tip; dir is the direction of the wire there.
func DrawHead(s *svg.Canvas, h Head, tip, dir svg.Point) {
	// at returns the point that lies back along the wire and side to its left.
	at := func(back, side float64) svg.Point {
		return svg.Point{X: tip.X - dir.X*back - dir.Y*side, Y: tip.Y - dir.Y*back + dir.X*side}
	}
	line := func(pts ...svg.Point) {
		d := "M" + pts[0].String()
		for _, p := range pts[1:] {
			d += "L" + p.String()
		}
		s.Tag(`<path d="%s" class="e"/>`, d)
	}
	bar := func(back float64) { line(at(back, -6), at(back, 6)) }
	ring := func(back float64) { s.Circle(at(back, 0), 4, "e b") }
	foot := func() { line(at(0, -7), at(11, 0), at(0, 7)) }
	switch h {
	case Arrow:
		s.Polygon("h", tip, at(10, -4.6), at(8, 0), at(10, 4.6))
	case Open:
		line(at(9, -5), tip, at(9, 5))
	case Hollow:
		s.Polygon("e b", tip, at(12, -7), at(12, 7))
	case FullDiamond:
		s.Polygon("h", tip, at(8, -5), at(16, 0), at(8, 5))
	case HollowDiamond:
		s.Polygon("e b", tip, at(8, -5), at(16, 0), at(8, 5))
	case Ball:
		s.Circle(at(4, 0), 4, "h")
	case Cross:
		line(at(10, -5), at(0, 5))
		line(at(10, 5), at(0, -5))
	case One:
		bar(6)
		bar(10)
	case ZeroOrOne:
		bar(6)
		ring(13)
	case OneOrMore:
		foot()
		bar(14)
	case ZeroOrMore:
		foot()
		ring(15)
	case NoHead:
	}
}
