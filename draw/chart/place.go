package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

// xAxis is the meaning of x.
type xAxis int

const (
	axisCategory xAxis = iota // x is the index of a label
	axisNumber                // x is a number
	axisYear                  // x is a year, shown without separators
	axisTime                  // x is days since 1970
)

// place places every series on the axis and checks the requirements of the chart type.
func (d *dataset) place() error {
	pts := slices.ContainsFunc(d.series, func(s series) bool { return s.x != nil })
	if pts && d.kind != kindScatter && d.kind != kindLine && d.kind != kindArea {
		return svg.Invalid("series with points fit scatter, line and area: give values and Labels for a %s chart", d.kind)
	}
	if pts && slices.ContainsFunc(d.series, func(s series) bool { return s.x == nil }) {
		return svg.Invalid("some series have points and some have values: give all of them in one form")
	}
	if err := d.checkLengths(pts); err != nil {
		return err
	}
	var at []float64
	if pts {
		d.axis = d.pointAxis()
	} else if d.axis, at = placeLabels(d.labels, d.kind); d.kind == kindScatter && d.axis == axisCategory {
		return svg.Invalid(`a scatter chart needs numbers on both axes: give "points": [[x, y], …] in each series, or numeric Labels`)
	}
	for i, s := range d.series {
		switch {
		case !pts:
			s.x = at
		case d.kind != kindScatter:
			s = s.pick(graph.Ranked(len(s.x), func(a, b int) int { return cmp.Compare(s.x[a], s.x[b]) }))
		}
		d.series[i] = s
	}
	if lo, hi := d.span(); lo > hi {
		return svg.Invalid("Series has no number at all: every value is a gap; give at least one")
	}
	if d.parts() {
		return d.toParts()
	}
	full := *d
	full.series = slices.Clone(d.series)
	d.full = &full
	d.reduce()
	return nil
}

func (d *dataset) checkLengths(pts bool) error {
	n := d.longest()
	if pts || d.parts() && len(d.series) > 1 && n == 1 {
		return nil
	}
	if own := d.series[0].labels; len(d.labels) == 0 && len(own) == n && !slices.Contains(own, "") {
		d.labels = own
	}
	if len(d.labels) == 0 {
		for i := range n {
			d.labels = append(d.labels, strconv.Itoa(i+1))
		}
	}
	for _, s := range d.series {
		if len(s.y) != len(d.labels) {
			return svg.Invalid("series %q has %d values but there are %d labels: give one value per label, null for a gap", svg.Clip(s.name), len(s.y), len(d.labels))
		}
	}
	return nil
}

// pointAxis recognises x values that are years.
func (d *dataset) pointAxis() xAxis {
	if d.kind == kindScatter && !strings.Contains(strings.ToLower(d.xLabel), "year") {
		return axisNumber
	}
	for _, s := range d.series {
		if slices.ContainsFunc(s.x, func(x float64) bool { return x != math.Trunc(x) || x < 1000 || x > 2999 }) {
			return axisNumber
		}
	}
	return axisYear
}

// placeLabels recognises numbers and times in the labels. Bars are always equidistant.
func placeLabels(labels []string, k kind) (xAxis, []float64) {
	index := make([]float64, len(labels))
	for i := range index {
		index[i] = float64(i)
	}
	if k == kindBar || k == kindStacked || k == kindPie || k == kindDonut {
		return axisCategory, index
	}
	if at, ok := all(labels, yearOf); ok && rising(at) {
		return axisYear, at
	}
	if at, ok := all(labels, dayOf); ok && rising(at) {
		return axisTime, at
	}
	numeric := func(s string) (float64, bool) {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	if at, ok := all(labels, numeric); ok && (k == kindScatter || rising(at)) {
		return axisNumber, at
	}
	return axisCategory, index
}

func all(labels []string, read func(string) (float64, bool)) ([]float64, bool) {
	out := make([]float64, len(labels))
	for i, l := range labels {
		var ok bool
		if out[i], ok = read(l); !ok {
			return nil, false
		}
	}
	return out, len(out) > 1
}

func rising(v []float64) bool {
	for i := 1; i < len(v); i++ {
		if v[i] <= v[i-1] {
			return false
		}
	}
	return true
}

func yearOf(s string) (float64, bool) {
	n, err := strconv.Atoi(s)
	return float64(n), err == nil && len(s) == 4 && n >= 1000 && n <= 2999
}

// dayOf parses a month or a date and returns it as days since 1970.
func dayOf(s string) (float64, bool) {
	if at, ok := monthOf(s); ok {
		return at, true
	}
	return timeOf(s, "2006-01-02", "2006/01/02", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2 Jan 2006", "Jan 2, 2006", "Jan 2 2006")
}

// monthOf parses a month without a day.
func monthOf(s string) (float64, bool) {
	return timeOf(s, "2006-01", "2006/01", "Jan 2006", "January 2006")
}

func timeOf(s string, layouts ...string) (float64, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.Unix()) / 86400, true
		}
	}
	return 0, false
}

// maxParts is the maximum number of sectors of a pie; above it the smallest are combined.
const maxParts = 8

// toParts converts the data to one series of sectors, largest first.
func (d *dataset) toParts() error {
	type part struct {
		name string
		v    float64
	}
	var parts []part
	if len(d.series) > 1 {
		for _, s := range d.series {
			if len(s.y) != 1 {
				return svg.Invalid("a %s chart shows one series: series %q is one of %d; use stacked or bar to compare", d.kind, svg.Clip(s.name), len(d.series))
			}
			parts = append(parts, part{s.name, s.y[0]})
		}
	} else {
		for i, v := range d.series[0].y {
			parts = append(parts, part{d.labels[i], v})
		}
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return math.IsNaN(p.v) || p.v == 0 })
	total := 0.0
	for _, p := range parts {
		if p.v < 0 {
			return svg.Invalid("a %s chart cannot show the negative value of %q: use a bar chart", d.kind, svg.Clip(p.name))
		}
		total += p.v
	}
	if total <= 0 || math.IsInf(total, 0) {
		return svg.Invalid("a %s chart needs values that add up to more than zero", d.kind)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.v, a.v) })
	if len(parts) > maxParts {
		rest := part{name: fmt.Sprintf(d.locale.say("others"), len(parts)-maxParts+1)}
		for _, p := range parts[maxParts-1:] {
			rest.v += p.v
		}
		d.reduced = fmt.Sprintf(d.locale.say("combined"), len(parts)-maxParts+1, len(parts))
		parts = append(parts[:maxParts-1:maxParts-1], rest)
	}
	one := series{name: d.series[0].name}
	d.labels = nil
	for _, p := range parts {
		d.labels, one.y = append(d.labels, p.name), append(one.y, p.v)
	}
	d.series = []series{one}
	return nil
}
