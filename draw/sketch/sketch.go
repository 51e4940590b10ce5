// Package sketch draws boxes and arrows as if by hand on a whiteboard, for ideas that are not final. It takes the
// parameters of package diagram except Arrows. The same input returns the same bytes, wobble included.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The package may import
// media and the other packages of draw.
package sketch

import (
	"math/rand/v2"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

// handWide is the width of handwriting typefaces relative to the page's own.
const handWide = 1.12

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	d, err := graph.ReadDrawing(params, "Sketch", graph.Arrow, graph.Limits{Nodes: 120, Core: 50, Edges: 300})
	if err != nil {
		return svg.Drawing{}, err
	}
	p, err := d.Arrange(params, handWide)
	if err != nil {
		return svg.Drawing{}, err
	}
	return d.Finished("sketch", p.Page(*d.Page, css, func(s *svg.Canvas, at svg.Point) {
		k := pen{s, rand.New(rand.NewPCG(11, uint64(len(d.Graph.Nodes))))} //nolint:gosec // a fixed seed is the point
		s.Tag(`<g class="hand">`)
		p.DrawWith(s, at, func(e graph.Edge, pts []svg.Point) { k.wire(e, pts, p.Layout.Across) }, k.node)
		s.Tag("</g>")
	})), nil
}
