package graph

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// Read returns the graph that the parameters Nodes and Edges describe, in any form that models
// write: lists of objects, names or pairs, an object of neighbours, lines such as "A -> B: label",
// and JSON text of all of these. It creates nodes that only edges name. Wires get the given head.
func Read(nodes, edges any, head Head) (*Graph, error) {
	g := &Graph{}
	if err := g.readNodes(nodes); err != nil {
		return nil, err
	}
	if err := g.readEdges(edges, head); err != nil {
		return nil, err
	}
	if len(g.Nodes) == 0 {
		return nil, svg.Invalid(`Nodes and Edges are empty: give Edges as [{"from": "A", "to": "B"}], and Nodes for labels, groups and lone nodes`)
	}
	return g, nil
}

// list converts a parameter to a list: it decodes JSON text, splits other text into lines, and turns an object into
// pairs [key, value] in the order of the keys.
func list(name string, v any) ([]any, error) {
	if s, ok := v.(string); ok {
		s = strings.TrimSpace(s)
		if s == "" || s == "null" {
			return nil, nil
		}
		if s[0] != '[' && s[0] != '{' {
			var out []any
			for _, l := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == ';' }) {
				if l = strings.TrimSpace(l); l != "" {
					out = append(out, l)
				}
			}
			return out, nil
		}
	}
	v, err := value.Decode(v)
	if err != nil {
		return nil, svg.Invalid("%s is not valid JSON: %v", name, err)
	}
	switch t := v.(type) {
	case nil:
		return nil, nil
	case []any:
		if len(t) == 1 { // a list that holds everything in one string
			if s, ok := t[0].(string); ok && (strings.HasPrefix(strings.TrimSpace(s), "[") || strings.ContainsAny(s, "\n;")) {
				return list(name, s)
			}
		}
		return t, nil
	case map[string]any:
		if value.Field(t, "id", "from", "source") != nil { // it is itself a node or an edge
			return []any{t}, nil
		}
		var pairs []any
		for _, k := range slices.Sorted(maps.Keys(t)) {
			values, many := t[k].([]any)
			if !many {
				values = []any{t[k]}
			}
			for _, one := range values {
				pairs = append(pairs, []any{k, one})
			}
		}
		return pairs, nil
	}
	return nil, svg.Invalid("%s must be an array", name)
}

func (g *Graph) readNodes(v any) error {
	items, err := list("Nodes", v)
	if err != nil {
		return err
	}
	if len(items) > MaxNodes {
		return svg.Invalid("Nodes has %d entries: at most %d are read; summarise first", len(items), MaxNodes)
	}
	for i, item := range items {
		m, ok := item.(map[string]any)
		if pair, is := item.([]any); is && len(pair) > 0 {
			item = pair[0]
			if len(pair) > 1 {
				if m, ok = pair[1].(map[string]any); !ok {
					m = map[string]any{"label": pair[1]}
				}
				m = maps.Clone(m)
				m["id"], ok = item, true
			}
		}
		if !ok {
			m = map[string]any{"id": item}
		}
		if err := g.readNode(m, i); err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) readNode(m map[string]any, i int) error {
	label := value.Text(value.Field(m, "label", "title", "name", "text"))
	id := cmp.Or(value.Text(value.Field(m, "id", "key", "name")), label)
	if id == "" {
		return svg.Invalid("Nodes[%d] has neither id nor label", i)
	}
	n := &g.Nodes[g.Node(id)]
	n.Label = cmp.Or(label, n.Label)
	n.Note = value.Text(value.Field(m, "note", "description", "detail", "subtitle"))
	n.Group = g.GroupOf(value.Text(value.Field(m, "group", "category", "cluster")))
	if v, ok := value.Number(value.Field(m, "value", "size", "weight")); ok && v > 0 {
		n.Value = v
	}
	shape := strings.ToLower(value.Text(value.Field(m, "shape", "kind", "type")))
	var ok bool
	if n.Shape, ok = shapeOf(shape); !ok {
		return svg.Invalid("Nodes[%d] has shape %q: use %s", i, svg.Clip(shape), strings.Join(Shapes(), ", "))
	}
	return nil
}

// shapeWords lists the shapes that callers can request by name, with synonyms.
var shapeWords = []struct {
	shape Shape
	words []string
}{
	{Rect, []string{"rect", "rectangle", "square", "task", "action"}},
	{Round, []string{"", "node", "process", "default", "step", "rounded", "roundrect", "component", "service"}},
	{Pill, []string{"start", "end", "terminal", "terminator", "stadium"}},
	{Ellipse, []string{"oval", "actor", "person", "user"}},
	{Circle, nil},
	{Diamond, []string{"decision", "rhombus", "question", "condition"}},
	{Hexagon, []string{"preparation", "hex"}},
	{Cylinder, []string{"database", "db", "storage", "store", "data store"}},
	{Parallelogram, []string{"io", "input", "output", "data", "document", "input/output"}},
}

// Shapes returns the names of the shapes that callers can request.
func Shapes() []string {
	var out []string
	for _, s := range shapeWords {
		out = append(out, string(s.shape))
	}
	return out
}

func shapeOf(word string) (Shape, bool) {
	for _, s := range shapeWords {
		if word == string(s.shape) || slices.Contains(s.words, word) {
			return s.shape, true
		}
	}
	return "", false
}

func (g *Graph) readEdges(v any, head Head) error {
	items, err := list("Edges", v)
	if err != nil {
		return err
	}
	if len(items) > MaxEdges {
		return svg.Invalid("Edges has %d entries: at most %d are read; summarise first", len(items), MaxEdges)
	}
	for i, item := range items {
		switch t := item.(type) {
		case map[string]any:
			err = g.readEdge(t, i, head)
		case []any:
			m := map[string]any{}
			for k, name := range []string{"from", "to", "label"} {
				if k < len(t) {
					m[name] = t[k]
				}
			}
			err = g.readEdge(m, i, head)
		case string:
			err = g.readLine(t, i, head)
		default:
			err = svg.Invalid(`Edges[%d] is not an object with from and to`, i)
		}
		if err != nil {
			return err
		}
	}
	if len(g.Nodes) > MaxNodes {
		return svg.Invalid("Edges name %d nodes: at most %d are read; summarise first", len(g.Nodes), MaxNodes)
	}
	return nil
}

func (g *Graph) readEdge(m map[string]any, i int, head Head) error {
	from, to := names(value.Field(m, "from", "source", "start")), names(value.Field(m, "to", "target", "end"))
	if len(from) == 0 || len(to) == 0 {
		return svg.Invalid("Edges[%d] has no from or no to", i)
	}
	if len(g.Edges)+len(from)*len(to) > MaxEdges {
		return svg.Invalid("with Edges[%d] there are more than %d edges: summarise first", i, MaxEdges)
	}
	e := Edge{Label: value.Text(value.Field(m, "label", "text", "name")), Head: head, Weight: 1}
	if v, ok := value.Number(value.Field(m, "weight", "value")); ok && v > 0 {
		e.Weight = v
	}
	style := strings.ToLower(value.Text(value.Field(m, "style")))
	dashed, _ := value.Flag(value.Field(m, "dashed"))
	e.Dashed = dashed || style == "dashed" || style == "dotted"
	e.Thick = style == "thick" || style == "bold"
	if both, _ := value.Flag(value.Field(m, "both", "bidirectional")); both {
		e.Tail = head
	}
	for _, a := range from {
		for _, b := range to {
			e.From, e.To = g.end(a), g.end(b)
			g.Edges = append(g.Edges, e)
		}
	}
	return nil
}

// names returns the names at one end of an edge: one, or a list.
func names(v any) []string {
	list, several := v.([]any)
	if !several {
		list = []any{v}
	}
	var out []string
	for _, one := range list {
		if name := value.Text(one); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// end returns the index of the node that an edge names: by id, else by label, else a new node.
func (g *Graph) end(name string) int {
	if !g.Has(name) && len(g.Nodes) <= 2000 { // in larger graphs only ids count
		if i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Label == name }); i >= 0 {
			return i
		}
	}
	return g.Node(name)
}

var (
	lineArrow = regexp.MustCompile(`\s*(<?-+>|<?=+>|→|—>|--+|-\.+->)\s*(?:\|([^|]*)\|)?\s*`)
	lineText  = regexp.MustCompile(`\s--\s+((?:[^-|]|-[^->])+?)\s+-->\s*`)
	lineLabel = regexp.MustCompile(`\s*:(?:\s+|$)`)
)

// readLine reads A -> B: label, A -->|label| B, A -- label --> B, and chains of them.
func (g *Graph) readLine(s string, i int, head Head) error {
	s = value.Text(s)
	bad := svg.Invalid("Edges[%d] is %q: write A -> B: label", i, svg.Clip(s))
	label := ""
	if first := lineArrow.FindStringIndex(s); first != nil {
		if c := lineLabel.FindStringIndex(s[first[1]:]); c != nil {
			s, label = s[:first[1]+c[0]], s[first[1]+c[1]:]
		}
	}
	s = lineText.ReplaceAllString(s, " -->|$1| ")
	parts := strings.Split(lineArrow.ReplaceAllString(s, "\x00$1\x00$2\x00"), "\x00") // a node, an arrow, its label, the next node …
	for k := 3; k < len(parts); k += 3 {
		from, arrow, to := parts[k-3], parts[k-2], parts[k]
		if from == "" || to == "" {
			return bad
		}
		e := Edge{From: g.end(from), To: g.end(to), Label: parts[k-1], Head: head, Weight: 1, Dashed: arrow[1] == '.'}
		if arrow[0] == '<' {
			e.Tail = head
		}
		if k+1 == len(parts) {
			e.Label = cmp.Or(label, e.Label)
		}
		g.Edges = append(g.Edges, e)
	}
	if len(parts) < 4 {
		return bad
	}
	return nil
}
