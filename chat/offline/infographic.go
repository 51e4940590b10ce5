package offline

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// infographicAgent is the sub-agent that a writer may ask; brief is the payload key
// that its material is handed down in.
const (
	infographicAgent  = "infographic-agent"
	infographicAction = "Create SVG Infographic"
	brief             = "brief"
)

// aside is the part of a headline that speaks of the drawing, not of the subject.
var aside = regexp.MustCompile(`(?i)(?:^(?:with )?an infographic(?: (?:of|on|about|and a report on))?:? *|,? *\b(?:with|including|and)\b[^,]*\binfographics?\b.*$)`)

var infographicWord = regexp.MustCompile(`(?i)\binfographics?\b`)

// wantsInfographic tells whether the task asks for one, the writer can get one, and
// there is something to show.
func (c *conversation) wantsInfographic(m material) bool {
	if !infographicWord.MatchString(c.task) || len(m.Tables) == 0 {
		return false
	}
	for _, a := range c.agents {
		if a.Slug == infographicAgent {
			return true
		}
	}
	return false
}

// writesItself tells a writer, whose only sub-agents compose drawings for it, from an
// agent that leaves the work to others.
func (c *conversation) writesItself() bool {
	for _, a := range c.agents {
		if !strings.Contains(a.Slug, "infographic") {
			return false
		}
	}
	return c.can("Create SVG Chart")
}

// briefFor gathers what an infographic of the material shows: the largest shares as
// figures, the facts of each table, and the first charts.
func briefFor(task string, m material, planned []chart) map[string]any {
	var figures, sections []any
	var files []string
	for _, t := range m.Tables[:min(len(m.Tables), 4)] {
		files = append(files, t.Path)
		if s := t.Table.shares(); len(s) > 1 && t.Table.additive() {
			figures = append(figures, map[string]any{"value": percent(s[0].Share), "label": title(s[0].Group) + ", share of " + human(t.Table.Measure)})
		}
		if facts := insights(t.Table); len(facts) > 0 {
			sections = append(sections, map[string]any{"heading": heading(t.Path, t.Table), "items": facts[:min(3, len(facts))]})
		}
	}
	for _, c := range planned[:min(len(planned), 4)] {
		sections = append(sections, map[string]any{"chart": c.params})
	}
	subject := title(strings.TrimSpace(aside.ReplaceAllString(headline(task), "")))
	if subject == "" {
		subject = "The findings at a glance"
	}
	return map[string]any{"Title": subject, "Figures": figures, "Sections": sections, "Source": strings.Join(files, ", ")}
}

// infographic is the rule book of an agent that composes infographics: it draws what
// the brief says, once, and hands the result back.
func infographic(c *conversation) step {
	made := c.did(infographicAction)
	if len(made) > 0 {
		a := made[len(made)-1]
		s := step{Reasoning: "The infographic is drawn.", Done: true, Message: a.Message}
		for _, i := range images(a.Outputs) {
			s.Promote = append(s.Promote, promotion{Ref: i.Ref, Label: i.Label})
			s.Payload = map[string]any{"title": i.Label, "figure": "${media:" + i.Ref + "}", "alt": describe(a.Outputs)}
		}
		return s
	}
	params, ok := c.input[brief].(map[string]any)
	if !ok {
		m := gather(c.input)
		m.rank(c.task)
		params = briefFor(c.task, m, m.charts())
	}
	if figures, sections := params["Figures"], params["Sections"]; empty(figures) && empty(sections) {
		return step{Reasoning: "There is nothing to show.", Done: true, Message: "There were no figures for an infographic. " + Note}
	}
	return step{Reasoning: "Compose one infographic of the brief.", Actions: []actionCall{{Name: infographicAction, Params: params}}}
}

func empty(v any) bool {
	list, ok := v.([]any)
	return v == nil || ok && len(list) == 0
}

// infographic embeds what the sub-agent made; one that failed is told of at the end.
func (r *report) infographic() {
	if r.composed == nil || !r.composed.Success || len(r.composed.Media) == 0 {
		return
	}
	i := r.composed.Media[0]
	alt, _ := r.composed.Payload["alt"].(string)
	if alt == "" {
		alt = i.Label
	}
	r.figures++
	fmt.Fprintf(&r.b, "<figure><img src=\"${media:%s}\" alt=\"%s\" title=\"%s\"><figcaption>Figure %d: The findings at a glance.</figcaption></figure>\n",
		i.Ref, html.EscapeString(alt), html.EscapeString(alt), r.figures)
}
