package graph

import "atelier/action"

// Counts are the output parameters that tell how many nodes and edges were drawn, with
// the words that people use for them.
func Counts(nodes, edges string) []action.Param {
	return []action.Param{
		{Name: "NodeCount", Direction: action.Output, Type: "integer", Description: "How many " + nodes + " were drawn."},
		{Name: "EdgeCount", Direction: action.Output, Type: "integer", Description: "How many " + edges + " were drawn."},
	}
}

// Result is the result of an action that drew g. Kind names the output of the drawing:
// Diagram.
func (g *Graph) Result(kind, message string, item any, alt string) action.Result {
	return action.Result{Message: message, Outputs: map[string]any{
		kind: item, "Description": alt, "NodeCount": len(g.Nodes), "EdgeCount": len(g.Edges),
	}}
}
