package offline

import (
	"cmp"
	"strings"

	"atelier/chat/offline/question/speech"
)

// infographicAgent is the sub-agent that a writer may call; brief is the payload key that its material is passed under.
const (
	infographicAgent  = "infographic-agent"
	infographicAction = "Create SVG Infographic"
	brief             = "brief"
)

// briefing returns what an infographic shows: the statements of the answers, and their
// charts. It returns nil if there is nothing.
func (d *draft) briefing() map[string]any {
	var sections []any
	var files []string
	for _, a := range d.found.Answers[:min(len(d.found.Answers), 4)] {
		files = append(files, a.Paths...)
		sections = append(sections, map[string]any{"heading": speech.Upper(a.Heading), "text": a.Sentences[0]})
		if a.Chart != nil {
			sections = append(sections, map[string]any{"chart": d.chart(a).call.Params})
		}
	}
	for _, q := range d.found.Quotes[:min(len(d.found.Quotes), 3)] {
		files = append(files, q.Path)
		sections = append(sections, map[string]any{"heading": speech.Upper(q.Part), "text": clip(q.Text, 220)})
	}
	if len(sections) == 0 {
		return nil
	}
	return map[string]any{"Title": d.label(), "Figures": []any{}, "Sections": sections, "Source": strings.Join(files, ", "), "Language": string(d.w.Language)}
}

// maxLabel is the maximum length of the name of an infographic, in bytes.
const maxLabel = 100

// label returns what an infographic shows: the headings of the answers, as many as fit completely.
func (d *draft) label() string {
	var out string
	for _, a := range d.found.Answers {
		next := out
		if out != "" {
			next += "; "
		}
		if next += speech.Upper(a.Heading); len(next) > maxLabel {
			break
		}
		out = next
	}
	return cmp.Or(out, strings.TrimSuffix(headline(d.task), "?")) + d.w.Say(" at a glance", " auf einen Blick")
}

// infographic returns the next step of an agent that composes infographics: it draws the
// brief, or the values that its task states, once, and hands back the result.
func infographic(c *conversation) step {
	if len(c.results) > 0 {
		return handBack(c)
	}
	params, given := c.input[brief].(map[string]any)
	if !given {
		d := &draft{task: c.task, w: wordsFor(c.task), order: readOrder(c.task), found: gather(c.input)}
		if a, ok := stated(c.task); ok && len(d.found.Answers) == 0 {
			d.found.Answers = []finding{a}
		}
		params = d.briefing()
	}
	if params == nil {
		return step{Reasoning: "There is nothing to show.", Done: true, Message: "There were no figures for an infographic. Write them into the task, such as “Infographic: wind 40 %, solar 35 %, water 25 %”. " + Note}
	}
	return step{Reasoning: "Compose one infographic of the brief.", Actions: []actionCall{{Name: infographicAction, Params: params}}}
}

func handBack(c *conversation) step {
	s := step{Reasoning: "The drawing is made.", Done: true}
	var messages []string
	for _, r := range c.results {
		for _, e := range r.Errors {
			messages = append(messages, e.Message)
		}
		for _, a := range r.Actions {
			messages = append(messages, a.Message)
			for _, i := range images(a.Outputs) {
				s.Promote = append(s.Promote, promotion{Ref: i.Ref, Label: i.Label})
				s.Payload = map[string]any{"title": i.Label, "figure": "${media:" + i.Ref + "}", "alt": describe(a.Outputs)}
			}
		}
	}
	s.Message = strings.Join(messages, " ")
	return s
}

// infographic embeds what the sub-agent made; a failed one is reported at the end.
func (d *draft) infographic(p *page) {
	if d.composed == nil || !d.composed.Success || len(d.composed.Media) == 0 {
		return
	}
	i := d.composed.Media[0]
	alt, _ := d.composed.Payload["alt"].(string)
	p.embed(d, i.Ref, cmp.Or(alt, i.Label), d.w.infographic()+": "+d.label())
}
