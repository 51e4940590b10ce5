package offline

import (
	"encoding/json"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
)

// report is everything that one report is made of.
type report struct {
	order    order
	m        material
	plan     plan
	missing  []string
	composed *agentResult // the infographic; nil if none was asked for

	b       strings.Builder
	figures int
}

// html writes the report and gives its title and a summary of one paragraph.
func (r *report) html() (body, heading, summary string) {
	heading = r.order.title
	if heading == "" {
		heading = "Report"
	}
	key := r.keyFindings(5)
	summary = r.summary(key)
	r.tag("h1", heading)
	r.opening(key)
	pictures := r.of(paintAction)
	if len(pictures) > 0 {
		r.figure(pictures[0])
	}
	if r.answers() { // the first one is said already
		key = key[min(1, len(key)):]
	}
	if len(key) > 0 {
		r.tag("h2", "Key findings")
		r.list(key)
	}
	r.infographic()
	for _, f := range r.of(infographicAction) {
		r.figure(f)
	}
	r.drawings()
	for _, t := range r.m.Tables {
		r.tableSection(t.Path, t.Table)
	}
	r.texts()
	r.impressions(pictures)
	r.gaps()
	r.sources()
	r.failures()
	return r.b.String(), heading, summary
}

// opening gives the answer before it says what it rests on.
func (r *report) opening(key []string) {
	if len(key) == 0 || !r.answers() {
		r.tag("p", r.lead())
		return
	}
	r.tag("p", key[0])
	fmt.Fprintf(&r.b, "<p><small>%s</small></p>\n", html.EscapeString(r.lead()))
}

// answers tells whether the first finding is a statement of the report's own; a
// sentence that is quoted answers nothing by itself.
func (r *report) answers() bool { return len(r.m.Tables) > 0 }

// summary is what the report says in a few sentences: the finding, what it rests on,
// what is missing.
func (r *report) summary(key []string) string {
	said := append(slices.Clone(key[:min(1, len(key))]), r.lead())
	return strings.Join(append(said, r.plan.needs...), " ")
}

// of gives the figures that some actions made.
func (r *report) of(actions ...string) []figure {
	var out []figure
	for _, f := range r.plan.figures {
		if slices.Contains(actions, f.call.Name) && f.made != nil && len(images(f.made.Outputs)) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// drawings shows structures, relations and words.
func (r *report) drawings() {
	all := r.of(diagramAction, networkAction, sketchAction, mermaidAction)
	if len(all) == 0 {
		return
	}
	r.tag("h2", "How it hangs together")
	for _, f := range all {
		r.figure(f)
	}
}

// impressions shows the pictures behind the opening one.
func (r *report) impressions(pictures []figure) {
	if len(pictures) < 2 {
		return
	}
	if len(pictures) > 2 || len(r.m.Tables)+len(r.m.Passages) > 0 {
		r.tag("h2", "Impressions")
	}
	for _, f := range pictures[1:] {
		r.figure(f)
	}
}

// gaps says what the task asks for and the report cannot show.
func (r *report) gaps() {
	if len(r.plan.needs) == 0 {
		return
	}
	r.tag("h2", "What is missing")
	r.list(r.plan.needs)
}

// flag is an option or a variable that a person types.
var flag = regexp.MustCompile(`--[a-z]+|\b[A-Z]+(?:_[A-Z]+)+\b`)

var (
	// rightToLeft is a run of words that are written from right to left.
	rightToLeft = regexp.MustCompile(`[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}](?:[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}\p{Mn} ]*[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}\p{Mn}])?`)
	leftToRight = regexp.MustCompile(`[A-Za-z]{2}`)
)

// prose escapes a sentence. Names of another direction stand apart in it, so that they
// do not turn the sentence around.
func prose(text string) string {
	text = html.EscapeString(text)
	if leftToRight.MatchString(text) {
		text = rightToLeft.ReplaceAllString(text, "<bdi>$0</bdi>")
	}
	return text
}

func (r *report) tag(name, text string) {
	text = prose(text)
	if name != "h1" {
		text = flag.ReplaceAllString(text, `<code class="flag">$0</code>`)
	}
	fmt.Fprintf(&r.b, "<%s>%s</%s>\n", name, text, name)
}

func (r *report) list(items []string) {
	r.b.WriteString("<ul>\n")
	for _, i := range items {
		r.tag("li", i)
	}
	r.b.WriteString("</ul>\n")
}

func (r *report) lead() string {
	var parts []string
	stated := slices.ContainsFunc(r.m.Sources, func(s origin) bool { return s.Path == theTask })
	if stated && len(r.m.Sources) == 1 {
		return "This report shows what the task itself states; no other source was read. " + Note
	}
	if n := len(r.m.Tables); n > 0 {
		parts = append(parts, count(n, "table"))
	}
	if n := len(r.m.Passages); n > 0 {
		parts = append(parts, count(n, "text"))
	}
	relations := 0
	for _, s := range r.m.Structures {
		if s.Relations {
			relations++
		}
	}
	if relations > 0 {
		parts = append(parts, count(relations, "table")+" of relations")
	}
	if len(parts) == 0 && len(r.m.NotRead) > 0 {
		return "No source could be read, so this report has no findings and states no facts about its subject. " + Note
	}
	if len(parts) == 0 {
		return "No source with findings was given to this research, so this report has no findings and states no facts about its subject. " + Note
	}
	return fmt.Sprintf("This report reads %s. %s", enumerate(parts), Note)
}

// enumerate joins parts of a sentence: a, b and c.
func enumerate(parts []string) string {
	if len(parts) < 3 {
		return strings.Join(parts, " and ")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// keyFindings takes the strongest sentence of each table, then a second one.
func (r *report) keyFindings(most int) []string {
	var out []string
	for round := range 2 {
		for _, t := range r.m.Tables {
			if facts := insights(t.Table); round < len(facts) && len(out) < most {
				out = append(out, facts[round])
			}
		}
	}
	for _, p := range r.m.Passages {
		if len(out) < most && len(r.m.Tables) == 0 {
			for _, s := range p.Sentences[:min(2, len(p.Sentences))] {
				out = append(out, s.Text)
			}
		}
	}
	return out[:min(most, len(out))]
}

func (r *report) tableSection(file string, t *table) {
	r.tag("h2", heading(file, t))
	facts := insights(t)
	if len(facts) == 0 {
		facts = []string{"The table holds no numbers that could be compared."}
	}
	r.tag("p", strings.Join(facts[:min(3, len(facts))], " "))
	if len(facts) > 3 {
		r.tag("p", strings.Join(facts[3:], " "))
	}
	for _, f := range r.of(chartAction) {
		if f.path == file {
			r.figure(f)
		}
	}
	if s := t.shares(); len(s) > 1 && len(s) <= 12 && t.additive() {
		r.shareTable(t, s)
	}
	kind := ""
	if t.Bucket != "" {
		kind = fmt.Sprintf("; long series are shown by their %s over %s", t.Aggregation, t.Bucket)
	}
	if file == theTask {
		return
	}
	fmt.Fprintf(&r.b, "<p><small>%s has %s and %s%s.</small></p>\n", prose(file),
		count(len(t.Columns), "column"), count(int(t.RowCount), "row"), html.EscapeString(kind))
}

func (r *report) shareTable(t *table, s []total) {
	fmt.Fprintf(&r.b, "<table><thead><tr><th>%s</th><th>%s</th><th>Share</th></tr></thead><tbody>\n",
		html.EscapeString(title(t.GroupBy)), html.EscapeString(title(t.Measure)))
	for _, v := range s {
		fmt.Fprintf(&r.b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", html.EscapeString(v.Group), number(v.Value), percent(v.Share))
	}
	r.b.WriteString("</tbody></table>\n")
}

// figure embeds a made picture by its placeholder.
func (r *report) figure(f figure) {
	alt := describe(f.made.Outputs)
	if alt == "" {
		alt = f.caption
	}
	for _, i := range images(f.made.Outputs) {
		r.figures++
		fmt.Fprintf(&r.b, "<figure><img src=\"${media:%s}\" alt=\"%s\" title=\"%s\"><figcaption>Figure %d: %s %s</figcaption></figure>\n",
			i.Ref, html.EscapeString(alt), html.EscapeString(alt), r.figures, html.EscapeString(strings.TrimRight(f.caption, ".")+"."), html.EscapeString(f.note))
	}
}

// describe finds the text that an action gives about its picture.
func describe(outputs json.RawMessage) string {
	var tree map[string]any
	if json.Unmarshal(outputs, &tree) != nil {
		return ""
	}
	for k, v := range tree {
		if s, ok := v.(string); ok && strings.EqualFold(k, "description") {
			return s
		}
	}
	return ""
}

func (r *report) texts() {
	if len(r.m.Passages) == 0 {
		return
	}
	r.tag("h2", "What the texts say")
	for _, f := range r.of(cloudAction) {
		r.figure(f)
	}
	for _, p := range r.m.Passages {
		r.tag("h3", nameOf(p.Path, p.Title))
		if len(p.Sentences) == 0 {
			r.tag("p", "The file holds no full sentences.")
			continue
		}
		var text []string
		for _, s := range p.Sentences {
			text = append(text, s.Text)
		}
		fmt.Fprintf(&r.b, "<blockquote><p>%s</p><p><cite>%s</cite></p></blockquote>\n",
			html.EscapeString(strings.Join(text, " ")), linked(p.Path, ""))
	}
}

// nameOf is a text's title, else its file name in words.
func nameOf(file, known string) string {
	if known != "" {
		return known
	}
	return title(strings.TrimSuffix(path.Base(file), path.Ext(file)))
}

// linked writes a path, and the address of a page as a link.
func linked(path, title string) string {
	if !strings.HasPrefix(path, "https://") && !strings.HasPrefix(path, "http://") {
		return html.EscapeString(path)
	}
	if title == "" {
		title = strings.TrimPrefix(strings.TrimPrefix(path, "https://"), "http://")
	}
	return fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(path), html.EscapeString(clip(title, 120)))
}

func (r *report) sources() {
	r.tag("h2", "Sources")
	if len(r.m.Sources) > 0 {
		r.b.WriteString("<table><thead><tr><th>Source</th><th>Kind</th><th>Rows</th></tr></thead><tbody>\n")
		for _, s := range r.m.Sources {
			rows := ""
			if s.Rows > 0 {
				rows = number(s.Rows)
			}
			fmt.Fprintf(&r.b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", linked(s.Path, s.Title), html.EscapeString(s.Kind), rows)
		}
		r.b.WriteString("</tbody></table>\n")
	}
	var not []string
	for _, n := range r.m.NotRead {
		not = append(not, n.Path+": "+n.Reason)
	}
	if len(not) > 0 {
		r.tag("p", "Not read:")
		r.list(not)
	}
	if len(r.missing) > 0 {
		r.tag("p", "Not available to this research: "+strings.Join(r.missing, ", ")+".")
	}
}

// failures names the figures that could not be made.
func (r *report) failures() {
	var bad []string
	for _, f := range r.plan.figures {
		switch {
		case f.made == nil:
			bad = append(bad, f.call.Name+": there was no answer.")
		case !f.made.Success:
			bad = append(bad, f.made.Name+": "+f.made.Message)
		}
	}
	if r.composed != nil && !r.composed.Success {
		bad = append(bad, "Infographic: "+r.composed.Message)
	}
	if len(bad) > 0 {
		r.tag("p", "Some figures could not be made:")
		r.list(bad)
	}
}
