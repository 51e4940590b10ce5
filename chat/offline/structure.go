package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What is drawn of one structure at most.
const (
	mostLinks  = 200
	mostLetter = 70 // characters of one name
)

// structure is parts and how they hang together, as a source writes it down: arrows,
// numbered steps, nested lists, tables of relations.
type structure struct {
	Path  string `json:"path"`
	Title string `json:"title,omitempty"`
	Links []link `json:"links"`
	// Relations are rows of a table: a network, whether the task names one or not.
	Relations bool `json:"relations,omitempty"`
}

type link struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Label  string  `json:"label,omitempty"`
	Weight float64 `json:"weight,omitempty"`
}

var (
	arrow      = regexp.MustCompile(`\s*(?:-{1,2}>|={1,2}>|→|⟶|➔)\s*`)
	stepLine   = regexp.MustCompile(`^\s*\d{1,2}[.)]\s+(.+)$`)
	bulletLine = regexp.MustCompile(`^(\s*)[-*+]\s+(.+)$`)
	listOf     = regexp.MustCompile(`(?i)(?:.*\b|^)(process|steps|stages|phases|workflow|pipeline|flow|life ?cycle|hierarchy|structure|architecture|parts|components|organi[sz]ation|tree|diagram|sketch|network)\b([^:.?!\n]*):\s*([^.?!\n]+)`)
	listBreak  = regexp.MustCompile(`\s*(?:,|;)\s*(?:and\s+|then\s+)?|\s+(?:and|then)\s+`)
	leads      = regexp.MustCompile(`(?i)^(.+?)\s+(?:over|above|leads|with|consisting of|consists of|contains)\s+(.+)$`)
	inOrder    = regexp.MustCompile(`(?i)^(?:process|steps|stages|phases|workflow|pipeline|flow|life ?cycle|diagram|sketch)$`)
)

// given finds the structure that a task itself spells out.
func given(task string) (structure, bool) {
	s := structure{Path: theTask}
	for _, line := range strings.Split(task, "\n") {
		s.Links = append(s.Links, chains(prelude(line))...)
	}
	if m := listOf.FindStringSubmatch(task); len(s.Links) == 0 && m != nil {
		names := split(m[3])
		root := capital(strings.TrimSpace(m[1] + " " + strings.TrimSpace(m[2])))
		switch head := leads.FindStringSubmatch(m[3]); {
		case inOrder.MatchString(m[1]):
			s.Links = sequence(names)
		case head != nil:
			s.Links = star(name(head[1]), split(head[2]))
		default:
			s.Links = star(root, names)
		}
	}
	return s, len(s.Links) > 0
}

// prelude cuts the words of a sentence that stand before a chain: "Draw a diagram of
// the process: order -> payment." leaves the chain.
func prelude(line string) string {
	at := arrow.FindStringIndex(line)
	if at == nil {
		return ""
	}
	for _, mark := range []string{": ", " of ", " from ", " with ", " for "} {
		if i := strings.LastIndex(line[:at[0]], mark); i >= 0 {
			line = line[i+len(mark):]
			break
		}
	}
	if end := regexp.MustCompile(`[.?!](?:\s|$)`).FindStringIndex(line); end != nil && end[0] > 0 {
		line = line[:end[0]]
	}
	return line
}

// chains reads the arrows of one line: A -> B -> C: label, several parted by commas.
func chains(line string) []link {
	var out []link
	for _, one := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' }) {
		parts := arrow.Split(one, -1)
		if len(parts) < 2 {
			continue
		}
		last, label, _ := strings.Cut(parts[len(parts)-1], ":")
		parts[len(parts)-1] = last
		links := sequence(parts)
		if len(links) > 0 {
			links[len(links)-1].Label = name(label)
		}
		out = append(out, links...)
	}
	return out
}

// sequence links each name to the next.
func sequence(names []string) []link {
	var out []link
	for i := 1; i < len(names); i++ {
		if a, b := name(names[i-1]), name(names[i]); a != "" && b != "" {
			out = append(out, link{From: a, To: b})
		}
	}
	return out
}

func star(root string, names []string) []link {
	var out []link
	for _, n := range names {
		if n = name(n); n != "" && n != root {
			out = append(out, link{From: root, To: n})
		}
	}
	return out
}

func split(list string) []string {
	return slices.DeleteFunc(listBreak.Split(list, -1), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// name tidies the name of a part.
func name(s string) string {
	s = markdownMark.ReplaceAllString(markdownLink.ReplaceAllString(s, "$1"), "")
	return clip(capital(strings.Trim(strings.TrimSpace(s), " \t\"'“”.:|[](){}")), mostLetter)
}

// structures finds what the lines of a text spell out.
func structures(path, title, text string) []structure {
	var out []structure
	var links []link
	var steps []string
	var above []bullet
	nested := false
	heading := title
	flush := func() {
		links = append(links, sequence(steps)...)
		if (len(steps) > 1 || nested || len(above) == 0) && len(links) > 0 {
			out = append(out, structure{Path: path, Title: heading, Links: links[:min(len(links), mostLinks)]})
		}
		links, steps, above, nested = nil, nil, nil, false
	}
	last := ' '
	for _, line := range strings.Split(text, "\n") {
		t := strings.TrimSpace(line)
		step, item := stepLine.FindStringSubmatch(line), bulletLine.FindStringSubmatch(line)
		if t != "" && last != kindOfLine(t) {
			flush()
			last = kindOfLine(t)
		}
		switch {
		case t == "":
		case strings.HasPrefix(t, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(t, "#"))
		case kindOfLine(t) == '>':
			links = append(links, chains(strings.TrimLeft(t, "-*+ "))...)
		case step != nil:
			steps = append(steps, firstClause(step[1]))
		case item != nil:
			var l []link
			above, l = hang(above, len(item[1]), firstClause(item[2]))
			nested = nested || len(l) > 0
			links = append(links, l...)
		}
	}
	flush()
	return out
}

// kindOfLine tells arrows, steps, items, headings and text apart.
func kindOfLine(t string) rune {
	switch {
	case strings.HasPrefix(t, "#"):
		return '#'
	case arrow.MatchString(t) && len(t) < 300:
		return '>'
	case stepLine.MatchString(t):
		return '1'
	case bulletLine.MatchString(t):
		return '-'
	}
	return 't'
}

type bullet struct {
	indent int
	name   string
}

// hang puts an item of a nested list under the one above it.
func hang(above []bullet, indent int, text string) ([]bullet, []link) {
	for len(above) > 0 && above[len(above)-1].indent >= indent {
		above = above[:len(above)-1]
	}
	var out []link
	if n := name(text); n != "" {
		if len(above) > 0 {
			out = []link{{From: above[len(above)-1].name, To: n}}
		}
		above = append(above, bullet{indent, n})
	}
	return above, out
}

// firstClause is what a step is called; the explanation behind it is left out.
func firstClause(s string) string {
	if i := strings.IndexAny(s, ":;–—"); i > 2 {
		s = s[:i]
	}
	if i := strings.Index(s, ". "); i > 2 {
		s = s[:i]
	}
	return s
}

var (
	fromNames = strings.Fields("from source parent supplier manager author sender buyer start node1 a")
	toNames   = strings.Fields("to target child customer employee cites receiver seller end node2 b")
)

// relations reads a table whose columns say what is linked to what. One that is too
// long to draw or runs over time is a table like any other.
func (t *table) relations(path string) (structure, bool) {
	var columns []string
	for _, c := range t.Columns {
		if c.Type == "date" || t.RowCount > mostLinks {
			return structure{}, false
		}
		columns = append(columns, strings.ToLower(strings.TrimSpace(c.Name)))
	}
	return joined(path, columns, t.SampleRows)
}

// joined reads rows by the names of their columns.
func joined(path string, columns []string, rows [][]string) (structure, bool) {
	from, to, weight := -1, -1, -1
	for i, c := range columns {
		switch {
		case from < 0 && slices.Contains(fromNames, c):
			from = i
		case to < 0 && slices.Contains(toNames, c):
			to = i
		case weight < 0 && slices.Contains([]string{"weight", "count", "value", "amount", "strength"}, c):
			weight = i
		}
	}
	s := structure{Path: path, Relations: true}
	if from < 0 || to < 0 {
		return s, false
	}
	for _, r := range rows[:min(len(rows), mostLinks)] {
		if from >= len(r) || to >= len(r) || r[from] == "" || r[to] == "" {
			continue
		}
		l := link{From: clip(r[from], mostLetter), To: clip(r[to], mostLetter)}
		if weight >= 0 && weight < len(r) {
			if w, err := strconv.ParseFloat(r[weight], 64); err == nil && w > 0 {
				l.Weight = w
			}
		}
		s.Links = append(s.Links, l)
	}
	return s, len(s.Links) > 0
}
