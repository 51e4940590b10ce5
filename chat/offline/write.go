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
	Tables []struct {
		Path  string `json:"path"`
		Table *table `json:"table"`
	} `json:"tables"`
	Passages []struct {
		Path      string     `json:"path"`
		Title     string     `json:"title"`
		Sentences []sentence `json:"sentences"`
		Truncated bool       `json:"truncated"`
	} `json:"passages"`
	Sources []struct {
		Path  string  `json:"path"`
		Title string  `json:"title"`
		Kind  string  `json:"kind"`
		Rows  float64 `json:"rows"`
	} `json:"sources"`
	NotRead []struct {
		Path   string `json:"path"`
		Reason string `json:"reason"`
	} `json:"not_read"`
}

// gather finds the findings in whatever was handed down, at any depth.
func gather(input map[string]any) material {
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
				m.Tables = append(m.Tables, one.Tables...)
				m.Passages = append(m.Passages, one.Passages...)
				m.Sources = append(m.Sources, one.Sources...)
				m.NotRead = append(m.NotRead, one.NotRead...)
				return
			}
		}
		for _, k := range sortedKeys(t) {
			walk(t[k])
		}
	}
	walk(input)
	return m
}

// write plans a report: first all pictures and charts at once, then the text.
func write(c *conversation) step {
	m := gather(c.input)
	m.rank(c.task)
	planned := m.charts()
	paint := c.can("Generate Image")
	if len(c.did("Create SVG Chart"))+len(c.did("Generate Image")) == 0 && (len(planned) > 0 || paint) {
		s := step{Reasoning: fmt.Sprintf("Draw %s that fit the tables, and illustrate the subject.", count(len(planned), "chart"))}
		if c.wantsInfographic(m) {
			s.Payload = map[string]any{brief: briefFor(c.task, m, planned)}
			s.Agents = []agentCall{{Name: infographicAgent, Task: c.task}}
		}
		for _, p := range planned {
			s.Actions = append(s.Actions, actionCall{Name: "Create SVG Chart", Params: p.params})
		}
		if paint {
			s.Actions = append(s.Actions, illustrations(c.task)...)
		}
		return s
	}
	r := report{task: c.task, m: m, charts: planned, drawn: c.did("Create SVG Chart"), painted: c.did("Generate Image"), missing: unconfigured(c.sources)}
	if made, ok := c.asked(infographicAgent); ok {
		r.composed = &made
	}
	html, heading, summary := r.html()
	return step{
		Reasoning: "The figures are drawn; the report is written.", Done: true, Message: summary,
		Payload: map[string]any{"title": heading, "report_html": html},
	}
}

// rank puts the tables and texts first that the task speaks of.
func (m *material) rank(task string) {
	want := words(task)
	score := func(path string, t *table) int {
		text := path
		if t != nil {
			text += " " + t.Measure + " " + t.GroupBy
			for _, l := range t.Series {
				text += " " + l.Name
			}
		}
		n := 0
		for _, w := range unique(words(human(text))) {
			if slices.Contains(want, w) {
				n++
			}
		}
		return n
	}
	m.Tables = slices.DeleteFunc(m.Tables, func(e struct {
		Path  string `json:"path"`
		Table *table `json:"table"`
	},
	) bool {
		return e.Table == nil
	})
	sort.SliceStable(m.Tables, func(i, j int) bool {
		return score(m.Tables[i].Path, m.Tables[i].Table) > score(m.Tables[j].Path, m.Tables[j].Table)
	})
}

// charts chooses one chart a table first, then second ones while there is room.
func (m *material) charts() []chart {
	var first, more []chart
	for _, t := range m.Tables {
		cs := charts(t.Path, t.Table)
		if len(cs) > 0 {
			first, more = append(first, cs[0]), append(more, cs[1:]...)
		}
	}
	first = first[:min(len(first), mostCharts)]
	return append(first, more[:min(len(more), mostCharts-len(first))]...)
}

// illustrations asks for as many pictures as the task does, one if it does not say.
func illustrations(task string) []actionCall {
	what := task
	if s := ofWhat.FindStringSubmatch(task); s != nil {
		what = strings.TrimSpace(s[1])
	} else if h := headline(task); h != "" {
		what = h
	}
	views := []string{
		"wide view, soft morning light, calm and clear colours",
		"seen from above in warm evening light",
		"close view in bright daylight, strong simple shapes",
		"at dusk, deep blue and amber",
	}
	var out []actionCall
	for i := range min(pictures(task, 1), 6) {
		out = append(out, actionCall{Name: "Generate Image", Params: map[string]any{
			"Prompt": "Editorial illustration: " + what + "; " + views[i%len(views)],
			"Size":   "1536x1024",
		}})
	}
	return out
}

// headline makes a title of a task.
func headline(task string) string {
	t := strings.TrimSpace(task)
	if i := strings.IndexAny(t, "?!\n"); i > 0 {
		t = strings.TrimSpace(t[:i+1])
	} else if i := strings.Index(t, ". "); i > 0 {
		t = t[:i]
	}
	for _, about := range []string{" report about ", " report on ", " analysis of ", " research on ", " overview of "} {
		if _, after, ok := strings.Cut(strings.ToLower(t), about); ok {
			t = t[len(t)-len(after):]
			break
		}
	}
	return title(clip(strings.TrimRight(t, ".!"), 120))
}
