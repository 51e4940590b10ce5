package chart

import (
	"math"
	"strconv"

	"atelier/draw/svg"
)

// render draws a checked chart and returns it with its alternative text.
func render(c *chart) (out []byte, alt string) {
	if c.Alt == "" {
		c.Alt = describe(c)
	} else if c.reduced != "" {
		c.Alt += " " + c.reduced
	}
	var s svg.Canvas
	if !c.adapts() {
		c.Begin(&s, svg.CSS())
		c.draw(&s)
		return c.End(&s), c.Alt
	}
	c.Begin(&s, svg.CSS()+narrowCSS)
	s.Tag(`<g class="wide">`)
	c.draw(&s)
	s.Tag(`</g><g class="narrow" display="none" transform="scale(%s)">`, strconv.FormatFloat(c.W/narrow, 'f', 4, 64))
	c.sized(narrow, math.Round(c.H*narrow/c.W)).draw(&s)
	s.Tag("</g>")
	return c.End(&s), c.Alt
}

// A chart of minWide pixels contains a second drawing for narrow pixels, if that is minHigh pixels high. It is shown if the
// file is displayed small, so that text stays readable on a phone. Programs without media queries show the wide one.
const (
	minWide   = 640
	narrow    = 480
	minHigh   = 240 // of the second drawing, which has the proportions of the first
	narrowCSS = "@media (max-width:520px){.wide{display:none}.narrow{display:inline}}"
)

func (c *chart) adapts() bool { return c.W >= minWide && c.H*narrow/c.W >= minHigh }

// sized returns the chart on a page of another size.
func (c chart) sized(w, h float64) *chart {
	c.W, c.H = w, h
	if c.autoHorizontal {
		c.horizontal = c.prefersHorizontal()
	}
	return &c
}

// draw writes everything except the head of the file.
func (c *chart) draw(s *svg.Canvas) {
	area := c.Frame(s)
	if c.legend() {
		y := c.drawLegend(s, area)
		area = svg.Box{X: area.X, Y: y, W: area.W, H: max(40, area.Bottom()-y)}
	}
	switch {
	case c.parts():
		c.pie(s, area)
	case c.bars():
		c.barChart(s, area)
	default:
		c.pointChart(s, area)
	}
}

// direct reports whether series are named at the ends of their lines.
func (c *chart) direct() bool {
	return (c.kind == kindLine || c.kind == kindArea) && len(c.series) > 1 && len(c.series) <= 7 && c.W >= 500
}

// legend reports whether series are named above the chart.
func (c *chart) legend() bool { return !c.parts() && len(c.series) > 1 && !c.direct() }

// drawLegend draws the names in rows and returns the y below them.
func (c *chart) drawLegend(s *svg.Canvas, b svg.Box) float64 {
	x, y := b.X, b.Y+8
	for i, v := range c.series {
		name := svg.Fit(v.name, 12.5, min(240, b.W-24))
		w := svg.Width(name, 12.5) + 34
		if x > b.X && x+w-14 > b.Right() {
			x, y = b.X, y+20
		}
		switch c.kind {
		case kindLine:
			s.Tag(`<path d="M%s %sh16" class="l %s"%s/>`, svg.Px(x), svg.Px(y+4), svg.StrokeClass(i), svg.Dash(i))
			x += 4
		case kindScatter:
			dot(s, svg.Point{X: x + 5.5, Y: y + 4.5}, 5, i, "")
		default:
			s.Rect(svg.Box{X: x, Y: y - 1, W: 11, H: 11}, svg.FillClass(i), 2.5)
		}
		s.Text(x+17, y+9, "k i", "start", name)
		x += w
	}
	return y + 20
}
