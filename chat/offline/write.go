package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// material is what the researchers found, as a writer gets it.
type material struct {
	Tables   []profiled `json:"tables"`
	Passages []struct {
		Path      string     `json:"path"`
		Title     string     `json:"title"`
		Sentences []sentence `json:"sentences"`
		Truncated bool       `json:"truncated"`
	} `json:"passages"`
	Sources []origin `json:"sources"`
	NotRead []struct {
		Path   string `json:"path"`
		Reason string `json:"reason"`
	} `json:"not_read"`
	// Structures and Words are gathered only where the task wants them drawn.
	Structures []structure        `json:"structures"`
	Words      map[string]float64 `json:"words"`
}

// profiled is a table with the file, query or page that it is from.
type profiled struct {
	Path  string `json:"path"`
	Table *table `json:"table"`
}

// origin is one source that was read.
type origin struct {
	Path  string  `json:"path"`
	Title string  `json:"title"`
	Kind  string  `json:"kind"`
	Rows  float64 `json:"rows"`
}

// gather finds the findings in whatever was handed down, at any depth, and adds what
// the task itself states, most fitting first.
func gather(input map[string]any, task string) material {
	var m material
	var walk func(v any)
	walk = func(v any) {
		t, ok := v.(map[string]any)
		if !ok {
			return
		}
		if t["tables"] != nil || t["passages"] != nil || t["sources"] != nil || t["not_read"] != nil {
			var one material
			b, err := json.Marshal(t)
			// Findings of another shape are not ours to read.
			if err == nil && json.Unmarshal(b, &one) == nil {
				m.add(one)
				return
			}
		}
		for _, k := range sortedKeys(t) {
			walk(t[k])
		}
	}
	walk(input)
	m.rank(task)
	m.state(task)
	return m
}

func (m *material) add(one material) {
	m.Tables = append(m.Tables, one.Tables...)
	m.Passages = append(m.Passages, one.Passages...)
	m.Sources = append(m.Sources, one.Sources...)
	m.NotRead = append(m.NotRead, one.NotRead...)
	m.Structures = append(m.Structures, one.Structures...)
	for w, n := range one.Words {
		if m.Words == nil {
			m.Words = map[string]float64{}
		}
		m.Words[w] += n
	}
}

// state adds the numbers and the structure that the task spells out.
func (m *material) state(task string) {
	t, numbers := stated(task)
	if numbers {
		m.Tables = append([]profiled{{Path: theTask, Table: t}}, m.Tables...)
	}
	s, parts := given(task)
	if parts {
		m.Structures = append([]structure{s}, m.Structures...)
	}
	if numbers || parts {
		m.Sources = append([]origin{{Path: theTask, Kind: "stated by the person who asked"}}, m.Sources...)
	}
}

// rank puts the tables first that the task speaks of.
func (m *material) rank(task string) {
	m.Tables = slices.DeleteFunc(m.Tables, func(t profiled) bool { return t.Table == nil })
	want := words(task)
	sort.SliceStable(m.Tables, func(i, j int) bool {
		return m.Tables[i].speaksOf(want) > m.Tables[j].speaksOf(want)
	})
}

// speaksOf counts the words that name something in the table.
func (t profiled) speaksOf(want []string) int {
	text := t.Path + " " + t.Table.Name + " " + t.Table.Measure + " " + t.Table.GroupBy
	for _, l := range t.Table.Series {
		text += " " + l.Name
	}
	n := 0
	for _, w := range unique(words(human(text))) {
		if slices.Contains(want, w) {
			n++
		}
	}
	return n
}

// write plans a report: first all figures at once, then the text.
func write(c *conversation) step {
	o := readOrder(c.task)
	m := gather(c.input, c.task)
	p := c.plan(o, m)
	if len(c.results) == 0 && len(p.figures)+len(p.agents) > 0 {
		s := step{Reasoning: fmt.Sprintf("Make %s that the task asks for and the findings allow.", count(len(p.figures)+len(p.agents), "figure")), Agents: p.agents}
		if p.brief != nil {
			s.Payload = map[string]any{brief: p.brief}
		}
		for _, f := range p.figures {
			s.Actions = append(s.Actions, f.call)
		}
		return s
	}
	p.match(c)
	r := report{order: o, m: m, plan: p, missing: unconfigured(c.sources)}
	if made, ok := c.asked(infographicAgent); ok {
		r.composed = &made
	}
	html, heading, summary := r.html()
	return step{
		Reasoning: "The figures are made; the report is written.", Done: true, Message: summary, Promote: p.promotions(),
		Payload: map[string]any{"title": heading, "summary": summary, "report_html": html},
	}
}

// plan is what a report shows and what it cannot show.
type plan struct {
	figures []figure
	agents  []agentCall
	brief   map[string]any
	// needs says of each wish that cannot be met what is missing.
	needs []string
}

// figure is one call that makes something to look at, and what became of it.
type figure struct {
	call          actionCall
	path          string // of the table or text that it shows
	caption, note string
	made          *actionResult
}

// plan decides on the figures of a report.
func (c *conversation) plan(o order, m material) plan {
	var p plan
	if !o.plain {
		cs, needs := m.chosen(o, c.ways())
		p.needs = append(p.needs, needs...)
		for _, ch := range cs {
			if c.can(chartAction) {
				p.figures = append(p.figures, figure{call: actionCall{chartAction, ch.params}, path: ch.path, caption: fmt.Sprint(ch.params["Title"]), note: "Data: " + ch.path + "."})
			}
		}
		c.compose(&p, o, m, cs)
	}
	c.draw(&p, o, m)
	if c.can(paintAction) && (o.asked || len(m.Tables)+len(m.Passages) > 0) {
		p.figures = append(p.figures, o.illustrations()...)
		if o.asked && o.pictures > mostPictures {
			p.needs = append(p.needs, fmt.Sprintf("The task asks for %d pictures: %d are the most of one report.", o.pictures, mostPictures))
		}
	} else if o.asked && o.pictures > 0 {
		p.needs = append(p.needs, "Pictures need the action "+paintAction+", which this agent does not have.")
	}
	if len(m.Tables)+len(m.Passages)+len(m.Structures) == 0 {
		p.needs = append(p.needs, "Findings need a source: "+c.ways()+".")
	}
	for _, b := range o.beyond {
		p.needs = append(p.needs, fmt.Sprintf("The task speaks of a %s: charts, drawings, infographics and pictures are all that can be made here.", b))
	}
	return p
}

// match gives each figure the result of its call; results of one action come in the
// order of its calls.
func (p *plan) match(c *conversation) {
	next := map[string]int{}
	for i := range p.figures {
		name := p.figures[i].call.Name
		if done := c.did(name); next[name] < len(done) {
			p.figures[i].made = &done[next[name]]
		}
		next[name]++
	}
}

// promotions label what was made as the report calls it.
func (p *plan) promotions() []promotion {
	var out []promotion
	for _, f := range p.figures {
		if f.made == nil || f.call.Name != paintAction {
			continue
		}
		for _, i := range images(f.made.Outputs) {
			out = append(out, promotion{Ref: i.Ref, Label: strings.TrimRight(f.caption, ".")})
		}
	}
	return out
}

// ways says how data gets to a report, in the words of the sources that are not there.
func (c *conversation) ways() string {
	var out []string
	for _, w := range []struct{ key, way string }{
		{"files", "a folder with a table (CSV or JSON) by --files"},
		{"db", "a database by --db"},
		{"kb", "documents by --kb"},
		{"web", "a key for web search"},
	} {
		if s, known := c.sources[w.key]; !known || !s.Configured {
			out = append(out, w.way)
		}
	}
	if len(out) == 0 {
		return "add them to a source that is there"
	}
	return "give " + strings.Join(out, ", ")
}
