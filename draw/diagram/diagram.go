// Package diagram draws boxes and arrows in layers, for processes, structures,
// dependencies and decisions. The same input gives the same bytes; no two boxes or labels
// lie on each other, whatever cycles and separate parts there are.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media and the other packages of draw.
package diagram

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
	maxNodes  = 250
	coreNodes = 80 // of a graph that has more
	maxEdges  = 600
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
		Kind: "diagram", Title: d.page.Title, Data: data, Alt: d.alt, Warnings: d.warnings, Facts: d.graph.Counts(),
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
	switch d.direction {
	case "tb", "td", "vertical", "top-down":
		d.direction = "down"
	case "lr", "horizontal":
		d.direction = "right"
	case "bt":
		d.direction = "up"
	case "rl":
		d.direction = "left"
	case "":
		d.direction = "auto"
	}
	if !slices.Contains(graph.Directions(), d.direction) {
		return nil, svg.Invalid("Direction %q is unknown: use %s", svg.Clip(d.direction), strings.Join(graph.Directions(), ", "))
	}
	head := graph.Arrow
	if arrows, ok := value.Flag(p["Arrows"]); ok && !arrows {
		head = graph.NoHead
	}
	if d.graph, err = graph.Read(p["Nodes"], p["Edges"], head); err != nil {
		return nil, err
	}
	note := d.graph.Reduce(maxNodes, coreNodes, maxEdges)
	if note != "" {
		d.warnings = append(d.warnings, note+" Draw parts of it for the rest.")
	}
	if d.alt = page.Alt; d.alt == "" {
		d.alt = d.graph.Describe("Diagram", page.Title)
	}
	if note != "" {
		d.alt += " " + note
	}
	return d, nil
}

func (d *drawing) render() []byte {
	p := graph.Arrange(d.graph, graph.Plan{Direction: d.direction, Room: d.page.W - 2*d.page.Pad()})
	if w := p.Layout.W; w > 2*d.page.W {
		d.warnings = append(d.warnings, "The diagram is wide and its text becomes small on a page: use fewer boxes or split it.")
	}
	return p.Page(d.page, d.alt, svg.CSS()+svg.ShapeCSS())
}
