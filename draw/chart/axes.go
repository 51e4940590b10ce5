package chart

import (
	"math"
	"slices"
	"strings"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// axisTitle returns the name of the value axis with its unit.
func (c *chart) axisTitle() string {
	name := c.yLabel
	switch {
	case c.unit == "" || short(c.unit) != "":
		return name
	case name == "":
		return c.unit
	}
	return name + " (" + c.unit + ")"
}

// valueGrid draws the value axis at the left of b, its lines and the zero line, and its name above.
// It returns the scale and the rest of b.
func (c *chart) valueGrid(s *svg.Canvas, b svg.Box, lo, hi, zero float64) (scale, svg.Box) {
	n := c.steps(int(min(7, max(1, b.H/34))), lo, hi)
	lo, hi, ticks := valueAxis(lo, hi, zero, n, c.unit)
	c.locale.translate(ticks)
	if t := c.axisTitle(); t != "" {
		s.Text(b.X, b.Y+11, "k m", "start", svg.Fit(t, 12.5, b.W))
		b.Y, b.H = b.Y+25, b.H-25
	} else {
		b.Y, b.H = b.Y+6, b.H-6
	}
	left := 0.0
	for _, t := range ticks {
		left = max(left, svg.Width(t.text, 12.5)+10)
	}
	b.X, b.W = b.X+left, b.W-left
	sc := scale{lo, hi, b.Bottom(), b.Y}
	for _, t := range ticks {
		class := "g"
		if t.v == 0 || t.v == lo && lo > 0 {
			class = "a"
		}
		y := math.Round(sc.at(t.v)) + 0.5
		s.Line(b.X, y, b.Right(), y, class)
		s.Text(b.X-8, y+4, "k m", "end", t.text)
	}
	return sc, b
}

// labelPlan describes how category labels fit below a chart.
type labelPlan struct {
	step  int     // every step-th label is written
	angle float64 // 0, or degrees upwards
	room  float64 // of one label
	h     float64 // of all labels
}

// planLabels chooses straight labels if they fit, then thinned ones if they are ordered (times and
// numbers), then two lines if they suffice, then slanted ones.
func planLabels(labels []string, band float64, ordered bool) labelPlan {
	w := svg.Widest(labels, 12.5)
	if w+10 <= band {
		return labelPlan{1, 0, band - 6, 22}
	}
	if ordered {
		step := int(math.Ceil((w + 14) / band))
		return labelPlan{step, 0, w + 1, 22}
	}
	if !slices.ContainsFunc(labels, func(l string) bool { return strings.Join(svg.Wrap(l, 12.5, band-8, 2), " ") != l }) { // all fit into two lines
		return labelPlan{1, 0, band - 8, 38}
	}
	step := max(1, int(math.Ceil(22/band)))
	room := min(w, 128)
	return labelPlan{step, -38, room, room*0.62 + 22}
}

// within limits the height of slanted labels.
func (p labelPlan) within(h float64) labelPlan {
	if p.angle != 0 {
		p.h = min(p.h, h)
		p.room = min(p.room, (p.h-16)/0.62)
	}
	return p
}

// ordered reports whether all labels are numbers or dates in ascending order, which may be thinned out.
// A ranking of people by their numbers is not ordered.
func ordered(labels []string) bool {
	before := math.Inf(-1)
	for _, l := range labels {
		at, ok := dayOf(l)
		if !ok {
			at, ok = value.Number(l)
		}
		if !ok || math.IsNaN(at) || at < before {
			return false
		}
		before = at
	}
	return true
}

// bottomLabels writes category labels under b at the given places.
func (c *chart) bottomLabels(s *svg.Canvas, b svg.Box, plan labelPlan, at func(i int) float64) {
	for i := 0; i < len(c.labels); i += plan.step {
		if plan.angle == 0 {
			for k, l := range svg.Wrap(c.labels[i], 12.5, plan.room, 1+int(plan.h/38)) {
				x, w := at(i), svg.Width(l, 12.5)/2
				x = max(min(x, c.W-4-w), 4+w)
				s.Text(x, b.Bottom()+18+15*float64(k), "k m", "middle", l)
			}
			continue
		}
		label := svg.Fit(c.labels[i], 12.5, plan.room)
		label = svg.Fit(label, 12.5, max(20, at(i)/0.79)) // the first ones have less room
		s.Turned(at(i)+5, b.Bottom()+14, plan.angle, "k m", "end", label)
	}
}

// bottomTitle writes the name of the x axis at the bottom of b and returns its height.
func (c *chart) bottomTitle(s *svg.Canvas, b svg.Box) float64 {
	if c.xLabel == "" {
		return 0
	}
	s.Text(b.X+b.W/2, b.Bottom()-2, "k m", "middle", svg.Fit(c.xLabel, 12.5, b.W))
	return 20
}
