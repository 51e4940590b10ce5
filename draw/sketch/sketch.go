// Package sketch draws boxes and arrows as if by hand on a whiteboard, for ideas that
// are not settled. It takes what package diagram takes. The same input gives the same
// bytes, wobble included.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media and the other packages of draw.
package sketch

import (
	"slices"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// DefaultWidth is the width of a page, in pixels, where none is requested.
const DefaultWidth = 960

const (
	maxNodes  = 120
	coreNodes = 50 // of a graph that has more
	maxEdges  = 300
	// handWide is how much wider faces that look like handwriting run.
	handWide = 1.12
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
		Kind: "sketch", Title: d.page.Title, Data: data, Alt: d.alt, Warnings: d.warnings, Facts: d.graph.Counts(),
	}, nil
}

// drawing is a checked request.
type drawing struct {
	page      svg.Page
	graph     *graph.Graph
	direction string
	alt       string
	warnings  []string
}

func read(p map[string]any) (*drawing, error) {
	page, err := svg.ReadPage(p, DefaultWidth, 0)
	if err != nil {
		return nil, err
	}
	d := &drawing{page: page, direction: strings.ToLower(value.Text(p["Direction"]))}
	if d.direction != "" && !slices.Contains(graph.Directions(), d.direction) {
		return nil, svg.Invalid("Direction %q is unknown: use %s", svg.Clip(d.direction), strings.Join(graph.Directions(), ", "))
	}
	if d.graph, err = graph.Read(p["Nodes"], p["Edges"], graph.Arrow); err != nil {
		return nil, err
	}
	note := d.graph.Reduce(maxNodes, coreNodes, maxEdges)
	if note != "" {
		d.warnings = append(d.warnings, note)
	}
	if d.alt = page.Alt; d.alt == "" {
		d.alt = d.graph.Describe("Sketch", page.Title)
	}
	if note != "" {
		d.alt += " " + note
	}
	return d, nil
}
