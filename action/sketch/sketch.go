// Package sketch is the action Create SVG Sketch Diagram: boxes and arrows as if drawn
// by hand on a whiteboard, for ideas that are not settled. It takes what Create SVG
// Diagram takes. The same input gives the same bytes, wobble included.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media, action and action/internal.
package sketch

import (
	"context"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/internal/graph"
	"atelier/action/internal/svg"
	"atelier/action/internal/value"
)

// Name is what models call the action.
const Name = "Create SVG Sketch Diagram"

const (
	defaultWidth = 960
	maxNodes     = 120
	coreNodes    = 50 // of a graph that has more
	maxEdges     = 300
	// handWide is how much wider faces that look like handwriting run.
	handWide = 1.12
)

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{Sketch()} }

// Sketch is the action Create SVG Sketch Diagram.
func Sketch() action.Action {
	params := []action.Param{
		{Name: "Edges", ValueType: action.Other, IsArray: true, Type: "any", Description: `Arrows: [{"from": "Idea", "to": "Prototype", "label": "try", "dashed": false}], or lines "Idea -> Prototype: try". JSON text is accepted.`},
		{Name: "Nodes", ValueType: action.Other, IsArray: true, Type: "any", Description: `Boxes, where more than a name is to be said: [{"id": "A", "label": "Idea", "note": "one line more", "shape": "ellipse", "group": "Now"}]. Shapes: ` + strings.Join(graph.Shapes(), ", ") + "."},
		{Name: "Direction", Default: "auto", Values: graph.Directions(), Description: "Where the arrows point: down, right, up, left; auto takes what fits."},
	}
	return action.Action{
		Name: Name,
		Description: "Draws boxes and arrows as SVG with a hand-drawn look: concepts, drafts, whiteboard explanations. Up to 25 boxes read well. " +
			"For exact structures use Create SVG Diagram.",
		Tags:   []string{"visual", "media"},
		Params: slices.Concat(params, svg.Params(defaultWidth, 0), svg.Outputs("Sketch"), graph.Counts("boxes", "arrows")),
		Run:    run,
	}
}

func run(ctx context.Context, c *action.Call) (action.Result, error) {
	if err := ctx.Err(); err != nil {
		return action.Result{}, err
	}
	d, err := read(c.Params)
	if err != nil {
		return action.Result{}, err
	}
	res := d.graph.Result("Sketch", "Drew the sketch “"+d.page.Title+"”.", d.page.Item(d.render(), d.alt), d.alt)
	res.Warnings = d.warnings
	return res, nil
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
	page, err := svg.ReadPage(p, defaultWidth, 0)
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
