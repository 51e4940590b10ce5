// Package network is the action Create SVG Network: who or what is related, without
// an order, laid out by forces. The same input gives the same bytes; circles and
// names never lie on each other, up to 500 nodes. More than 80 nodes are too many to
// name all: the largest are, in larger letters, where there is room.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media, action and action/internal.
package network

import (
	"context"
	"slices"

	"atelier/action"
	"atelier/action/internal/graph"
	"atelier/action/internal/svg"
	"atelier/action/internal/value"
)

// Name is what models call the action.
const Name = "Create SVG Network"

const (
	defaultWidth = 960
	maxNodes     = 500
	maxEdges     = 3000
)

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{Network()} }

// Network is the action Create SVG Network.
func Network() action.Action {
	params := []action.Param{
		{Name: "Edges", ValueType: action.Other, IsArray: true, Type: "any", Description: `Relations: [{"from": "Ada", "to": "Ben", "weight": 3, "label": "cites"}], or lines "Ada -> Ben". JSON text is accepted.`},
		{Name: "Nodes", ValueType: action.Other, IsArray: true, Type: "any", Description: `Nodes, where more than a name is to be said: [{"id": "Ada", "label": "Ada Lovelace", "group": "Authors", "value": 12}]. Groups are colours, value is the size of the circle; without it the number of relations is.`},
		{Name: "Directed", Type: "boolean", Default: false, Description: "Arrow heads on the lines."},
	}
	return action.Action{
		Name: Name,
		Description: "Draws a network of relations as SVG: people, organisations, papers, species, services; up to 500 nodes. " +
			"For steps and hierarchies use Create SVG Diagram.",
		Tags:   []string{"visual", "media"},
		Params: slices.Concat(params, svg.Params(defaultWidth, 0), svg.Outputs("Network"), graph.Counts("nodes", "relations")),
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
	res := d.graph.Result("Network", "Drew the network “"+d.page.Title+"”.", d.page.Item(d.render(), d.alt), d.alt)
	res.Warnings = d.warnings
	return res, nil
}

// drawing is a checked request.
type drawing struct {
	page     svg.Page
	graph    *graph.Graph
	alt      string
	warnings []string
}

func read(p map[string]any) (*drawing, error) {
	page, err := svg.ReadPage(p, defaultWidth, 0)
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
