package chart

import (
	"math"

	"atelier/draw/svg"
)

// barChart draws bar and stacked charts, upright or lying.
func (c *chart) barChart(s *svg.Canvas, b svg.Box) {
	lo, hi, _ := c.span()
	if c.kind == kindStacked {
		lo, hi = c.sums()
	}
	if c.horizontal {
		c.lyingBars(s, b, min(0, lo), max(0, hi))
		return
	}
	title := c.bottomTitle(s, b)
	b.H -= title
	// The labels' height depends on the width of a band, and that on the ticks: one
	// guess is close enough, since ticks are short.
	plan := planLabels(c.labels, (b.W-50)/float64(len(c.labels)), ordered(c.labels))
	if plan.angle != 0 {
		plan.h = min(plan.h, b.H*0.4)
		plan.room = min(plan.room, (plan.h-16)/0.62)
	}
	b.H -= plan.h
	if c.showValues() {
		hi += (hi - min(0, lo)) * 0.04
	}
	sc, b := c.valueGrid(s, b, min(0, lo), max(0, hi), zeroAlways)
	band := b.W / float64(len(c.labels))
	for i := range c.labels {
		c.group(s, b.X+band*float64(i), band, i, sc)
	}
	zero := math.Round(sc.at(0)) + 0.5
	s.Line(b.X, zero, b.Right(), zero, "a")
	c.bottomLabels(s, b, plan, func(i int) float64 { return b.X + band*(float64(i)+0.5) })
}

// showValues reports whether there is room to write each bar's value.
func (c *chart) showValues() bool {
	return c.kind == kindBar && len(c.series) == 1 && (c.horizontal && len(c.labels) <= 30 || len(c.labels) <= 14 && c.W/float64(len(c.labels)) > 56)
}

// group draws the bars of one label, upright, in the band at x.
func (c *chart) group(s *svg.Canvas, x, band float64, i int, sc scale) {
	fill := 0.68
	if len(c.labels) > 40 {
		fill = 0.86
	}
	w := min(band*fill, 110)
	x += (band - w) / 2
	up, down := 0.0, 0.0
	for k, v := range c.series {
		y := v.y[i]
		if math.IsNaN(y) {
			continue
		}
		if c.kind == kindStacked {
			from := up
			if y >= 0 {
				up += y
			} else {
				from = down
				down += y
			}
			c.bar(s, svg.Box{X: x, Y: sc.at(from), W: w, H: sc.at(from + y)}, k)
			continue
		}
		bw := w / float64(len(c.series))
		gap := min(3, bw*0.12)
		c.bar(s, svg.Box{X: x + bw*float64(k), Y: sc.at(0), W: bw - gap, H: sc.at(y)}, k)
		if c.showValues() {
			ty := sc.at(y) - 7
			if y < 0 {
				ty = sc.at(y) + 16
			}
			s.Text(x+w/2, ty, "v i", "middle", c.locale.amount(y, short(c.unit)))
		}
	}
}

// bar draws one upright bar from y to h, which are two heights here.
func (c *chart) bar(s *svg.Canvas, b svg.Box, k int) {
	top, foot := min(b.Y, b.H), max(b.Y, b.H)
	c.block(s, svg.Box{X: b.X, Y: top, W: max(0.6, b.W), H: max(0.6, foot-top)}, k)
}

// block draws the area of a bar; stacked ones are set apart by a line.
func (c *chart) block(s *svg.Canvas, b svg.Box, k int) {
	class, r := svg.FillClass(k), 2.0
	if c.kind == kindStacked {
		r = 0
		if min(b.W, b.H) > 4 {
			class += " cut"
		}
	}
	if min(b.W, b.H) < 6 {
		r = 0
	}
	s.Rect(b, class, r)
}

// lyingBars draws bars from left to right.
func (c *chart) lyingBars(s *svg.Canvas, b svg.Box, lo, hi float64) {
	if t := c.axisTitle(); t != "" {
		s.Text(b.X, b.Y+11, "k m", "start", svg.Fit(t, 12.5, b.W))
		b.Y, b.H = b.Y+20, b.H-20
	}
	left := 0.0
	for _, l := range c.labels {
		left = max(left, svg.Width(l, 12.5))
	}
	left = min(left, b.W*0.34) + 10
	lines := 1
	if (b.H-22)/float64(len(c.labels)) > 36 {
		lines = 2
	}
	b = svg.Box{X: b.X + left, Y: b.Y, W: b.W - left - 12, H: b.H - 22}
	if c.showValues() {
		room := 0.0
		for _, v := range c.series[0].y {
			if !math.IsNaN(v) {
				room = max(room, svg.Width(c.locale.amount(v, short(c.unit)), 12)+8)
			}
		}
		b.W -= room
		if lo < 0 {
			b.X, b.W = b.X+room, b.W-room
		}
	}
	lo, hi, ticks := valueAxis(lo, hi, zeroAlways, c.steps(int(min(8, max(2, b.W/95))), lo, hi), c.unit)
	c.locale.translate(ticks)
	sc := scale{lo, hi, b.X, b.Right()}
	for _, t := range ticks {
		x := math.Round(sc.at(t.v)) + 0.5
		s.Line(x, b.Y, x, b.Bottom(), "g")
		s.Text(x, b.Bottom()+17, "k m", "middle", t.text)
	}
	band := b.H / float64(len(c.labels))
	step := max(1, int(math.Ceil(15/band)))
	for i, label := range c.labels {
		y := b.Y + band*float64(i)
		if i%step == 0 {
			text := svg.Wrap(label, 12.5, left-10, lines)
			s.Lines(sc.from-8-c.negRoom(lo), y+band/2+4.5-7.5*float64(len(text)-1), 15, "k i", "end", text)
		}
		c.lyingGroup(s, y, band, i, sc)
	}
	zero := math.Round(sc.at(0)) + 0.5
	s.Line(zero, b.Y, zero, b.Bottom(), "a")
}

// negRoom keeps labels clear of the values written at negative bars.
func (c *chart) negRoom(lo float64) float64 {
	if lo >= 0 || !c.showValues() {
		return 0
	}
	room := 0.0
	for _, v := range c.series[0].y {
		if !math.IsNaN(v) {
			room = max(room, svg.Width(c.locale.amount(v, short(c.unit)), 12)+8)
		}
	}
	return room
}

func (c *chart) lyingGroup(s *svg.Canvas, y, band float64, i int, sc scale) {
	h := min(band*0.7, 64)
	y += (band - h) / 2
	up, down := 0.0, 0.0
	for k, v := range c.series {
		n := v.y[i]
		if math.IsNaN(n) {
			continue
		}
		from, top, bh := 0.0, y, h
		if c.kind == kindStacked {
			from = up
			if n >= 0 {
				up += n
			} else {
				from = down
				down += n
			}
		} else {
			bh = h / float64(len(c.series))
			top += bh * float64(k)
			bh -= min(2, bh*0.12)
		}
		x0, x1 := sc.at(from), sc.at(from+n)
		c.block(s, svg.Box{X: min(x0, x1), Y: top, W: max(0.6, math.Abs(x1-x0)), H: max(0.6, bh)}, k)
		if c.showValues() {
			if n < 0 {
				s.Text(x1-6, top+bh/2+4.5, "v i", "end", c.locale.amount(n, short(c.unit)))
			} else {
				s.Text(x1+6, top+bh/2+4.5, "v i", "start", c.locale.amount(n, short(c.unit)))
			}
		}
	}
}
