package offline

import (
	"image"
	"math"
	"slices"
)

type pt struct{ x, y float64 }

// path is a set of closed polygons, all of one orientation unless built otherwise, so that overlapping ones are united.
type path [][]pt

func (p path) bounds() image.Rectangle {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, poly := range p {
		for _, q := range poly {
			x0, x1 = min(x0, q.x), max(x1, q.x)
			y0, y1 = min(y0, q.y), max(y1, q.y)
		}
	}
	if x0 > x1 || y0 > y1 {
		return image.Rectangle{}
	}
	const far = 1 << 20
	lim := func(v float64) int { return int(min(far, max(-far, v))) }
	return image.Rect(lim(math.Floor(x0)), lim(math.Floor(y0)), lim(math.Ceil(x1))+1, lim(math.Ceil(y1))+1)
}

// add adds a polygon to p, in the orientation that unites them.
func (p path) add(poly ...pt) path {
	area := 0.0
	for i, q := range poly {
		r := poly[(i+1)%len(poly)]
		area += q.x*r.y - r.x*q.y
	}
	if area < 0 {
		poly = slices.Clone(poly)
		slices.Reverse(poly)
	}
	return append(p, poly)
}

func poly(q ...pt) path { return path(nil).add(q...) }

func rect(x, y, w, h float64) path {
	return path{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}
}

func circle(x, y, r float64) path { return oval(x, y, r, r) }

func oval(x, y, rx, ry float64) path {
	n := min(96, 12+int(max(rx, ry)*0.8))
	q := make([]pt, n)
	for i := range q {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		q[i] = pt{x + rx*c, y + ry*s}
	}
	return path{q}
}

// ribbon follows a line of at least two points with a width that depends on the position t, 0 to 1.
func ribbon(q []pt, width func(t float64) float64) path {
	n := len(q)
	out := make([]pt, 2*n)
	for i := range q {
		a, b := q[max(0, i-1)], q[min(n-1, i+1)]
		dx, dy := b.x-a.x, b.y-a.y
		l := math.Hypot(dx, dy) + 1e-9
		w := width(float64(i)/float64(n-1)) / 2
		out[i] = pt{q[i].x - dy/l*w, q[i].y + dx/l*w}
		out[2*n-1-i] = pt{q[i].x + dy/l*w, q[i].y - dx/l*w}
	}
	return poly(out...)
}

// curve returns points of a smooth line (Catmull-Rom) through the given points.
func curve(q []pt, per int) []pt {
	var out []pt
	at := func(i int) pt { return q[min(len(q)-1, max(0, i))] }
	for i := range len(q) - 1 {
		p0, p1, p2, p3 := at(i-1), at(i), at(i+1), at(i+2)
		for k := range per {
			t := float64(k) / float64(per)
			f := func(a, b, c, d float64) float64 {
				return 0.5 * (2*b + (c-a)*t + (2*a-5*b+4*c-d)*t*t + (3*b-a-3*c+d)*t*t*t)
			}
			out = append(out, pt{f(p0.x, p1.x, p2.x, p3.x), f(p0.y, p1.y, p2.y, p3.y)})
		}
	}
	return append(out, q[len(q)-1])
}

// closedCurve returns a smooth closed shape through the points.
func closedCurve(q []pt, per int) path {
	n := len(q)
	ext := append(append([]pt{q[n-1]}, q...), q[0], q[1])
	c := curve(ext, per)
	return poly(c[per : per+n*per]...)
}
