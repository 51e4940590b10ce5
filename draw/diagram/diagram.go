// Package diagram draws boxes and arrows in layers, for processes, structures, dependencies and decisions. The same
// input returns the same bytes. No two boxes or labels overlap, even in graphs with cycles and separate parts.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The package may import
// media and the other packages of draw.
package diagram

import (
	"atelier/draw/graph"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	head := graph.Arrow
	if arrows, ok := value.Flag(params["Arrows"]); ok && !arrows {
		head = graph.NoHead
	}
	d, err := graph.ReadDrawing(params, "Diagram", head, graph.Limits{Nodes: 250, Core: 80, Edges: 600})
	if err != nil {
		return svg.Drawing{}, err
	}
	if len(d.Page.Warnings) > 0 {
		d.Page.Warnings[0] += " Draw parts of it for the rest."
	}
	p, err := d.Arrange(params, 1)
	if err != nil {
		return svg.Drawing{}, err
	}
	if p.Layout.W > 2*d.Page.W {
		d.Page.Warnings = append(d.Page.Warnings, "The diagram is wide and its text becomes small on a page: use fewer boxes or split it.")
	}
	return d.Finished("diagram", p.Page(*d.Page, "", p.Draw)), nil
}
