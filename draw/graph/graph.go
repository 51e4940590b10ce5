// Package graph reads graphs in the forms that models write, lays them out in layers, and draws their nodes and wires.
// Layouts are deterministic, handle cycles and separate parts, and never put two nodes or labels in the same place.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The
// package may import media, draw/svg and draw/internal/value.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/draw/svg"
)

// Shape is the outline of a node.
type Shape string

// The shapes.
const (
	Rect          Shape = "box"
	Round         Shape = "round"
	Pill          Shape = "pill"
	Ellipse       Shape = "ellipse"
	Circle        Shape = "circle"
	Diamond       Shape = "diamond"
	Hexagon       Shape = "hexagon"
	Cylinder      Shape = "cylinder"
	Parallelogram Shape = "parallelogram"
	Table         Shape = "table" // a heading over rows
	Dot           Shape = "dot"   // a small filled circle without text
	Bar           Shape = "bar"   // a thin filled bar without text
	Target        Shape = "target"
)

// Head is the symbol at the end of a wire.
type Head string

// The heads. The crow's feet are those of entity-relationship diagrams.
const (
	NoHead        Head = ""
	Arrow         Head = "arrow"
	Open          Head = "open"
	Hollow        Head = "hollow"
	FullDiamond   Head = "diamond"
	HollowDiamond Head = "hollow diamond"
	Ball          Head = "ball"
	Cross         Head = "cross"
	One           Head = "one"
	ZeroOrOne     Head = "zero or one"
	OneOrMore     Head = "one or more"
	ZeroOrMore    Head = "zero or more"
)

// Node is a node of a graph. Group is an index into Graph.Groups, or -1. Sections are the rows of a
// Table. Value sizes a node in drawings that have sizes; 0 means not given.
type Node struct {
	ID, Label, Note string
	Shape           Shape
	Group           int
	Sections        [][]string
	Value           float64
}

// Edge is a connection between the nodes with these indices. Weight is 1 if not given.
type Edge struct {
	From, To      int
	Label         string
	Tail, Head    Head
	Dashed, Thick bool
	Weight        float64
}

// Graph is a set of nodes, edges and groups.
type Graph struct {
	Nodes  []Node
	Edges  []Edge
	Groups []string
	index  map[string]int
}

// The largest graph that is read.
const (
	MaxNodes = 20_000
	MaxEdges = 50_000
)

// Node returns the index of the node with an id and creates the node if necessary. Ids are compared exactly.
func (g *Graph) Node(id string) int {
	if g.index == nil {
		g.index = map[string]int{}
		for i, n := range g.Nodes {
			g.index[n.ID] = i
		}
	}
	if i, ok := g.index[id]; ok {
		return i
	}
	g.index[id] = len(g.Nodes)
	g.Nodes = append(g.Nodes, Node{ID: id, Label: id, Shape: Round, Group: -1})
	return len(g.Nodes) - 1
}

// Has reports whether a node exists.
func (g *Graph) Has(id string) bool {
	_, ok := g.index[id]
	return ok
}

// GroupOf returns the index of a group and creates the group if necessary; it returns -1 for the empty name.
func (g *Graph) GroupOf(name string) int {
	if name == "" {
		return -1
	}
	if i := slices.Index(g.Groups, name); i >= 0 {
		return i
	}
	g.Groups = append(g.Groups, name)
	return len(g.Groups) - 1
}

// Degrees returns the number of edge ends at each node.
func (g *Graph) Degrees() []int {
	d := make([]int, len(g.Nodes))
	for _, e := range g.Edges {
		d[e.From]++
		d[e.To]++
	}
	return d
}

// Reduce reduces a graph of more than most nodes to the core ones that rank first by value, then by number of edges. It
// keeps at most m edges, the heaviest. The note says in one sentence what was omitted; it is empty if nothing was.
func (g *Graph) Reduce(most, core, m int) (note string) {
	nodes, edges := len(g.Nodes), len(g.Edges)
	if nodes > most {
		deg := g.Degrees()
		order := Ranked(nodes, func(a, b int) int {
			return cmp.Or(cmp.Compare(g.Nodes[b].Value, g.Nodes[a].Value), deg[b]-deg[a])
		})[:core]
		slices.Sort(order)
		at := slices.Repeat([]int{-1}, nodes) // the new index of each node
		var keptNodes []Node
		for k, i := range order {
			at[i] = k
			keptNodes = append(keptNodes, g.Nodes[i])
		}
		var keptEdges []Edge
		for _, e := range g.Edges {
			if e.From, e.To = at[e.From], at[e.To]; e.From >= 0 && e.To >= 0 {
				keptEdges = append(keptEdges, e)
			}
		}
		g.Nodes, g.Edges, g.index = keptNodes, keptEdges, nil
	}
	if len(g.Edges) > m {
		slices.SortStableFunc(g.Edges, func(a, b Edge) int { return cmp.Compare(b.Weight, a.Weight) })
		g.Edges = g.Edges[:m]
	}
	rank := "best-connected"
	if slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Value > 0 }) {
		rank = "largest"
	}
	switch {
	case nodes > most:
		return fmt.Sprintf("Shows the %d %s of %d nodes and %d of %d connections.", core, rank, nodes, len(g.Edges), edges)
	case edges > len(g.Edges):
		return fmt.Sprintf("Shows %d of %d connections.", len(g.Edges), edges)
	}
	return ""
}

// Ranked returns the numbers from 0 to n-1 sorted by compare; equal ones keep their order.
func Ranked(n int, compare func(a, b int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, compare)
	return out
}

// described is the maximum number of connections that are described one by one.
const described = 12

// Describe returns a description of the connections in words.
func (g *Graph) Describe(kind, title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s. %s, %s.", kind, strings.TrimRight(title, ".!? "), Count(len(g.Nodes), "node"), Count(len(g.Edges), "connection"))
	if len(g.Groups) > 1 {
		fmt.Fprintf(&b, " Groups: %s.", strings.Join(g.Groups[:min(len(g.Groups), described)], ", "))
	}
	if len(g.Edges) == 0 {
		var names []string
		for _, n := range g.Nodes[:min(len(g.Nodes), described)] {
			names = append(names, n.name())
		}
		fmt.Fprintf(&b, " %s.", strings.Join(names, ", "))
		return b.String()
	}
	for i, e := range g.Edges {
		if i == described {
			fmt.Fprintf(&b, " And %d more.", len(g.Edges)-described)
			break
		}
		fmt.Fprintf(&b, " %s %s %s", g.Nodes[e.From].name(), e.arrow(), g.Nodes[e.To].name())
		if e.Label != "" {
			fmt.Fprintf(&b, " (%s)", svg.Clip(e.Label))
		}
		b.WriteByte('.')
	}
	return b.String()
}

// arrow returns the character for an edge in a description.
func (e Edge) arrow() string {
	switch back := slices.Contains([]Head{Arrow, Open, Hollow}, e.Tail); {
	case e.Head == NoHead && e.Tail == NoHead:
		return "–"
	case e.Head == NoHead && back:
		return "←"
	case e.Head == e.Tail && back:
		return "↔"
	}
	return "→"
}

func (n Node) name() string { return svg.Clip(cmp.Or(n.Label, n.ID)) }

// Count formats a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
