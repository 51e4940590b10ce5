package visual

import (
	"math"

	"atelier/action/internal/svg"
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

func kindNames() []string {
	return []string{string(kindBar), string(kindLine), string(kindArea), string(kindPie), string(kindDonut), string(kindScatter), string(kindStacked)}
}

const (
	defaultWidth  = 800
	defaultHeight = 450
	maxSeries     = 24
	maxValues     = 200_000
)

// chart is a checked request.
type chart struct {
	svg.Page
	kind                 kind
	xLabel, yLabel, unit string
	labels               []string
	axis                 xAxis // where the values stand; ignored by pie and donut
	series               []series
	horizontal           bool
	warnings             []string
	reduced              string // how many points were left out, in words; empty if none
}

// series is one named list of values. A gap is NaN in y; x is the place on the axis:
// a number, a time in days, or the index of a category.
type series struct {
	name string
	x, y []float64
}

// count is how many values were given, gaps not counted.
func (c *chart) count() int {
	n := 0
	for _, s := range c.series {
		for _, v := range s.y {
			if !math.IsNaN(v) {
				n++
			}
		}
	}
	return n
}

// span is the least and the greatest value; ok is false if there is none.
func (c *chart) span() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range c.series {
		for _, v := range s.y {
			if !math.IsNaN(v) {
				lo, hi, ok = min(lo, v), max(hi, v), true
			}
		}
	}
	return lo, hi, ok
}

// parts reports whether the chart is a pie or a donut.
func (c *chart) parts() bool { return c.kind == kindPie || c.kind == kindDonut }

// bars reports whether values are drawn as bars.
func (c *chart) bars() bool { return c.kind == kindBar || c.kind == kindStacked }
