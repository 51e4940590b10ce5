package mermaid

import (
	"cmp"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// entities parses an entity-relationship diagram.
type entities struct{ *graphDiagram }

var (
	feet         = `\|\||\|o|\bo\||\}\||\|\{|\}o|\bo\{`
	relationship = pattern.Lazy(`^("[^"]+"|[^\s"]+?)\s*(` + feet + `)\s*(--|\.\.)\s*(` + feet + `)\s*("[^"]+"|[^\s:]+)\s*(?::\s*(.*))?$`)
	entityLine   = pattern.Lazy(`^("[^"]+"|[^\s\[{]+)(?:\[("[^"]*"|[^\]]*)\])?\s*(\{)?\s*(\})?$`)
	attribute    = pattern.Lazy(`^(\S+)\s+(\S+)((?:\s*,?\s*\b(?:PK|FK|UK)\b)*)\s*(?:"([^"]*)")?$`)
)

func (d *entities) end() error {
	if d.inside >= 0 {
		return svg.Invalid("Code has no closing brace for entity %s: end it with }", svg.Clip(d.graph.Nodes[d.inside].ID))
	}
	return nil
}

// ends matches the words that can replace crow's feet.
var (
	ends   = `only one|one or zero|zero or one|one or more|one or many|zero or more|zero or many|many\([01]\)|[01]\+|1`
	worded = pattern.Lazy(`^("[^"]+"|\S+)\s+(` + ends + `)\s+(to|optionally to)\s+(` + ends + `)\s+("[^"]+"|[^\s:]+)\s*(?::\s*(.*))?$`)
)

func (d *entities) entity(name string) int { return d.node(plain(name), graph.Table) }

// crow maps the ends of relationships, written for either side; all others are zero or more.
var crow = map[string]graph.Head{
	"||": graph.One, "only one": graph.One, "1": graph.One,
	"|o": graph.ZeroOrOne, "o|": graph.ZeroOrOne, "one or zero": graph.ZeroOrOne, "zero or one": graph.ZeroOrOne,
	"}|": graph.OneOrMore, "|{": graph.OneOrMore, "one or more": graph.OneOrMore, "one or many": graph.OneOrMore, "many(1)": graph.OneOrMore, "1+": graph.OneOrMore,
}

func (d *entities) statement(l line) error {
	if d.inside >= 0 {
		if l.text == "}" {
			d.inside = -1
			return nil
		}
		return d.attribute(l)
	}
	if word, rest := l.first(); word == "title" {
		d.title = plain(rest)
		return nil
	}
	m := relationship().FindStringSubmatch(l.text)
	if m == nil {
		m = worded().FindStringSubmatch(l.text)
	}
	if m != nil {
		d.graph.Edges = append(d.graph.Edges, graph.Edge{From: d.entity(m[1]), To: d.entity(m[5]), Tail: cmp.Or(crow[m[2]], graph.ZeroOrMore), Head: cmp.Or(crow[m[4]], graph.ZeroOrMore), Dashed: m[3] != "--" && m[3] != "to", Label: plain(m[6]), Weight: 1})
		return nil
	}
	if d.skips(l) {
		return nil
	}
	if m := entityLine().FindStringSubmatch(l.text); m != nil {
		k := d.entity(m[1])
		if m[2] != "" {
			d.graph.Nodes[k].Label = plain(m[2])
		}
		if m[3] != "" && m[4] == "" {
			d.inside = k
		}
		return nil
	}
	return l.bad("a relationship is written CUSTOMER ||--o{ ORDER : places")
}

func (d *entities) attribute(l line) error {
	m := attribute().FindStringSubmatch(l.text)
	if m == nil {
		return l.bad("an attribute is written string name PK")
	}
	n := &d.graph.Nodes[d.inside]
	if len(n.Sections[0]) >= maxMembers {
		return l.bad("more than %d attributes in one entity: leave some out", maxMembers)
	}
	row := m[2] + " : " + m[1]
	if keys := strings.Join(strings.FieldsFunc(m[3], func(r rune) bool { return r == ' ' || r == ',' }), ", "); keys != "" {
		row += "  " + keys
	}
	n.Sections[0] = append(n.Sections[0], row)
	return nil
}
