package mermaid

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// Limits of one sequence.
const (
	maxParties = 30
	maxSteps   = 500
)

// party is one column.
type party struct {
	label string
	actor bool
}

// step is one row: a message, a note, a border of a block, or a change of activity.
type step struct {
	kind     stepKind
	from, to int // parties; for notes the first and last one covered
	text     string
	word     string // of a block: loop, alt …
	head     graph.Head
	both     bool // heads on both ends
	dashed   bool
	number   string // with autonumber
}

type stepKind int

const (
	stepMessage stepKind = iota
	stepNote
	stepLeft // note left of a party
	stepRight
	stepOpen
	stepElse
	stepClose
	stepActivate
	stepDeactivate
)

// sequence is a sequence diagram.
type sequence struct {
	remarks
	parties []party
	index   map[string]int
	steps   []step
	open    []string // words of the enclosing blocks; box and rect are not drawn
	numbers bool
	next    int // number of the next message, whether shown or not
	by      int // how much it increases
}

func (*sequence) kind() string { return "sequence diagram" }

var (
	participant = pattern.Lazy(`(?i)^(?:create\s+)?(participant|actor)\s+(.+?)(?:\s+as\s+(.+))?$`)
	message     = pattern.Lazy(`^(.+?)\s*(<<-->>|<<->>|-->>|->>|-->|->|--x|-x|--\)|-\))\s*([+-]?)\s*([^:]+?)\s*(?::\s*(.*))?$`)
	noteOver    = pattern.Lazy(`(?i)^note\s+(over|left of|right of)\s+([^:]+?)\s*:\s*(.*)$`)
)

func (d *sequence) end() error {
	if len(d.open) > 0 {
		return svg.Invalid("Code has no end for its %s", d.open[len(d.open)-1])
	}
	if len(d.parties) == 0 {
		return svg.Invalid("Code has no message: write Alice->>Bob: Hello")
	}
	return nil
}

func (d *sequence) statement(l line) error {
	if err := d.read(l); err != nil {
		return err
	}
	if len(d.parties) > maxParties {
		return l.bad("more than %d participants: split the diagram", maxParties)
	}
	if len(d.steps) > maxSteps {
		return l.bad("more than %d steps: split the diagram", maxSteps)
	}
	return nil
}

func (d *sequence) party(id string) int {
	id = strings.TrimSpace(id)
	if i, ok := d.index[id]; ok {
		return i
	}
	d.index[id] = len(d.parties)
	d.parties = append(d.parties, party{label: plain(id)})
	return len(d.parties) - 1
}

func (d *sequence) read(l line) error {
	word, rest := l.first()
	word = strings.ToLower(word)
	if strings.HasPrefix(rest, "-") && message().MatchString(l.text) { // a participant with the name of a keyword
		return d.message(l)
	}
	switch word {
	case "participant", "actor", "create":
		m := participant().FindStringSubmatch(l.text)
		if m == nil {
			return l.bad("write participant A as Alice")
		}
		id, _, _ := strings.Cut(m[2], "@{")
		p := &d.parties[d.party(id)]
		p.actor = strings.EqualFold(m[1], "actor")
		if m[3] != "" {
			p.label = plain(m[3])
		}
		return nil
	case "title", "title:":
		d.title = plain(rest)
		return nil
	case "autonumber":
		d.numbers = rest != "off"
		next, by := d.next, d.by
		if n, _ := fmt.Sscan(rest, &next, &by); n > 0 { // the start and the step, if they are given
			d.next, d.by = next, by
		}
		return nil
	case "loop", "alt", "opt", "par", "critical", "break", "rect", "box", "par_over":
		d.block(word, rest)
		return nil
	case "else", "and", "option":
		if len(d.open) == 0 {
			return l.bad("%s stands outside of a block", word)
		}
		d.steps = append(d.steps, step{kind: stepElse, word: word, text: plain(rest)})
		return nil
	case "end":
		if len(d.open) == 0 {
			return l.bad("an end without a block")
		}
		block := d.open[len(d.open)-1]
		d.open = d.open[:len(d.open)-1]
		if block != "box" && block != "rect" {
			d.steps = append(d.steps, step{kind: stepClose})
		}
		return nil
	case "activate", "deactivate":
		if rest == "" {
			return l.bad("write %s Alice", word)
		}
		d.steps = append(d.steps, step{kind: map[string]stepKind{"activate": stepActivate, "deactivate": stepDeactivate}[word], from: d.party(rest)})
		return nil
	case "note":
		return d.note(l)
	case "links", "link", "properties", "details", "destroy":
		return nil
	}
	return d.message(l)
}

func (d *sequence) block(word, text string) {
	d.open = append(d.open, word)
	switch word {
	case "box":
		d.warn("Boxes around participants are not drawn.")
	case "rect":
		d.warn(styled)
	default:
		d.steps = append(d.steps, step{kind: stepOpen, word: word, text: plain(text)})
	}
}

func (d *sequence) note(l line) error {
	m := noteOver().FindStringSubmatch(l.text)
	if m == nil {
		return l.bad("write Note over A,B: text")
	}
	kinds := map[string]stepKind{"over": stepNote, "left of": stepLeft, "right of": stepRight}
	s := step{kind: kinds[strings.ToLower(m[1])], text: plain(m[3]), from: math.MaxInt}
	for id := range strings.SplitSeq(m[2], ",") {
		k := d.party(id)
		s.from, s.to = min(s.from, k), max(s.to, k)
	}
	d.steps = append(d.steps, s)
	return nil
}

func (d *sequence) message(l line) error {
	m := message().FindStringSubmatch(l.text)
	if m == nil {
		return l.bad("a message is written Alice->>Bob: Hello")
	}
	heads := map[string]graph.Head{"x": graph.Cross, ")": graph.Open, ">>": graph.Arrow}
	s := step{kind: stepMessage, head: heads[strings.TrimLeft(m[2], "<-")], from: d.party(m[1]), to: d.party(m[4]), text: plain(m[5]), dashed: strings.Contains(m[2], "--"), both: strings.HasPrefix(m[2], "<<")}
	if d.numbers {
		s.number = strconv.Itoa(d.next) + ". "
	}
	d.next += d.by
	d.steps = append(d.steps, s)
	switch m[3] {
	case "+":
		d.steps = append(d.steps, step{kind: stepActivate, from: s.to})
	case "-":
		d.steps = append(d.steps, step{kind: stepDeactivate, from: s.from})
	}
	return nil
}

func (d *sequence) describe(title string) string {
	var b strings.Builder
	var names []string
	for _, p := range d.parties {
		names = append(names, svg.Clip(p.label))
	}
	fmt.Fprintf(&b, "Sequence diagram: %s. %s: %s.", strings.TrimRight(title, ".!? "), graph.Count(len(d.parties), "participant"), strings.Join(names, ", "))
	n := 0
	for _, s := range d.steps {
		if s.kind != stepMessage {
			continue
		}
		if n++; n > 12 {
			continue
		}
		fmt.Fprintf(&b, " %s to %s", svg.Clip(d.parties[s.from].label), svg.Clip(d.parties[s.to].label))
		if s.text != "" {
			b.WriteString(": " + svg.Clip(strings.TrimRight(s.text, ".")))
		}
		b.WriteByte('.')
	}
	if n > 12 {
		fmt.Fprintf(&b, " And %d more messages.", n-12)
	}
	return b.String()
}
