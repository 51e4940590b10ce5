package offline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	drawingWriter  = `{"agent":"research-report-writer","actions":[{"name":"Create SVG Chart"}],"agents":[{"name":"Infographic Agent","slug":"infographic-agent"}]}`
	composerPrompt = `{"agent":"infographic-agent","actions":[{"name":"Create SVG Infographic"},{"name":"Create SVG Chart"}]}`
)

func TestWriterAsksForAnInfographicOnlyWhereTheTaskDoes(t *testing.T) {
	t.Parallel()
	findings := findingsMessage(t)
	if s := ask(t, system(drawingWriter), findings); len(s.Agents) != 0 {
		t.Errorf("an infographic that nobody asked for: %+v", s.Agents)
	}
	asked := strings.Replace(findings, "A report on", "With an infographic: a report on", 1)
	s := ask(t, system(drawingWriter), asked)
	if len(s.Agents) != 1 || s.Agents[0].Name != infographicAgent || len(s.Actions) != 2 || s.Payload[brief] == nil {
		t.Fatalf("first step: %+v", s)
	}
	results := results(t, map[string]any{
		"actions": []any{map[string]any{"name": "Create SVG Chart", "success": true, "outputs": map[string]any{"chart": map[string]any{"refId": "img-00000001"}}}},
		"agents":  []any{map[string]any{"name": "Infographic Agent", "slug": "infographic-agent", "success": true, "payload": map[string]any{"alt": "All <at> a glance"}, "media": []any{map[string]any{"refId": "img-00000009", "label": "L"}}}},
	})
	html := fmt.Sprint(ask(t, system(drawingWriter), asked, "{}", results).Payload["report_html"])
	if !strings.Contains(html, "${media:img-00000009}") || !strings.Contains(html, `alt="All &lt;at&gt; a glance"`) {
		t.Error(html)
	}
}

func TestWriterTellsOfAFailedInfographic(t *testing.T) {
	t.Parallel()
	asked := strings.Replace(findingsMessage(t), "A report", "An infographic and a report", 1)
	failed := results(t, map[string]any{
		"actions": []any{map[string]any{"name": "Create SVG Chart", "success": true, "outputs": map[string]any{}}},
		"agents":  []any{map[string]any{"name": "Infographic Agent", "slug": "infographic-agent", "success": false, "message": "It broke."}},
	})
	html := fmt.Sprint(ask(t, system(drawingWriter), asked, "{}", failed).Payload["report_html"])
	if !strings.Contains(html, "Infographic: It broke.") {
		t.Error(html)
	}
}

func TestComposerDrawsItsBrief(t *testing.T) {
	t.Parallel()
	findings := strings.Replace(findingsMessage(t), "A report on", "An infographic on", 1)
	s := ask(t, system(composerPrompt), findings)
	if len(s.Actions) != 1 || s.Actions[0].Name != infographicAction {
		t.Fatalf("%+v", s)
	}
	b, err := json.Marshal(s.Actions[0].Params)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"value":"67`, "Coal, share of net generation", `"ChartType":"stacked"`, `"Source":"energy.csv"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
	made := results(t, map[string]any{"actions": []any{map[string]any{"name": infographicAction, "success": true, "message": "Drawn.", "outputs": map[string]any{"infographic": map[string]any{"refId": "img-00000007", "label": "Wind"}, "description": "All of it"}}}})
	s = ask(t, system(composerPrompt), findings, "{}", made)
	if !s.Done || len(s.Promote) != 1 || s.Promote[0].Ref != "img-00000007" || s.Payload["alt"] != "All of it" || s.Payload["figure"] != "${media:img-00000007}" {
		t.Fatalf("%+v", s)
	}
	if s = ask(t, system(composerPrompt), "An infographic on nothing."); !s.Done || len(s.Actions) != 0 || !strings.Contains(s.Message, "no figures") {
		t.Fatalf("%+v", s)
	}
}
