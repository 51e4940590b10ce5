package mermaid_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier/draw/mermaid"
	"atelier/draw/svgtest"
)

// TestSourcesThatAreNearlyRight draws what models write at the edges of the grammar; each case names words that the
// alternative text must and, after a !, must not contain.
func TestSourcesThatAreNearlyRight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code string
		alt  []string
	}{
		"label over lines":       {"flowchart TD\nA[\"one\ntwo; three\"] --> B{is it\n ok?}\nB -->|\"yes\nor so\"| C[5\" pipe]\nC --> D@{ shape: diamond,\n label: \"last\" }", []string{"one two; three → is it ok?.", "is it ok? → 5\" pipe (yes or so).", "5\" pipe → last."}},
		"description over lines": {"flowchart TD\naccTitle: Seen\naccDescr {\nThis shows it\nall }\nA --> B", []string{"Flowchart: Seen. 2 nodes", "A → B."}},
		"link of a subgraph":     {"flowchart TD\nsubgraph s1 [Front end]\na-->b\nend\nsubgraph s2 [Back end]\nc\nend\ns1 --> s2", []string{"Front end → Back end.", "!s1"}},
		"HTML, entities, icons":  {"flowchart TD\nA[\"<b>Bold</b>&nbsp;#9829; <i>x</i> &lt;b&gt; R#amp;D #zz; &#65;\"] --> B[fa:fa-car Car]", []string{"Bold ♥ x <b> R&D #zz; A → Car."}},
		"quoted link":            {"flowchart TD\nA -- \"a -- b\" --> B -- \"x\" y --> C", []string{"A → B (a -- b).", "B → C (\"x\" y)."}},
		"ends of links":          {"flowchart TD\nA --- B\nB <--> C\nC --x D", []string{"A – B.", "B ↔ C.", "C → D."}},
		"semicolon in a label":   {"flowchart TD\nA[one; two] --> B(three; four); B --> C;", []string{"3 nodes", "one; two → three; four. three; four → C."}},
		"byte order mark":        {"\ufeffflowchart TD\nA-->B", []string{"A → B."}},
		"note over three":        {"sequenceDiagram\nA->>B: x\nB->>C: y\nNote over C,A,B: all", []string{"3 participants: A, B, C."}},
		"participant Actor":      {"sequenceDiagram\nActor->>Box: x\nActor ->> Box: y\nLink -->> Actor: z", []string{"3 participants: Actor, Box, Link.", "Actor to Box: y."}},
		"classes without spaces": {"classDiagram\nAnimal<|--Duck\nFoo--Bar\nFoo \"1\"-->\"many\" Bar: has\nA --> \"0..*\" B", []string{"Animal ← Duck.", "Foo – Bar.", "Foo → Bar (has (1 : many)).", "A → B ((– : 0..*))."}},
		"one generic class":      {"classDiagram\nclass Shape~T~ {\ndraw()\n}\nDuck ..|> Shape", []string{"2 nodes", "Duck → Shape<T>."}},
		"class of a state":       {"stateDiagram-v2\nA --> B:::bad\nB --> C:::bad : go", []string{"A → B. B → C (go)."}},
		"name of a composite":    {"stateDiagram-v2\n[*] --> L\nstate \"Long name\" as L {\na --> b\n}\nL --> [*]", []string{"start → Long name.", "Long name → end."}},
		"entities in any form":   {"erDiagram\nA||--o{B : x\nFoo o|--|| C : y\nB }o..o{ C : z", []string{"A → B (x).", "Foo → C (y).", "B → C (z)."}},
		"times":                  {"gantt\ndateFormat HH:mm\nA : a, 17:49, 30m\nB : after a, 2h", []string{"2 tasks from 17:49 to 20:19.", "B: 18:19 to 20:19."}},
		"hours":                  {"gantt\nA : a, 2026-01-05 09:00, 2h\nB : 1d", []string{"A: 2026-01-05 09:00 to 2026-01-05 11:00."}},
		"one hour":               {"gantt\nA : a, 2026-01-05 09:00, 2h\nB : b, 2026-01-06, 1d", []string{"B: 2026-01-06 to 2026-01-07."}},
		"milestones":             {"gantt\nFirst : milestone, 2026-01-01\nA : a, 2026-01-05, 10d\nLaunch : milestone, m, 2026-01-30\nM : milestone, m2, 2026-02-01, 4d", []string{"First: 2026-01-01.", "Launch: 2026-01-30.", "M: 2026-02-03."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, res := svgtest.CheckRepeatable(t, mermaid.Draw, code(c.code))
			for _, w := range c.alt {
				if not, absent := strings.CutPrefix(w, "!"); absent && strings.Contains(res.Alt, not) || !absent && !strings.Contains(res.Alt, w) {
					t.Errorf("want %q in %s", w, res.Alt)
				}
			}
		})
	}
}

// TestMemberTypes: the parts of a class are drawn with the types that the source has.
func TestMemberTypes(t *testing.T) {
	t.Parallel()
	data, _ := svgtest.Draw(t, mermaid.Draw, code("classDiagram\nclass A {\n+Map~String, List~int~~ all\n~helper(List~int~ x)\n}"))
	for _, w := range []string{"+Map&lt;String, List&lt;int&gt;&gt; all<", "~helper(List&lt;int&gt; x)<"} {
		if !strings.Contains(string(data), w) {
			t.Errorf("%q is missing in %s", w, data)
		}
	}
}

// TestWhatHasNoMeaningIsRefused: a drawing of these would show less than the source, or something else.
func TestWhatHasNoMeaningIsRefused(t *testing.T) {
	t.Parallel()
	svgtest.Refuses(t, mermaid.Draw, map[string]map[string]any{
		"Code has no end note":   code("stateDiagram-v2\nA --> B\nnote right of A\nhello\nB --> C"),
		"write activate Alice":   code("sequenceDiagram\nA->>B: x\nactivate"),
		"12,5 is not the size":   code("pie\n\"A\" : 12,5\n\"B\" : 87,5"),
		"line 4: a node is exp":  code("---\ntitle: T\n---\ngraph [x]"),
		`expected at "[\"one t`:  code("graph TD\nA --> B[\"one\ntwo"),
		"more than 50000 links":  code("graph TD\n" + ampersands() + "-->" + ampersands()),
		"more than 50000 links:": code("graph TD\n" + ampersands() + "~~~" + ampersands()),
	})
}

func ampersands() string {
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = fmt.Sprint("n", i)
	}
	return strings.Join(ids, "&")
}

// TestPieKeepsTheParametersOfThePage: the language reaches the chart.
func TestPieKeepsTheParametersOfThePage(t *testing.T) {
	t.Parallel()
	data, res := svgtest.Draw(t, mermaid.Draw, map[string]any{"Code": shares, "Language": "de", "Source": "Amt"})
	if !strings.Contains(string(data), "Quelle: Amt") || !strings.Contains(res.Alt, "Kreisdiagramm") {
		t.Error(res.Alt)
	}
}

// TestCenturies: the bars of equal times have equal widths, also beyond the 292 years of a time.Duration.
func TestCenturies(t *testing.T) {
	t.Parallel()
	data, _ := svgtest.Draw(t, mermaid.Draw, code("gantt\nA : 1000-01-01, 1100-01-01\nB : 1500-01-01, 1600-01-01\nC : 1900-01-01, 2000-01-01"))
	var widths []float64
	for _, e := range svgtest.Check(t, data).Elements {
		if e.Name == "rect" && e.Has("f0") {
			widths = append(widths, e.Num("width"))
		}
	}
	if len(widths) != 3 || widths[0] < 40 || widths[0]-widths[1] > 1 || widths[0]-widths[2] > 1 {
		t.Error(widths)
	}
}

// TestAxisOfTimes: a schedule without dates has an axis without dates.
func TestAxisOfTimes(t *testing.T) {
	t.Parallel()
	data, _ := svgtest.Draw(t, mermaid.Draw, code("gantt\ndateFormat HH:mm\nA : a, 17:49, 30m\nB : after a, 2h"))
	if s := string(data); !strings.Contains(s, ">19:00<") || strings.Contains(s, "Jan") {
		t.Error(s[strings.Index(s, "</style>"):])
	}
}

// TestMarginNotes: a note wider than a narrow diagram stays on the page.
func TestMarginNotes(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"sequenceDiagram\nNote over A: " + strings.Repeat("long text ", 30), "sequenceDiagram\nA->>A: " + strings.Repeat("long text ", 30)} {
		svgtest.CheckRepeatable(t, mermaid.Draw, map[string]any{"Code": src, "Width": 240.0})
	}
}

// TestClassInNamespaceAfterRelation: a class belongs to the namespace that declares it, also if a relation named it before.
func TestClassInNamespaceAfterRelation(t *testing.T) {
	t.Parallel()
	data, _ := svgtest.Draw(t, mermaid.Draw, code("classDiagram\nAnimal <|-- Duck\nnamespace Farm {\nclass Duck\n}"))
	n := 0
	for _, e := range svgtest.Check(t, data).Elements {
		if e.Name == "rect" && e.Has("n0") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d rectangles have the colour of the namespace, want one in the legend and one for the class", n)
	}
}

// TestMessageNumbers: numbers begin where the source says, and only where it says.
func TestMessageNumbers(t *testing.T) {
	t.Parallel()
	data, _ := svgtest.Draw(t, mermaid.Draw, code("sequenceDiagram\nA->>B: zero\nautonumber 10 5\nA->>B: ten\nB->>A: fifteen\nautonumber off\nA->>B: twenty\nautonumber\nA->>B: last"))
	for _, w := range []string{">zero<", ">10. ten<", ">15. fifteen<", ">twenty<", ">25. last<"} {
		if !strings.Contains(string(data), w) {
			t.Errorf("%s is missing", w)
		}
	}
}

// TestInclusiveEndDates: an ignored setting that moves the ends of bars is stated.
func TestInclusiveEndDates(t *testing.T) {
	t.Parallel()
	if _, res := svgtest.Draw(t, mermaid.Draw, code("gantt\ninclusiveEndDates\nA : 2026-01-05, 2026-01-09")); !strings.Contains(strings.Join(res.Warnings, ""), "inclusiveEndDates") {
		t.Error(res.Warnings)
	}
}
