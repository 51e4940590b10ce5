package chart

import (
	"math"

	"atelier/draw/svg"
)

// barChart draws bar and stacked charts, vertical or horizontal.
func (c *chart) barChart(s *svg.Canvas, b svg.Box) {
	lo, hi := c.span()
	if c.kind == kindStacked {
		lo, hi = c.sums()
	}
	if c.horizontal {
		c.horizontalBars(s, b, min(0, lo), max(0, hi))
		return
	}
	title := c.bottomTitle(s, b)
	b.H -= title
	// The height of the labels depends on the width of a band, and that on the ticks: one estimate
	// is close enough, because ticks are short.
	plan := planLabels(c.labels, c.band(), ordered(c.labels)).within(b.H * 0.4)
	b.H -= plan.h
	if c.showValues() {
		hi += (hi - min(0, lo)) * 0.04
		if lo < 0 { // between the lowest bar's value and its label
			lo -= (max(0, hi) - lo) * 20 / max(40, b.H)
		}
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
	n := len(c.labels)
	if c.kind != kindBar || len(c.series) > 1 || n > 30 || !c.horizontal && n > 14 {
		return false
	}
	return c.horizontal || c.W/float64(n) > 56 && c.valueWidth() < c.band()
}

// band returns about the width that each label has below a chart.
func (c *chart) band() float64 { return (c.W - 2*c.Pad() - 50) / float64(len(c.labels)) }

// valueWidth returns the width of the widest value of the first series.
func (c *chart) valueWidth() (w float64) {
	for _, i := range c.series[0].given() {
		w = max(w, svg.Width(c.locale.amount(c.series[0].y[i], short(c.unit)), 12))
	}
	return w
}

// group draws the bars of label i in the band that begins at at, across the value axis.
func (c *chart) group(s *svg.Canvas, at, band float64, i int, sc scale) {
	share, widest, gap := 0.68, 110.0, 3.0
	switch {
	case c.horizontal:
		share, widest, gap = 0.7, 64, 2
	case len(c.labels) > 40:
		share = 0.86
	}
	wide := min(band*share, widest)
	at += (band - wide) / 2
	slot := wide / float64(len(c.series)) // of each of the bars that are side by side
	up, down := 0.0, 0.0
	for k, v := range c.series {
		y := v.y[i]
		if math.IsNaN(y) {
			continue
		}
		from, side, w := 0.0, at+slot*float64(k), slot-min(gap, slot*0.12)
		if c.kind == kindStacked {
			side, w = at, wide
			if y >= 0 {
				from, up = up, up+y
			} else {
				from, down = down, down+y
			}
		}
		start, end := sc.at(from), sc.at(from+y)
		b := svg.Box{X: side, Y: min(start, end), W: max(0.6, w), H: max(0.6, math.Abs(end-start))}
		if c.horizontal {
			b = svg.Box{X: min(start, end), Y: side, W: b.H, H: b.W}
		}
		c.block(s, b, k)
		if !c.showValues() {
			continue
		}
		text := c.locale.amount(y, short(c.unit))
		switch {
		case c.horizontal && y < 0:
			s.Text(end-6, side+w/2+4.5, "v i", "end", text)
		case c.horizontal:
			s.Text(end+6, side+w/2+4.5, "v i", "start", text)
		case y < 0:
			s.Text(at+wide/2, end+16, "v i", "middle", text)
		default:
			s.Text(at+wide/2, end-7, "v i", "middle", text)
		}
	}
}

// block draws the rectangle of a bar; stacked bars are separated by a line.
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

func (c *chart) horizontalBars(s *svg.Canvas, b svg.Box, lo, hi float64) {
	if t := c.axisTitle(); t != "" {
		s.Text(b.X, b.Y+11, "k m", "start", svg.Fit(t, 12.5, b.W))
		b.Y, b.H = b.Y+20, b.H-20
	}
	left := min(svg.Widest(c.labels, 12.5), b.W*0.34) + 10
	lines := int(min(4, max(1, (b.H-22)/float64(len(c.labels))/18)))
	b = svg.Box{X: b.X + left, Y: b.Y, W: b.W - left - 12, H: b.H - 22}
	room := 0.0 // for the values at the ends of bars, kept clear of labels
	if c.showValues() {
		room = c.valueWidth() + 8
	}
	b.W -= room
	if lo >= 0 {
		room = 0
	}
	b.X, b.W = b.X+room, b.W-room
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
			s.Lines(sc.from-8-room, y+band/2+4.5-7.5*float64(len(text)-1), 15, "k i", "end", text)
		}
		c.group(s, y, band, i, sc)
	}
	zero := math.Round(sc.at(0)) + 0.5
	s.Line(zero, b.Y, zero, b.Bottom(), "a")
}
