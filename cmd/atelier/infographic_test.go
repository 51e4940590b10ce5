package main

import (
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
)

// infographicTask is a question that the offline models answer from the sales folder of a testEnv, with a chart by the
// writer and an infographic by its sub-agent.
const infographicTask = "In which year were sales in the north highest? Include a chart and an infographic."

// TestThreeLevels: a root, a writer and an infographic agent; the root's report shows what each level made, and no
// placeholder remains.
func TestThreeLevels(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := read[answer](p, "run", "research-agent", infographicTask, "--files", p.folder(), "--out", filepath.Join(p.dir, "out"), "--json")
	page := mustRead(t, ans.Report)
	if !strings.Contains(page, `alt="Infographic: `) {
		t.Error("the report shows no infographic")
	}
	if drawings, pictures := figuresOf(t, page); drawings != 2 || pictures != 0 || len(p.promoted(ans.RunID)) != drawings {
		t.Errorf("%d drawings and %d pictures are shown, %d rows promoted", drawings, pictures, len(p.promoted(ans.RunID)))
	}
}

// TestAFailingComposerLeavesTheReport: the agent of the lowest level fails; the report is written and mentions it.
func TestAFailingComposerLeavesTheReport(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.write("own/infographic-agent.yaml", "slug: infographic-agent\nname: Infographic Agent\ndescription: Fails.\nprompt: infographic-agent.md\nactions: [List Files, Read File]\nturns: 1\n")
	p.write("own/infographic-agent.md", "You read and never end.")
	ans := read[answer](p, "run", "research-agent", infographicTask, "--files", p.folder(), "--agents", filepath.Join(p.dir, "own"), "--out", filepath.Join(p.dir, "out"), "--json")
	page := mustRead(t, ans.Report)
	if drawings, _ := figuresOf(t, page); drawings != 1 || !strings.Contains(page, "<li>Infographic: ") {
		t.Errorf("the report does not name the failure: %.2000s", page[strings.Index(page, "<body"):])
	}
}

// TestAFailedChildsDrawingIsEmbedded: three levels over the wire; of two agents of the lowest level, one draws and then
// fails. The root's report embeds what both and the writer drew; a ref that the writer invents is returned to it for
// repair.
func TestAFailedChildsDrawingIsEmbedded(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	box := func(name string) map[string]any {
		return map[string]any{"Title": name, "Sections": []any{map[string]any{"heading": name, "text": "Text."}}}
	}
	figures := figureHTML(1, "The chart of the writer", "One.") + figureHTML(2, "The first infographic", "Two.") + figureHTML(3, "The second infographic", "Three.")
	lines := scriptedAgents(t, map[string][]string{
		"research-agent": {
			step(t, map[string]any{"agents": []any{map[string]any{"name": "research-report-writer", "task": "Write it."}}}),
			done(t, "The report is ready."),
		},
		"research-report-writer": {
			step(t, map[string]any{
				"actions": []any{map[string]any{"name": "Create SVG Chart", "params": map[string]any{"ChartType": "bar", "Title": "Sales", "Labels": []string{"a", "b"}, "Series": []any{map[string]any{"name": "n", "values": []int{1, 2}}}}}},
				"agents":  []any{map[string]any{"name": "infographic-agent", "task": "The good one"}, map[string]any{"name": "infographic-agent", "task": "The bad one"}},
			}),
			writerStep(t, "Sales", nil, "<p>${media:img-00000000}</p>", figureHTML(1, "The chart of the writer", "One.")),
			writerStep(t, "Sales", nil, figures),
		},
	})
	var refs []string
	repaired := false
	s.chat.Answer = func(r chattest.Request) string {
		first, last := r.Messages[1].Text, r.Messages[len(r.Messages)-1].Text
		switch {
		case strings.Contains(r.System(), `"agent":"infographic-agent"`) || strings.Contains(r.System(), `"agent": "infographic-agent"`):
			name := "Good"
			if strings.Contains(first, "The bad one") {
				name = "Bad"
			}
			switch {
			case !strings.Contains(last, `"refId"`) && len(r.Messages) == 2:
				return act(t, "Create SVG Infographic", box(name))
			case name == "Bad":
				return "I break here."
			}
			return done(t, "Drawn.")
		case strings.Contains(last, "img-00000000"): // the repair uses the refs of the earlier results
			repaired = true
			line := lines(r)
			for i, ref := range refs {
				line = strings.Replace(line, "${media:"+placeholderAt(line, i)+"}", "${media:"+ref+"}", 1)
			}
			return line
		}
		if found := refID.FindAllStringSubmatch(last, -1); len(found) >= 3 && refs == nil {
			for _, m := range found[:3] {
				refs = append(refs, m[1])
			}
		}
		return lines(r)
	}
	ans := read[answer](p, "run", "research-agent", "A report on sales", "--out", filepath.Join(p.dir, "out"), "--json")
	page := mustRead(t, ans.Report)
	if drawings, _ := figuresOf(t, page); drawings != 3 || len(p.promoted(ans.RunID)) != 3 {
		t.Errorf("%d drawings are shown, %q promoted; warnings %q", drawings, p.promoted(ans.RunID), ans.Warnings)
	}
	for status, want := range map[string]int{"succeeded": 3, "failed": 1} {
		list := read[struct {
			Items []struct {
				Agent string `json:"agent"`
			} `json:"items"`
		}](p, "runs", "list", "--all", "--status", status, "--json")
		if len(list.Items) != want || want == 1 && list.Items[0].Agent != "infographic-agent" {
			t.Errorf("%s runs: %+v, want %d", status, list.Items, want)
		}
	}
	if !repaired {
		t.Error("the writer was never sent back")
	}
}

// placeholderAt returns the content of the nth placeholder of a text.
func placeholderAt(text string, n int) string {
	parts := strings.Split(text, "${media:")
	if n+1 >= len(parts) {
		return ""
	}
	in, _, _ := strings.Cut(parts[n+1], "}")
	return in
}

// TestPaintedInfographicKeepsTheExactChart: the writer's prompt says when to request a painted infographic; the
// painted picture and the drawn chart are in one report.
func TestPaintedInfographicKeepsTheExactChart(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	lines := scriptedAgents(t, map[string][]string{"research-report-writer": {
		act(t, "Generate Image", map[string]any{"Prompt": `A flat infographic of an ecosystem with the words "Farms", "Mills" and "Shops"; no other text, no numbers`, "Quality": "hd"},
			"Create SVG Chart", map[string]any{"ChartType": "bar", "Title": "Shares", "Labels": []string{"a", "b"}, "Series": []any{map[string]any{"name": "n", "values": []int{60, 40}}}}),
		writerStep(t, "Market", nil, figureHTML(1, "The ecosystem", "Infographic, AI-generated.")+figureHTML(2, "The shares", "Figures.")),
	}})
	s.chat.Answer = func(r chattest.Request) string {
		for _, rule := range []string{"**A painted infographic or diagram (Generate Image)** only when the task asks for one", "Never let an image model draw a chart, a map, a table or any figure"} {
			if !strings.Contains(r.System(), rule) {
				t.Errorf("the message to the writer lacks: %s", rule)
			}
		}
		return lines(r)
	}
	ans := read[answer](p, "run", "research-report-writer", "A market analysis with a bar chart of the shares and an AI-generated infographic of the ecosystem", "--out", filepath.Join(p.dir, "out"), "--json")
	page := mustRead(t, ans.Report)
	if drawings, pictures := figuresOf(t, page); drawings != 1 || pictures != 1 || !strings.Contains(page, "Infographic, AI-generated.") {
		t.Errorf("%d drawings and %d pictures are shown; warnings %q", drawings, pictures, ans.Warnings)
	}
}
