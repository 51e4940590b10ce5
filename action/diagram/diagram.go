// Package diagram is the action Create SVG Diagram: boxes and arrows in layers, for
// processes, structures, dependencies and decisions. The same input gives the same
// bytes; no two boxes or labels lie on each other, whatever cycles and separate parts
// there are.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media, action and action/internal.
package diagram

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
const Name = "Create SVG Diagram"

const (
	defaultWidth = 960
	maxNodes     = 250
	coreNodes    = 80 // of a graph that has more
	maxEdges     = 600
)

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{Diagram()} }

// Diagram is the action Create SVG Diagram.
func Diagram() action.Action {
	params := []action.Param{
		{Name: "Edges", ValueType: action.Other, IsArray: true, Type: "any", Description: `Arrows: [{"from": "A", "to": "B", "label": "sends", "dashed": false}], or lines "A -> B: sends". JSON text is accepted.`},
		{Name: "Nodes", ValueType: action.Other, IsArray: true, Type: "any", Description: `Boxes, where more than a name is to be said or a box has no arrow: [{"id": "A", "label": "Web shop", "note": "one line more", "shape": "round", "group": "Front"}]. Shapes: ` + strings.Join(graph.Shapes(), ", ") + "; decision and database are understood."},
		{Name: "Direction", Default: "auto", Values: graph.Directions(), Description: "Where the arrows point: down, right, up, left; auto takes what fits."},
		{Name: "Arrows", Type: "boolean", Default: true, Description: "Heads on the lines; false for plain lines."},
	}
	return action.Action{
		Name: Name,
		Description: "Draws boxes and arrows in layers as SVG: a process, a structure, what depends on what, a decision. Up to 40 boxes read well. " +
			"For relations without order use Create SVG Network, for numbers Create SVG Chart.",
		Tags:   []string{"visual", "media"},
		Params: slices.Concat(params, svg.Params(defaultWidth, 0), svg.Outputs("Diagram"), graph.Counts("boxes", "arrows")),
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
	res := d.graph.Result("Diagram", "Drew the diagram “"+d.page.Title+"”.", d.page.Item(d.render(), d.alt), d.alt)
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
