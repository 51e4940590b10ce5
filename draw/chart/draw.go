package chart

import (
	"maps"

	"atelier/draw/svg"
)

// Draw makes the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	c, err := parse(params)
	if err != nil {
		return svg.Drawing{}, err
	}
	data, _ := render(c)
	d := c.Drawing(string(c.kind)+" chart", data, map[string]any{"SeriesCount": len(c.series), "PointCount": c.count()})
	d.Adaptive = c.W >= adapts
	return d, nil
}

// Inset is a chart without its own page, to be placed on another one.
type Inset struct {
	// Alt is its description.
	Alt string
	// Names is how many series its legend names where it is narrow; 0 if it has none.
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

// Draw returns markup of the chart in a size, which may be less than its own page has; it
// uses the classes of the shared style.
func (in Inset) Draw(w, h float64) string {
	c := *in.chart
	c.W, c.H = w, h
	if c.autoHorizontal {
		c.horizontal = c.prefersHorizontal()
	}
	var s svg.Canvas
	c.draw(&s)
	return s.String()
}
