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

// system returns the end of a system prompt as agents write it.
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
	fileCallable   = `{"agent":"file-research-agent","actions":[{"name":"List Files"},{"name":"Describe Tables"},{"name":"Query Tables"},{"name":"Read File"}]}`
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
	written := results(t, map[string]any{"agents": []any{map[string]any{"name": "Research Report Writer", "slug": "research-report-writer", "success": true, "message": "Offline, this question cannot be answered."}}})
	s = ask(t, sys, "What is going on?", "{}", researched, "{}", written)
	if !s.Done || !strings.Contains(s.Message, "cannot be answered.") || !strings.Contains(s.Message, "web (no search key)") {
		t.Fatalf("last step: %+v", s)
	}
}

func TestCoordinatorReportsAFailedChild(t *testing.T) {
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

// sales is the output of Describe Tables for one table of sales.
func sales() map[string]any {
	return map[string]any{"tables": []any{map[string]any{"name": "sales", "path": "sales.csv", "rowCount": 40, "columns": []any{
		map[string]any{"name": "date", "type": "date", "distinct": 40, "min": "2024-01-01", "max": "2024-03-30"},
		map[string]any{"name": "region", "type": "text", "distinct": 2, "values": []any{"North", "South"}},
		map[string]any{"name": "revenue", "type": "number", "unit": "€", "distinct": 40, "missing": 1, "unusable": 2},
	}}}, "totalCount": 1, "notRead": []any{map[string]any{"path": "bad.csv", "reason": "no table"}}}
}

// acted returns the message with an action's results.
func acted(t *testing.T, name string, outputs map[string]any) string {
	t.Helper()
	return results(t, map[string]any{"actions": []any{map[string]any{"name": name, "success": true, "outputs": outputs}}})
}

func TestResearcherDescribesAsksAndReads(t *testing.T) {
	t.Parallel()
	sys := system(fileCallable)
	const task = "Which region has the highest revenue? What is the notice period?"
	s := ask(t, sys, task)
	if len(s.Actions) != 2 || s.Actions[0].Name != "List Files" || s.Actions[1].Name != "Describe Tables" {
		t.Fatalf("%+v", s)
	}
	first := results(t, map[string]any{"actions": []any{
		map[string]any{"name": "List Files", "success": true, "outputs": map[string]any{"files": []any{
			map[string]any{"path": "sales.csv", "sizeBytes": 10, "kind": "table"},
			map[string]any{"path": "handbook.md", "sizeBytes": 10, "kind": "markdown"},
			map[string]any{"path": "photo.png", "sizeBytes": 10, "kind": "image"},
			map[string]any{"path": "empty.txt", "sizeBytes": 0, "kind": "text"},
		}}},
		map[string]any{"name": "Describe Tables", "success": true, "outputs": sales()},
	}})
	s = ask(t, sys, task, "{}", first)
	sql := fmt.Sprint(s.Actions[0].Params["SQL"])
	if len(s.Actions) != 1 || s.Actions[0].Name != "Query Tables" || !strings.Contains(sql, `SUM("revenue")`) {
		t.Fatalf("%+v", s)
	}
	asked := acted(t, "Query Tables", map[string]any{"statement": sql, "columns": []any{"region", "total revenue", "rows"}, "rows": []any{[]any{"South", 48210.5, 20}, []any{"North", 100, 19}}})
	s = ask(t, sys, task, "{}", first, "{}", asked)
	if len(s.Actions) != 1 || s.Actions[0].Name != "Read File" {
		t.Fatalf("%+v", s)
	}
	read := acted(t, "Read File", map[string]any{"kind": "markdown", "path": "handbook.md", "text": "# Contract\n\nThe notice period is six weeks. It ends with a month."})
	s = ask(t, sys, task, "{}", first, "{}", asked, "{}", read)
	b, _ := json.Marshal(s.Payload)
	for _, want := range []string{"South has the highest total revenue: 48,210.50", "The notice period is six weeks.", "photo.png", "empty.txt", "bad.csv", `"statement"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the findings lack %q: %s", want, b)
		}
	}
	if !s.Done || strings.Contains(string(b), "It ends with") {
		t.Errorf("%+v", s)
	}
}

// handed returns a writer's first message.
func handed(t *testing.T, task string, input map[string]any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"context": map[string]any{"input": map[string]any{"file_research": input}}})
	if err != nil {
		t.Fatal(err)
	}
	return task + "\n\n```json\n" + string(b) + "\n```"
}

func answers() map[string]any {
	return map[string]any{
		"answers": []any{map[string]any{
			"part": "Which region has the highest revenue", "sentences": []any{"South has the highest total revenue: 48,210.50 €.", "3 values are left out."}, "heading": "Revenue by region",
			"columns": []any{"region", "total"}, "cells": []any{[]any{"South", "48,210.50 €"}, []any{"North <b>", "100 €"}}, "rows": 2, "paths": []any{"sales.csv"},
			"chart": map[string]any{"Kind": "bar", "Title": "Revenue by region", "Labels": []any{"South", "North"}, "Series": []any{map[string]any{"Name": "revenue", "Values": []any{48210.5, 100}}}},
		}},
		"holds": []any{map[string]any{"path": "sales.csv", "columns": []any{"region", "revenue"}}}, "sources": []any{map[string]any{"path": "sales.csv", "kind": "table", "rows": 40}},
		"not_read": []any{map[string]any{"path": "x.png", "reason": "image"}},
	}
}

func TestWriterDrawsTheResultAndWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	sys, task := system(writerCallable), handed(t, "Which region has the highest revenue? Include a chart and two illustrations of a harbour.", answers())
	s := ask(t, sys, task)
	kinds := map[string]int{}
	for _, a := range s.Actions {
		kinds[a.Name]++
	}
	if kinds["Create SVG Chart"] != 1 || kinds["Generate Image"] != 2 || fmt.Sprint(s.Actions[0].Params["Labels"]) != "[South North]" {
		t.Fatalf("actions: %+v", s.Actions)
	}
	made := results(t, map[string]any{"actions": []any{
		map[string]any{"name": "Create SVG Chart", "success": true, "outputs": map[string]any{"chart": map[string]any{"refId": "img-00000001"}, "description": "South \"leads\""}},
		map[string]any{"name": "Generate Image", "success": true, "outputs": map[string]any{"images": []any{map[string]any{"refId": "img-00000002"}}}},
		map[string]any{"name": "Generate Image", "success": false, "message": "No paint."},
	}})
	s = ask(t, sys, task, "{}", made)
	html := fmt.Sprint(s.Payload["report_html"])
	for _, want := range []string{
		"<h1>Which region has the highest revenue?</h1>", "South has the highest total revenue: 48,210.50 € (sales.csv).", "${media:img-00000001}", "${media:img-00000002}",
		`alt="South &#34;leads&#34;"`, "Figure 1:", "Figure 2:", "No paint.", "North &lt;b&gt;", "x.png: image", "Not available to this research: web", "no language model",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if !s.Done || !strings.HasPrefix(s.Message, "South has the highest total revenue: 48,210.50 € (sales.csv). 3 values are left out.") || t.Failed() {
		t.Error(s.Message, html)
	}
}

func TestNothingUnaskedIsDrawn(t *testing.T) {
	t.Parallel()
	s := ask(t, system(writerCallable), handed(t, "Which region has the highest revenue?", answers()))
	if len(s.Actions) != 1 || s.Actions[0].Name != "Create SVG Chart" {
		t.Errorf("%+v", s.Actions)
	}
	s = ask(t, system(writerCallable), handed(t, "Which region has the highest revenue? No charts.", answers()))
	if !s.Done {
		t.Errorf("%+v", s.Actions)
	}
}

func TestWriterRefusesWhatNoSourceAnswers(t *testing.T) {
	t.Parallel()
	input := map[string]any{"unanswered": []any{map[string]any{"part": "Why did it fall", "why": "beyond"}}, "holds": []any{map[string]any{"path": "sales.csv", "columns": []any{"region"}}}}
	for task, want := range map[string]string{
		"Why did it fall?":               "Offline, this question cannot be answered. The sources hold: sales.csv (region).",
		"Warum ist der Umsatz gefallen?": "Offline, this question cannot be answered. Offline lässt sich diese Frage nicht beantworten. Die Quellen enthalten: sales.csv (region).",
	} {
		s := ask(t, system(writerCallable), handed(t, task, input))
		if !s.Done || !strings.HasPrefix(s.Message, want) {
			t.Errorf("%q: %s", task, s.Message)
		}
	}
}

func TestNumbersOfTheTaskAreDrawn(t *testing.T) {
	t.Parallel()
	s := ask(t, system(writerCallable), "A report with a bar chart of market share: Aster 40 %, Bolt 35 %, Cascade 25 %.")
	if len(s.Actions) != 1 || fmt.Sprint(s.Actions[0].Params["Labels"]) != "[Aster Bolt Cascade]" || s.Actions[0].Params["Unit"] != "%" {
		t.Fatalf("%+v", s.Actions)
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
