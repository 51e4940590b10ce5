package offline

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// infographicAgent is the sub-agent that a writer may ask; brief is the payload key
// that its material is handed down in.
const (
	infographicAgent  = "infographic-agent"
	infographicAction = "Create SVG Infographic"
	brief             = "brief"
)

// compose asks for the infographic that the task names, where there is something to
// show and someone to draw it.
func (c *conversation) compose(p *plan, o order, m material, cs []chart) {
	if o.infographic == nil {
		return
	}
	b := briefFor(o, m, cs)
	switch {
	case b == nil:
		p.needs = append(p.needs, fmt.Sprintf("The %s needs findings, and there are none: %s.", o.infographic.name(), c.ways()))
	case slices.ContainsFunc(c.agents, func(a callee) bool { return a.Slug == infographicAgent }):
		p.brief, p.agents = b, []agentCall{{Name: infographicAgent, Task: c.task}}
	case c.can(infographicAction):
		p.figures = append(p.figures, figure{call: actionCall{infographicAction, b}, caption: fmt.Sprint(b["Title"]), note: "Source: the material of this report."})
	default:
		p.needs = append(p.needs, "The infographic needs the Infographic Agent, which this agent cannot ask.")
	}
}

// writesItself tells a writer, whose only sub-agents compose drawings for it, from an
// agent that leaves the work to others.
func (c *conversation) writesItself() bool {
	for _, a := range c.agents {
		if !strings.Contains(a.Slug, "infographic") {
			return false
		}
	}
	return c.can(chartAction)
}

// briefFor gathers what an infographic shows: the largest values as figures, the facts
// of each table, sentences of the texts, the first charts, and where the subject has a
// usual frame, the questions of that frame. It is nil if there is nothing.
func briefFor(o order, m material, planned []chart) map[string]any {
	var figures, sections []any
	var files []string
	for _, t := range m.Tables[:min(len(m.Tables), 4)] {
		files = append(files, t.Path)
		figures = append(figures, keyFigures(t.Table)...)
		if facts := insights(t.Table); len(facts) > 0 {
			sections = append(sections, map[string]any{"heading": heading(t.Path, t.Table), "items": facts[:min(3, len(facts))]})
		}
	}
	for _, c := range planned[:min(len(planned), 2)] {
		sections = append(sections, map[string]any{"chart": c.params})
	}
	for _, p := range m.Passages[:min(len(m.Passages), 3)] {
		if len(p.Sentences) > 0 && len(sections) < 6 {
			files = append(files, p.Path)
			sections = append(sections, map[string]any{"heading": nameOf(p.Path, p.Title), "text": clip(p.Sentences[0].Text, 220)})
		}
	}
	title := o.title
	if o.infographic != nil && o.infographic.about != "" {
		title = capital(o.infographic.about)
	}
	out := map[string]any{}
	if f, fits := frameOf(title); fits {
		sections = append(sections, f.sections()...)
		out["Subtitle"] = f.says
	}
	if len(figures)+len(sections) == 0 {
		return nil
	}
	if title == "" {
		title = "The findings at a glance"
	}
	out["Title"], out["Figures"], out["Sections"] = title, figures[:min(len(figures), 4)], sections
	if len(files) > 0 {
		out["Source"] = strings.Join(files, ", ")
	}
	return out
}

// keyFigures are the largest values of a table: shares of what adds up, otherwise the
// leading names.
func keyFigures(t *table) []any {
	if s := t.shares(); len(s) > 1 && t.additive() {
		return []any{map[string]any{"value": percent(s[0].Share), "label": title(s[0].Group) + ", share of " + human(t.Measure)}}
	}
	parts, _ := t.split()
	if t.temporal() || len(parts) == 0 {
		return nil
	}
	l := parts[0]
	points := slices.DeleteFunc(slices.Clone(l.Points), func(p point) bool { return p.Y == nil || leftOver(p.X) })
	slices.SortStableFunc(points, func(a, b point) int {
		switch {
		case *a.Y > *b.Y:
			return -1
		case *a.Y < *b.Y:
			return 1
		}
		return 0
	})
	var out []any
	for _, p := range points[:min(3, len(points))] {
		out = append(out, map[string]any{"value": with(*p.Y, t.unit(l)), "label": p.X + ", " + lower(human(l.Name))})
	}
	return out
}

// frame is a usual way to look at a subject. It asks and claims nothing, so it can be
// shown without data.
type frame struct {
	says  string
	parts [][3]string // heading, icon, question
}

var (
	ecosystemWord = regexp.MustCompile(`(?i)\becosystem\b`)
	natureWord    = regexp.MustCompile(`(?i)\b(?:marine|forest|natural|coastal|river|ocean|aquatic|wetland|desert|biological)\b`)
	chainWord     = regexp.MustCompile(`(?i)\b(?:value|supply) chain\b`)
	swotWord      = regexp.MustCompile(`(?i)\bswot\b`)
)

// frameOf finds the frame of a subject.
func frameOf(subject string) (frame, bool) {
	const says = "The roles to look at, with the question that each of them asks. Where no source is named, nothing is claimed."
	switch {
	case ecosystemWord.MatchString(subject) && !natureWord.MatchString(subject):
		return frame{says, [][3]string{
			{"Suppliers", "ship", "Who delivers materials, parts and services, and how dependent is the industry on them?"},
			{"Makers", "factory", "Who makes the product, and with which share of the market?"},
			{"Channels", "cart", "How does the product reach those who buy it?"},
			{"Customers", "people", "Who buys, what for, and what would make them change?"},
			{"Complements", "gear", "Which other products and services make this one worth more?"},
			{"Rules and money", "shield", "Who sets the rules, and who pays for growth?"},
		}}, true
	case chainWord.MatchString(subject):
		return frame{says, [][3]string{
			{"Inputs", "leaf", "What goes in, and where does it come from?"},
			{"Making", "factory", "Where is value added, and at which cost?"},
			{"Moving", "ship", "How does it travel, and where does it wait?"},
			{"Selling", "cart", "Who sells it, to whom, at which margin?"},
			{"Using and returning", "recycle", "What happens during and after use?"},
		}}, true
	case swotWord.MatchString(subject):
		return frame{says, [][3]string{
			{"Strengths", "star", "What is done better than by others?"},
			{"Weaknesses", "warning", "What is missing or done worse?"},
			{"Opportunities", "up", "Which change outside would help?"},
			{"Threats", "shield", "Which change outside would hurt?"},
		}}, true
	}
	return frame{}, false
}

func (f frame) sections() []any {
	var out []any
	for _, p := range f.parts {
		out = append(out, map[string]any{"heading": p[0], "icon": p[1], "text": p[2]})
	}
	return out
}

// infographic is the rule book of an agent that composes infographics: it draws what
// the brief says, or what its task spells out, once, and hands the result back.
func infographic(c *conversation) step {
	if len(c.results) > 0 {
		return handBack(c)
	}
	params, given := c.input[brief].(map[string]any)
	s := step{Reasoning: "Compose one infographic of the brief."}
	if !given {
		o := readOrder(c.task)
		m := gather(c.input, c.task)
		var p plan
		c.draw(&p, o, m)
		for _, f := range p.figures {
			s.Actions = append(s.Actions, f.call)
		}
		if len(s.Actions) > 0 && o.infographic == nil {
			s.Reasoning = "Draw what the task names."
			return s
		}
		cs, _ := m.chosen(o, c.ways())
		params = briefFor(o, m, cs)
	}
	if figures, sections := params["Figures"], params["Sections"]; empty(figures) && empty(sections) {
		return step{Reasoning: "There is nothing to show.", Done: true, Message: "There were no figures for an infographic. Write them into the task, such as “Infographic: wind 40 %, solar 35 %, water 25 %”. " + Note}
	}
	s.Actions = append(s.Actions, actionCall{Name: infographicAction, Params: params})
	return s
}

// handBack gives the agent above what was drawn.
func handBack(c *conversation) step {
	s := step{Reasoning: "The drawing is made.", Done: true}
	var said []string
	for _, r := range c.results {
		for _, e := range r.Errors {
			said = append(said, e.Message)
		}
		for _, a := range r.Actions {
			said = append(said, a.Message)
			for _, i := range images(a.Outputs) {
				s.Promote = append(s.Promote, promotion{Ref: i.Ref, Label: i.Label})
				s.Payload = map[string]any{"title": i.Label, "figure": "${media:" + i.Ref + "}", "alt": describe(a.Outputs)}
			}
		}
	}
	s.Message = strings.Join(said, " ")
	return s
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
	name := "The findings at a glance"
	if len(r.m.Tables)+len(r.m.Passages) == 0 {
		name = "The questions to answer"
	}
	if t, _ := r.plan.brief["Title"].(string); t != "" {
		name = t + ": " + lower(name)
	}
	r.figures++
	fmt.Fprintf(&r.b, "<figure><img src=\"${media:%s}\" alt=\"%s\" title=\"%s\"><figcaption>Figure %d: %s.</figcaption></figure>\n",
		i.Ref, html.EscapeString(alt), html.EscapeString(alt), r.figures, html.EscapeString(name))
}
