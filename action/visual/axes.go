package visual

import (
	"math"
	"strings"
)

// axisTitle joins the name of the value axis and the unit.
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

// widest is the room that the texts of ticks need.
func widest(t []tick, size float64) float64 {
	w := 0.0
	for _, k := range t {
		w = max(w, width(k.text, size))
	}
	return w
}

// valueGrid draws the value axis at the left of b, its lines and the zero line, and
// gives the scale and what is left of b. Its name stands above it.
func (c *chart) valueGrid(s *svg, b box, lo, hi, zero float64) (scale, box) {
	n := int(min(8, max(2, b.h/58)))
	lo, hi, ticks := valueAxis(lo, hi, zero, n, c.unit)
	if t := c.axisTitle(); t != "" {
		s.text(b.x, b.y+11, "k m", "start", fit(t, 12.5, b.w))
		b.y, b.h = b.y+25, b.h-25
	} else {
		b.y, b.h = b.y+6, b.h-6
	}
	left := widest(ticks, 12.5) + 10
	b.x, b.w = b.x+left, b.w-left
	sc := scale{lo, hi, b.bottom(), b.y}
	for _, t := range ticks {
		class := "g"
		if t.v == 0 || t.v == lo && lo > 0 {
			class = "a"
		}
		y := math.Round(sc.at(t.v)) + 0.5
		s.line(b.x, y, b.right(), y, class)
		s.text(b.x-8, y+4, "k m", "end", t.text)
	}
	return sc, b
}

// labelPlan says how category labels fit below a chart.
type labelPlan struct {
	step  int     // every how many labels one is written
	angle float64 // 0, or degrees upwards
	room  float64 // of one label
	h     float64 // of all labels
}

// planLabels chooses straight labels if they fit, then thinned ones where they are in
// order (times and numbers), then slanted ones.
func planLabels(labels []string, band float64, ordered bool) labelPlan {
	w := 0.0
	for _, l := range labels {
		w = max(w, width(l, 12.5))
	}
	if w+10 <= band {
		return labelPlan{1, 0, band - 6, 22}
	}
	if ordered {
		step := int(math.Ceil((w + 14) / band))
		return labelPlan{step, 0, w + 1, 22}
	}
	if twoLines(labels, band-8) {
		return labelPlan{1, 0, band - 8, 38}
	}
	step := max(1, int(math.Ceil(17/band)))
	room := min(w, 128)
	return labelPlan{step, -38, room, room*0.62 + 22}
}

// twoLines tells whether every label fits whole into two lines.
func twoLines(labels []string, room float64) bool {
	for _, l := range labels {
		lines := wrap(l, 12.5, room, 2)
		if strings.Join(lines, " ") != l {
			return false
		}
	}
	return true
}

// ordered tells whether all labels are numbers or dates, which may be thinned out.
func ordered(labels []string) bool {
	for _, l := range labels {
		if _, day := dayOf(l); day {
			continue
		}
		if f, ok := number(l); !ok || math.IsNaN(f) {
			return false
		}
	}
	return true
}

// bottomLabels writes category labels under b at the given places.
func (c *chart) bottomLabels(s *svg, b box, plan labelPlan, at func(i int) float64) {
	for i := 0; i < len(c.labels); i += plan.step {
		if plan.angle == 0 {
			for k, l := range wrap(c.labels[i], 12.5, plan.room, 1+int(plan.h/38)) {
				x, w := at(i), width(l, 12.5)/2
				x = max(min(x, c.w-4-w), 4+w)
				s.text(x, b.bottom()+18+15*float64(k), "k m", "middle", l)
			}
			continue
		}
		label := fit(c.labels[i], 12.5, plan.room)
		label = fit(label, 12.5, max(20, at(i)/0.79)) // the first ones have less room
		s.turned(at(i)+5, b.bottom()+14, plan.angle, "k m", "end", label)
	}
}

// bottomTitle writes the name of the x axis below everything and gives the room it took.
func (c *chart) bottomTitle(s *svg, b box) float64 {
	if c.xLabel == "" {
		return 0
	}
	s.text(b.x+b.w/2, b.bottom()-2, "k m", "middle", fit(c.xLabel, 12.5, b.w))
	return 20
}
