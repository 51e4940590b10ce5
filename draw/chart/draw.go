package chart

import (
	"maps"

	"atelier/draw/svg"
)

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	c, err := parse(params)
	if err != nil {
		return svg.Drawing{}, err
	}
	data, _ := render(c)
	d := c.Drawing(string(c.kind)+" chart", data, map[string]any{"SeriesCount": len(c.series), "PointCount": c.count()})
	d.Adaptive = c.adapts()
	return d, nil
}

// Inset is a chart without a page of its own, to be placed on another page.
type Inset struct {
	// Alt is its description.
	Alt string
	// Names is the number of series in the legend of its narrow layout; 0 if it has no legend.
	Names int
	chart *chart
}

// ReadInset checks the parameters of Create SVG Chart for a chart on another page.
func ReadInset(params map[string]any) (Inset, error) {
	p := maps.Clone(params)
	p["Width"], p["Height"] = float64(narrow), nil
	c, err := parse(p)
	if err != nil {
		return Inset{}, err
	}
	in := Inset{Alt: describe(c), chart: c}
	if c.legend() {
		in.Names = len(c.series)
	}
	return in, nil
}

// Draw returns the markup of the chart in a size that may be smaller than its own page. The markup
// uses the classes of the shared style.
func (in Inset) Draw(w, h float64) string {
	var s svg.Canvas
	in.chart.sized(w, h).draw(&s)
	return s.String()
}
