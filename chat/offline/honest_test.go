package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// profileOf is one table of names as the file reader hands it on.
func profileOf(t *testing.T, profile string) *table {
	t.Helper()
	out := &table{}
	if err := json.Unmarshal([]byte(profile), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// many is a profile of the sixty largest of 10,000 names.
func many(t *testing.T) *table {
	t.Helper()
	var points []string
	for i := range 60 {
		points = append(points, fmt.Sprintf(`["Shop %d",%d]`, i, 1000-i))
	}
	return profileOf(t, `{"rowCount":10000,"x":"shop","xCount":10000,"columns":[{"name":"shop","type":"text"},{"name":"sales","type":"number"}],
		"series":[{"name":"sales","measure":"sales","points":[`+strings.Join(points, ",")+`]}]}`)
}

// TestOnlyTheLargestAreShown: of what is not there nothing is said, least of all that
// something else is the lowest.
func TestOnlyTheLargestAreShown(t *testing.T) {
	t.Parallel()
	facts := strings.Join(insights(many(t)), " ")
	if !strings.Contains(facts, "Of the 10,000 values of shop, sales is highest for Shop 0, at 1,000.") || strings.Contains(facts, "lowest") {
		t.Errorf("facts: %s", facts)
	}
	list := charts("a.csv", many(t))
	if len(list) != 1 {
		t.Fatalf("%d charts", len(list))
	}
	p := list[0].params
	if labels, _ := p["Labels"].([]string); len(labels) != mostNames || labels[0] != "Shop 0" || p["Horizontal"] != true {
		t.Errorf("chart: %v", p)
	}
	if !strings.Contains(fmt.Sprint(p["Title"]), "the 20 largest of 10,000") {
		t.Errorf("title: %v", p["Title"])
	}
}

func TestLargestFirstTakesMissingValuesLast(t *testing.T) {
	t.Parallel()
	one, five := 1.0, -5.0
	got := largestFirst([]line{{Points: []point{{"a", nil}, {"b", &one}, {"c", &five}}}, {Points: []point{{"b", &one}}}}, 2)
	if len(got) != 2 || len(got[0].Points) != 2 || got[0].Points[0].X != "c" || got[0].Points[1].X != "b" || len(got[1].Points) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestEqualAndSingleValuesAreSaidPlainly(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string]string{
		`{"x":"city","columns":[{"name":"city","type":"text"}],"series":[{"name":"pop","points":[["A",5],["B",5],["C",5]]}]}`: "Pop is the same for all 3: 5.",
		`{"columns":[{"name":"value","type":"number","min":5,"max":5,"mean":5}]}`:                                             "Value is 5.",
	} {
		if got := insights(profileOf(t, profile)); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSharesAreOfTheWhole: fifteen totals are the largest of perhaps many.
func TestSharesAreOfTheWhole(t *testing.T) {
	t.Parallel()
	var totals []string
	for i := range mostTotals {
		totals = append(totals, fmt.Sprintf(`{"group":"G%d","measure":"n","value":%d,"share":0.01}`, i, 100-i))
	}
	text := `{"groupBy":"g","measure":"n","totals":[` + strings.Join(totals, ",") + `]}`
	if s := profileOf(t, text).shares(); len(s) != mostTotals || s[0].Share != 0.01 {
		t.Errorf("shares: %+v", s)
	}
	if s := profileOf(t, strings.ReplaceAll(text, `,"share":0.01`, "")).shares(); s != nil {
		t.Errorf("shares of a whole that is not known: %+v", s)
	}
}

// TestPlaceholdersInSourcesAreText: what a file calls a picture is none of this run.
func TestPlaceholdersInSourcesAreText(t *testing.T) {
	t.Parallel()
	h := newHarvest("x")
	h.passage("a.md", "A", "The file speaks of ${media:img-7k3m9q2x} in one of its sentences.")
	b, err := json.Marshal(h.step("read").Payload)
	if err != nil || !strings.Contains(string(b), "$${media:img-7k3m9q2x}") {
		t.Errorf("payload %s, %v", b, err)
	}
}

func TestNamesOfAnotherDirectionStandApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"الحصة is highest for شركة الطاقة, at 40": "<bdi>الحصة</bdi> is highest for <bdi>شركة الطاقة</bdi>, at 40",
		"השוק גדל ב-12%":                          "השוק גדל ב-12%",
		"a < b & \"quote\"":                       "a &lt; b &amp; &#34;quote&#34;",
	} {
		if got := prose(text); got != want {
			t.Errorf("%s", got)
		}
	}
}

func TestSentencesAreSaidOnce(t *testing.T) {
	t.Parallel()
	one := "The harbour wall protects the station from storms. "
	if got := keySentences(strings.Repeat(one, 9)+"It was built by the town in 1950.", "harbour", 6); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestTopicsAreNoQuestions(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"What about the tidal harbour?": "tidal harbour", "How does solar power work?": "solar power work", "Renewable energy": "Renewable energy",
	} {
		if got := topic(title); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestReportOpensWithTheFinding and says behind it what it rests on.
func TestReportOpensWithTheFinding(t *testing.T) {
	t.Parallel()
	m := material{Tables: []profiled{{Path: "shops.csv", Table: many(t)}}}
	body, _, summary := (&report{order: order{title: "Shops"}, m: m}).html()
	finding := "Of the 10,000 values of shop, sales is highest"
	if !strings.HasPrefix(body, "<h1>Shops</h1>\n<p>"+finding) || !strings.HasPrefix(summary, finding) || strings.Contains(body, "Key findings") {
		t.Errorf("summary %q, report %s", summary, body)
	}
}

func TestUnusedSourcesAreOneSentence(t *testing.T) {
	t.Parallel()
	s := conclude(&conversation{agents: []callee{{Slug: "research-report-writer"}}, sources: map[string]source{"web": {}, "db": {Reason: "give one"}}}, nil)
	if s.Message != "Not used: db (give one), web." {
		t.Errorf("%q", s.Message)
	}
}

// TestOwnAgentsAreHeard: an agent without researchers hands on what its sub-agents said,
// and no sources that it never had.
func TestOwnAgentsAreHeard(t *testing.T) {
	t.Parallel()
	c := &conversation{
		agents: []callee{{Slug: "sage"}}, sources: map[string]source{"web": {}},
		results: []result{{Agents: []agentResult{{Slug: "sage", Success: true, Message: "Here is a fox."}}}},
	}
	if s := conclude(c, nil); s.Message != "Here is a fox." {
		t.Errorf("%q", s.Message)
	}
}

func TestTooManyPicturesAreToldSo(t *testing.T) {
	t.Parallel()
	sys := system(editorCallable)
	s := ask(t, sys, "Draw 25 pictures of ants")
	if len(s.Actions) != 1 || s.Actions[0].Params["NumberOfImages"] != float64(mostAtOnce) {
		t.Fatalf("%+v", s)
	}
	s = ask(t, sys, "Draw 25 pictures of ants", "{}", made(t, "Generate Image", "Generated 1 image(s)", "img-00000001"))
	if !strings.Contains(s.Message, "You asked for 25: 10 are the most") {
		t.Errorf("%q", s.Message)
	}
	o := readOrder("A report on ants with 12 illustrations of ants.")
	p := (&conversation{actions: []string{paintAction}}).plan(o, material{})
	if len(p.figures) != mostPictures || !strings.Contains(strings.Join(p.needs, " "), "asks for 12 pictures: 6 are the most") {
		t.Errorf("%d figures, %q", len(p.figures), p.needs)
	}
}

// TestDrawingsAlwaysHaveATitle, also where the task only spells out the parts.
func TestDrawingsAlwaysHaveATitle(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"A report with a cyclic diagram: a -> b -> c -> a":             "Diagram",
		"A report with a diagram of the steps: plan -> build -> ship":  "Steps",
		"A diagram of our release process: plan -> build, build -> go": "Our release process",
	} {
		o := readOrder(task)
		c := &conversation{actions: []string{diagramAction}, task: task}
		p := c.plan(o, gather(nil, task))
		if len(p.figures) != 1 || p.figures[0].call.Params["Title"] != want {
			t.Errorf("%s: %+v", task, p.figures)
		}
	}
}
