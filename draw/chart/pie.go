package chart

import (
	"fmt"
	"math"

	"atelier/draw/svg"
)

// pie draws sectors and, beside or below them, a table: a swatch, the name, the value and the share of each sector.
func (c *chart) pie(s *svg.Canvas, b svg.Box) {
	total := 0.0
	for _, v := range c.series[0].y {
		total += v
	}
	b.Y, b.H = b.Y+6, b.H-6
	row := 27.0
	n := float64(len(c.labels))
	wv, wp := 0.0, svg.Width("100.0%", 13)
	given := c.unit != "%" || math.Abs(total-100) > 0.5 // percentages need no second column
	if given {
		for _, v := range c.series[0].y {
			wv = max(wv, svg.Width(c.locale.amount(v, c.unit), 12.5))
		}
	}
	var ring, table svg.Box
	share := max(0.45, (svg.Widest(c.labels, 12.5)+min(wv, b.W*0.2)+wp+48)/b.W) // of the table, so that names are not cut
	if fits := share <= 0.65; b.W > b.H*1.15 && (fits || b.H*0.5/n < 20) {
		share = min(share, 0.65)
		d := min(b.H, b.W*(0.95-share))
		ring = svg.Box{X: b.X + b.W*(0.95-share)/2 - d/2 + 6, Y: b.Y + (b.H-d)/2, W: d, H: d}
		row = min(row, b.H/n)
		table = svg.Box{X: b.X + b.W*(1-share), Y: b.Y + (b.H-row*n)/2, W: b.W * share, H: row * n}
	} else {
		row = min(row, b.H*0.5/n)
		d := min(b.W, b.H-row*n-14)
		ring = svg.Box{X: b.X + (b.W-d)/2, Y: b.Y, W: d, H: d}
		table = svg.Box{X: b.X, Y: b.Bottom() - row*n, W: b.W, H: row * n}
	}
	c.sectors(s, ring, total)
	wv = min(wv, table.W*0.35)
	for k, v := range c.series[0].y {
		y := table.Y + row*(float64(k)+0.5)
		s.Rect(svg.Box{X: table.X, Y: y - 6, W: 12, H: 12}, svg.FillClass(k), 3)
		s.Text(table.X+21, y+4.5, "k i", "start", svg.Fit(c.labels[k], 12.5, table.W-21-wv-wp-26))
		if given {
			s.Text(table.Right()-wp-12, y+4.5, "k m", "end", svg.Fit(c.locale.amount(v, c.unit), 12.5, wv+2))
		}
		s.Text(table.Right(), y+4.5, "d i", "end", c.locale.local(percent(v/total)))
		if k > 0 && row >= 18 {
			s.Line(table.X, math.Round(y-row/2)+0.5, table.Right(), math.Round(y-row/2)+0.5, "g")
		}
	}
}

func (c *chart) sectors(s *svg.Canvas, b svg.Box, total float64) {
	r := max(8, b.W/2-4)
	cx, cy := b.X+b.W/2, b.Y+b.H/2
	inner := 0.0
	if c.kind == kindDonut {
		inner = r * 0.6
	}
	at := func(rad, share float64) string {
		sin, cos := math.Sincos(2 * math.Pi * share)
		return svg.Px(cx+rad*sin) + " " + svg.Px(cy-rad*cos)
	}
	arc := func(rad, to float64, large, sweep int) string {
		return fmt.Sprintf("A%s %s 0 %d %d %s", svg.Px(rad), svg.Px(rad), large, sweep, at(rad, to))
	}
	from := 0.0
	for k, v := range c.series[0].y {
		class := svg.FillClass(k)
		to := from + v/total
		large := 0
		if to-from > 0.5 {
			large = 1
		}
		switch whole := to-from > 0.9999; {
		case whole && inner > 0:
			ring := func(rad float64) string { return "M" + at(rad, 0) + arc(rad, 0.5, 1, 1) + arc(rad, 1, 1, 1) + "Z" }
			s.Tag(`<path fill-rule="evenodd" d="%s%s" class="%s"/>`, ring(r), ring(inner), class)
		case whole:
			s.Circle(svg.Point{X: cx, Y: cy}, r, class)
		case inner > 0:
			s.Tag(`<path d="M%s%sL%s%sZ" class="%s cut"/>`, at(r, from), arc(r, to, large, 1), at(inner, to), arc(inner, from, large, 0), class)
		default:
			s.Tag(`<path d="M%s %sL%s%sZ" class="%s cut"/>`, svg.Px(cx), svg.Px(cy), at(r, from), arc(r, to, large, 1), class)
		}
		from = to
	}
	if inner > 34 {
		num := grouped(total)
		if total >= 1e6 {
			num = tickFormat(total/100, total)(total)
		}
		num = c.locale.local(withUnit(num, short(c.unit)))
		s.Text(cx, cy+6, "big i", "middle", svg.Fit(num, 26*svg.Bold, inner*1.8))
		note := c.locale.say("total")
		if c.unit != "" && short(c.unit) == "" {
			note = fmt.Sprintf(c.locale.say("in total"), c.unit)
			if svg.Width(note, 12.5) > inner*1.6 {
				note = c.unit
			}
		}
		s.Text(cx, cy+26, "k m", "middle", svg.Fit(note, 12.5, inner*1.6))
	}
}

// percent formats a share, with one decimal unless the percentage is whole.
func percent(f float64) string {
	p := f * 100
	switch {
	case p > 0 && p < 0.1:
		return "<0.1%"
	case p >= 99.95 || math.Abs(p-math.Round(p)) < 0.05:
		return fmt.Sprintf("%.0f%%", p)
	}
	return fmt.Sprintf("%.1f%%", p)
}
