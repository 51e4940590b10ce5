// Package view resolves a display schema with the data of an interaction to the tree of nodes that clients render, with
// forms, sub-actions and selections. Only this package resolves display templates, on the server; clients get plain
// text. Errors have code media.CodeInvalid and the JSON pointer, in the request, of the string that could not be
// resolved. The package may import media and the other packages of workflow.
package view

import (
	"reflect"

	"atelier/workflow/ordered"
	"atelier/workflow/schema"
)

// Node is one node of the tree. The values stay in the data.
type Node struct {
	// Pointer is the JSON pointer of the node in the data, and Key the last part of it.
	Pointer string `json:"pointer"`
	Key     string `json:"key"`
	Label   string `json:"label"`
	// RenderAs is code for data of a type that the schema does not permit.
	RenderAs schema.Render  `json:"render_as"`
	Display  schema.Display `json:"display,omitempty"`
	// Type is the JSON type of the data.
	Type string `json:"type"`
	// Schema is the pointer of the node's schema in the display schema.
	Schema string `json:"schema"`
	// Form is nil for a node that cannot be edited.
	Form       *Form         `json:"form,omitempty"`
	SubActions []SubAction   `json:"sub_actions,omitempty"`
	Selection  *schema.Group `json:"selection,omitempty"`
	Children   []*Node       `json:"children,omitempty"`
}

// Form describes how a node is edited.
type Form struct {
	Schema *ordered.Object `json:"schema"`
	// Layout is empty for a value that is not an object.
	Layout []schema.Block `json:"layout,omitempty"`
}

// SubAction is a sub-action that can be started from a node.
type SubAction struct {
	ID         string `json:"id"`
	Label      string `json:"label"`
	ActionType string `json:"action_type"`
	Provider   string `json:"provider"`
	// ParamSchema is the JSON Schema of the parameters. Params are their initial values.
	ParamSchema  *ordered.Object `json:"param_schema,omitempty"`
	Params       *ordered.Object `json:"params"`
	ResultTarget []string        `json:"result_target"`
	LoadingLabel string          `json:"loading_label"`
	// Confirm requires a confirmation before the call. Question is its text; empty means the default text.
	Confirm  bool   `json:"confirm"`
	Question string `json:"question,omitempty"`
	// Enabled is false if the condition does not hold or the action is not possible. In the latter case, Reason says
	// why.
	Enabled      bool   `json:"enabled"`
	Reason       string `json:"reason,omitempty"`
	PromptAsSent string `json:"prompt_as_sent"`
}

// Walk visits all nodes of the tree, parents first.
func (n *Node) Walk(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, c := range n.Children {
		c.Walk(visit)
	}
}

// Forms returns the schemas of the editable nodes, by pointer.
func (n *Node) Forms() map[string]*ordered.Object {
	forms := map[string]*ordered.Object{}
	n.Walk(func(n *Node) {
		if n.Form != nil {
			forms[n.Pointer] = n.Form.Schema
		}
	})
	return forms
}

// Changes holds the differences between two trees.
type Changes struct {
	// Nodes are the new or changed nodes, in tree order, without their children.
	Nodes []*Node `json:"nodes"`
	// Removed are the pointers of removed nodes.
	Removed []string `json:"removed,omitempty"`
}

// Diff returns the changes from one tree to another.
func Diff(before, after *Node) Changes {
	was := map[string]*Node{}
	var order []string
	before.Walk(func(n *Node) { was[n.Pointer], order = n, append(order, n.Pointer) })
	c := Changes{Nodes: []*Node{}}
	after.Walk(func(n *Node) {
		if old := was[n.Pointer]; old == nil || !reflect.DeepEqual(old.alone(), n.alone()) {
			c.Nodes = append(c.Nodes, n.alone())
		}
		delete(was, n.Pointer)
	})
	for _, p := range order {
		if _, gone := was[p]; gone {
			c.Removed = append(c.Removed, p)
		}
	}
	return c
}

// alone returns a copy of the node without its children.
func (n *Node) alone() *Node {
	alone := *n
	alone.Children = nil
	return &alone
}
