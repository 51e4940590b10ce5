package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier/chat"
	"atelier/media"
)

// system makes the end of a system prompt as agents write it.
func system(callable string) string {
	return "You are an agent.\n\n## Callable\n```json\n" + callable + "\n```\nAnswer JSON."
}

func ask(t *testing.T, system string, messages ...string) step {
	t.Helper()
	r := chat.Request{System: system}
	for i, m := range messages {
		role := chat.RoleUser
		if i%2 == 1 {
			role = chat.RoleAssistant
		}
		r.Messages = append(r.Messages, chat.Text(role, m))
	}
	res, err := Model{}.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Model{}.Generate(t.Context(), r)
	if err != nil || again.Text != res.Text {
		t.Fatalf("not deterministic: %v\n%s\n%s", err, res.Text, again.Text)
	}
	var s step
	if err := json.Unmarshal([]byte(res.Text), &s); err != nil {
		t.Fatalf("answer is not JSON: %v", err)
	}
	return s
}

func results(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"results": v})
	if err != nil {
		t.Fatal(err)
	}
	return "```json\n" + string(b) + "\n```"
}

const (
	rootCallable = `{"agent":"research-agent","agents":[{"name":"File Research Agent","slug":"file-research-agent"},{"name":"Research Report Writer","slug":"research-report-writer"}],
"sources":{"files":{"configured":true},"web":{"configured":false,"reason":"no search key"}}}`
	fileCallable   = `{"agent":"file-research-agent","actions":[{"name":"List Files"},{"name":"Read File"}]}`
	writerCallable = `{"agent":"research-report-writer","actions":[{"name":"Create SVG Chart"},{"name":"Generate Image"}],"sources":{"web":{"configured":false}}}`
	sageCallable   = `{"agent":"sage","actions":[{"name":"Generate Image"}]}`
)

func TestCoordinatorAsksResearchersThenTheWriter(t *testing.T) {
	t.Parallel()
	sys := system(rootCallable)
	s := ask(t, sys, "What is going on?")
	if len(s.Agents) != 1 || s.Agents[0].Name != "file-research-agent" || s.Done {
		t.Fatalf("first step: %+v", s)
	}
	researched := results(t, map[string]any{"agents": []any{map[string]any{"name": "File Research Agent", "slug": "file-research-agent", "success": true, "message": "Read 1 file."}}})
	s = ask(t, sys, "What is going on?", "{}", researched)
	if len(s.Agents) != 1 || s.Agents[0].Name != "research-report-writer" {
		t.Fatalf("second step: %+v", s)
	}
	written := results(t, map[string]any{"agents": []any{map[string]any{"name": "Research Report Writer", "slug": "research-report-writer", "success": true, "message": "The report is ready."}}})
	s = ask(t, sys, "What is going on?", "{}", researched, "{}", written)
	if !s.Done || !strings.Contains(s.Message, "The report is ready.") || !strings.Contains(s.Message, "web (no search key)") {
		t.Fatalf("last step: %+v", s)
	}
}

func TestCoordinatorTellsOfAFailedChild(t *testing.T) {
	t.Parallel()
	failed := results(t, map[string]any{"agents": []any{
		map[string]any{"name": "file-research-agent", "success": false, "message": "The folder cannot be read."},
		map[string]any{"name": "research-report-writer", "success": true, "message": "Report."},
	}})
	s := ask(t, system(rootCallable), "Task", "{}", failed)
	if !s.Done || !strings.Contains(s.Message, "The folder cannot be read.") {
		t.Fatalf("%+v", s)
	}
}

func TestResearcherListsReadsAndReports(t *testing.T) {
	t.Parallel()
	sys := system(fileCallable)
	s := ask(t, sys, "wind power")
	if len(s.Actions) != 1 || s.Actions[0].Name != "List Files" {
		t.Fatalf("%+v", s)
	}
	var files []any
	for i := range 20 {
		files = append(files, map[string]any{"path": fmt.Sprintf("f%02d.txt", i), "sizeBytes": 100, "kind": "text"})
	}
	files = append(files, map[string]any{"path": "wind.csv", "sizeBytes": 10, "kind": "table"},
		map[string]any{"path": "photo.png", "sizeBytes": 10, "kind": "image"}, map[string]any{"path": "empty.txt", "sizeBytes": 0, "kind": "text"})
	list := results(t, map[string]any{"actions": []any{map[string]any{"name": "List Files", "success": true, "outputs": map[string]any{"files": files}}}})
	s = ask(t, sys, "wind power", "{}", list)
	if len(s.Actions) != mostFiles || s.Actions[0].Params["Path"] != "wind.csv" {
		t.Fatalf("%d reads, first %v", len(s.Actions), s.Actions[0])
	}
	read := results(t, map[string]any{"actions": []any{
		map[string]any{"name": "Read File", "success": true, "outputs": map[string]any{"kind": "table", "path": "wind.csv", "table": sample()}},
		map[string]any{"name": "Read File", "success": false, "message": "It cannot be read."},
	}})
	s = ask(t, sys, "wind power", "{}", list, "{}", read)
	if !s.Done || len(s.Payload["tables"].([]any)) != 1 {
		t.Fatalf("%+v", s)
	}
	left, _ := json.Marshal(s.Payload["not_read"])
	for _, want := range []string{"photo.png", "empty.txt", "It cannot be read."} {
		if !strings.Contains(string(left), want) {
			t.Errorf("not_read lacks %q: %s", want, left)
		}
	}
}

// sample is a table of two energy sources over three years.
func sample() map[string]any {
	return map[string]any{
		"rowCount": 6, "x": "year", "groupBy": "source", "measure": "net_generation", "aggregation": "sum",
		"columns": []any{map[string]any{"name": "year", "type": "date"}, map[string]any{"name": "source", "type": "text"}, map[string]any{"name": "net_generation", "type": "number"}},
		"series": []any{
			map[string]any{"name": "Coal", "points": []any{[]any{"2001-01-01", 90}, []any{"2002-01-01", 70}, []any{"2003-01-01", 40}}},
			map[string]any{"name": "Wind", "points": []any{[]any{"2001-01-01", 10}, []any{"2002-01-01", 30}, []any{"2003-01-01", 60}}},
		},
		"totals": []any{map[string]any{"group": "Coal", "measure": "net_generation", "value": 200}, map[string]any{"group": "Wind", "measure": "net_generation", "value": 100}},
	}
}

func findingsMessage(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"context": map[string]any{"input": map[string]any{"files": map[string]any{
		"tables":   []any{map[string]any{"path": "energy.csv", "table": sample()}},
		"passages": []any{map[string]any{"path": "notes.md", "title": "Notes", "sentences": []any{map[string]any{"text": "Wind <grew> & grew."}}}},
		"sources":  []any{map[string]any{"path": "energy.csv", "kind": "table", "rows": 6}},
		"not_read": []any{map[string]any{"path": "x.png", "reason": "not read: image"}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	return "A report on wind energy with two illustrations of wind turbines.\n\n```json\n" + string(b) + "\n```"
}

func TestWriterDrawsWhatFitsAndWritesTheReport(t *testing.T) {
	t.Parallel()
	sys, task := system(writerCallable), findingsMessage(t)
	s := ask(t, sys, task)
	kinds := map[string]int{}
	for _, a := range s.Actions {
		kinds[a.Name]++
	}
	if kinds["Create SVG Chart"] != 2 || kinds["Generate Image"] != 2 {
		t.Fatalf("actions: %v", kinds)
	}
	if p := s.Actions[0].Params; p["ChartType"] != "stacked" || fmt.Sprint(p["Labels"]) != "[2001 2002 2003]" {
		t.Fatalf("first chart: %v", p)
	}
	if p := fmt.Sprint(s.Actions[2].Params["Prompt"]); !strings.HasPrefix(p, "Wind turbines. ") {
		t.Fatalf("prompt: %s", p)
	}
	made := results(t, map[string]any{"actions": []any{
		map[string]any{"name": "Create SVG Chart", "success": true, "outputs": map[string]any{"chart": map[string]any{"refId": "img-00000001"}, "description": "Wind \"rises\""}},
		map[string]any{"name": "Create SVG Chart", "success": false, "message": "Too few points."},
		map[string]any{"name": "Generate Image", "success": true, "outputs": map[string]any{"images": []any{map[string]any{"refId": "img-00000002"}}}},
		map[string]any{"name": "Generate Image", "success": true, "outputs": map[string]any{"images": []any{map[string]any{"refId": "img-00000003"}}}},
	}})
	s = ask(t, sys, task, "{}", made)
	html := fmt.Sprint(s.Payload["report_html"])
	for _, want := range []string{
		"<h1>Wind energy</h1>", "${media:img-00000001}", "${media:img-00000002}", "${media:img-00000003}",
		`alt="Wind &#34;rises&#34;"`, "Figure 1:", "Figure 3:", "Too few points.", "Wind &lt;grew&gt; &amp; grew.",
		"The share of Wind grew from 10\u00a0% in 2001 to 60\u00a0% in 2003", "x.png: not read: image", "Not available to this research: web", Note,
	} {
		if !strings.Contains(html, strings.ReplaceAll(want, Note, "follows rules and is no language model")) {
			t.Errorf("report lacks %q", want)
		}
	}
	if !s.Done || t.Failed() {
		t.Log(html)
	}
}

func TestWriterWithoutSourcesSaysSo(t *testing.T) {
	t.Parallel()
	sys := system(`{"agent":"w","actions":[{"name":"Create SVG Chart"}]}`)
	s := ask(t, sys, "A report on nothing.")
	if !s.Done || !strings.Contains(fmt.Sprint(s.Payload["report_html"]), "no findings") {
		t.Fatalf("%+v", s)
	}
}

func TestSageDrawsWhenAskedAndPromotes(t *testing.T) {
	t.Parallel()
	sys := system(sageCallable)
	if s := ask(t, sys, "Good morning"); !s.Done || !strings.Contains(s.Message, "no language model") {
		t.Fatalf("%+v", s)
	}
	s := ask(t, sys, "Please draw two pictures of a lighthouse in a storm.")
	if len(s.Actions) != 1 || s.Actions[0].Params["Prompt"] != "a lighthouse in a storm" || s.Actions[0].Params["NumberOfImages"] != 2.0 {
		t.Fatalf("%+v", s)
	}
	made := results(t, map[string]any{"actions": []any{map[string]any{"name": "Generate Image", "success": true, "outputs": map[string]any{"images": []any{map[string]any{"refId": "img-00000002"}}}}}})
	s = ask(t, sys, "Please draw two pictures of a lighthouse in a storm.", "{}", made)
	if !s.Done || len(s.Promote) != 1 || !strings.Contains(s.Message, "${media:img-00000002}") {
		t.Fatalf("%+v", s)
	}
}

func TestAggregatesAreNotCountedTwice(t *testing.T) {
	t.Parallel()
	tb := &table{
		GroupBy: "Entity", Measure: "Deaths",
		Totals: []total{{Group: "All natural disasters", Value: 30}, {Group: "Flood", Value: 20}, {Group: "Drought", Value: 10}},
		Series: []line{{Name: "All natural disasters"}, {Name: "Flood"}, {Name: "Drought"}},
	}
	s := tb.shares()
	if len(s) != 2 || s[0].Group != "Flood" || percent(s[0].Share) != "67\u00a0%" {
		t.Fatalf("%+v", s)
	}
	if parts, all := tb.split(); len(parts) != 2 || all == nil || all.Name != "All natural disasters" {
		t.Fatalf("%+v %+v", parts, all)
	}
}

func TestSentencesLeaveOutWhatIsNoProse(t *testing.T) {
	t.Parallel()
	text := "# Title\n\nThe wind blew over the plains all year. Coal plants closed one by one.\n\n- a list item that is rather long too\n\n```\ncode is not a sentence at all here\n```\n\n| a | b |\n\n## Two\n\n![a picture of something or other](x.png) See [the link](http://example.com) for _more_ on **wind turbines** and A_B.\n"
	got := fmt.Sprint(sentences(text))
	for _, want := range []string{"The wind blew over the plains all year.", "See the link for more on wind turbines and A_B."} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q: %s", want, got)
		}
	}
	for _, bad := range []string{"list item", "code is", "http", "picture of"} {
		if strings.Contains(got, bad) {
			t.Errorf("has %q: %s", bad, got)
		}
	}
}

func TestNumbersReadWell(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{35361: "35,361", 1267360: "1.27 million", 0.68: "0.68", -0.16: "−0.16", -17: "−17", 315.7: "315.7", 3.2e9: "3.2 billion", 1000: "1,000"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestCancelledContextIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Model{}).Generate(ctx, chat.Request{}); media.CodeOf(err) != media.CodeCancelled {
		t.Fatalf("got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(system(rootCallable), "task\n\n```json\n{\"context\":{}}\n```")
	f.Add(system(writerCallable), "```json\n{\"results\":{\"actions\":[{\"name\":\"Read File\",\"outputs\":{\"table\":{\"series\":[{\"points\":[[1,2],[null]]}]}}}]}}\n```")
	f.Fuzz(func(t *testing.T, sys, msg string) {
		res, err := Model{}.Generate(t.Context(), chat.Request{System: sys, Messages: []chat.Message{chat.Text(chat.RoleUser, msg)}})
		if err != nil || !json.Valid([]byte(res.Text)) {
			t.Fatalf("%v %q", err, res.Text)
		}
	})
}
