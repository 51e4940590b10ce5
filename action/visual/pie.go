package visual

import (
	"fmt"
	"math"
)

// pie draws sectors and, beside or below them, a table of names, values and shares.
func (c *chart) pie(s *svg, b box) {
	total := 0.0
	for _, v := range c.series[0].y {
		total += v
	}
	wide := b.w > b.h*1.15
	row := 27.0
	n := float64(len(c.labels))
	var ring, table box
	if wide {
		d := min(b.h, b.w*0.5)
		ring = box{b.x + b.w*0.25 - d/2 + 6, b.y + (b.h-d)/2, d, d}
		row = min(row, b.h/n)
		table = box{b.x + b.w*0.55, b.y + (b.h-row*n)/2, b.w * 0.45, row * n}
	} else {
		row = min(row, b.h*0.5/n)
		d := min(b.w, b.h-row*n-14)
		ring = box{b.x + (b.w-d)/2, b.y, d, d}
		table = box{b.x, b.bottom() - row*n, b.w, row * n}
	}
	c.sectors(s, ring, total)
	c.shares(s, table, row, total)
}

func (c *chart) sectors(s *svg, b box, total float64) {
	r := max(8, b.w/2-4)
	cx, cy := b.x+b.w/2, b.y+b.h/2
	inner := 0.0
	if c.kind == kindDonut {
		inner = r * 0.6
	}
	at := func(rad, share float64) string {
		sin, cos := math.Sincos(2 * math.Pi * share)
		return px(cx+rad*sin) + " " + px(cy-rad*cos)
	}
	from := 0.0
	for k, v := range c.series[0].y {
		to := from + v/total
		switch {
		case to-from > 0.9999 && inner > 0:
			s.tag(`<path fill-rule="evenodd" d="M%sA%s %s 0 1 1 %sA%s %s 0 1 1 %sZM%sA%s %s 0 1 1 %sA%s %s 0 1 1 %sZ" class="%s"/>`, at(r, 0), px(r), px(r), at(r, 0.5), px(r), px(r), at(r, 1),
				at(inner, 0), px(inner), px(inner), at(inner, 0.5), px(inner), px(inner), at(inner, 1), fillClass(k))
		case to-from > 0.9999:
			s.tag(`<circle cx="%s" cy="%s" r="%s" class="%s"/>`, px(cx), px(cy), px(r), fillClass(k))
		default:
			large := 0
			if to-from > 0.5 {
				large = 1
			}
			if inner > 0 {
				s.tag(`<path d="M%sA%s %s 0 %d 1 %sL%sA%s %s 0 %d 0 %sZ" class="%s cut"/>`, at(r, from), px(r), px(r), large, at(r, to), at(inner, to), px(inner), px(inner), large, at(inner, from), fillClass(k))
			} else {
				s.tag(`<path d="M%s %sL%sA%s %s 0 %d 1 %sZ" class="%s cut"/>`, px(cx), px(cy), at(r, from), px(r), px(r), large, at(r, to), fillClass(k))
			}
		}
		from = to
	}
	if inner > 34 {
		num := grouped(total)
		if total >= 1e6 {
			num = tickFormat(total/100, total)(total)
		}
		num = withUnit(num, short(c.unit))
		s.text(cx, cy+6, "big i", "middle", fit(num, 26*bold, inner*1.8))
		note := "total"
		if c.unit != "" && short(c.unit) == "" {
			note = c.unit + " in total"
		}
		s.text(cx, cy+26, "k m", "middle", fit(note, 12.5, inner*1.6))
	}
}

// shares is the table: a swatch, the name, the value and its part of the whole.
func (c *chart) shares(s *svg, b box, row, total float64) {
	wv, wp := 0.0, width("100.0%", 13)
	for _, v := range c.series[0].y {
		wv = max(wv, width(withUnit(grouped(v), c.unit), 12.5))
	}
	wv = min(wv, b.w*0.35)
	for k, v := range c.series[0].y {
		y := b.y + row*(float64(k)+0.5)
		s.rect(box{b.x, y - 6, 12, 12}, fillClass(k), 3)
		s.text(b.x+21, y+4.5, "k i", "start", fit(c.labels[k], 12.5, b.w-21-wv-wp-26))
		s.text(b.right()-wp-12, y+4.5, "k m", "end", fit(withUnit(grouped(v), c.unit), 12.5, wv+2))
		s.text(b.right(), y+4.5, "d i", "end", percent(v/total))
		if k > 0 && row >= 18 {
			s.line(b.x, math.Round(y-row/2)+0.5, b.right(), math.Round(y-row/2)+0.5, "g")
		}
	}
}

// percent writes a share with one decimal where that says more.
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
