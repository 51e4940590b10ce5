package visual

import "math"

// render draws a checked chart and gives it with its alt text.
func render(c *chart) (out []byte, alt string) {
	alt = c.alt
	if alt == "" {
		alt = describe(c)
	} else if c.reduced != "" {
		alt += " " + c.reduced
	}
	var s svg
	s.tag(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="title desc">`, px(c.w), px(c.h), px(c.w), px(c.h))
	s.tag(`<title id="title">%s</title><desc id="desc">%s</desc><style>%s</style>`, escaper.Replace(c.title), escaper.Replace(alt), css())
	s.rect(box{0, 0, c.w, c.h}, "b", 8)
	area := c.frame(&s)
	switch {
	case c.parts():
		c.pie(&s, area)
	case c.bars():
		c.barChart(&s, area)
	default:
		c.pointChart(&s, area)
	}
	s.tag("</svg>\n")
	return s.Bytes(), alt
}

// bold is how much wider heavy type runs.
const bold = 1.1

// pad is the margin around everything.
func (c *chart) pad() float64 { return math.Round(min(28, max(10, c.w*0.028))) }

// frame writes title, subtitle, legend and source, and gives the room between.
func (c *chart) frame(s *svg) box {
	p := c.pad()
	room := c.w - 2*p
	y := p
	for _, l := range wrap(c.title, 20*bold, room, 2) {
		y += 18
		s.text(p, y, "t i", "start", l)
		y += 7
	}
	if c.subtitle != "" {
		for _, l := range wrap(c.subtitle, 14, room, 2) {
			y += 13
			s.text(p, y, "u m", "start", l)
			y += 6
		}
	}
	y += 5
	if c.legend() {
		y = c.drawLegend(s, box{p, y, room, 0})
	}
	bottom := c.h - p
	if c.source != "" {
		s.text(p, bottom-1, "c m", "start", fit("Source: "+trimSource(c.source), 11, room))
		bottom -= 20
	}
	return box{p, y, room, max(40, bottom-y)}
}

// trimSource drops a heading that the caption writes itself.
func trimSource(t string) string {
	if len(t) > 7 && (t[:7] == "Source:" || t[:7] == "source:") {
		t = t[7:]
	}
	for len(t) > 0 && t[0] == ' ' {
		t = t[1:]
	}
	return t
}

// direct tells whether series are named at the ends of their lines.
func (c *chart) direct() bool {
	return (c.kind == kindLine || c.kind == kindArea) && len(c.series) > 1 && len(c.series) <= 7 && c.w >= 480
}

// legend tells whether series are named above the chart.
func (c *chart) legend() bool { return !c.parts() && len(c.series) > 1 && !c.direct() }

// drawLegend lays out names in rows and gives the y below them.
func (c *chart) drawLegend(s *svg, b box) float64 {
	x, y := b.x, b.y+8
	for i, v := range c.series {
		name := fit(v.name, 12.5, min(240, b.w-24))
		w := width(name, 12.5) + 34
		if x > b.x && x+w-14 > b.right() {
			x, y = b.x, y+20
		}
		if c.kind == kindLine {
			s.tag(`<path d="M%s %sh16" class="l %s"%s/>`, px(x), px(y+4), strokeClass(i), dash(i))
			x += 4
		} else {
			s.rect(box{x, y - 1, 11, 11}, fillClass(i), 2.5)
		}
		s.text(x+17, y+9, "k i", "start", name)
		x += w
	}
	return y + 20
}
