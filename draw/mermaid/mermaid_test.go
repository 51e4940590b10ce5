package mermaid_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"atelier/draw/mermaid"
	"atelier/draw/svgtest"
	"atelier/media"
)

const flowchart = `---
title: How it runs
---
flowchart LR
  A([Start]) --> B{OK?}  %% a comment
  B -- yes --> C[(Store)] & D[/Out/]
  B -->|no| A; D -.-> A
  C ==> E((Done)) ~~~ F>Flag]
  G{{"a; b [x]"}} x--o H[["sub<br/>routine"]]
  I@{ shape: diamond, label: "New form" } --- C
  subgraph one [Group one]
    J --> K
  end
  classDef big fill:#f00
  C --> C`

const sequence = `sequenceDiagram
  autonumber
  actor U as User
  participant W as Web
  U->>+W: Ask
  W-->>-U: Answer
  W->>W: Think
  Note over U,W: both
  Note left of U: left
  Note right of W: right
  loop every day
    U-xW: lost
    alt fine
      W-)U: async
    else not fine
      U<<->>W: both ways
    end
  end`

const classes = `classDiagram
  direction LR
  class Animal { <<abstract>>
    +String name
    +speak() String
  }
  class Duck["A duck"]
  Duck : +List~int~ eggs
  <<interface>> Flyer
  Animal <|-- Duck : is a
  Flyer <|.. Duck
  Pond "1" *-- "0..*" Duck
  Pond o-- Fish
  Duck --> Pond
  namespace zoo {
    class Cage
  }`

const states = `stateDiagram-v2
  [*] --> Idle
  Idle --> Busy : work
  state Busy {
    [*] --> Running
    Running --> [*]
  }
  state pick <<choice>>
  Busy --> pick
  state "Long name" as L
  pick --> L : else
  L --> [*]
  note right of Idle : waits
  note left of L
    two
    lines
  end note`

const entities = `erDiagram
  CUSTOMER ||--o{ ORDER : places
  ORDER }|..|| "LINE ITEM" : has
  CUSTOMER |o--o| CARD : "may own"
  p[Person] {
    string name PK, FK "the name"
    int age
  }`

const schedule = `gantt
  title Plan
  dateFormat DD.MM.YYYY
  excludes weekends
  section One
  First :done, a, 05.01.2026, 10d
  Second :active, crit, b, after a, 2w
  Point :milestone, after a b, 0d
  section Two
  Third :c, 07.01.2026, 20.01.2026
  Fourth : 36h`

const shares = `pie showData title Shares
  "A" : 40
  "B & C" : 60.5`

func all() map[string]string {
	return map[string]string{"flowchart": flowchart, "sequence diagram": sequence, "class diagram": classes, "state diagram": states, "entity-relationship diagram": entities, "Gantt chart": schedule, "pie chart": shares}
}

func code(s string) map[string]any { return map[string]any{"Code": s} }

func TestEveryKind(t *testing.T) {
	t.Parallel()
	for kind, src := range all() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d, res := svgtest.CheckRepeatable(t, mermaid.Draw, code(src))
			if res.Facts["DiagramType"] != kind {
				t.Errorf("type %v", res.Facts["DiagramType"])
			}
			if kind != "pie chart" {
				d.NoOverlap(t)
			}
			fenced := "```mermaid\r\n" + strings.ReplaceAll(src, "\n", "\r\n") + "\r\n```"
			if _, again := svgtest.Draw(t, mermaid.Draw, code(fenced)); again.Alt != res.Alt {
				t.Error("a fence and other line ends change the drawing")
			}
		})
	}
}

func TestWhatIsDrawn(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][]string{
		"flowchart":                   {"How it runs", "Start → OK?", "OK? → Store (yes)", "OK? → Out (yes)", "OK? → Start (no)", "Out → Start", "a; b [x] → sub routine", "New form – Store", "J → K", "Groups"[:0]},
		"sequence diagram":            {"2 participants: User, Web.", "User to Web: Ask.", "Web to Web: Think."},
		"class diagram":               {"Animal ← A duck (is a)", "Pond → A duck ((1 : 0..*))"},
		"state diagram":               {"start → Idle", "Idle → Busy (work)", "Long name → end", "start → Running"},
		"entity-relationship diagram": {"CUSTOMER → ORDER (places)", "ORDER → LINE ITEM (has)"},
		"Gantt chart":                 {"First: 2026-01-05 to 2026-01-15", "Second: 2026-01-15 to 2026-01-29", "Point: 2026-01-29.", "Third: 2026-01-07 to 2026-01-20", "Fourth: 2026-01-20 to 2026-01-21"},
		"pie chart":                   {"Shares", "B & C 60.2%"},
	} {
		_, res := svgtest.Draw(t, mermaid.Draw, code(all()[kind]))
		for _, w := range want {
			if alt := res.Alt; !strings.Contains(alt, w) {
				t.Errorf("%s: %q is missing in %s", kind, w, alt)
			}
		}
	}
}

func TestTextsOfTheDrawing(t *testing.T) {
	t.Parallel()
	data, res := svgtest.Draw(t, mermaid.Draw, code(classes))
	for _, w := range []string{"«abstract»", "+String name", "+speak() String", "+List&lt;int&gt; eggs", "«interface»"} {
		if !strings.Contains(string(data), w) {
			t.Errorf("%q is missing", w)
		}
	}
	if len(res.Warnings) != 0 {
		t.Error(res.Warnings)
	}
	if _, res = svgtest.Draw(t, mermaid.Draw, code(flowchart)); len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "styles") {
		t.Errorf("warnings %v", res.Warnings)
	}
	data, _ = svgtest.Draw(t, mermaid.Draw, code(entities))
	for _, w := range []string{"name : string  PK, FK", "age : int", "Person"} {
		if !strings.Contains(string(data), w) {
			t.Errorf("%q is missing", w)
		}
	}
}

func TestOtherKindsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"mindmap", "gitGraph", "journey", "timeline", "quadrantChart", "xychart-beta", "C4Context", "sankey-beta", "block-beta", "requirementDiagram"} {
		svgtest.Refuses(t, mermaid.Draw, map[string]map[string]any{fmt.Sprintf("Mermaid's %q diagrams are not drawn here: use flowchart, sequenceDiagram", k): code(k + "\n  x")})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	svgtest.Refuses(t, mermaid.Draw, map[string]map[string]any{
		"Code is empty": code(" \n%% nothing\n"),
		"Code has 300000 characters: at most 200000": code("graph TD\n" + strings.Repeat("A-->B\n", 49_998) + "   "),
		"line 1: this starts no diagram":             code("hello world"),
		"line 2: a link such as":                     code("graph TD\nA --> B C"),
		"line 3: a node is expected":                 code("graph TD\nA-->B\nC --> [x]"),
		"an end without a subgraph":                  code("graph TD\nend"),
		"nothing to draw":                            code("graph TD"),
		"a message is written":                       code("sequenceDiagram\nAlice says hi"),
		"no end for its loop":                        code("sequenceDiagram\nloop x\nA->>B: y"),
		"an end without a block":                     code("sequenceDiagram\nend"),
		"a slice is written":                         code("pie\nA 12"),
		"Code has no slice":                          code("pie title x"),
		"add up to more than zero":                   code("pie\n\"a\" : 0"),
		"neither a class nor a relation":             code("classDiagram\n?? ??"),
		"opening brace without a closing":            code("classDiagram\nclass A {\n+x"),
		"a transition is written":                    code("stateDiagram-v2\nA B C"),
		"no closing brace for state":                 code("stateDiagram-v2\nstate A {\nB --> C"),
		"a relationship is written":                  code("erDiagram\nA likes B"),
		"an attribute is written":                    code("erDiagram\nA {\nname\n}"),
		"Code has no task":                           code("gantt\ntitle x"),
		"the first task needs a start":               code("gantt\nA : 3d"),
		"there is no task z above":                   code("gantt\nA : after z, 3d"),
		"is not a date in the format":                code("gantt\nA : a, yesterday, 3d"),
		"ends before it begins":                      code("gantt\nA : 2026-01-02, 2026-01-01"),
		"more than 30 participants":                  code("sequenceDiagram\n" + parties(31)),
	})
}

func parties(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "participant p%d\n", i)
	}
	return b.String()
}

func TestManyNodesAreReduced(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("graph TD\n")
	for i := range 2500 {
		fmt.Fprintf(&b, "n%d-->n%d\n", i/2, i)
	}
	_, res := svgtest.CheckRepeatable(t, mermaid.Draw, code(b.String()))
	if !strings.Contains(fmt.Sprint(res.Warnings), "80 best-connected of 2500") {
		t.Error(res.Warnings)
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	clean := func(s string) string {
		return strings.NewReplacer(`"`, "'", ";", ",", "\n", " ", "[", "(", "]", ")", "{", "(", "}", ")").Replace(s)
	}
	for _, form := range []string{"graph TD\nA[\"%s\"] -->|t| B", "sequenceDiagram\nA->>B: %s\nNote over A: %s", "pie\n\"%s\" : 1\n\"b\" : 2", "stateDiagram-v2\ns : %s", "gantt\nsection %s\nTask : 2026-01-01, 3d"} {
		svgtest.Survives(t, mermaid.Draw, func(s string) map[string]any {
			src := strings.ReplaceAll(form, "%s", clean(s))
			if strings.TrimSpace(s) == "" {
				src = s
			}
			return map[string]any{"Code": src, "Title": s + "t", "Source": s}
		})
	}
}

func FuzzMermaid(f *testing.F) {
	for _, s := range all() {
		f.Add(s)
	}
	f.Add("graph TD\nA---oB\nA-.text.->B\nA--text---B")
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 3000 {
			return
		}
		res, err := mermaid.Draw(code(src))
		if err != nil {
			if media.CodeOf(err) != media.CodeInvalid {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		data := res.Data
		if err := xml.Unmarshal(data, &struct{}{}); err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if body := string(data); strings.Contains(body[strings.Index(body, "</style>"):], `="NaN`) {
			t.Fatal("a coordinate is not a number")
		}
	})
}

func BenchmarkMermaid(b *testing.B) {
	for kind, src := range all() {
		b.Run(strings.ReplaceAll(kind, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				svgtest.Draw(b, mermaid.Draw, code(src))
			}
		})
	}
}

// TestSequenceKeywordsInAnyCase: the grammar of Mermaid's sequence diagrams ignores the case of keywords.
func TestSequenceKeywordsInAnyCase(t *testing.T) {
	t.Parallel()
	src := strings.Replace(sequence, "  W->>W: Think\n", "  activate W\n  W->>W: Think\n  deactivate W\n", 1)
	upper := src
	for _, word := range []string{"autonumber", "actor", "participant", "Note over", "Note left of", "loop", "alt", "else", "end", "activate", "deactivate"} {
		upper = strings.ReplaceAll(upper, "  "+word, "  "+strings.ToUpper(word))
	}
	want, err := mermaid.Draw(code(src))
	if err != nil {
		t.Fatal(err)
	}
	got, err := mermaid.Draw(code(upper))
	if err != nil || string(got.Data) != string(want.Data) {
		t.Errorf("%v\n got %s\nwant %s", err, got.Data, want.Data)
	}
}
