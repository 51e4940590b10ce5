package visual

import "math"

// barChart draws bar and stacked charts, upright or lying.
func (c *chart) barChart(s *svg, b box) {
	lo, hi, _ := c.span()
	if c.kind == kindStacked {
		lo, hi = c.sums()
	}
	if c.horizontal {
		c.lyingBars(s, b, min(0, lo), max(0, hi))
		return
	}
	title := c.bottomTitle(s, b)
	b.h -= title
	// The labels' height depends on the width of a band, and that on the ticks: one
	// guess is close enough, since ticks are short.
	plan := planLabels(c.labels, (b.w-50)/float64(len(c.labels)), ordered(c.labels))
	if plan.angle != 0 {
		plan.h = min(plan.h, b.h*0.4)
		plan.room = min(plan.room, (plan.h-16)/0.62)
	}
	b.h -= plan.h
	if c.showValues() {
		hi += (hi - min(0, lo)) * 0.04
	}
	sc, b := c.valueGrid(s, b, min(0, lo), max(0, hi), zeroAlways)
	band := b.w / float64(len(c.labels))
	for i := range c.labels {
		c.group(s, b.x+band*float64(i), band, i, sc)
	}
	zero := math.Round(sc.at(0)) + 0.5
	s.line(b.x, zero, b.right(), zero, "a")
	c.bottomLabels(s, b, plan, func(i int) float64 { return b.x + band*(float64(i)+0.5) })
}

// sums is the span of the stacked values, ups and downs apart.
func (c *chart) sums() (lo, hi float64) {
	for i := range c.labels {
		up, down := 0.0, 0.0
		for _, v := range c.series {
			if y := v.y[i]; y > 0 {
				up += y
			} else if y < 0 {
				down += y
			}
		}
		lo, hi = min(lo, down), max(hi, up)
	}
	return lo, hi
}

// showValues tells whether there is room to write each bar's value.
func (c *chart) showValues() bool {
	return c.kind == kindBar && len(c.series) == 1 && (c.horizontal && len(c.labels) <= 30 || len(c.labels) <= 14 && c.w/float64(len(c.labels)) > 56)
}

// group draws the bars of one label, upright, in the band at x.
func (c *chart) group(s *svg, x, band float64, i int, sc scale) {
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
			c.bar(s, box{x, sc.at(from), w, sc.at(from + y)}, k)
			continue
		}
		bw := w / float64(len(c.series))
		gap := min(3, bw*0.12)
		c.bar(s, box{x + bw*float64(k), sc.at(0), bw - gap, sc.at(y)}, k)
		if c.showValues() {
			ty := sc.at(y) - 7
			if y < 0 {
				ty = sc.at(y) + 16
			}
			s.text(x+w/2, ty, "v i", "middle", withUnit(grouped(y), short(c.unit)))
		}
	}
}

// bar draws one upright bar from y to h, which are two heights here.
func (c *chart) bar(s *svg, b box, k int) {
	top, foot := min(b.y, b.h), max(b.y, b.h)
	c.block(s, box{b.x, top, max(0.6, b.w), max(0.6, foot-top)}, k)
}

// block draws the area of a bar; stacked ones are set apart by a line.
func (c *chart) block(s *svg, b box, k int) {
	class, r := fillClass(k), 2.0
	if c.kind == kindStacked {
		r = 0
		if min(b.w, b.h) > 4 {
			class += " cut"
		}
	}
	if min(b.w, b.h) < 6 {
		r = 0
	}
	s.rect(b, class, r)
}

// lyingBars draws bars from left to right.
func (c *chart) lyingBars(s *svg, b box, lo, hi float64) {
	if t := c.axisTitle(); t != "" {
		s.text(b.x, b.y+11, "k m", "start", fit(t, 12.5, b.w))
		b.y, b.h = b.y+20, b.h-20
	}
	left := 0.0
	for _, l := range c.labels {
		left = max(left, width(l, 12.5))
	}
	left = min(left, b.w*0.34) + 10
	b = box{b.x + left, b.y, b.w - left - 12, b.h - 22}
	if c.showValues() {
		room := 0.0
		for _, v := range c.series[0].y {
			if !math.IsNaN(v) {
				room = max(room, width(withUnit(grouped(v), short(c.unit)), 12)+8)
			}
		}
		b.w -= room
		if lo < 0 {
			b.x, b.w = b.x+room, b.w-room
		}
	}
	lo, hi, ticks := valueAxis(lo, hi, zeroAlways, int(min(8, max(2, b.w/95))), c.unit)
	sc := scale{lo, hi, b.x, b.right()}
	for _, t := range ticks {
		x := math.Round(sc.at(t.v)) + 0.5
		s.line(x, b.y, x, b.bottom(), "g")
		s.text(x, b.bottom()+17, "k m", "middle", t.text)
	}
	band := b.h / float64(len(c.labels))
	step := max(1, int(math.Ceil(15/band)))
	for i, label := range c.labels {
		y := b.y + band*float64(i)
		if i%step == 0 {
			s.text(sc.from-8-c.negRoom(lo, sc), y+band/2+4.5, "k i", "end", fit(label, 12.5, left-10))
		}
		c.lyingGroup(s, y, band, i, sc)
	}
	zero := math.Round(sc.at(0)) + 0.5
	s.line(zero, b.y, zero, b.bottom(), "a")
}

// negRoom keeps labels clear of the values written at negative bars.
func (c *chart) negRoom(lo float64, _ scale) float64 {
	if lo >= 0 || !c.showValues() {
		return 0
	}
	room := 0.0
	for _, v := range c.series[0].y {
		if !math.IsNaN(v) {
			room = max(room, width(withUnit(grouped(v), short(c.unit)), 12)+8)
		}
	}
	return room
}

func (c *chart) lyingGroup(s *svg, y, band float64, i int, sc scale) {
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
		c.block(s, box{min(x0, x1), top, max(0.6, math.Abs(x1-x0)), max(0.6, bh)}, k)
		if c.showValues() {
			if n < 0 {
				s.text(x1-6, top+bh/2+4.5, "v i", "end", withUnit(grouped(n), short(c.unit)))
			} else {
				s.text(x1+6, top+bh/2+4.5, "v i", "start", withUnit(grouped(n), short(c.unit)))
			}
		}
	}
}
