package offline

import (
	"slices"
	"strings"
	"testing"

	"atelier/chat"
)

// TestVisualsBeyond: visuals that a task requests and that are not drawn offline are found; the same words are ignored
// where they belong to the data.
func TestVisualsBeyond(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Which region sold most? With a diagram of the process.":                         "diagram",
		"Which region sold most, with a word cloud of the regions and a timeline?":       "word cloud|timeline",
		"Which region sold most? Draw a network of the shops, a sketch and a podcast.":   "network|sketch|podcast",
		"A report on sales with a short timeline of the years":                           "timeline",
		"Mermaid flowchart of the process":                                               "Mermaid|flowchart",
		"Welche Filiale verkauft am meisten? Mit Zeitstrahl und einer Wortwolke.":        "Zeitstrahl|Wortwolke",
		"Which region sold most? With a network diagram.":                                "network diagram",
		"Which region sold most? With a bar chart.":                                      "",
		"How many videos were watched in 2023?":                                          "",
		"Show the number of maps per branch.":                                            "",
		"Which network has the most customers?":                                          "",
		"How many slides did each team make?":                                            "",
		"With a budget of 500, how many maps can be bought, and which videos sold most?": "",
		"Welche Skizzen kosten am meisten?":                                              "",
	} {
		if got := strings.Join(readOrder(task).unsupported, "|"); got != want {
			t.Errorf("%q wishes for %q, want %q", task, got, want)
		}
	}
}

// TestQuestionOf: the question remains without its requested visuals and without instructions about the form.
func TestQuestionOf(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Which region sold most, with a word cloud of the regions and a timeline?": "Which region sold most?",
		"Which region sold most? No pictures.":                                     "Which region sold most?",
		"Which region sold most? Without charts.":                                  "Which region sold most?",
		"Which region sold most? No images please.":                                "Which region sold most?",
		"Which region sold most? I want no charts. And which least?":               "Which region sold most? And which least?",
		"Which region sold most? Don't draw any charts.":                           "Which region sold most?",
		"Welche Filiale verkauft am meisten? Bitte keine Bilder.":                  "Welche Filiale verkauft am meisten?",
		"Welche Filiale verkauft am meisten? Ich möchte keine Diagramme.":          "Welche Filiale verkauft am meisten?",
		"How many rooms have no pictures?":                                         "How many rooms have no pictures?",
		"How many maps were sold? Which were not?":                                 "How many maps were sold? Which were not?",
		"No charts.": "No charts.",
	} {
		if got := questionOf(task); strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("%q asks %q, want %q", task, got, want)
		}
	}
}

// TestUnmetVisualsAreReported: a requested visual that the report does not show is listed as a gap of the report and as
// a warning of the run.
func TestUnmetVisualsAreReported(t *testing.T) {
	t.Parallel()
	single := answers()
	for _, a := range single["answers"].([]any) {
		delete(a.(map[string]any), "chart")
	}
	for _, c := range []struct {
		task  string
		found map[string]any
		want  string
	}{
		{"Which region has the highest revenue? With a word cloud.", answers(), "Offline, these are not drawn: word cloud."},
		{"Which region has the highest revenue? With a diagram of the flow.", answers(), "Offline, these are not drawn: diagram."},
		{"Which region has the highest revenue? With a pie chart.", answers(), "Offline, a pie chart is not drawn; the values are drawn as a bar chart."},
		{"Which region has the highest revenue? With a chart.", single, "The chart is left out: no answer has several values to draw."},
		{"Which region has the highest revenue? With an infographic.", answers(), "The infographic is left out"}, // no agent composes one
		{"Welche Region hat den höchsten Umsatz? Mit einem Diagramm.", single, "Das Diagramm fehlt"},
		{"Welche Region hat den höchsten Umsatz? Mit einer Wortwolke.", answers(), "Offline wird das nicht gezeichnet: Wortwolke."},
	} {
		sys, first := system(writerCallable), handed(t, c.task, c.found)
		made := results(t, map[string]any{"actions": []any{map[string]any{"name": chartAction, "success": true, "outputs": map[string]any{}}}})
		r := chat.Request{System: sys, Messages: []chat.Message{chat.Text(chat.RoleUser, first), chat.Text(chat.RoleAssistant, "{}"), chat.Text(chat.RoleUser, made)}}
		res, err := Model{}.Generate(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := ask(t, sys, first, "{}", made).Payload["report_html"].(string)
		if !strings.Contains(page, "<li>"+c.want) || !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, c.want) }) {
			t.Errorf("%q: want %q\nwarnings %q\n%s", c.task, c.want, res.Warnings, page)
		}
	}
}

// TestFailedFiguresAreWarnings: a chart that could not be drawn is reported with the reason.
func TestFailedFiguresAreWarnings(t *testing.T) {
	t.Parallel()
	failed := results(t, map[string]any{"actions": []any{map[string]any{"name": chartAction, "success": false, "message": "disk full"}}})
	r := chat.Request{System: system(writerCallable), Messages: []chat.Message{
		chat.Text(chat.RoleUser, handed(t, "Which region has the highest revenue? With a chart.", answers())), chat.Text(chat.RoleAssistant, "{}"), chat.Text(chat.RoleUser, failed),
	}}
	res, err := Model{}.Generate(t.Context(), r)
	if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "disk full") || !strings.Contains(res.Text, "disk full") {
		t.Errorf("%v: warnings %q", err, res.Warnings)
	}
}

// TestQuotesLeadTheReport: if both tables and documents answer, both answers come before the first heading.
func TestQuotesLeadTheReport(t *testing.T) {
	t.Parallel()
	found := answers()
	found["quotes"] = []any{map[string]any{"part": "What is the notice period", "Path": "handbook.md", "Text": "The notice period is six weeks."}}
	task := "Which region has the highest revenue? What is the notice period? No charts."
	page, _ := ask(t, system(writerCallable), handed(t, task, found)).Payload["report_html"].(string)
	lead, _, _ := strings.Cut(page, "<h2>")
	if !strings.Contains(lead, "48,210.50") || !strings.Contains(lead, "six weeks") {
		t.Errorf("the lead is %s", lead)
	}
}

// TestGermanReportsAreGerman: every fixed text of a German report is German, and so are its charts.
func TestGermanReportsAreGerman(t *testing.T) {
	t.Parallel()
	const sys = `{"agent":"research-report-writer","actions":[{"name":"Create SVG Chart"}],"sources":{"db":{"configured":false,"reason":"give a database with --db"},
"kb":{"configured":false,"reason":"give a folder of documents with --kb"},"files":{"configured":false,"reason":"give a folder with --files"},"web":{"configured":false,"reason":"set SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY"}}}`
	found := answers()
	found["not_read"] = []any{map[string]any{"path": "x.png", "reason": "image"}, map[string]any{"path": "y.csv", "reason": "the file is empty"}}
	found["unanswered"] = []any{map[string]any{"part": "Warum", "why": "beyond"}}
	found["sources"] = []any{map[string]any{"path": "sales", "kind": "database table", "rows": 40}}
	task := handed(t, "Welche Region hat den höchsten Umsatz? Warum?", found)
	s := ask(t, system(sys), task)
	if len(s.Actions) != 1 || s.Actions[0].Params["Language"] != "de" {
		t.Fatalf("%+v", s.Actions)
	}
	page, _ := ask(t, system(sys), task, "{}", results(t, map[string]any{"actions": []any{}})).Payload["report_html"].(string)
	for _, want := range []string{"Datenbank (Datenbank mit --db angeben)", "Wissensordner", "TAVILY_API_KEY setzen", "x.png: Bild", "die Datei ist leer", "sales (Datenbanktabelle)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	for _, english := range []string{"give a", "set SEARXNG", "image", "empty", "cannot be answered", "database"} {
		if strings.Contains(page, english) {
			t.Errorf("%q in %s", english, page)
		}
	}
}

// TestInfographicsHaveAPhrase: the title of an infographic is a phrase, neither the question nor the chart's title.
func TestInfographicsHaveAPhrase(t *testing.T) {
	t.Parallel()
	long := "Which of all the regions of our country in which we have had shops since the very beginning has the highest revenue of all, and by how much? With an infographic."
	d := &draft{task: long, w: wordsFor(long), order: readOrder(long), found: gather(map[string]any{"file_research": answers()})}
	if got := d.briefing()["Title"]; got != "Revenue by region at a glance" {
		t.Errorf("%q", got)
	}
}

// TestUnreadableFilesAreNamed: if no file can be read, the refusal names the files and the reasons.
func TestUnreadableFilesAreNamed(t *testing.T) {
	t.Parallel()
	input := map[string]any{"unanswered": []any{map[string]any{"part": "x", "why": "unknown"}}, "not_read": []any{map[string]any{"path": "a.png", "reason": "image"}, map[string]any{"path": "c.csv", "reason": "the file is empty"}}}
	for task, want := range map[string]string{
		"What was the revenue?":    "Offline, this question cannot be answered. Nothing could be read: a.png (image), c.csv (the file is empty).",
		"Wie hoch war der Umsatz?": "Offline lässt sich diese Frage nicht beantworten. Nichts ließ sich lesen: a.png (Bild), c.csv (die Datei ist leer).",
	} {
		if s := ask(t, system(writerCallable), handed(t, task, input)); !strings.Contains(s.Message, want) {
			t.Errorf("%q: %s", task, s.Message)
		}
	}
}
