package mermaid

import (
	"cmp"
	"strconv"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// states parses a state diagram.
type states struct {
	*graphDiagram
	open  []scope
	noted int // state whose note is read, -1 outside
}

// scope is a composite state; it has a start and an end of its own.
type scope struct {
	id    string
	group int
}

var (
	transition = pattern.Lazy(`^(\S+)\s*-->\s*([^\s:]+)(?::::\w+)?\s*(?::\s*(.*))?$`)
	stateAs    = pattern.Lazy(`^state\s+"([^"]*)"\s+as\s+([^\s{]+)\s*(\{)?$`)
	stateOpen  = pattern.Lazy(`^state\s+([^\s{]+)\s*\{$`)
	stateMark  = pattern.Lazy(`^state\s+(\S+)\s+(?:<<|\[\[)(\w+)(?:>>|\]\])$`)
	stateNote  = pattern.Lazy(`(?i)^note\s+(?:left|right) of\s+([^\s:]+)\s*(?::\s*(.*))?$`)
)

func (d *states) end() (diagram, error) {
	if len(d.open) > 0 {
		return nil, svg.Invalid("Code has no closing brace for state %s: end it with }", svg.Clip(d.open[len(d.open)-1].id))
	}
	if d.noted >= 0 {
		return nil, svg.Invalid("Code has no end note for the note of %s: end it with end note", svg.Clip(d.graph.Nodes[d.noted].ID))
	}
	return d.graphDiagram.end()
}

func (d *states) state(id string) int {
	id, _, _ = strings.Cut(id, ":::")
	fresh := !d.graph.Has(id)
	k := d.graph.Node(id)
	if n := &d.graph.Nodes[k]; fresh && len(d.open) > 0 {
		n.Group = d.open[len(d.open)-1].group
	}
	return k
}

// stop returns the node at one end of a transition; [*] is the start or the end of its scope.
func (d *states) stop(id string, shape graph.Shape) int {
	if id != "[*]" {
		return d.state(id)
	}
	key := string(shape) + " " + strconv.Itoa(len(d.open))
	if n := len(d.open); n > 0 {
		key += d.open[n-1].id
	}
	k := d.state(key)
	n := &d.graph.Nodes[k]
	n.Shape, n.Label = shape, map[graph.Shape]string{graph.Dot: "start", graph.Target: "end"}[shape]
	return k
}

func (d *states) statement(l line) error {
	if d.noted >= 0 {
		if strings.EqualFold(l.text, "end note") {
			d.noted = -1
		} else {
			d.note(d.noted, l.text)
		}
		return nil
	}
	word, rest := l.first()
	switch {
	case l.text == "}":
		if len(d.open) == 0 {
			return l.bad("a closing brace without an opening one")
		}
		d.open = d.open[:len(d.open)-1]
		return nil
	case word == "direction":
		if len(d.open) == 0 {
			d.turn(rest)
		}
		return nil
	case l.text == "--" || word == "hide" || word == "scale":
		return nil
	case word == "state":
		return d.declare(l)
	case stylistic(word):
		d.warn(styled)
		return nil
	}
	if m := stateNote().FindStringSubmatch(l.text); m != nil {
		k := d.state(m[1])
		if !strings.Contains(l.text, ":") {
			d.noted = k
			return nil
		}
		d.note(k, m[2])
		return nil
	}
	if m := transition().FindStringSubmatch(l.text); m != nil {
		d.graph.Edges = append(d.graph.Edges, graph.Edge{From: d.stop(m[1], graph.Dot), To: d.stop(m[2], graph.Target), Label: plain(m[3]), Head: graph.Arrow, Weight: 1})
		return nil
	}
	if m := memberOf().FindStringSubmatch(l.text); m != nil {
		d.graph.Nodes[d.state(m[1])].Label = plain(m[2])
		return nil
	}
	if rest == "" {
		d.state(word)
		return nil
	}
	return l.bad("a transition is written A --> B: event")
}

func (d *states) note(k int, text string) {
	n := &d.graph.Nodes[k]
	n.Note = strings.TrimSpace(n.Note + " " + plain(text))
}

// enter opens a composite state.
func (d *states) enter(id, name string) {
	d.clusters[id] = d.graph.GroupOf(cmp.Or(name, id))
	d.open = append(d.open, scope{id, d.clusters[id]})
}

func (d *states) declare(l line) error {
	if m := stateAs().FindStringSubmatch(l.text); m != nil {
		if m[3] != "" {
			d.enter(m[2], plain(m[1]))
			return nil
		}
		d.graph.Nodes[d.state(m[2])].Label = plain(m[1])
	} else if m := stateOpen().FindStringSubmatch(l.text); m != nil {
		name := m[1]
		if d.graph.Has(name) {
			name = d.graph.Nodes[d.graph.Node(name)].Label
		}
		d.enter(m[1], plain(name))
	} else if m := stateMark().FindStringSubmatch(l.text); m != nil {
		n := &d.graph.Nodes[d.state(m[1])]
		n.Shape = cmp.Or(map[string]graph.Shape{"choice": graph.Diamond, "fork": graph.Bar, "join": graph.Bar}[strings.ToLower(m[2])], n.Shape)
	} else {
		_, rest := l.first()
		if rest == "" || strings.ContainsAny(rest, " {\"") {
			return l.bad(`write state "What it is" as s, or state s {`)
		}
		d.state(rest)
	}
	return nil
}
