package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mostWords bounds a word cloud.
const mostWords = 80

var (
	mermaidFence = regexp.MustCompile("(?s)```mermaid\\s*\\n(.*?)```")
	plainName    = regexp.MustCompile(`[^\p{L}\p{N} .,/+-]+`)
)

// draw plans the drawings that the task names, and a network of each table of
// relations that no other drawing shows.
func (c *conversation) draw(p *plan, o order, m material) {
	defer c.drawRelations(p, o, m)
	for _, want := range o.drawings {
		if !c.can(want.action) {
			p.needs = append(p.needs, fmt.Sprintf("The %s needs the action %s, which this agent does not have.", want.name(), want.action))
			continue
		}
		f, why := c.drawing(want, o, m)
		if why != "" {
			p.needs = append(p.needs, why)
			continue
		}
		p.figures = append(p.figures, f)
	}
}

func (c *conversation) drawRelations(p *plan, o order, m material) {
	for _, s := range m.Structures {
		shown := slices.ContainsFunc(p.figures, func(f figure) bool { return f.path == s.Path && f.call.Name != chartAction })
		if s.Relations && !shown && !o.plain && c.can(networkAction) {
			p.figures = append(p.figures, s.figure(networkAction, heading(s.Path, &table{})))
		}
	}
}

// figure plans the drawing of a structure.
func (s structure) figure(action, name string) figure {
	params := map[string]any{"Title": name, "Edges": s.edges(), "Source": s.Path}
	if action == networkAction {
		params["Directed"] = s.directed()
	}
	return figure{call: actionCall{action, params}, path: s.Path, caption: name, note: "Source: " + s.Path + "."}
}

// drawing plans one drawing, or says what it needs.
func (c *conversation) drawing(want request, o order, m material) (figure, string) {
	name := want.about
	if name == "" {
		name = o.title
	}
	if name = beforeChain(name); name == "" {
		name = request{action: want.action, kind: want.kind}.name()
	}
	name = capital(name)
	if want.action == cloudAction {
		return m.cloud(want, name)
	}
	if want.action == mermaidAction {
		if code := mermaidFence.FindStringSubmatch(c.task); code != nil {
			return figure{
				call:    actionCall{mermaidAction, map[string]any{"Code": code[1], "Title": name}},
				caption: name, note: "Source: the Mermaid text of the task.", path: theTask,
			}, ""
		}
	}
	s, ok := m.structureFor(want)
	if !ok {
		return figure{}, fmt.Sprintf("The %s needs its parts: write them into the task as “A -> B -> C”, or give a text with arrows, numbered steps or a nested list, or a table with the columns from and to.", want.name())
	}
	f := s.figure(want.action, name)
	if want.action == mermaidAction {
		code, why := s.mermaid(want)
		if why != "" {
			return figure{}, why
		}
		f.call.Params = map[string]any{"Title": name, "Code": code, "Source": s.Path}
	}
	return f, ""
}

// structureFor chooses the structure that a wish speaks of, else the first.
func (m *material) structureFor(want request) (structure, bool) {
	at, best := 0, -1
	about := words(want.about + " " + want.kind)
	for i, s := range m.Structures {
		n := 0
		for _, w := range unique(words(human(s.Path + " " + s.Title))) {
			if slices.Contains(about, w) {
				n++
			}
		}
		if s.Path == theTask {
			n += 10 // what the task spells out, it means
		}
		if s.Relations == (want.action == networkAction) {
			n += 2 // rows are networks, steps are not
		}
		if n > best {
			at, best = i, n
		}
	}
	if best < 0 {
		return structure{}, false
	}
	return m.Structures[at], true
}

func (s structure) edges() []any {
	out := make([]any, 0, len(s.Links))
	for _, l := range s.Links {
		e := map[string]any{"from": l.From, "to": l.To}
		if l.Label != "" {
			e["label"] = l.Label
		}
		if l.Weight > 0 {
			e["weight"] = l.Weight
		}
		out = append(out, e)
	}
	return out
}

// directed tells relations that say who does something to whom by their labels.
func (s structure) directed() bool {
	return slices.ContainsFunc(s.Links, func(l link) bool { return l.Label != "" })
}

// mermaid writes the structure in Mermaid, or says why that cannot be.
func (s structure) mermaid(want request) (code, why string) {
	ids := map[string]string{}
	id := func(name string) string {
		if ids[name] == "" {
			ids[name] = fmt.Sprintf("n%d", len(ids)+1)
		}
		return ids[name]
	}
	tidy := func(text string) string { return strings.TrimSpace(plainName.ReplaceAllString(text, " ")) }
	head, line := "flowchart TD", func(l link) string {
		if l.Label != "" {
			return fmt.Sprintf(`%s["%s"] -->|"%s"| %s["%s"]`, id(l.From), tidy(l.From), tidy(l.Label), id(l.To), tidy(l.To))
		}
		return fmt.Sprintf(`%s["%s"] --> %s["%s"]`, id(l.From), tidy(l.From), id(l.To), tidy(l.To))
	}
	switch want.kind {
	case "":
	case "sequence":
		head, line = "sequenceDiagram", func(l link) string {
			label := tidy(l.Label)
			if label == "" {
				label = " "
			}
			return fmt.Sprintf("%s->>%s: %s", tidy(l.From), tidy(l.To), label)
		}
	case "state":
		head, line = "stateDiagram-v2", func(l link) string {
			out := fmt.Sprintf("%s --> %s", id(l.From), id(l.To))
			if l.Label != "" {
				out += " : " + tidy(l.Label)
			}
			return out
		}
	default:
		return "", fmt.Sprintf("The %s needs its Mermaid source: write it into the task in a fenced block that begins with ```mermaid. Flowcharts, sequences and states can be made from arrows.", want.name())
	}
	var lines []string
	for _, l := range s.Links {
		lines = append(lines, "  "+line(l))
	}
	if want.kind == "state" {
		var names []string
		for _, n := range sortedKeys(ids) {
			names = append(names, fmt.Sprintf("  state %q as %s", tidy(n), ids[n]))
		}
		lines = append(names, lines...)
	}
	return head + "\n" + strings.Join(lines, "\n") + "\n", ""
}

// cloud plans a word cloud of counted words.
func (m *material) cloud(want request, name string) (figure, string) {
	counts := m.Words
	var from []string
	for _, p := range m.Passages {
		from = append(from, p.Path)
		if len(m.Words) == 0 {
			for _, s := range p.Sentences {
				counts = tally(counts, s.Text)
			}
		}
	}
	if len(counts) < 3 {
		return figure{}, fmt.Sprintf("The %s needs texts whose words can be counted: give them with --files or --kb.", want.name())
	}
	source := strings.Join(from[:min(3, len(from))], ", ")
	if len(from) > 3 {
		source += fmt.Sprintf(" and %d more", len(from)-3)
	}
	return figure{
		call:    actionCall{cloudAction, map[string]any{"Title": "Words of " + lower(name), "Words": heaviest(counts, mostWords), "Source": source}},
		caption: "The words that the texts use most", note: "Counted in " + source + ".",
	}, ""
}

// lower is for a title inside a sentence: only its first letter changes, and only if
// the word is no abbreviation.
func lower(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// tally counts the content words of a text as they are written, in lower case.
func tally(into map[string]float64, text string) map[string]float64 {
	if into == nil {
		into = map[string]float64{}
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notWord) {
		if len([]rune(w)) > 3 && len(w) <= 30 && !slices.Contains(stop, w) && strings.Trim(w, "0123456789") != "" {
			into[w]++
		}
	}
	return into
}

// heaviest gives the words that count most, ties in the order of the alphabet.
func heaviest(counts map[string]float64, most int) []map[string]any {
	keys := sortedKeys(counts)
	slices.SortStableFunc(keys, func(a, b string) int { return int(counts[b] - counts[a]) })
	var out []map[string]any
	for _, k := range keys[:min(most, len(keys))] {
		out = append(out, map[string]any{"text": k, "weight": counts[k]})
	}
	return out
}
