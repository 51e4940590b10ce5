package chart

import (
	"fmt"
	"iter"
	"math"
	"time"

	"atelier/draw/svg"
)

// kind is a chart type.
type kind string

const (
	kindBar     kind = "bar"
	kindLine    kind = "line"
	kindArea    kind = "area"
	kindPie     kind = "pie"
	kindDonut   kind = "donut"
	kindScatter kind = "scatter"
	kindStacked kind = "stacked"
)

// Kinds returns the names of the chart types.
func Kinds() []string {
	return []string{string(kindBar), string(kindLine), string(kindArea), string(kindPie), string(kindDonut), string(kindScatter), string(kindStacked)}
}

// DefaultWidth and DefaultHeight are the size of a page, in pixels, if none is requested.
const (
	DefaultWidth  = 800
	DefaultHeight = 450
)

const (
	maxSeries = 24
	maxValues = 200_000
)

// chart is a checked request: a dataset and the page that it is drawn on.
type chart struct {
	svg.Page
	dataset
	yLabel, unit   string
	horizontal     bool
	autoHorizontal bool // whether horizontal follows from the width
}

// dataset is what a chart shows. After place, every series has a y for each x, bars and
// sectors have a label for each value, and at least one value is a number.
type dataset struct {
	kind    kind
	locale  locale
	labels  []string
	xLabel  string
	axis    xAxis // meaning of x; ignored by pie and donut
	series  []series
	full    *dataset // all values, for the description
	reduced string   // how many points were omitted, in words; empty if none
}

// series is one named list of values. A gap is NaN in y; x is the position on the axis: a number, a
// time in days, or the index of a category.
type series struct {
	name   string
	x, y   []float64
	labels []string // given beside the values; used if there are no others
}

func (s *series) add(x, y float64) { s.x, s.y = append(s.x, x), append(s.y, y) }

// pick returns the values at the given indices.
func (s series) pick(indices []int) series {
	out := series{name: s.name}
	for _, i := range indices {
		out.add(s.x[i], s.y[i])
	}
	return out
}

// given returns the indices of the values that are no gaps.
func (s series) given() []int {
	indices := make([]int, 0, len(s.y))
	for i, v := range s.y {
		if !math.IsNaN(v) {
			indices = append(indices, i)
		}
	}
	return indices
}

// longest returns the number of values of the longest series.
func (d *dataset) longest() (n int) {
	for _, s := range d.series {
		n = max(n, len(s.y))
	}
	return n
}

// values returns all given values without the gaps.
func (d *dataset) values() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for _, s := range d.series {
			for _, v := range s.y {
				if !math.IsNaN(v) && !yield(v) {
					return
				}
			}
		}
	}
}

func (d *dataset) count() (n int) {
	for _, s := range d.series {
		n += len(s.given())
	}
	return n
}

// span returns the smallest and the largest value; lo is above hi if there is none.
func (d *dataset) span() (lo, hi float64) { return spanOf(d.values()) }

func spanOf(all iter.Seq[float64]) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for v := range all {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

func (d *dataset) parts() bool { return d.kind == kindPie || d.kind == kindDonut }

func (d *dataset) bars() bool { return d.kind == kindBar || d.kind == kindStacked }

// steps returns the number of steps of a value axis, at most n; axes of whole numbers have no fractional steps.
func (d *dataset) steps(n int, lo, hi float64) int {
	for y := range d.values() {
		if y != math.Trunc(y) {
			return n
		}
	}
	return int(min(float64(n), max(1, max(hi, 0)-min(lo, 0))))
}

// sums returns the span of the stacked values; positive and negative values are stacked separately.
func (d *dataset) sums() (lo, hi float64) {
	for i := range d.labels {
		up, down := 0.0, 0.0
		for _, v := range d.series {
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

// where returns the label of a value's position.
func (d *dataset) where(v series, i int) string {
	if d.axis == axisCategory {
		return d.labels[int(v.x[i])]
	}
	return d.xText(v.x[i])
}

func (d *dataset) xText(x float64) string {
	switch d.axis {
	case axisYear:
		return fmt.Sprintf("%.0f", x)
	case axisTime:
		t := time.Unix(int64(math.Round(x*86400)), 0).UTC()
		layout := "2 Jan 2006"
		if d.monthly() {
			layout = "Jan 2006"
		} else if t.Hour() != 0 || t.Minute() != 0 {
			layout = "2 Jan 2006 15:04"
		}
		return d.locale.local(t.Format(layout))
	default:
		return d.locale.amount(x, "")
	}
}

// monthly reports whether every label is a month rather than a day.
func (d *dataset) monthly() bool {
	_, ok := all(d.labels, monthOf)
	return ok
}
