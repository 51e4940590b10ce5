package offline

import (
	"fmt"
	"html"
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
