package offline

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAPictureThatIsNotThere: a number beyond the last picture does not mean the last one.
func TestAPictureThatIsNotThere(t *testing.T) {
	t.Parallel()
	const one, two = "img-00000001", "img-00000002"
	for task, want := range map[string]string{
		"Make picture 5 darker":                 "There is no picture 5 in this conversation. There are 2 pictures",
		"Turn the third one into a night scene": "There is no third one in this conversation.",
		"Mach Bild 4 dunkler":                   "kein bild 4",
		"Show me the third picture":             "There is no third picture in this conversation.",
		"Show me img-zzzzzzzz":                  "There is no img-zzzzzzzz in this conversation.",
	} {
		if s := ask(t, system(editorCallable), granting(t, task, one, two)); len(s.Actions) > 0 || !s.Done || !strings.Contains(s.Message, want) {
			t.Errorf("%q: %+v", task, s)
		}
	}
	if s := ask(t, system(editorCallable), granting(t, "Add a sign with number 7 to the picture", one, two)); len(s.Actions) != 1 {
		t.Errorf("number 7 is part of the picture: %+v", s)
	}
}

// TestNumbersThatATaskStates: they are read as the task's language writes them, and have one unit.
func TestNumbersThatATaskStates(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Erstelle ein Diagramm. Umsatz: Nord 1.200 €, Süd 900 €":         `[1200,900] €: Umsatz: Nord 1.200 €, Süd 900 €.`,
		"Erstelle ein Diagramm. Marktanteil: A 40,5 Prozent, B 35,125 %": `[40.5,35.125] %: Marktanteil: A 40,5 %, B 35,125 %.`,
		"A chart of sales: A 1,200, B 3,400.50":                          `[1200,3400.5] : Sales: A 1,200, B 3,400.50.`,
		"A chart of sales: Q1 40, Q2 50, Q3 1 200":                       `[40,50,1200] : Sales: Q1 40, Q2 50, Q3 1 200.`,
		"A chart of profit: A -5, B $3, C 4":                             `[-5,3,4] $: Profit: A -5, B $3, C 4.`,
		"A chart of power: wind 40 GW, solar 3500 MW":                    ``,
	} {
		f, ok := stated(task)
		got := ""
		if ok {
			values, err := json.Marshal(f.Chart.Series[0].Values)
			if err != nil {
				t.Fatal(err)
			}
			got = string(values) + " " + f.Chart.Unit + ": " + f.Sentences[0]
		}
		if want = strings.ReplaceAll(want, `\u00a0`, "\u00a0"); got != want {
			t.Errorf("%s\n got %s\nwant %s", task, got, want)
		}
	}
}

// TestSourcesAreThoseOfTheAnswer: a file whose name is a part of the name of another one did not contribute.
func TestSourcesAreThoseOfTheAnswer(t *testing.T) {
	t.Parallel()
	table := func(name string) map[string]any {
		return map[string]any{"name": name, "path": name + ".csv", "rowCount": 2, "columns": []any{map[string]any{"name": name, "type": "number", "distinct": 2, "min": 1, "max": 2}}}
	}
	described := results(t, map[string]any{"actions": []any{
		map[string]any{"name": "List Files", "success": true, "outputs": map[string]any{"files": []any{}}},
		map[string]any{"name": "Describe Tables", "success": true, "outputs": map[string]any{"tables": []any{table("weight"), table("overweight")}}},
	}})
	const task = "What is the total overweight?"
	s := ask(t, system(fileCallable), task, "{}", described)
	if len(s.Actions) != 1 {
		t.Fatalf("%+v", s)
	}
	queried := acted(t, "Query Tables", map[string]any{"statement": s.Actions[0].Params["SQL"], "columns": []string{"total", "values", "rows", "least", "greatest"}, "rows": [][]any{{3, 2, 2, 1, 2}}})
	s = ask(t, system(fileCallable), task, "{}", described, "{}", queried)
	sources, err := json.Marshal(s.Payload["sources"])
	if err != nil || string(sources) != `[{"kind":"table","path":"overweight.csv","rows":2}]` {
		t.Errorf("%s %v", sources, err)
	}
}

// TestFindingsWithoutSentences: what another agent returns under the same keys states nothing.
func TestFindingsWithoutSentences(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(map[string]any{"context": map[string]any{"input": map[string]any{"found": map[string]any{"sources": []any{map[string]any{"path": "a.csv"}}, "answers": []any{map[string]any{"part": "x"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if s := ask(t, system(writerCallable), "What is x?\n\n```json\n"+string(b)+"\n```"); !s.Done || !strings.Contains(s.Message, refused) {
		t.Errorf("%+v", s)
	}
}

// TestHeadlines: the title of a report is its first question in full, or what it orders.
func TestHeadlines(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Wie hoch war der Verbrauch am 14. Januar 2024 insgesamt?":                                         "Wie hoch war der Verbrauch am 14. Januar 2024 insgesamt?",
		"Wie lange warten die Patienten bei Dr. Öztürk im Durchschnitt? Mit einem Diagramm.":               "Wie lange warten die Patienten bei Dr. Öztürk im Durchschnitt?",
		"On average, how many people come? How many cats?":                                                 "On average, how many people come?",
		"Create a report on wind power with a chart.":                                                      "Wind power",
		"Create a market analysis report with a bar chart of market share: Aster 40 %, Bolt 35 %, C 25 %.": "Market analysis report",
		"Wind": "Wind",
	} {
		if got := headline(task); got != want {
			t.Errorf("%q: %q, want %q", task, got, want)
		}
	}
}
