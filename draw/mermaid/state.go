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
type states struct{ *graphDiagram }

var (
	transition = pattern.Lazy(`^(\S+)\s*-->\s*([^\s:]+)(?::::\w+)?\s*(?::\s*(.*))?$`)
	stateAs    = pattern.Lazy(`^state\s+"([^"]*)"\s+as\s+([^\s{]+)\s*(\{)?$`)
	stateOpen  = pattern.Lazy(`^state\s+([^\s{]+)\s*\{$`)
	stateMark  = pattern.Lazy(`^state\s+(\S+)\s+(?:<<|\[\[)(\w+)(?:>>|\]\])$`)
	stateNote  = pattern.Lazy(`(?i)^note\s+(?:left|right) of\s+([^\s:]+)\s*(?::\s*(.*))?$`)
)

func (d *states) end() error {
	if len(d.open) > 0 {
		return svg.Invalid("Code has no closing brace for state %s: end it with }", svg.Clip(d.open[len(d.open)-1].id))
	}
	if d.inside >= 0 {
		return svg.Invalid("Code has no end note for the note of %s: end it with end note", svg.Clip(d.graph.Nodes[d.inside].ID))
	}
	return d.graphDiagram.end()
}

func (d *states) state(id string) int {
	id, _, _ = strings.Cut(id, ":::")
	return d.node(id, graph.Round)
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
	if d.inside >= 0 {
		if strings.EqualFold(l.text, "end note") {
			d.inside = -1
		} else {
			d.note(d.inside, l.text)
		}
		return nil
	}
	word, rest := l.first()
	switch {
	case l.text == "}":
		return d.leave(l, noBrace)
	case l.text == "--" || word == "hide" || word == "scale":
		return nil
	case word == "state":
		return d.declare(l)
	case d.skips(l):
		return nil
	}
	if m := stateNote().FindStringSubmatch(l.text); m != nil {
		k := d.state(m[1])
		if !strings.Contains(l.text, ":") {
			d.inside = k
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

// compose opens a composite state, which has a start and an end of its own.
func (d *states) compose(id, name string) {
	d.enter(id, cmp.Or(name, id))
	d.clusters[id] = d.open[len(d.open)-1].group
}

func (d *states) declare(l line) error {
	if m := stateAs().FindStringSubmatch(l.text); m != nil {
		if m[3] != "" {
			d.compose(m[2], plain(m[1]))
			return nil
		}
		d.graph.Nodes[d.state(m[2])].Label = plain(m[1])
	} else if m := stateOpen().FindStringSubmatch(l.text); m != nil {
		name := m[1]
		if d.graph.Has(name) {
			name = d.graph.Nodes[d.graph.Node(name)].Label
		}
		d.compose(m[1], plain(name))
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
