package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"atelier/agent/evidence"
	"atelier/agent/internal/plain"
)

// trace compares the numbers in a report's text with the evidence. A number that a query contains or returns
// becomes a link to that query. An unsupported number is marked, at most once per sentence.
func trace(root *html.Node, set *evidence.Set, w words) *tracing {
	t := &tracing{set: set, words: w, counters: map[*html.Node]bool{}, rows: map[*html.Node]int{}, derived: map[int][]string{}, doubts: map[string]int{}}
	if set == nil {
		return t
	}
	for _, table := range tables(root) {
		t.survey(table)
	}
	t.walk(root)
	t.flush()
	return t
}

// Unsupported returns the numbers of a report that no query and no source of its evidence contains,
// grouped by sentence, as the report itself marks them. Without evidence it returns none.
func Unsupported(r Report) ([]Doubt, error) {
	if r.Evidence == nil {
		return nil, nil
	}
	root, err := r.content().rendered()
	if err != nil {
		return nil, err
	}
	return trace(root, r.Evidence, wordsFor(r.Language, root)).missing, nil
}

// tracing is one call of trace.
type tracing struct {
	set *evidence.Set
	words
	counters map[*html.Node]bool // cells that only number the rows of a table
	rows     map[*html.Node]int  // texts next to a table, with the number of rows that the table shows
	shown    int                 // row count for the current text; 0 elsewhere

	line    line
	queries []int            // indices in order of first use
	derived map[int][]string // how numbers are computed, by query
	texts   []int
	missing []Doubt
	doubts  map[string]int // indices of missing by sentence
}

// Doubt is a sentence of a report with its unsupported numbers as they are written.
type Doubt struct {
	Sentence string   `json:"sentence"`
	Numbers  []string `json:"numbers"`
}

// line is the text of a block with the text nodes that contain it.
type line struct {
	text   strings.Builder
	pieces []piece
}

type piece struct {
	node  *html.Node
	start int
	// linked reports whether the text is inside a link.
	linked bool
}

// inline lists the elements that do not end a line.
var inline = []atom.Atom{
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Cite, atom.Del, atom.Dfn, atom.Em, atom.I, atom.Ins, atom.Mark, atom.Q, atom.S, atom.Small, atom.Span,
	atom.Strong, atom.Time, atom.U, atom.Code, atom.Kbd, atom.Samp, atom.Var, atom.Sub, atom.Sup, atom.Img,
}

// uncheckedElements lists the elements whose text is not checked for numbers: code, indices, exponents and
// footnote marks.
var uncheckedElements = []atom.Atom{atom.Code, atom.Pre, atom.Kbd, atom.Samp, atom.Var, atom.Sub, atom.Sup, atom.Audio, atom.Video, atom.Script, atom.Style}

// gap replaces unread text in a line.
const gap = "\ufffc"

func (t *tracing) walk(n *html.Node) {
	for _, c := range slices.Collect(n.ChildNodes()) {
		switch {
		case c.Type == html.TextNode:
			t.line.pieces = append(t.line.pieces, piece{node: c, start: t.line.text.Len(), linked: around(c, atom.A) != nil})
			t.line.text.WriteString(c.Data)
		case c.Type != html.ElementNode || t.counters[c]:
		case slices.Contains(inline, c.DataAtom):
			if slices.Contains(uncheckedElements, c.DataAtom) {
				t.line.text.WriteString(gap)
				continue
			}
			t.walk(c)
		default:
			t.flush()
			if slices.Contains(uncheckedElements, c.DataAtom) {
				continue
			}
			if n, ok := t.rows[c]; ok {
				t.shown = n
			}
			t.walk(c)
			t.flush()
			t.shown = 0
		}
	}
}

// flush traces the numbers of the current line and begins a new one.
func (t *tracing) flush() {
	l := t.line
	t.line = line{}
	text := l.text.String()
	if strings.TrimSpace(text) == "" {
		return
	}
	numbers := slices.DeleteFunc(evidence.Scan(text), func(n evidence.Number) bool { return !n.NeedsSource() || t.shown > 0 && n.Counts(t.shown) })
	if len(numbers) == 0 {
		return
	}
	ends := evidence.Sentences(text)
	last, words, markedAt := -1, "", -1
	var edits []edit
	for _, n := range numbers {
		s, _ := slices.BinarySearch(ends, n.Start+1)
		if s != last {
			last, words = s, sentence(text, ends, s)
		}
		e := edit{start: n.Start, end: n.End}
		if e.wrap = t.judge(n, words); e.wrap == nil {
			continue
		}
		if e.wrap.DataAtom == atom.Mark {
			if s == markedAt {
				continue
			}
			markedAt = s
		}
		edits = append(edits, e)
	}
	l.apply(edits)
}

// sentence returns the text of the sentence with the given index, without pictures.
func sentence(text string, ends []int, i int) string {
	from := 0
	if i > 0 {
		from = ends[i-1]
	}
	words := strings.Join(strings.Fields(strings.ReplaceAll(hidden.ReplaceAllString(text[from:ends[i]], ""), gap, "")), " ")
	if r := []rune(words); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return words
}

// judge checks a number and returns the element to wrap it in; nil for none.
func (t *tracing) judge(n evidence.Number, sentence string) *html.Node {
	v := t.set.Trace(n)
	switch {
	case v.Support == evidence.Unsupported:
		i, known := t.doubts[sentence]
		if !known {
			i = len(t.missing)
			t.doubts[sentence], t.missing = i, append(t.missing, Doubt{Sentence: sentence})
		}
		plain.AddOnce(&t.missing[i].Numbers, n.Text)
		return element(atom.Mark, html.Attribute{Key: "class", Val: reservedPrefix + "unsupported"}, html.Attribute{Key: "title", Val: t.noSource})
	case v.Query < 0:
		if v.Text >= 0 {
			plain.AddOnce(&t.texts, v.Text)
		}
		return nil
	}
	plain.AddOnce(&t.queries, v.Query)
	number := slices.Index(t.queries, v.Query) + 1
	title := fmt.Sprintf("%s %d", t.query, number)
	if source := t.set.Queries[v.Query].Source(); source != "" {
		title += ": " + source
	}
	class := reservedPrefix + "number"
	if v.Support == evidence.Derived {
		how := fmt.Sprintf("%s, %s %s %s %s", t.kinds[v.Kind], t.computedFrom, t.number(v.From[0]), t.and, t.number(v.From[1]))
		title = how + " (" + title + ")"
		class += " " + reservedPrefix + "computed"
		lines := t.derived[v.Query]
		plain.AddOnce(&lines, html.EscapeString(n.Text+": "+how))
		t.derived[v.Query] = lines
	}
	return element(atom.A, html.Attribute{Key: "class", Val: class}, html.Attribute{Key: "href", Val: "#" + reservedPrefix + "query-" + strconv.Itoa(number)}, html.Attribute{Key: "title", Val: title})
}

// edit is an element to be wrapped around a part of a line.
type edit struct {
	start, end int
	wrap       *html.Node
}

// apply wraps the elements of edits, which are in order, around parts of the text nodes.
func (l *line) apply(edits []edit) {
	for i := len(l.pieces) - 1; i >= 0; i-- {
		p := l.pieces[i]
		for k := len(edits) - 1; k >= 0; k-- {
			e := edits[k]
			from, to := max(e.start-p.start, 0), min(e.end-p.start, len(p.node.Data))
			if from >= to {
				continue
			}
			wrap := element(e.wrap.DataAtom, e.wrap.Attr...)
			if p.linked && wrap.DataAtom == atom.A { // no link within a link
				wrap = element(atom.Span, e.wrap.Attr[0], e.wrap.Attr[2])
			}
			wrap.AppendChild(textNode(p.node.Data[from:to]))
			next := p.node.NextSibling
			if rest := p.node.Data[to:]; rest != "" {
				tail := textNode(rest)
				p.node.Parent.InsertBefore(tail, next)
				next = tail
			}
			p.node.Parent.InsertBefore(wrap, next)
			p.node.Data = p.node.Data[:from]
		}
	}
}

// survey finds the cells of the first column that only number the rows of a table: 1, 2, 3 …. It
// also counts the table's rows for adjacent texts such as "The first 20 of 93 rows".
func (t *tracing) survey(table *html.Node) {
	var column, beside []*html.Node
	var head *html.Node
	rows := 0
	for n := range table.Descendants() {
		if n.DataAtom == atom.Caption {
			beside = append(beside, n)
		}
		if n.DataAtom != atom.Tr {
			continue
		}
		first := true
		for c := range n.ChildNodes() {
			if c.Type != html.ElementNode {
				continue
			}
			if first && c.DataAtom == atom.Th && len(column) == 0 && head == nil {
				head = c
			}
			if first && strings.TrimSuffix(strings.TrimSpace(wordsOf(c)), ".") == strconv.Itoa(len(column)+1) {
				column = append(column, c)
			}
			if first = false; c.DataAtom == atom.Td {
				rows++
				break
			}
		}
	}
	// The heading must indicate row numbers, or be absent.
	if len(column) > 0 && (head == nil || head == column[0] || rowHeads.MatchString(strings.TrimSpace(wordsOf(head)))) {
		for _, c := range column {
			t.counters[c] = true
		}
	}
	for next := table.Parent.NextSibling; next != nil; next = next.NextSibling { // the parent is the table's frame
		if next.Type == html.ElementNode {
			beside = append(beside, next)
			break
		}
	}
	for _, n := range beside {
		t.rows[n] = rows
	}
}

// rowHeads matches the headings of columns that number rows.
var rowHeads = regexp.MustCompile(`(?i)^(?:#|№|n°|id|nr|no|num|number|nummer|index|idx|row|zeile|rank|rang|ranking|place|platz|pos|position|step|schritt|lfd\.? ?nr)?[.:]?$`)

// section returns the section that lists what supports the numbers of a report; empty if there are no numbers.
func (t *tracing) section() string {
	if len(t.queries)+len(t.texts)+len(t.missing) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n<section class=\"%snumbers\">\n<h2>%s</h2>\n", reservedPrefix, t.numbers)
	if len(t.missing) > 0 {
		fmt.Fprintf(&b, "<p>%s</p>\n<ul class=\"%sunsupported-list\">\n", t.unsupported, reservedPrefix)
		for _, d := range t.missing {
			b.WriteString("<li>" + d.markup() + "</li>\n")
		}
		b.WriteString("</ul>\n")
	}
	if len(t.queries) > 0 {
		fmt.Fprintf(&b, "<p>%s</p>\n<ol>\n", t.fromQueries)
		for i, q := range t.queries {
			query := t.set.Queries[q]
			fmt.Fprintf(&b, "<li id=\"%squery-%d\">%s\n<pre><code>%s</code></pre>\n", reservedPrefix, i+1, html.EscapeString(query.Source()), html.EscapeString(strings.TrimSpace(query.Statement)))
			if lines := t.derived[q]; len(lines) > 0 {
				fmt.Fprintf(&b, "<p>%s %s.</p>\n", t.computed, strings.Join(lines, "; "))
			}
			b.WriteString("</li>\n")
		}
		b.WriteString("</ol>\n")
	}
	if len(t.texts) > 0 {
		var names []string
		for _, i := range t.texts {
			name := t.set.Texts[i].Name
			names = append(names, cmp.Or(t.sources[name], name))
		}
		fmt.Fprintf(&b, "<p>%s %s.</p>\n", t.otherSources, html.EscapeString(strings.Join(names, "; ")))
	}
	b.WriteString("</section>\n")
	return b.String()
}

// markup returns the numbers, and the sentence if it consists of more than the numbers.
func (d Doubt) markup() string {
	line := "<strong>" + html.EscapeString(strings.Join(d.Numbers, ", ")) + "</strong>"
	if len(d.Numbers) == 1 && d.Sentence == d.Numbers[0] {
		return line
	}
	return line + ": " + html.EscapeString(d.Sentence)
}
