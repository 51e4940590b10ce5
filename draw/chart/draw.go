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
	data, alt := render(c)
	return svg.Drawing{
		Kind: string(c.kind) + " chart", Title: c.Title, Data: data, Alt: alt, Adaptive: c.W >= adapts,
		Facts: map[string]any{"SeriesCount": len(c.series), "PointCount": c.count()},
	}, nil
}

// Inset is a chart without its own page, to be placed on another one.
type Inset struct {
	// Body is markup that uses the classes of the shared style.
	Body string
	Alt  string
	// Names is how many series its legend names; 0 if it has none.
	Names int
}

// DrawInset draws a chart from the parameters of Create SVG Chart as part of a page,
// as wide and high as is said there, which may be less than its own chart has.
func DrawInset(params map[string]any, w, h float64) (Inset, error) {
	p := maps.Clone(params)
	p["Width"], p["Height"] = max(w, 240), max(h, 160)
	d, err := parse(p)
	if err != nil {
		return Inset{}, err
	}
	d.W, d.H = w, h
	var s svg.Canvas
	d.draw(&s)
	in := Inset{Body: s.String(), Alt: describe(d)}
	if d.legend() {
		in.Names = len(d.series)
	}
	return in, nil
}
