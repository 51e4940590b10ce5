package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"atelier/draw/svg"
)

func (c *chart) pointChart(s *svg.Canvas, b svg.Box) {
	lo, hi := c.span()
	b.H -= c.bottomTitle(s, b)
	right := 14.0
	if c.direct() {
		for _, v := range c.series {
			right = max(right, min(b.W*0.24, svg.Width(v.name, 13)+16))
		}
	}
	plan := labelPlan{h: 24}
	if c.axis == axisCategory {
		plan = planLabels(c.labels, (b.W-right-50)/float64(len(c.labels)), ordered(c.labels)).within(b.H * 0.4)
	}
	b.H -= plan.h
	b.W -= right
	zero := zeroNear
	if c.kind == kindArea {
		zero = zeroAlways
	}
	sy, b := c.valueGrid(s, b, lo, hi, zero)
	sx := c.xScale(b)
	if c.axis == axisCategory {
		c.bottomLabels(s, b, plan, func(i int) float64 { return sx.at(float64(i)) })
	} else {
		c.xTicks(s, b, sx)
	}
	switch c.kind {
	case kindScatter:
		c.dots(s, sx, sy)
		return
	case kindArea:
		c.areas(s, sx, sy)
	default:
	}
	c.strokes(s, sx, sy)
	if c.direct() {
		c.endNames(s, b, sy, right)
	}
}

func (c *chart) xScale(b svg.Box) scale {
	var all []float64
	for _, v := range c.series {
		all = append(all, v.x...)
	}
	lo, hi := spanOf(slices.Values(all))
	switch {
	case c.axis == axisCategory:
		half := b.W / float64(len(c.labels)) / 2
		return scale{lo, hi, b.X + half, b.Right() - half}
	case c.kind == kindScatter:
		lo, hi, _ = valueAxis(lo, hi, zeroClose, xCount(b), "")
	case hi == lo:
		lo, hi = lo-1, hi+1
	}
	return scale{lo, hi, b.X, b.Right()}
}

// xCount returns how many ticks fit below a chart, approximately.
func xCount(b svg.Box) int { return max(2, int(b.W/100)) }

func (c *chart) xTicks(s *svg.Canvas, b svg.Box, sx scale) {
	n := xCount(b)
	switch {
	case c.axis == axisYear:
		n = max(2, int(b.W/70)) // years are short
	case c.axis == axisTime && c.monthly():
		n = max(1, min(n, int((sx.hi-sx.lo)/28))) // none within a month
	}
	ticks := placeAxis(c.axis, sx.lo, sx.hi, n)
	c.locale.translate(ticks)
	last := math.Inf(-1)
	for _, t := range ticks {
		x, w := sx.at(t.v), svg.Width(t.text, 12.5)/2
		if x-w < last+8 {
			continue
		}
		last = x + w
		if c.kind == kindScatter {
			s.Line(math.Round(x)+0.5, b.Y, math.Round(x)+0.5, b.Bottom(), "g")
		} else {
			s.Line(math.Round(x)+0.5, b.Bottom(), math.Round(x)+0.5, b.Bottom()+5, "a")
		}
		s.Text(x, b.Bottom()+20, "k m", "middle", t.text)
	}
}

// runs splits a series at its gaps and returns the index ranges.
func runs(y []float64) (out [][2]int) {
	for i, v := range y {
		switch n := len(out); {
		case math.IsNaN(v):
		case n > 0 && out[n-1][1] == i:
			out[n-1][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// trace returns the path of a series from index r[0] to before r[1].
func trace(v series, r [2]int, sx, sy scale) string {
	var pts []string
	for i := r[0]; i < r[1]; i++ {
		pts = append(pts, svg.Point{X: sx.at(v.x[i]), Y: sy.at(v.y[i])}.String())
	}
	return "M" + strings.Join(pts, "L")
}

// areas fills below the lines with translucent colours, so that none hides another.
func (c *chart) areas(s *svg.Canvas, sx, sy scale) {
	zero := svg.Px(sy.at(0))
	for k, v := range c.series {
		for _, r := range runs(v.y) {
			if r[1]-r[0] < 2 {
				continue
			}
			s.Tag(`<path d="%sL%s %sL%s %sZ" class="%s o"/>`, trace(v, r, sx, sy), svg.Px(sx.at(v.x[r[1]-1])), zero, svg.Px(sx.at(v.x[r[0]])), zero, svg.FillClass(k))
		}
	}
}

// strokes draws the lines; isolated points, and all points of short series, get a dot.
func (c *chart) strokes(s *svg.Canvas, sx, sy scale) {
	for k, v := range c.series {
		class := "l " + svg.StrokeClass(k)
		if len(v.y) > 150 || len(c.series) > 10 { // thick lines would run together
			class += " fine"
		}
		for _, r := range runs(v.y) {
			if r[1]-r[0] > 1 {
				s.Tag(`<path d="%s" class="%s"%s/>`, trace(v, r, sx, sy), class, svg.Dash(k))
			}
			if r[1]-r[0] == 1 || len(v.y) <= 24 && c.kind == kindLine && len(c.series) <= 8 {
				for i := r[0]; i < r[1]; i++ {
					s.Circle(svg.Point{X: sx.at(v.x[i]), Y: sy.at(v.y[i])}, 3.4, svg.FillClass(k)+" p")
				}
			}
		}
	}
}

// endNames writes each series' name beside its last value and moves names that would touch apart.
func (c *chart) endNames(s *svg.Canvas, b svg.Box, sy scale, room float64) {
	type name struct {
		k       int
		want, y float64
	}
	var list []name
	for k, v := range c.series {
		if given := v.given(); len(given) > 0 {
			list = append(list, name{k: k, want: sy.at(v.y[given[len(given)-1]])})
		}
	}
	slices.SortStableFunc(list, func(p, q name) int { return cmp.Compare(p.want, q.want) })
	const gap = 17
	for i := range list {
		list[i].y = max(list[i].want, b.Y+4)
		if i > 0 {
			list[i].y = max(list[i].y, list[i-1].y+gap)
		}
	}
	limit := b.Bottom() + 4
	for i := len(list) - 1; i >= 0; i-- {
		list[i].y = min(list[i].y, limit)
		limit = list[i].y - gap
	}
	for _, n := range list {
		s.Text(b.Right()+10, n.y+4.5, "d "+svg.FillClass(n.k), "start", svg.Fit(c.series[n.k].name, 13, room-10))
	}
}

// dots draws a scatter chart; a series differs from the next in shape as well as colour. If there
// are many points, they are smaller and translucent.
func (c *chart) dots(s *svg.Canvas, sx, sy scale) {
	r, edge := 5.0, " p"
	if c.count() > 300 {
		r, edge = 2.8, " z"
	}
	for k, v := range c.series {
		for i, y := range v.y {
			if !math.IsNaN(y) {
				dot(s, svg.Point{X: sx.at(v.x[i]), Y: sy.at(y)}, r, k, edge)
			}
		}
	}
}

func dot(s *svg.Canvas, at svg.Point, r float64, k int, edge string) {
	class := svg.FillClass(k) + edge
	x, y := at.X, at.Y
	switch k % 4 {
	case 1:
		s.Rect(svg.Box{X: x - r*0.88, Y: y - r*0.88, W: r * 1.76, H: r * 1.76}, class, 0)
	case 2:
		s.Tag(`<path d="M%s %sl%s %sh-%sZ" class="%s"/>`, svg.Px(x), svg.Px(y-r*1.15), svg.Px(r*1.1), svg.Px(r*2), svg.Px(r*2.2), class)
	case 3:
		s.Tag(`<path d="M%s %sl%s %sl-%s %sl-%s -%sZ" class="%s"/>`, svg.Px(x), svg.Px(y-r*1.25), svg.Px(r*1.25), svg.Px(r*1.25), svg.Px(r*1.25), svg.Px(r*1.25), svg.Px(r*1.25), svg.Px(r*1.25), class)
	default:
		s.Circle(at, r, class)
	}
}
