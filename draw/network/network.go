// Package network draws who or what is related, without an order, laid out by forces. The
// same input gives the same bytes; circles and names never lie on each other, up to 500
// nodes. More than 80 nodes are too many to name all: the largest are, in larger letters,
// where there is room.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media and the other packages of draw.
package network

import (
	"slices"

	"atelier/draw/graph"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// DefaultWidth is the width of a page, in pixels, where none is requested.
const DefaultWidth = 960

const (
	maxNodes = 500
	maxEdges = 3000
)

// Draw makes the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	d, err := read(params)
	if err != nil {
		return svg.Drawing{}, err
	}
	data := d.render()
	return svg.Drawing{
		Kind: "network", Title: d.page.Title, Data: data, Alt: d.alt, Warnings: d.warnings, Facts: d.graph.Counts(),
	}, nil
}

// drawing is a checked request.
type drawing struct {
	page     svg.Page
	graph    *graph.Graph
	alt      string
	warnings []string
}

func read(p map[string]any) (*drawing, error) {
	page, err := svg.ReadPage(p, DefaultWidth, 0)
	if err != nil {
		return nil, err
	}
	head := graph.NoHead
	if directed, _ := value.Flag(p["Directed"]); directed {
		head = graph.Arrow
	}
	d := &drawing{page: page}
	if d.graph, err = graph.Read(p["Nodes"], p["Edges"], head); err != nil {
		return nil, err
	}
	note := d.graph.Reduce(maxNodes, maxNodes, maxEdges)
	if note != "" {
		d.warnings = append(d.warnings, note)
	}
	if d.alt = page.Alt; d.alt == "" {
		d.alt = d.graph.Describe("Network", page.Title) + d.centre()
	}
	if note != "" {
		d.alt += " " + note
	}
	return d, nil
}

// centre names the nodes with the most relations.
func (d *drawing) centre() string {
	deg := d.graph.Degrees()
	order := make([]int, len(deg))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return deg[b] - deg[a] })
	out := ""
	for k, i := range order[:min(3, len(order))] {
		if deg[i] < 2 {
			break
		}
		if k == 0 {
			out = " Most connected: "
		} else {
			out += ", "
		}
		out += svg.Clip(d.graph.Nodes[i].Label) + " (" + graph.Count(deg[i], "relation") + ")"
	}
	if out != "" {
		out += "."
	}
	return out
}
