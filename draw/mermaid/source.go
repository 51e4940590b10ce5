package mermaid

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"time"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// line is one statement and its line number.
type line struct {
	n    int
	text string
}

// bad returns an error about the line.
func (l line) bad(format string, args ...any) error {
	return svg.Invalid("line %d: "+format+": %q", append(append([]any{l.n}, args...), svg.Clip(l.text))...)
}

func (l line) first() (word, rest string) {
	word, rest, _ = strings.Cut(l.text, " ")
	return word, strings.TrimSpace(rest)
}

// refused lists the kinds of Mermaid diagrams that this package does not draw.
const refused = "journey gitgraph mindmap timeline quadrantchart requirementdiagram c4context c4container c4component c4dynamic c4deployment zenuml " +
	"sankey sankey-beta xychart xychart-beta block block-beta packet packet-beta kanban architecture architecture-beta radar radar-beta treemap treemap-beta info"

const known = "flowchart, sequenceDiagram, pie, classDiagram, stateDiagram-v2, erDiagram or gantt"

func parse(code string) (diagram, error) {
	if len(code) > MaxCode {
		return nil, svg.Invalid("Code has %d characters: at most %d are drawn; split the diagram", len(code), MaxCode)
	}
	lines, title := split(code)
	if len(lines) == 0 {
		return nil, svg.Invalid("Code is empty: start it with %s", known)
	}
	head, lines := lines[0], lines[1:]
	word, rest := head.first()
	var d diagram
	switch kind := strings.ToLower(strings.TrimSuffix(word, ":")); kind {
	case "graph", "flowchart", "flowchart-elk":
		f := flow{graphDiagram: newGraph("flowchart", "down"), links: map[string]bool{}}
		if !f.turn(rest) && rest != "" {
			lines = append([]line{{head.n, rest}}, lines...)
		}
		d = &f
	case "sequencediagram":
		d = &sequence{index: map[string]int{}, next: 1, by: 1}
	case "pie":
		p := &pie{}
		if t, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(rest, "showData")), "title"); ok {
			p.title = plain(t)
		}
		d = p
	case "classdiagram", "classdiagram-v2":
		d = &classes{newGraph("class diagram", "down")}
	case "statediagram", "statediagram-v2":
		d = &states{newGraph("state diagram", "down")}
	case "erdiagram":
		d = &entities{newGraph("entity-relationship diagram", "auto")}
	case "gantt":
		d = &gantt{layout: time.DateOnly}
	default:
		if slices.Contains(strings.Fields(refused), kind) {
			return nil, svg.Invalid("Mermaid's %q diagrams are not drawn here: use %s", svg.Clip(word), known)
		}
		return nil, head.bad("this starts no diagram, begin with %s", known)
	}
	for _, l := range lines {
		if err := d.statement(l); err != nil {
			return nil, err
		}
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	d.notes().title = cmp.Or(d.notes().title, title)
	return d, nil
}

// directive matches %%{init: …}%%, which may span lines.
var directive = pattern.Lazy(`(?s)%%\{.*?\}%%`)

var fence = pattern.Lazy("(?s)^\\s*```[a-zA-Z]*\\s*\n(.*?)\n?\\s*```\\s*$")

// maxLabelLines is the maximum number of lines of one label of a flowchart.
const maxLabelLines = 20

// opensLabel reports whether a statement of a flowchart ends within a label.
func opensLabel(s string) bool {
	if strings.Count(s, `"`)%2 == 0 {
		return strings.LastIndexAny(s, "[({") > strings.LastIndexAny(s, `"])}|>`)
	}
	before := strings.TrimSpace(s[:strings.LastIndexByte(s, '"')])
	return before != "" && strings.ContainsAny(before[len(before)-1:], "[({|")
}

// split returns the title and the statements without comments, front matter and an enclosing code fence.
func split(code string) (out []line, title string) {
	if m := fence().FindStringSubmatch(code); m != nil {
		code = m[1]
	}
	code = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "").Replace(code)
	code = directive().ReplaceAllStringFunc(code, func(d string) string { return strings.Repeat("\n", strings.Count(d, "\n")) })
	skipped, kind := "", "" // the end of the front matter or description that is skipped; the first word
	var open line           // a statement whose label continues on the next line
	all := strings.Split(code, "\n")
	for i, raw := range all {
		text := value.Text(raw)
		switch {
		case skipped != "":
			if t, ok := strings.CutPrefix(text, "title:"); ok && skipped == "---" {
				title = unquote(strings.TrimSpace(t))
			}
			if strings.HasSuffix(text, skipped) {
				skipped = ""
			}
			continue
		case text == "---" && len(out) == 0:
			skipped = text
			continue
		case text == "", strings.HasPrefix(text, "%%"):
			continue
		}
		if k := strings.Index(text, " %%"); k >= 0 {
			text = strings.TrimSpace(text[:k])
		}
		if t, ok := strings.CutPrefix(text, "accTitle:"); ok {
			title = strings.TrimSpace(t)
			continue
		}
		if d, ok := strings.CutPrefix(text, "accDescr"); ok {
			if strings.HasPrefix(strings.TrimSpace(d), "{") && !strings.HasSuffix(d, "}") {
				skipped = "}"
			}
			continue
		}
		if open.text == "" {
			open.n = i + 1
		}
		text = strings.TrimSpace(open.text + " " + text)
		flow := kind == "graph" || strings.HasPrefix(kind, "flowchart")
		if flow && i+1 < min(len(all), open.n+maxLabelLines) && opensLabel(text) {
			open.text = text
			continue
		}
		parts := []string{text}
		if kind != "gantt" && kind != "pie" { // there, a semicolon is text
			parts = statements(text, flow)
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, line{open.n, part})
			}
		}
		if open.text = ""; kind == "" && len(out) > 0 {
			kind, _ = out[0].first()
			kind = strings.ToLower(kind)
		}
	}
	return out, title
}

// statements splits at semicolons outside quotes, labels of flowcharts and entities such as #35;.
func statements(s string, flow bool) []string {
	if !strings.Contains(s, ";") {
		return []string{s}
	}
	var out []string
	quoted, from := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ';' && !quoted && !entity().MatchString(s[max(from, i-9):i+1]) && (!flow || !opensLabel(s[max(from, i-maxLinkText):i])):
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

var (
	entity = pattern.Lazy(`[#&][a-zA-Z0-9]{1,8};$`)
	coded  = pattern.Lazy(`[#&]#?[a-zA-Z0-9]{1,8};`)
	br     = pattern.Lazy(`(?i)<br\s*/?>|</?(?:p|div|li|ul|ol)\b[^<>]*>|\\n`)
	tag    = pattern.Lazy(`</?(?:b|i|u|s|em|strong|small|big|sub|sup|code|span|font|center)(?:\s[^<>]*)?>|\bfa[a-z]?:fa-[\w-]+\s*`)
)

// plain returns a label as people read it: without quotes, line breaks, tags, icons, entities and Markdown marks.
func plain(s string) string {
	s = unquote(strings.TrimSpace(s))
	s = tag().ReplaceAllString(br().ReplaceAllString(s, " "), "")
	if len(s) > 1 && s[0] == '`' && s[len(s)-1] == '`' {
		s = strings.NewReplacer("**", "", "__", "").Replace(s[1 : len(s)-1])
	}
	return value.Text(coded().ReplaceAllStringFunc(s, decode))
}

// decode returns the character that #9829; #quot; or an entity of HTML stands for, or s itself.
func decode(s string) string {
	for _, entity := range []string{"&#" + strings.TrimLeft(s, "#&"), "&" + strings.TrimLeft(s, "#&")} {
		if t := html.UnescapeString(entity); t != entity {
			return t
		}
	}
	return s
}

func unquote(s string) string {
	if len(s) > 1 && (s[0] == '"' && s[len(s)-1] == '"' || s[0] == '\'' && s[len(s)-1] == '\'') {
		return s[1 : len(s)-1]
	}
	return s
}

// stylistic reports whether a statement only sets styles or links.
func stylistic(word string) bool {
	return slices.Contains(strings.Fields("classDef style linkStyle click cssClass callback link links class direction"), word)
}
