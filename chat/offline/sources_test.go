package offline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// acted is one message with the results of actions of one name.
func acted(t *testing.T, name string, outputs ...any) string {
	t.Helper()
	var all []any
	for _, o := range outputs {
		if text, ok := o.(string); ok {
			all = append(all, map[string]any{"name": name, "success": false, "message": text})
			continue
		}
		all = append(all, map[string]any{"name": name, "success": true, "outputs": o})
	}
	return results(t, map[string]any{"actions": all})
}

// payload is a researcher's payload as text.
func payload(t *testing.T, s step) string {
	t.Helper()
	b, err := json.Marshal(s.Payload)
	if err != nil || !s.Done {
		t.Fatalf("%v %+v", err, s)
	}
	return string(b)
}

func TestDatabaseResearch(t *testing.T) {
	t.Parallel()
	sys := system(`{"agent":"d","actions":[{"name":"Describe Database"},{"name":"Query Database"}]}`)
	const task = "How did sales go by region?"
	s := ask(t, sys, task)
	if len(s.Actions) != 1 || s.Actions[0].Name != "Describe Database" {
		t.Fatalf("%+v", s)
	}
	described := acted(t, "Describe Database", map[string]any{"engine": "SQLite", "tables": []any{
		map[string]any{"name": "region", "kind": "table", "rowCount": 2, "columns": []any{map[string]any{"name": "id", "type": "integer", "key": true}, map[string]any{"name": "name", "type": "text"}}},
		map[string]any{"name": "stock", "kind": "table", "rowCount": 30, "columns": []any{map[string]any{"name": "item", "type": "text"}, map[string]any{"name": "pieces", "type": "integer"}}},
		map[string]any{
			"name": "sales", "kind": "table", "rowCount": 40000, "references": []any{"region_id → region(id)"},
			"columns": []any{map[string]any{"name": "day", "type": "date"}, map[string]any{"name": "region_id", "type": "integer"}, map[string]any{"name": "amount", "type": "real"}},
		},
		map[string]any{"name": "empty", "kind": "table", "rowCount": 0, "columns": []any{map[string]any{"name": "x", "type": "real"}}},
	}})
	s = ask(t, sys, task, "{}", described)
	var got []string
	for _, a := range s.Actions {
		got = append(got, fmt.Sprint(a.Params["SQL"]))
	}
	want := []string{
		`SELECT strftime('%Y', t."day") AS year, g."name" AS "region", sum(t."amount") AS "amount" FROM "sales" AS t JOIN "region" AS g ON g."id" = t."region_id" GROUP BY 1, 2 ORDER BY 1 LIMIT 1000`,
		`SELECT t.* FROM "stock" AS t`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	answered := acted(t, "Query Database", map[string]any{"rowCount": 6, "table": sample()}, "the database took too long")
	p := payload(t, ask(t, sys, task, "{}", described, "{}", answered))
	for _, want := range []string{`"path":"sales"`, `"rows":40000`, `"kind":"database table"`, "took too long", "net_generation"} {
		if !strings.Contains(p, want) {
			t.Errorf("payload lacks %s: %s", want, p)
		}
	}
	s = ask(t, sys, task, "{}", acted(t, "Describe Database", "it does not answer"))
	if !s.Done || !strings.Contains(s.Message, "does not answer") {
		t.Errorf("%+v", s)
	}
}

func TestQueriesForTables(t *testing.T) {
	t.Parallel()
	many := int64(5000)
	s := schema{Engine: "PostgreSQL"}
	for want, tb := range map[string]dbTable{
		`SELECT to_char(t."at"::timestamp, 'YYYY') AS year, avg(t."Price ""x""") AS "Price ""x""" FROM "other"."t" AS t GROUP BY 1 ORDER BY 1 LIMIT 1000`: {
			Name: "other.t", RowCount: &many, Columns: []dbColumn{{Name: "id", Type: "bigint", Key: true}, {Name: "at", Type: "timestamp with time zone"}, {Name: `Price "x"`, Type: "numeric(10,2)"}},
		},
		`SELECT t."country", sum(t."total") AS "total" FROM "t" AS t GROUP BY 1 ORDER BY 2 DESC LIMIT 50`: {
			Name: "t", Columns: []dbColumn{{Name: "country", Type: "text"}, {Name: "total", Type: "double precision"}},
		},
		`SELECT t.* FROM "t" AS t LIMIT 1000`: {Name: "t", Columns: []dbColumn{{Name: "note", Type: "text"}}},
	} {
		if got := s.query(tb); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestKnowledgeResearch(t *testing.T) {
	t.Parallel()
	sys := system(`{"agent":"k","actions":[{"name":"Search Knowledge Base"}]}`)
	const task = "What do offshore turbines cost?"
	s := ask(t, sys, task)
	if len(s.Actions) != 4 || s.Actions[0].Params["Query"] != "offshore turbines cost" || s.Actions[1].Params["Query"] != "offshore" {
		t.Fatalf("%+v", s.Actions)
	}
	hit := map[string]any{"path": "wind.pdf", "title": "Wind", "heading": "Costs", "text": "An offshore turbine costs four million euros today."}
	found := acted(t, "Search Knowledge Base", map[string]any{"results": []any{hit, hit}}, map[string]any{
		"results": []any{hit, map[string]any{"path": "b.md", "title": "B", "text": "Blades are made of glass fibre and resin."}}, "skipped": []any{map[string]any{"path": "x.png", "reason": "no text"}},
	}, "the index is damaged", map[string]any{"results": []any{}})
	p := payload(t, ask(t, sys, task, "{}", found))
	if strings.Count(p, "four million") != 1 || !strings.Contains(p, `"path":"b.md"`) || !strings.Contains(p, "x.png") || !strings.Contains(p, "damaged") || strings.Count(p, `"kind":"document"`) != 2 {
		t.Error(p)
	}
	if s := ask(t, sys, "?"); !s.Done {
		t.Errorf("%+v", s)
	}
}

func TestWebResearch(t *testing.T) {
	t.Parallel()
	sys := system(`{"agent":"w","actions":[{"name":"Web Search"},{"name":"Fetch Page"}]}`)
	const task = "What do offshore turbines cost?"
	s := ask(t, sys, task)
	if len(s.Actions) != 1 || s.Actions[0].Name != "Web Search" || s.Actions[0].Params["Query"] != "offshore turbines cost" {
		t.Fatalf("%+v", s.Actions)
	}
	var hits []any
	for _, u := range []string{"https://a.example/1", "https://a.example/2", "https://b.example/1", "https://c.example/1", "https://d.example/1", "https://e.example/1", "::bad"} {
		hits = append(hits, map[string]any{"title": "T " + u, "url": u})
	}
	found := acted(t, "Web Search", map[string]any{"results": hits})
	s = ask(t, sys, task, "{}", found)
	if len(s.Actions) != mostPages || s.Actions[1].Params["URL"] != "https://b.example/1" || s.Actions[4].Params["URL"] != "https://e.example/1" {
		t.Fatalf("%+v", s.Actions)
	}
	read := acted(t, "Fetch Page",
		map[string]any{"url": "https://a.example/1", "title": "A page", "text": "An offshore turbine costs four million euros today."}, "not found",
		map[string]any{"url": "https://c.example/1", "title": "", "text": "Menu"})
	p := payload(t, ask(t, sys, task, "{}", found, "{}", read))
	for _, want := range []string{`"path":"https://a.example/1"`, `"kind":"web page"`, "A page", "not found", "no full sentences"} {
		if !strings.Contains(p, want) {
			t.Errorf("payload lacks %s: %s", want, p)
		}
	}
	s = ask(t, sys, task, "{}", acted(t, "Web Search", "Brave refuses the key"))
	if !s.Done || !strings.Contains(s.Message, "refuses the key") {
		t.Errorf("%+v", s)
	}
	p = payload(t, ask(t, sys, task, "{}", acted(t, "Web Search", map[string]any{"results": []any{}})))
	if !strings.Contains(p, `"sources":null`) {
		t.Error(p)
	}
}

func TestPagesAreLinkedInTheReport(t *testing.T) {
	t.Parallel()
	if got := linked(`https://a.example/?a=1&b="2"`, `<T>`); got != `<a href="https://a.example/?a=1&amp;b=&#34;2&#34;">&lt;T&gt;</a>` {
		t.Error(got)
	}
	if got := linked("javascript:x", "T"); strings.Contains(got, "<a") {
		t.Error(got)
	}
}
