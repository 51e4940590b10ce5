package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelier/draw/graph"
	"atelier/media"
)

// graphText returns a graph as short text: nodes, then edges.
func graphText(g *graph.Graph) string {
	var out []string
	for _, n := range g.Nodes {
		s := n.ID
		if n.Label != n.ID {
			s += "=" + n.Label
		}
		out = append(out, s)
	}
	for _, e := range g.Edges {
		s := g.Nodes[e.From].ID + ">" + g.Nodes[e.To].ID
		if e.Label != "" {
			s += ":" + e.Label
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestReadTakesWhatModelsWrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ nodes, edges, want string }{
		"objects":    {`[{"id":"a","label":"A"},{"id":"b"}]`, `[{"from":"a","to":"b","label":"x"}]`, "a=A b a>b:x"},
		"by label":   {`[{"id":"1","label":"Shop"},{"label":"Bank"}]`, `[{"source":"Shop","target":"Bank"}]`, "1=Shop Bank 1>Bank"},
		"names":      {`["a","b"]`, `[["a","b","x"]]`, "a b a>b:x"},
		"map":        {`{"a":"A","b":{"label":"B"}}`, `{"a":["b","c"]}`, "a=A b=B c a>b a>c"},
		"lines":      {`null`, `["a -> b: one", "b --> c", "c <-> a"]`, "a b c a>b:one b>c c>a"},
		"lone nodes": {`["only"]`, `null`, "only"},
		"numbers":    {`[1,2]`, `[[1,2]]`, "1 2 1>2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nodes, edges any
			if json.Unmarshal([]byte(c.nodes), &nodes) != nil || json.Unmarshal([]byte(c.edges), &edges) != nil {
				t.Fatal("bad case")
			}
			for _, form := range []func(v any, text string) any{func(v any, _ string) any { return v }, func(_ any, text string) any { return text }} {
				g, err := graph.Read(form(nodes, c.nodes), form(edges, c.edges), graph.Arrow)
				if err != nil {
					t.Fatal(err)
				}
				if got := graphText(g); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for says, c := range map[string][2]any{
		"are empty":                           {nil, nil},
		"Nodes[0] has neither id nor label":   {[]any{map[string]any{"shape": "box"}}, nil},
		`Nodes[0] has shape "blob"`:           {[]any{map[string]any{"id": "a", "shape": "blob"}}, nil},
		"Edges[0] has no from or no to":       {nil, []any{map[string]any{"from": "a"}}},
		`Edges[0] is "nonsense"`:              {nil, "nonsense"},
		"Edges is not valid JSON":             {nil, "[{"},
		"Edges must be an array":              {nil, 7},
		"Edges[0] is not an object with from": {nil, []any{7.0}},
		"at most 20000 are read":              {make([]any, 20001), nil},
	} {
		if _, err := graph.Read(c[0], c[1], graph.Arrow); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want invalid with %q", err, says)
		}
	}
}

func TestReduceKeepsTheBestConnected(t *testing.T) {
	t.Parallel()
	g, err := graph.Read(nil, "hub -> a\nhub -> b\nhub -> c\nx -> y\na -> b", graph.Arrow)
	if err != nil {
		t.Fatal(err)
	}
	note := g.Reduce(3, 3, 100)
	if got := graphText(g); got != "hub a b hub>a hub>b a>b" {
		t.Error(got)
	}
	if want := "Shows the 3 best-connected of 6 nodes and 3 of 5 connections."; note != want {
		t.Errorf("note %q", note)
	}
	if note := g.Reduce(3, 3, 100); note != "" {
		t.Errorf("nothing was omitted, but: %s", note)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`[{"id":"a","group":"g","value":2}]`, `[{"from":"a","to":"a","label":"l"}]`)
	f.Add(`["a"]`, "a -> b: x\nb <-> c")
	f.Add(`{"a":"b"}`, `{"a":["b"]}`)
	f.Fuzz(func(t *testing.T, nodes, edges string) {
		if len(nodes)+len(edges) > 2000 {
			return
		}
		g, err := graph.Read(nodes, edges, graph.Arrow)
		if err != nil {
			if media.CodeOf(err) != media.CodeInvalid {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		p := graph.Arrange(g, graph.Plan{AvailableWidth: 900})
		for i := range g.Edges {
			if len(p.Layout.Routes[i]) < 2 {
				t.Fatal("an edge without a route")
			}
		}
	})
}

// TestLinesAsMermaidWritesThem: chains and texts on arrows are no names of nodes.
func TestLinesAsMermaidWritesThem(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"A -->|yes| B":                 "A B A>B:yes",
		"A -- maybe so --> B":          "A B A>B:maybe so",
		"A -> B -> C: last":            "A B C A>B B>C:last",
		"A -> B: from x -> y":          "A B A>B:from x -> y",
		"Step 1: do --> Step 2: check": "Step 1: do Step 2 Step 1: do>Step 2:check",
		"A ---> ns:item":               "A ns:item A>ns:item",
		"A -- B -- C":                  "A B C A>B B>C",
		"A -.-> B":                     "A B A>B",
		"A -- x --> B -> C":            "A B C A>B:x B>C",
		"A -- B: x --> y":              "A B A>B:x --> y",
		"A -> B:":                      "A B A>B",
	} {
		g, err := graph.Read(nil, line, graph.Arrow)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if got := graphText(g); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	for _, line := range []string{"-> B", "A -> -> B", "A ->"} {
		if _, err := graph.Read(nil, line, graph.Arrow); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestReduceSaysByWhat(t *testing.T) {
	t.Parallel()
	g, err := graph.Read(`[{"id":"a","value":1},{"id":"b","value":9},{"id":"c","value":5}]`, "a -> b\na -> c", graph.Arrow)
	if err != nil {
		t.Fatal(err)
	}
	if note := g.Reduce(2, 2, 100); note != "Shows the 2 largest of 3 nodes and 0 of 2 connections." {
		t.Error(note)
	}
}

// TestEdgesToSeveralNodes: a list of names is an edge to each of them, and an object is named by its label.
func TestEdgesToSeveralNodes(t *testing.T) {
	t.Parallel()
	g, err := graph.Read([]any{map[string]any{"id": "a", "label": []any{"x", map[string]any{"text": "y"}, 3.0}}}, []any{
		map[string]any{"from": "a", "to": []any{"b", "c"}, "label": "l"},
		map[string]any{"from": map[string]any{"name": "c"}, "to": "a"},
	}, graph.Arrow)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Describe("G", "T"); got != "G: T. 3 nodes, 3 connections. x, y, 3 → b (l). x, y, 3 → c (l). c → x, y, 3." {
		t.Error(got)
	}
	many := slices.Repeat([]any{"n"}, 300)
	if _, err := graph.Read(nil, []any{map[string]any{"from": many, "to": many}}, graph.Arrow); err == nil || !strings.Contains(err.Error(), "with Edges[0] there are more than 50000 edges") {
		t.Error(err)
	}
}
