package mermaid

import (
	"cmp"
	"slices"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// classes parses a class diagram.
type classes struct{ *graphDiagram }

// maxMembers is the maximum number of lines of one class or entity.
const maxMembers = 60

var (
	classLine = pattern.Lazy("^class\\s+([^\\s{\\[:]+)(?:\\[\"([^\"]*)\"\\])?(?::::?\\w+)?\\s*(\\{)?\\s*(.*?)\\s*(\\})?$")
	relation  = pattern.Lazy(`^([^\s"]+?)(?:\s+"([^"]*)")?\s*(<\|--|<\|\.\.|--\|>|\.\.\|>|\*--\*|\bo--o\b|<-->|<\.\.>|\*--|--\*|\bo--|--o\b|<--|-->|<\.\.|\.\.>|--|\.\.)\s*(?:"([^"]*)"\s*)?([^\s:]+)\s*(?::\s*(.*))?$`)
	stereo    = pattern.Lazy(`^<<(.+)>>\s*(\S+)?$`)
	memberOf  = pattern.Lazy(`^([^\s:]+)\s*:\s*(.+)$`)
	generic   = pattern.Lazy(`([\pL\w])~([\pL\w][^~]*)~([^\pL\w]|$)`)
)

func (c *classes) end() error {
	if c.inside >= 0 || len(c.open) > 0 {
		return svg.Invalid("Code has an opening brace without a closing one: end it with }")
	}
	return nil
}

func (c *classes) class(name string) int {
	name = strings.Trim(name, "`")
	id, _, typed := strings.Cut(name, "~")
	k := c.node(id, graph.Table)
	if n := &c.graph.Nodes[k]; typed && n.Label == id {
		n.Label = types(name)
	}
	return k
}

// types writes List~int~ as List<int>, the innermost types first.
func types(s string) string {
	for range 6 {
		s = generic().ReplaceAllString(s, "$1<$2>$3")
	}
	return s
}

func (c *classes) statement(l line) error {
	if c.inside >= 0 {
		if l.text == "}" {
			c.inside = -1
			return nil
		}
		return c.member(l, c.inside, l.text)
	}
	switch word, rest := l.first(); {
	case l.text == "}":
		return c.leave(l, noBrace)
	case word == "namespace":
		name := plain(strings.TrimSuffix(rest, "{"))
		c.enter(name, name)
		return nil
	case word == "note":
		c.warn("Notes in class diagrams are not drawn.")
		return nil
	case word == "class":
		return c.declare(l)
	case c.skips(l):
		return nil
	}
	if m := stereo().FindStringSubmatch(l.text); m != nil && m[2] != "" {
		c.graph.Nodes[c.class(m[2])].Note = "«" + plain(m[1]) + "»"
		return nil
	}
	if m := relation().FindStringSubmatch(l.text); m != nil {
		c.relate(m)
		return nil
	}
	if m := memberOf().FindStringSubmatch(l.text); m != nil {
		return c.member(l, c.class(m[1]), m[2])
	}
	return l.bad("this is neither a class nor a relation")
}

func (c *classes) declare(l line) error {
	m := classLine().FindStringSubmatch(l.text)
	if m == nil {
		return l.bad("write class Name or class Name { …")
	}
	k := c.class(m[1])
	n := &c.graph.Nodes[k]
	c.include(n)
	if m[2] != "" {
		n.Label = plain(m[2])
	}
	if m[3] == "" {
		return nil
	}
	if m[4] != "" {
		if err := c.member(l, k, m[4]); err != nil {
			return err
		}
	}
	if m[5] == "" {
		c.inside = k
	}
	return nil
}

func (c *classes) member(l line, k int, text string) error {
	n := &c.graph.Nodes[k]
	if m := stereo().FindStringSubmatch(text); m != nil {
		n.Note = "«" + plain(m[1]) + "»"
		return nil
	}
	if len(n.Sections[0])+len(n.Sections[1]) >= maxMembers {
		return l.bad("more than %d members in one class: leave some out", maxMembers)
	}
	text = types(plain(strings.TrimRight(text, "*$")))
	part := 0
	if strings.Contains(text, "(") {
		part = 1
	}
	n.Sections[part] = append(slices.Clip(n.Sections[part]), text)
	return nil
}

// classHeads maps the ends of relations.
var classHeads = map[string]graph.Head{"<|": graph.Hollow, "|>": graph.Hollow, "*": graph.FullDiamond, "o": graph.HollowDiamond, "<": graph.Open, ">": graph.Open}

func (c *classes) relate(m []string) {
	e := graph.Edge{From: c.class(m[1]), To: c.class(m[5]), Label: plain(m[6]), Dashed: strings.Contains(m[3], ".."), Weight: 1}
	stem := "--"
	if e.Dashed {
		stem = ".."
	}
	left, right, _ := strings.Cut(m[3], stem)
	e.Tail, e.Head = classHeads[left], classHeads[right]
	if m[2] != "" || m[4] != "" { // multiplicities
		e.Label = strings.TrimSpace(e.Label + " (" + cmp.Or(plain(m[2]), "–") + " : " + cmp.Or(plain(m[4]), "–") + ")")
	}
	c.graph.Edges = append(c.graph.Edges, e)
}
