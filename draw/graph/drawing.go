package graph

import (
	"cmp"
	"strings"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// DefaultWidth is the width of a page, in pixels, if none is requested.
const DefaultWidth = 960

// Limits restricts what one drawing shows: the Core highest-ranked nodes of a graph with more than
// Nodes nodes, and at most Edges edges.
type Limits struct{ Nodes, Core, Edges int }

// Drawing is a checked request to draw a graph.
type Drawing struct {
	Page  *svg.Page
	Graph *Graph
}

// ReadDrawing checks the parameters that all drawings of graphs share. kind names the drawing for
// people; wires get the given head.
func ReadDrawing(p map[string]any, kind string, head Head, most Limits) (*Drawing, error) {
	page, err := svg.ReadPage(p, DefaultWidth, 0)
	if err != nil {
		return nil, err
	}
	g, err := Read(p["Nodes"], p["Edges"], head)
	if err != nil {
		return nil, err
	}
	Overview(&page, g, kind, most)
	return &Drawing{&page, g}, nil
}

// Overview reduces a graph to the limits and sets the page's alternative text and note.
func Overview(page *svg.Page, g *Graph, kind string, most Limits) {
	note := g.Reduce(most.Nodes, most.Core, most.Edges)
	page.Alt = cmp.Or(page.Alt, g.Describe(kind, page.Title))
	if note != "" {
		page.Omit(note)
	}
}

// Arrange lays out the graph in the Direction of the parameters. wide is the TextScale of [Plan].
func (d *Drawing) Arrange(p map[string]any, wide float64) (Picture, error) {
	direction, known := Direction(value.Text(p["Direction"]))
	if !known {
		return Picture{}, svg.Invalid("Direction %q is unknown: use %s", svg.Clip(direction), strings.Join(Directions(), ", "))
	}
	return Arrange(d.Graph, Plan{Direction: direction, AvailableWidth: d.Page.W - 2*d.Page.Pad(), TextScale: wide}), nil
}

// Finished returns the finished drawing.
func (d *Drawing) Finished(kind string, data []byte) svg.Drawing {
	return d.Page.Drawing(kind, data, map[string]any{"NodeCount": len(d.Graph.Nodes), "EdgeCount": len(d.Graph.Edges)})
}
