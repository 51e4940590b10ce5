package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier/chat/offline/question/passage"
	"atelier/chat/offline/question/speech"
)

// figure is one picture of a report: the request and its result.
type figure struct {
	call       actionCall
	caption    string
	part       string // the part whose answer it shows
	callResult *actionResult
}

const (
	// maxPictures limits the illustrations of one report, because other models charge for them.
	maxPictures = 6
	// maxCharts limits the charts of one report.
	maxCharts = 8
	// illustration is the prefix of an illustration's caption.
	illustration = "Illustration: "
)

// draft is a report in progress.
type draft struct {
	task     string
	w        wording
	order    order
	found    findings
	figures  []figure
	gaps     []string
	brief    map[string]any
	composed *agentResult
	missing  []string
}

// write returns the next step of a report's writer: first the figures, then the report.
func write(c *conversation) step {
	d := c.draft()
	if len(c.results) == 0 {
		s := step{Reasoning: "Make the figures of the report."}
		for _, f := range d.figures {
			s.Actions = append(s.Actions, f.call)
		}
		if d.brief != nil && c.canCallAgent(infographicAgent) {
			s.Agents = []agentCall{{Name: infographicAgent, Task: c.task}}
			s.Payload = map[string]any{brief: d.brief}
		}
		if len(s.Actions)+len(s.Agents) > 0 {
			return s
		}
	}
	next := map[string]int{} // how many results of each action are taken
	for i := range d.figures {
		name := d.figures[i].call.Name
		if done := c.actionResults(name); next[name] < len(done) {
			d.figures[i].callResult = &done[next[name]]
			next[name]++
		}
	}
	if a, ok := c.resultOf(infographicAgent); ok {
		d.composed = &a
	}
	return step{
		Reasoning: "The figures are there; the report is written.", Done: true, Message: d.message(), Promote: d.shown(), warnings: append(d.gaps, d.failed()...),
		Payload: map[string]any{"title": headline(c.task), "summary": d.message(), "report_html": d.report()},
	}
}

func (d *draft) shown() []promotion {
	var out []promotion
	for _, f := range d.figures {
		if f.callResult == nil || !f.callResult.Success || f.call.Name != paintAction {
			continue
		}
		for _, i := range images(f.callResult.Outputs) {
			out = append(out, promotion{Ref: i.Ref, Label: clip(strings.TrimPrefix(f.caption, illustration), 80)})
		}
	}
	return out
}

func (c *conversation) canCallAgent(slug string) bool {
	return slices.ContainsFunc(c.agents, func(a callee) bool { return a.Slug == slug })
}

// writesItself reports whether the agent writes the report itself instead of delegating it:
// its only sub-agents compose infographics, and it can draw charts.
func (c *conversation) writesItself() bool {
	return c.canCall(chartAction) && !slices.ContainsFunc(c.agents, func(a callee) bool { return !strings.Contains(a.Slug, "infographic") })
}

// draft plans the report from the task and the input that was passed down.
func (c *conversation) draft() *draft {
	d := &draft{task: c.task, w: wordsFor(c.task), order: readOrder(c.task), found: gather(c.input)}
	d.missing = d.w.unconfigured(c.sources)
	if len(d.found.Answers)+len(d.found.Quotes) == 0 {
		if a, ok := stated(c.task); ok {
			d.found.Answers, d.found.UnansweredParts = []finding{a}, nil
		}
	}
	if d.order.infographic {
		d.brief = d.briefing()
	}
	charts := 0
	for _, a := range d.found.Answers {
		if a.Chart == nil {
			continue
		}
		if charts++; !d.order.plain && c.canCall(chartAction) && len(d.figures) < maxCharts {
			d.figures = append(d.figures, d.chart(a))
		}
	}
	gap := func(text string) { d.gaps = append(d.gaps, text) } // a visual that the task asks for and does not get
	switch {
	case d.order.plain:
	case len(d.figures) == 0 && (d.order.charted || d.order.chart != ""):
		gap(d.w.Say("The chart is left out: no answer has several values to draw.", "Das Diagramm fehlt: Keine Antwort hat mehrere Werte, die sich zeichnen lassen."))
	case charts > maxCharts:
		gap(fmt.Sprintf(d.w.Say("%d charts are the most of one report.", "Mehr als %d Diagramme hat ein Bericht nicht."), maxCharts))
	}
	if d.order.chart != "" && !d.order.plain && len(d.figures) > 0 && asKind(d.order.chart) == "" {
		drawn, _ := d.figures[0].call.Params["ChartType"].(string)
		gap(fmt.Sprintf(d.w.Say("Offline, a %s is not drawn; the values are drawn as a %s.", "Offline nicht gezeichnet wird: %s; die Werte zeigt ein %s."), d.w.chartName(d.order.chart), d.w.chartName(d.w.Say(drawn, map[string]string{"line": "linien", "bar": "balken"}[drawn]))))
	}
	if d.order.infographic && (d.brief == nil || !c.canCallAgent(infographicAgent)) {
		gap(d.w.Say("The infographic is left out: there is no answer to show.", "Die Infografik fehlt: Es gibt keine Antwort, die sie zeigen könnte."))
	}
	if d.order.pictures > 0 && !c.canCall(paintAction) {
		gap(fmt.Sprintf(d.w.notDrawn(), strings.TrimSuffix(strings.ToLower(illustration), ": ")))
	}
	if len(d.order.unsupported) > 0 {
		gap(fmt.Sprintf(d.w.notDrawn(), strings.Join(d.order.unsupported, ", ")))
	}
	d.illustrate(c)
	return d
}

// asKind returns the kind of chart that a task names, or "" if it is not drawn.
func asKind(named string) string {
	switch named {
	case "line", "linien":
		return "line"
	case "bar", "column", "balken", "säulen":
		return "bar"
	}
	return ""
}

// chart returns the figure that requests the chart of exactly one result.
func (d *draft) chart(a finding) figure {
	c := a.Chart
	kind := cmp.Or(asKind(d.order.chart), c.Kind)
	var series []any
	for _, s := range c.Series {
		series = append(series, map[string]any{"name": s.Name, "values": s.Values})
	}
	p := map[string]any{"ChartType": kind, "Title": c.Title, "Labels": c.Labels, "Series": series, "Source": strings.Join(a.Paths, ", "), "Language": string(d.w.Language)}
	for k, v := range map[string]string{"Unit": c.Unit, "XLabel": c.XLabel, "YLabel": c.YLabel} {
		if v != "" {
			p[k] = v
		}
	}
	return figure{call: actionCall{chartAction, p}, caption: c.Title + " (" + strings.Join(a.Paths, ", ") + ")", part: a.Part}
}

// illustrate requests the pictures that the task asks for, if they can be painted.
func (d *draft) illustrate(c *conversation) {
	if d.order.pictures == 0 || !c.canCall(paintAction) {
		return
	}
	scene := cmp.Or(d.order.scene, strings.TrimRight(headline(c.task), "?"))
	if c.painter != nil {
		if unknown := c.painter.UnknownWords(scene); len(unknown) > 0 {
			d.gaps = append(d.gaps, fmt.Sprintf(d.w.Say("The illustration is left out: the offline painter does not draw %s.", "Die Illustration fehlt: Der Offline-Maler zeichnet das nicht: %s."), strings.Join(unknown, ", ")))
			return
		}
	}
	if d.order.pictures > maxPictures {
		d.gaps = append(d.gaps, fmt.Sprintf(d.w.Say("%d pictures are the most of one report.", "Mehr als %d Bilder hat ein Bericht nicht."), maxPictures))
	}
	// views are how the illustrations of one scene differ.
	views := [maxPictures]struct{ light, english, german string }{
		{"Low morning sun", "in the morning", "am Morgen"},
		{"Warm evening light", "in the evening", "am Abend"},
		{"Bright daylight", "by day", "bei Tag"},
		{"Blue hour", "at dusk", "in der Dämmerung"},
		{"Mist", "in mist", "im Nebel"},
		{"Early light with long shadows", "in early light", "im ersten Licht"},
	}
	n := min(d.order.pictures, maxPictures)
	for _, v := range views[:n] {
		caption := illustration + scene
		if n > 1 {
			caption += " " + d.w.Say(v.english, v.german)
		}
		d.figures = append(d.figures, figure{
			call:    actionCall{paintAction, map[string]any{"Prompt": speech.Upper(strings.TrimRight(scene, ".?!")) + ". " + v.light + ".", "Size": "1536x1024"}},
			caption: caption,
		})
	}
}

// message returns the answer: first what is answered, then what is not.
func (d *draft) message() string {
	if len(d.found.Answers)+len(d.found.Quotes) == 0 {
		text := refusal(d.task, &d.found)
		if len(d.found.UnansweredParts) > 0 {
			text += " " + speech.Upper(d.w.why(d.found.UnansweredParts[0])) + "."
		}
		return strings.Join(append([]string{text}, d.gaps...), " ")
	}
	var sentences []string
	for _, a := range d.found.Answers {
		sentences = append(sentences, a.sentence())
		if len(d.found.Answers) == 1 {
			sentences = append(sentences, a.Sentences[1:]...)
		}
	}
	for _, q := range d.found.Quotes {
		sentences = append(sentences, d.quote(q.Quote))
	}
	for _, o := range d.found.UnansweredParts {
		sentences = append(sentences, fmt.Sprintf("%s: “%s” (%s).", d.w.refusal(), o.Part, d.w.why(o)))
	}
	return strings.Join(append(sentences, d.gaps...), " ")
}

func (d *draft) quote(q passage.Quote) string {
	return fmt.Sprintf(d.w.Say("%s says: “%s”", "%s sagt: „%s“"), q.Path, strings.TrimSpace(q.Text))
}

// describe returns the description of a picture from the outputs of its action.
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
