package offline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTitlesLeaveOutTheWishes(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Create a research report about renewable energy trends. Include an AI-generated illustration showing solar panels and wind turbines.": "Renewable energy trends",
		"Create a market analysis report with a bar chart of market share and an AI-generated infographic of the industry ecosystem.":          "Market analysis",
		"Create a report on sustainable architecture with 2-3 AI-generated illustrations of eco-friendly buildings.":                           "Sustainable architecture",
		"Write a report on sustainable architecture with 2–3 AI-generated illustrations of eco-friendly buildings":                             "Sustainable architecture",
		"How is electricity generation changing? Include charts and one illustration of wind turbines.":                                        "How is electricity generation changing?",
		"Write a report on the shop's revenue by region, with two illustrations of a small book shop.":                                         "The shop's revenue by region",
		"An infographic on wind power":             "Wind power",
		"A report on sales with an infographic.":   "Sales",
		"Report on market share as a pie chart":    "Market share",
		"Please write a short report.":             "",
		"A report on prices with and without tax.": "Prices with and without tax",
		"":                                   "",
		"Wie entwickelt sich der Umsatz?":    "Wie entwickelt sich der Umsatz?",
		"\U0001F44D\U0001F44D \xff and more": "\U0001F44D\U0001F44D \xff and more",
	} {
		if got := headline(task); got != want {
			t.Errorf("%q: %q, want %q", task, got, want)
		}
	}
}

// wishes writes an order down in short.
func wishes(o order) string {
	var out []string
	for _, r := range append(append([]request{}, o.charts...), o.drawings...) {
		out = append(out, r.name())
	}
	if o.infographic != nil {
		out = append(out, o.infographic.name())
	}
	if o.asked {
		out = append(out, fmt.Sprintf("%d of %s", o.pictures, o.scene))
	}
	return strings.Join(append(out, o.beyond...), "; ")
}

func TestOrdersAreRead(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Include an AI-generated illustration showing solar panels and wind turbines.":                                         "1 of solar panels and wind turbines",
		"A market analysis report with a bar chart of market share and an AI-generated infographic of the industry ecosystem.": "bar chart of market share; infographic of industry ecosystem",
		"With 2-3 AI-generated illustrations of eco-friendly buildings.":                                                       "3 of eco-friendly buildings",
		"Two or three pictures of a harbour, please":                                                                           "3 of a harbour",
		"A report with a column chart, a doughnut chart of parts, and a line graph showing growth":                             "bar chart; donut chart of parts; line chart of growth",
		"Draw a network of who works with whom and a diagram of the release process":                                           "network of who works with whom; diagram of release process",
		"A Mermaid sequence diagram: A -> B: hello":                                                                            "sequence Mermaid diagram",
		"A state diagram of the order":                                                                                         "state Mermaid diagram of order",
		"A flowchart of checkout and an org chart":                                                                             "flow diagram of checkout; hierarchy diagram",
		"A report with a diagram of the process, a network of friends, and a hand-drawn sketch of the steps":                   "sketch of steps; network of friends; diagram of process",
		"A hand-drawn diagram of the plan":                                                                                     "sketch of plan",
		"A hand-drawn sketch of the idea":                                                                                      "sketch of idea",
		"A pencil sketch of a boat as a picture":                                                                               "1 of ",
		"Which words? A word cloud of the answers":                                                                             "word cloud of answers",
		"Show the architecture of our shop":                                                                                    "diagram of architecture",
		"Everything at a glance":                                                                                               "infographic",
		"How are the suppliers connected?":                                                                                     "network",
		"A report on sustainable architecture and social networks":                                                             "",
		"No pictures, no charts and without an infographic.":                                                                   "",
		"With a heatmap of sales and a video":                                                                                  "heatmap of sales; video",
		"How did sales go?":                                                                                                    "",
	} {
		if got := wishes(readOrder(task)); got != want {
			t.Errorf("%q: %q, want %q", task, got, want)
		}
	}
	if o := readOrder("A report. No charts or pictures."); !o.plain || o.pictures != 0 {
		t.Errorf("%+v", o)
	}
}

func TestStructuresAreRead(t *testing.T) {
	t.Parallel()
	show := func(all ...structure) string {
		var out []string
		for _, s := range all {
			for _, l := range s.Links {
				one := l.From + ">" + l.To
				if l.Label != "" {
					one += ":" + l.Label
				}
				out = append(out, one)
			}
			out = append(out, "|")
		}
		return strings.Join(out, " ")
	}
	for task, want := range map[string]string{
		"A diagram of the process: plan -> build -> ship. No pictures.":           "Plan>Build Build>Ship |",
		"Sequence: Browser -> Server: password, Server -> Browser: token":         "Browser>Server:Password Server>Browser:Token |",
		"Architecture report with a sketch of the steps: idea, plan and house.":   "Idea>Plan Plan>House |",
		"Draw the hierarchy: CEO over CTO, CFO and COO":                           "CEO>CTO CEO>CFO CEO>COO |",
		"A diagram of the architecture of the shop: web server, API and database": "Architecture of the shop>Web server Architecture of the shop>API Architecture of the shop>Database |",
		"x → y":            "X>Y |",
		"A report on wind": "",
	} {
		got := ""
		if s, ok := given(task); ok {
			got = show(s)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", task, got, want)
		}
	}
	text := "# Release\n\nWe do:\n\n1. Plan: first\n2. **Build** it\n\n3. Ship\n\nText between.\n\n- Board\n  - Sales\n    - North\n  - Works\n\n- flat\n- list\n\nA -> B\nB --> C: go\n"
	want := "Plan>Build it Build it>Ship | Board>Sales Sales>North Board>Works | A>B B>C:Go |"
	if got := show(structures("f.md", "T", text)...); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	table := table{Columns: []column{{Name: "From"}, {Name: "To"}, {Name: "weight"}}, SampleRows: [][]string{{"Ada", "Ben", "3"}, {"", "x", "1"}, {"Ben"}}}
	s, ok := table.relations("r.csv")
	if d := cmp.Diff([]link{{From: "Ada", To: "Ben", Weight: 3}}, s.Links); !ok || d != "" {
		t.Error(ok, d)
	}
}

func TestNumbersOfTheTaskAreATable(t *testing.T) {
	t.Parallel()
	tb, ok := stated("A report with a bar chart of market share: Aster 40 %, Bolt: 35 %, and Cascade (1,200 %). No pictures.")
	if !ok || tb.Name != "Market share" || tb.Unit != "%" || len(tb.Series[0].Points) != 3 || *tb.Series[0].Points[2].Y != 1200 || tb.Series[0].Points[2].X != "Cascade" {
		t.Fatalf("%+v", tb)
	}
	for _, no := range []string{"A report: one, two, three.", "Sales of 2021: 40", "Call me at 3: now", "A diagram: plan -> build", "Ratio 3:2, 4:5"} {
		if tb, ok := stated(no); ok {
			t.Errorf("%q: %+v", no, tb.Series)
		}
	}
}

func FuzzReadOrder(f *testing.F) {
	f.Add("A report with a bar chart of share: A 40 %, B 35 % and a network a -> b, no pictures")
	f.Add("1. a\n2. b\n  - c\n- d\nx -> y: z\n```mermaid\npie\n```")
	f.Fuzz(func(t *testing.T, task string) {
		o := readOrder(task)
		for _, fig := range o.illustrations() {
			if fig.call.Params["Prompt"] == "" {
				t.Error("an empty prompt")
			}
		}
		if _, ok := stated(task); ok && !strings.ContainsAny(task, "0123456789") {
			t.Error("numbers out of nothing")
		}
		for _, s := range structures("p", "t", task) {
			if len(s.Links) == 0 || len(s.Links) > mostLinks {
				t.Errorf("%d links", len(s.Links))
			}
		}
		given(task)
	})
}
