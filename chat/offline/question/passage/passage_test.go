package passage_test

import (
	"strings"
	"testing"

	"atelier/chat/offline/question/passage"
	"atelier/chat/offline/question/speech"
)

func TestQuotesHoldEveryWord(t *testing.T) {
	t.Parallel()
	docs := []passage.Document{{Path: "handbook.md", Text: "# Leave\n\nFull-time employees get 28 days of paid vacation. Ask early.\n\n## Notice\n\nDuring probation the notice period is two weeks. Dr. Weber signs.\n\n- Parking costs 40 € a month\n- Churn fell to 3.1 percent.\n- Sales rose by 4 percent.\n"}, {Path: "notes.md", Text: "The soup serves six people. Laptops are replaced every four years.\n\nPresent: 23 members.\n"}}
	for q, want := range map[string]string{
		"How many days of paid vacation do full-time employees get?": "Full-time employees get 28 days of paid vacation.",
		"How long is the notice period during probation?":            "During probation the notice period is two weeks.",
		"What does parking cost?":                                    "Parking costs 40 € a month",
		"How many days of parental leave do employees get?":          "",
		"How many employees does the notice name?":                   "", // two weeks is no number of employees
		"How many are there?":                                        "",
		"How much did churn fall?":                                   "", // it fell to 3.1 percent, not by it
		"How much did sales rise?":                                   "Sales rose by 4 percent.",
		"How long does the soup keep?":                               "",
		"How long does it take to get a laptop?":                     "", // how often is not how long
		"How many members do we have?":                               "", // those present are not all
		"How many members were present?":                             "Present: 23 members.",
		"What does the canteen cost?":                                "",
		"Why is the notice period two weeks?":                        "",
	} {
		got := ""
		if qs := passage.Quotes(strings.TrimSuffix(q, "?"), speech.English, docs); len(qs) > 0 {
			got = qs[0].Text
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", q, got, want)
		}
	}
}

func TestAQuestionForANumberIsNotAnsweredByWords(t *testing.T) {
	t.Parallel()
	docs := []passage.Document{{Path: "questions.md", Text: "# Questions\n\n- Workload: How happy are you with your workload?\n- The council looks at the workload.\n"}}
	for _, ask := range []string{"How did people rate their workload on average?", "What is the average workload?"} {
		if got := passage.Quotes(ask, speech.English, docs); len(got) > 0 {
			t.Errorf("%s: %v", ask, got)
		}
	}
	if got := passage.Quotes("Who looks at the workload?", speech.English, docs); len(got) != 1 {
		t.Errorf("who looks at it: %v", got)
	}
}

func FuzzQuotes(f *testing.F) {
	for _, q := range []string{"how many", "How many are there", "Wie viele Tage", "what is the %", "…"} {
		f.Add(q, "# Leave\n\n- Full-time employees get 28 days.\n")
	}
	f.Fuzz(func(t *testing.T, part, text string) {
		if len(part) > 300 || len(text) > 2000 {
			return
		}
		for _, q := range passage.Quotes(part, speech.LanguageOf(part), []passage.Document{{Path: "a.md", Text: text}}) {
			if q.Text == "" {
				t.Errorf("%q: an empty quote", part)
			}
		}
	})
}
