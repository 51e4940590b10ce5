// Package view resolves a display schema over the data of an interaction: the tree of nodes that a
// client draws, with forms, sub-actions and selections. Templates are resolved by it alone, on the
// server; clients get texts. Errors have code media.CodeInvalid and the JSON pointer of the schema's
// string that could not be resolved. It may import media and the other packages of workflow.
package view

import (
	"reflect"

	"atelier/workflow/ordered"
	"atelier/workflow/schema"
)

// Node is one part of the tree. Values stay in the data.
type Node struct {
	// Pointer is its place in the data, Key the last part of it.
	Pointer string `json:"pointer"`
	Key     string `json:"key"`
	Label   string `json:"label"`
	// RenderAs is code for data of a type that the schema does not have.
	RenderAs schema.Render  `json:"render_as"`
	Display  schema.Display `json:"display,omitempty"`
	// Type is the JSON type of the data.
	Type string `json:"type"`
	// Schema is the place of its schema in the display schema.
	Schema string `json:"schema"`
	// Form is nil for a part that cannot be edited.
	Form       *Form         `json:"form,omitempty"`
	SubActions []SubAction   `json:"sub_actions,omitempty"`
	Selection  *schema.Group `json:"selection,omitempty"`
	Children   []*Node       `json:"children,omitempty"`
}

// Form is by what a part is edited.
type Form struct {
	Schema *ordered.Object `json:"schema"`
	// Layout is empty for a value that is no object.
	Layout []schema.Block `json:"layout,omitempty"`
}

// SubAction is what can be started from a node.
type SubAction struct {
	ID         string `json:"id"`
	Label      string `json:"label"`
	ActionType string `json:"action_type"`
	Provider   string `json:"provider"`
	// ParamSchema is the JSON Schema of the parameters, Params what they are before a person
	// changes them.
	ParamSchema  *ordered.Object `json:"param_schema,omitempty"`
	Params       *ordered.Object `json:"params"`
	ResultTarget []string        `json:"result_target"`
	LoadingLabel string          `json:"loading_label"`
	// Confirm asks before the call; Question is what is asked, empty for the usual question.
	Confirm  bool   `json:"confirm"`
	Question string `json:"question,omitempty"`
	// Enabled is false where the condition does not hold or the action cannot be done; then Reason
	// says why.
	Enabled      bool   `json:"enabled"`
	Reason       string `json:"reason,omitempty"`
	PromptAsSent string `json:"prompt_as_sent"`
}

// Find returns the node at a pointer, nil if there is none.
func (n *Node) Find(pointer string) *Node {
	if n == nil || n.Pointer == pointer {
		return n
	}
	for _, c := range n.Children {
		if ordered.Covers(c.Pointer, pointer) {
			return c.Find(pointer)
		}
	}
	return nil
}

// Walk goes through the tree, parents first.
func (n *Node) Walk(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, c := range n.Children {
		c.Walk(visit)
	}
}

// Forms are the schemas of what can be edited, by pointer.
func (n *Node) Forms() map[string]*ordered.Object {
	forms := map[string]*ordered.Object{}
	n.Walk(func(n *Node) {
		if n.Form != nil {
			forms[n.Pointer] = n.Form.Schema
		}
	})
	return forms
}

// Changes are the nodes that differ between two trees.
type Changes struct {
	// Nodes are new or changed themselves, in the order of the tree, without their children.
	Nodes []*Node `json:"nodes"`
	// Removed are the pointers of those that are gone.
	Removed []string `json:"removed,omitempty"`
}

// Diff compares two trees.
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

// alone is a copy of the node without its children.
func (n *Node) alone() *Node {
	alone := *n
	alone.Children = nil
	return &alone
}
