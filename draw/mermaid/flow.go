package mermaid

import (
	"cmp"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// graphDiagram is a diagram that is drawn as a graph: flowchart, classes, states, entities.
type graphDiagram struct {
	remarks
	name      string
	graph     *graph.Graph
	direction string
	open      []scope
	inside    int            // node whose body or note is read, -1 outside
	clusters  map[string]int // groups, by the id under which links name them
}

// scope is an open subgraph, namespace or composite state.
type scope struct {
	id    string
	group int
}

func newGraph(name, direction string) *graphDiagram {
	return &graphDiagram{name: name, graph: &graph.Graph{}, direction: direction, inside: -1, clusters: map[string]int{}}
}

func (d *graphDiagram) kind() string { return d.name }

// node returns the index of the node with an id. A new one gets a shape and belongs to the innermost open scope.
func (d *graphDiagram) node(id string, shape graph.Shape) int {
	fresh := !d.graph.Has(id)
	k := d.graph.Node(id)
	if n := &d.graph.Nodes[k]; fresh {
		n.Shape = shape
		if shape == graph.Table {
			n.Sections = make([][]string, 2)
		}
		d.include(n)
	}
	return k
}

// include adds a node without a group to the innermost open scope.
func (d *graphDiagram) include(n *graph.Node) {
	if len(d.open) > 0 && n.Group < 0 {
		n.Group = d.open[len(d.open)-1].group
	}
}

func (d *graphDiagram) enter(id, name string) {
	d.open = append(d.open, scope{id, d.graph.GroupOf(name)})
}

// leave closes the innermost scope; without one, the error says what to do.
func (d *graphDiagram) leave(l line, remedy string) error {
	if len(d.open) == 0 {
		return l.bad("%s", remedy)
	}
	d.open = d.open[:len(d.open)-1]
	return nil
}

const noBrace = "a closing brace without an opening one"

// skips reports whether a statement only sets the direction or styles.
func (d *graphDiagram) skips(l line) bool {
	word, rest := l.first()
	switch {
	case !stylistic(word) || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "="): // otherwise a link of a node of that name
		return false
	case word != "direction":
		d.warn(styled)
	case len(d.open) == 0 && d.name != "flowchart": // the first line of a flowchart has the direction
		d.turn(rest)
	}
	return true
}

// end gives each node that stands for a group the name of the group.
func (d *graphDiagram) end() error {
	for id, k := range d.clusters {
		if !d.graph.Has(id) {
			continue
		}
		if n := &d.graph.Nodes[d.graph.Node(id)]; n.Label == id {
			n.Label, n.Group = d.graph.Groups[k], k
		}
	}
	return nil
}

func (d *graphDiagram) draw(page *svg.Page) ([]byte, error) {
	if len(d.graph.Nodes) == 0 {
		return nil, svg.Invalid("the %s has nothing to draw: Code ends after its first line; write its parts below that", d.name)
	}
	graph.Overview(page, d.graph, upper(d.name), graph.Limits{Nodes: 250, Core: 80, Edges: 600})
	p := graph.Arrange(d.graph, graph.Plan{Direction: d.direction, AvailableWidth: page.W - 2*page.Pad()})
	return p.Page(*page, "", p.Draw), nil
}

// turn sets the direction if s names one, and reports whether it does.
func (d *graphDiagram) turn(s string) bool {
	way, known := graph.Direction(s)
	if known && way != "" {
		d.direction = way
	}
	return known && way != ""
}

// flow parses a flowchart.
type flow struct {
	*graphDiagram
	links map[string]bool // ids of links, including the @
}

var subgraph = pattern.Lazy(`^subgraph\s*([^\s\["]*)?\s*(?:\[(.*)\]|"(.*)"|(.*))$`)

func (f *flow) statement(l line) error {
	switch word, _ := l.first(); {
	case word == "subgraph":
		m := subgraph().FindStringSubmatch(l.text)
		f.enter(m[1], cmp.Or(plain(m[2]+m[3]), plain(m[1]+" "+m[4]), "group"))
		if m[4] == "" { // otherwise it has no id
			f.clusters[m[1]] = f.open[len(f.open)-1].group
		}
	case l.text == "end":
		return f.leave(l, "an end without a subgraph: leave it out")
	case f.skips(l):
	case f.links[linkID().FindString(l.text)]: // the style of a link
		f.warn(styled)
	default:
		return f.chain(l)
	}
	return nil
}

// chain parses alternating nodes and links: A & B --> C -- text --> D.
func (f *flow) chain(l line) error {
	s := l.text
	from, s, err := f.nodes(l, s)
	if err != nil {
		return err
	}
	for s != "" {
		if id := linkID().FindString(s); id != "" {
			f.links[id], s = true, s[len(id):]
		}
		e, rest, hidden := readLink(s)
		if rest == "" {
			return l.bad("a link such as --> is expected at %q", svg.Clip(s))
		}
		var to []int
		if to, s, err = f.nodes(l, rest); err != nil {
			return err
		}
		if len(f.graph.Edges)+len(from)*len(to) > graph.MaxEdges {
			return l.bad("more than %d links: split the diagram", graph.MaxEdges)
		}
		for _, a := range from {
			for _, b := range to {
				if e.From, e.To = a, b; !hidden {
					f.graph.Edges = append(f.graph.Edges, e)
				}
			}
		}
		from = to
	}
	return nil
}

// nodes parses one node, or several joined by &.
func (f *flow) nodes(l line, s string) (list []int, rest string, err error) {
	for {
		k, after, ok := f.parseNode(s)
		if !ok {
			return nil, "", l.bad("a node is expected at %q", svg.Clip(s))
		}
		list = append(list, k)
		s = strings.TrimSpace(after)
		if !strings.HasPrefix(s, "&") {
			return list, s, nil
		}
		s = strings.TrimSpace(s[1:])
	}
}

// brackets lists the delimiters of node shapes, longest first.
var brackets = []struct {
	open, shut string
	shape      graph.Shape
}{
	{"(((", ")))", graph.Circle},
	{"((", "))", graph.Circle},
	{"([", "])", graph.Pill},
	{"[(", ")]", graph.Cylinder},
	{"[[", "]]", graph.Rect},
	{"{{", "}}", graph.Hexagon},
	{"[/", "/]", graph.Parallelogram},
	{"[/", "\\]", graph.Parallelogram},
	{"[\\", "\\]", graph.Parallelogram},
	{"[\\", "/]", graph.Parallelogram},
	{"[", "]", graph.Rect},
	{"(", ")", graph.Round},
	{"{", "}", graph.Diamond},
	{">", "]", graph.Rect},
}

var (
	classMark = pattern.Lazy(`^:::[\w-]+`)
	longForm  = pattern.Lazy(`^@\{([^}]*)\}`)
	longLabel = pattern.Lazy(`label:\s*"([^"]*)"`)
	longShape = pattern.Lazy(`shape:\s*([\w-]+)`)
)

// parseNode parses an id and the label, shape and class that may follow it.
func (f *flow) parseNode(s string) (k int, rest string, ok bool) {
	id := nodeID(s)
	if id == "" {
		return 0, s, false
	}
	s = s[len(id):]
	k = f.node(id, graph.Rect)
	n := &f.graph.Nodes[k]
	f.include(n)
	if m := longForm().FindStringSubmatch(s); m != nil {
		if t := longLabel().FindStringSubmatch(m[1]); t != nil {
			n.Label = plain(t[1])
		}
		if t := longShape().FindStringSubmatch(m[1]); t != nil {
			n.Shape = cmp.Or(longShapes[t[1]], graph.Rect)
		}
		s = s[len(m[0]):]
	}
	for _, b := range brackets {
		if !strings.HasPrefix(s, b.open) {
			continue
		}
		if text, after, found := closing(s[len(b.open):], b.shut); found {
			n.Shape = b.shape
			if t := plain(text); t != "" {
				n.Label = t
			}
			s = after
			break
		}
	}
	s = s[len(classMark().FindString(s)):]
	return k, s, true
}

// closing returns a label up to its closing bracket, and the rest; quoted text may contain anything.
func closing(s, shut string) (text, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		end := strings.Index(s[1:], `"`)
		if end < 0 || !strings.HasPrefix(s[end+2:], shut) {
			return "", "", false
		}
		return s[:end+2], s[end+2+len(shut):], true
	}
	end := strings.Index(s, shut)
	if end < 0 {
		return "", "", false
	}
	return s[:end], s[end+len(shut):], true
}

var (
	closedLink = pattern.Lazy(`^([<xo]?)(--+|==+|-\.+-)([>xo])`)
	openLink   = pattern.Lazy(`^([<xo]?)(---+|===+|-\.+-)`)
	textLink   = pattern.Lazy(`^([<xo]?)(--|==|-\.)\s*("[^"]*"|.+?)\s*(--+|==+|\.+-)([>xo]?)(?:\s|$|[^-=.>])`)
	linkID     = pattern.Lazy(`^[\w-]{1,80}@`) // bounded, because it is tried at every link of a line
	hiddenLink = pattern.Lazy(`^~~~+`)
	pipeText   = pattern.Lazy(`^\s*\|([^|]*)\|`)
)
