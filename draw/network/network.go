// Package network draws unordered relations, laid out by forces. The same input returns the same
// bytes; circles and names never overlap, up to 500 nodes. In a network of more than 80 nodes, only
// the largest nodes are named, in larger letters and where there is room.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The
// package may import media and the other packages of draw.
package network

import (
	"fmt"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	head := graph.NoHead
	if directed, _ := value.Flag(params["Directed"]); directed {
		head = graph.Arrow
	}
	r, err := graph.ReadDrawing(params, "Network", head, graph.Limits{Nodes: 500, Core: 500, Edges: 3000})
	if err != nil {
		return svg.Drawing{}, err
	}
	d := &drawing{Drawing: r}
	if value.Text(params["AltText"]) == "" {
		deg := d.Graph.Degrees()
		order := graph.Ranked(len(deg), func(a, b int) int { return deg[b] - deg[a] })
		var names []string
		for _, i := range order[:min(3, len(order))] {
			if deg[i] >= 2 {
				names = append(names, svg.Clip(d.Graph.Nodes[i].Label)+" ("+graph.Count(deg[i], "relation")+")")
			}
		}
		if len(names) > 0 {
			d.Page.Alt += " Most connected: " + strings.Join(names, ", ") + "."
		}
	}
	marks := d.marks()
	size := d.place(marks, d.Page.W-2*d.Page.Pad())
	var tags []tag
	if d.crowded() {
		tags = d.tags(marks, size)
		d.Page.Omit(fmt.Sprintf("Names stand at %d of the largest of %d nodes.", len(tags), len(marks)))
	}
	texts, named := d.wireTags(marks)
	if len(texts) < named {
		d.Page.Omit(fmt.Sprintf("Labels stand at %d of %d labelled relations.", len(texts), named))
	}
	groups := d.Graph.Groups
	if len(groups) < 2 {
		groups = nil
	}
	data := graph.OnPage(*d.Page, css, groups, graph.Size{W: size.W, H: size.H + 20}, func(s *svg.Canvas, at svg.Point) {
		at = at.Add(svg.Point{Y: 8})
		for i := range marks {
			marks[i].at = marks[i].at.Add(at)
		}
		d.wires(s, marks)
		d.nodes(s, marks)
		for _, n := range append(tags, texts...) {
			s.Text(n.box.X+n.box.W/2+at.X, n.box.Y+n.box.H*0.79+at.Y, n.class, "middle", n.text)
		}
	})
	return d.Finished("network", data), nil
}

// drawing is a checked request.
type drawing struct{ *graph.Drawing }
