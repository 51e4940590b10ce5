package mermaid

import (
	"cmp"
	"strings"
	"time"

	"atelier/draw/chart"
	"atelier/draw/svg"
)

const (
	rowHigh   = 28.0
	headHigh  = 26.0
	nameWidth = 210.0
)

func (d *gantt) draw(page *svg.Page) ([]byte, error) {
	page.Alt = cmp.Or(page.Alt, d.describe(page.Title))
	lo, hi := d.span()
	if hi.Sub(lo) < time.Millisecond {
		lo, hi = lo.Add(-12*time.Hour), hi.Add(12*time.Hour)
	}
	rows := 0.0
	for i, t := range d.tasks {
		if i == 0 && t.section >= 0 || i > 0 && t.section != d.tasks[i-1].section {
			rows += headHigh
		}
		rows += rowHigh
	}
	page.H = page.Head() + 8 + rows + 30 + page.Foot()
	var s svg.Canvas
	page.Begin(&s, svg.CSS()+svg.ShapeCSS())
	b := page.Frame(&s)
	names := min(nameWidth, b.W*0.32)
	at := func(t time.Time) float64 {
		return b.X + names + (b.W-names-8)*float64(t.UnixMilli()-lo.UnixMilli())/float64(hi.UnixMilli()-lo.UnixMilli())
	}
	top := b.Y + 8
	for _, t := range chart.TimeTicks(lo, hi, max(2, int((b.W-names)/90))) {
		x := at(t.At)
		if !strings.Contains(d.layout, "06") { // without a date
			t.Text = d.said(t.At.UTC())
		}
		s.Line(x, top, x, top+rows, "g")
		anchor := "middle"
		if x+svg.Width(t.Text, 11)/2 > b.Right() {
			anchor = "end"
		}
		s.Text(x, top+rows+17, "c m", anchor, t.Text)
	}
	y := top
	for i, t := range d.tasks {
		if i == 0 && t.section >= 0 || i > 0 && t.section != d.tasks[i-1].section {
			s.Text(b.X, y+18, "d i", "start", svg.Fit(d.sections[t.section], 13*svg.Bold, b.W))
			y += headHigh
		}
		s.Text(b.X+8, y+18, "k i", "start", svg.Fit(t.name, 12.5, names-16))
		d.bar(&s, t, at, y)
		y += rowHigh
	}
	return page.End(&s), nil
}

// bar draws one task: done tasks pale, critical tasks in the warning colour.
func (d *gantt) bar(s *svg.Canvas, t task, at func(time.Time) float64, y float64) {
	x, w := at(t.from), max(3, at(t.to)-at(t.from))
	series := max(0, t.section) % 4
	if t.flags["crit"] {
		series = 5
	}
	if t.point() {
		c := svg.Point{X: x + w/2, Y: y + rowHigh/2}
		if w <= 3 {
			c.X = x
		}
		s.Polygon(svg.FillClass(series), svg.Point{X: c.X, Y: c.Y - 9}, svg.Point{X: c.X + 9, Y: c.Y}, svg.Point{X: c.X, Y: c.Y + 9}, svg.Point{X: c.X - 9, Y: c.Y})
		return
	}
	class := svg.FillClass(series)
	if t.flags["done"] {
		class = svg.NodeClass(series)
	}
	box := svg.Box{X: x, Y: y + 5, W: w, H: rowHigh - 10}
	s.Rect(box, class, 4)
	if t.flags["active"] { // active tasks have a frame
		s.Rect(box.Grow(2), "r", 5)
	}
}
