package offline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const fullWriter = `{"agent":"research-report-writer","actions":[{"name":"Create SVG Chart"},{"name":"Create SVG Diagram"},{"name":"Create SVG Network"},
{"name":"Create SVG Word Cloud"},{"name":"Create SVG Sketch Diagram"},{"name":"Create Mermaid Diagram"},{"name":"Generate Image"}],
"agents":[{"name":"Infographic Agent","slug":"infographic-agent"}],"sources":{"files":{"configured":true},"web":{"configured":false,"reason":"no key"}}}`

// calls writes the actions of a step down in short.
func calls(s step) string {
	var out []string
	for _, a := range s.Actions {
		kind, _ := a.Params["ChartType"].(string)
		out = append(out, strings.TrimSpace(a.Name+" "+kind))
	}
	for _, a := range s.Agents {
		out = append(out, a.Name)
	}
	return strings.Join(out, ", ")
}

func TestWriterMakesWhatTheTaskSpellsOut(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"A report with a bar chart of market share: A 40 %, B 35 %":                          "Create SVG Chart bar",
		"A report with a donut chart of market share: A 40 %, B 35 %":                        "Create SVG Chart donut",
		"A report with a pie chart and a bar chart of share: A 40 %, B 35 %":                 "Create SVG Chart pie, Create SVG Chart bar",
		"A report with a diagram of the process: plan -> build":                              "Create SVG Diagram",
		"A report with a network of friends: Ada -> Ben, Ben -> Cy":                          "Create SVG Network",
		"A report with a hand-drawn sketch of the steps: idea, plan, house":                  "Create SVG Sketch Diagram",
		"A report with a Mermaid diagram of login: a -> b: c":                                "Create Mermaid Diagram",
		"An infographic of the industry ecosystem":                                           "infographic-agent",
		"Three pictures of a harbour":                                                        "Generate Image, Generate Image, Generate Image",
		"A report with an infographic: wind 40 %, sun 60 %":                                  "Create SVG Chart bar, infographic-agent",
		"A report with a class diagram in Mermaid\n```mermaid\nclassDiagram\n A <|-- B\n```": "Create Mermaid Diagram",
	} {
		if got := calls(ask(t, system(fullWriter), task)); got != want {
			t.Errorf("%q: %s, want %s", task, got, want)
		}
	}
}

func TestWriterSaysWhatItCannotShow(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"A market analysis report with a bar chart of market share.": "The bar chart of market share needs numbers, and there are none: give a database by --db, documents by --kb, a key for web search, or write them into the task",
		"A report with a diagram of the process":                     "The diagram of process needs its parts",
		"A report with a word cloud of the answers":                  "The word cloud of answers needs texts",
		"A report with a network of suppliers":                       "The network of suppliers needs its parts",
		"A report with a gantt chart: a -> b":                        "The gantt Mermaid diagram needs its Mermaid source",
		"A report with an infographic":                               "The infographic needs findings",
		"A report with a video of it":                                "The task speaks of a video",
		"A report on wind":                                           "Findings need a source",
		"A report with a radar chart: A 1, B 2":                      "A radar cannot be drawn here: a bar chart of the task stands in.",
		"A report with a line chart: A 1, B 2":                       "A line chart does not fit the data: a bar chart of the task stands in.",
	} {
		s := ask(t, system(fullWriter), task)
		if !s.Done {
			s = ask(t, system(fullWriter), task, "{}", results(t, map[string]any{"actions": []any{map[string]any{"name": chartAction, "success": true, "outputs": map[string]any{"chart": map[string]any{"refId": "img-00000001"}}}}}))
		}
		page := strings.NewReplacer(`<code class="flag">`, "", "</code>", "").Replace(fmt.Sprint(s.Payload["report_html"]))
		if !s.Done || !strings.Contains(page, want) || !strings.Contains(s.Message, want) {
			t.Errorf("%q: %s, want %q", task, page, want)
		}
	}
}

func TestPromptsNameWhatPicturesNeed(t *testing.T) {
	t.Parallel()
	s := ask(t, system(fullWriter), "A report with 3 watercolour illustrations of quiet harbours.")
	seen := map[string]bool{}
	for _, a := range s.Actions {
		p := fmt.Sprint(a.Params["Prompt"])
		if seen[p] || !strings.HasPrefix(p, "Quiet harbours. Watercolour. ") || !strings.Contains(p, "Colours: ") || strings.Count(p, ".") < 5 {
			t.Errorf("prompt: %s", p)
		}
		seen[p] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d prompts", len(seen))
	}
	if s := ask(t, system(fullWriter), "Draw 9 illustrations of harbours."); len(s.Actions) != mostPictures {
		t.Errorf("%d pictures were asked for", len(s.Actions))
	}
}

// shares is a table of companies over three years.
func shares(years int) *table {
	tb := &table{X: "year", GroupBy: "company", Measure: "share", Aggregation: "mean", Columns: []column{{Name: "year", Type: "date"}}}
	for _, n := range []string{"Aster", "Bolt"} {
		l := line{Name: n, Measure: "share"}
		for y := range years {
			v := float64(40 + y)
			l.Points = append(l.Points, point{X: fmt.Sprint(1990 + y), Y: &v})
		}
		tb.Series = append(tb.Series, l)
	}
	return tb
}

func TestChartsTakeTheWantedShape(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		years              int
		kind, want, labels string
		why                bool
	}{
		"line":                   {3, "line", "line", "[1990 1991 1992]", false},
		"grouped bars":           {3, "bar", "bar", "[1990 1991 1992]", false},
		"bars of the last year":  {30, "bar", "bar", "[Aster Bolt]", false},
		"slices of the last one": {3, "pie", "pie", "[Aster Bolt]", false},
		"stacked":                {3, "stacked", "stacked", "[1990 1991 1992]", false},
		"scatter":                {3, "scatter", "scatter", "<nil>", false},
		"unknown":                {3, "sankey", "line", "[1990 1991 1992]", true},
	} {
		m := material{Tables: []profiled{{Path: "share.csv", Table: shares(c.years)}}}
		cs, needs := m.chosen(order{charts: []request{{action: chartAction, kind: c.kind, about: "share"}}}, "")
		if len(cs) == 0 || cs[0].params["ChartType"] != c.want || fmt.Sprint(cs[0].params["Labels"]) != c.labels || (len(needs) > 0) != c.why {
			t.Errorf("%s: %v %v", name, cs, needs)
		}
	}
}

func TestResearchersHandUpWhatShallBeDrawn(t *testing.T) {
	t.Parallel()
	sys := system(fileCallable)
	list := acted(t, "List Files", map[string]any{"files": []any{map[string]any{"path": "a.csv", "sizeBytes": 9, "kind": "table"}, map[string]any{"path": "b.md", "sizeBytes": 9, "kind": "text"}}})
	read := acted(t, "Read File",
		map[string]any{"kind": "table", "path": "a.csv", "table": map[string]any{"rowCount": 1, "columns": []any{map[string]any{"name": "from"}, map[string]any{"name": "to"}}, "sampleRows": []any{[]any{"Ada", "Ben"}}}},
		map[string]any{"kind": "text", "path": "b.md", "text": "1. Plan\n2. Build\n\nHarbours grow where harbours are deep enough."})
	task := "A report with a network of people, a diagram of the steps and a word cloud"
	s := ask(t, sys, task, "{}", list, "{}", read)
	found := payload(t, s)
	for _, want := range []string{`{"from":"Ada","to":"Ben"}`, `{"from":"Plan","to":"Build"}`, `"harbours":2`} {
		if !strings.Contains(found, want) {
			t.Errorf("the findings lack %s: %s", want, found)
		}
	}
	if strings.Contains(found, "sampleRows") {
		t.Error("rows are handed up")
	}
	b, err := json.Marshal(map[string]any{"context": map[string]any{"input": map[string]any{"file_research": s.Payload}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := calls(ask(t, system(fullWriter), task+"\n\n```json\n"+string(b)+"\n```")); !strings.Contains(got, "Create SVG Word Cloud, Create SVG Network, Create SVG Diagram") {
		t.Errorf("the writer calls %s", got)
	}
	if got := calls(ask(t, system(fullWriter), "A report on people\n\n```json\n"+string(b)+"\n```")); got != "Create SVG Network, Generate Image" {
		t.Errorf("relations that nobody asked for: %s", got)
	}
	if bare := payload(t, ask(t, sys, "A report on people", "{}", list, "{}", read)); strings.Contains(bare, "Plan") || !strings.Contains(bare, "Ada") || strings.Contains(bare, "harbours\":2") {
		t.Errorf("nobody wants steps or words drawn, relations always are: %s", bare)
	}
}

func TestComposerDrawsWhatItsTaskSpellsOut(t *testing.T) {
	t.Parallel()
	sys := system(`{"agent":"infographic-agent","actions":[{"name":"Create SVG Infographic"},{"name":"Create SVG Chart"},{"name":"Create SVG Network"}]}`)
	if got := calls(ask(t, sys, "Draw a network of friends: Ada -> Ben")); got != networkAction {
		t.Error(got)
	}
	s := ask(t, sys, "An infographic of the value chain")
	if got := calls(s); got != infographicAction || s.Actions[0].Params["Title"] != "Value chain" || s.Actions[0].Params["Figures"] != nil {
		t.Errorf("%s %v", got, s.Actions)
	}
	s = ask(t, sys, "Infographic: wind 40 %, sun 60 %")
	if got := fmt.Sprint(s.Actions); calls(s) != infographicAction || !strings.Contains(got, "60\u00a0%") {
		t.Error(got)
	}
	for subject, want := range map[string]bool{"marine ecosystem": false, "startup ecosystem": true, "SWOT of the shop": true, "supply chain": true, "wind": false} {
		if f, ok := frameOf(subject); ok != want || ok && len(f.sections()) < 4 {
			t.Errorf("%s: %v", subject, ok)
		}
	}
}

func TestSageDoesNotPaintCharts(t *testing.T) {
	t.Parallel()
	for task, paints := range map[string]bool{
		"Draw a bar chart of sales": false, "Make an infographic of the market": false, "Draw a diagram of the process": false,
		"Draw a picture of a man with a chart": true, "Draw a harbour": true, "Sketch of a boat as a picture, please": true,
	} {
		s := ask(t, system(sageCallable), task)
		if (len(s.Actions) == 1) != paints || !paints && !strings.Contains(s.Message, "made-up") {
			t.Errorf("%q: %+v", task, s)
		}
	}
}
