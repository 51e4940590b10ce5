package main

import (
	"encoding/json"
	"html"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/internal/everyday"
)

// TestEverydayStringsPassAndResume: strings that only look like media pass byte for byte through task, model,
// parameter, result, durable step, replay after a kill, answer, events, ledger, --json, conversation and report.
func TestEverydayStringsPassAndResume(t *testing.T) {
	t.Parallel()
	text := everyday.Text()
	lines := strings.SplitAfter(text, "\n")
	halves := []string{strings.Join(lines[:len(lines)/2], ""), strings.Join(lines[len(lines)/2:], "")}
	s := newAgentEnv(t)
	s.write("own/clerk.yaml", "slug: clerk\nname: clerk\ndescription: Writes.\nactions: [Generate Image, Label Agent Media]\n")
	s.write("own/clerk.md", "You are clerk.")
	paint := []any{}
	for _, half := range halves {
		paint = append(paint, map[string]any{"name": "Generate Image", "params": map[string]any{"Prompt": strings.TrimSpace(half), "Size": "256x256"}})
	}
	s.chat.Answer = func(r chattest.Request) string {
		switch refs := refsIn(r); turnOf(r) {
		case 0:
			return step(t, map[string]any{"reasoning": text, "message": text, "actions": paint})
		case 1:
			return step(t, map[string]any{"reasoning": "label", "actions": []any{map[string]any{"name": "Label Agent Media", "params": map[string]any{
				"RefId": refs[0].(map[string]any)["ref"], "Label": "x", "Description": text,
			}}}})
		case 2:
			return step(t, map[string]any{"reasoning": "ask", "ask": map[string]any{"question": "Go on?"}})
		}
		return step(t, map[string]any{"done": true, "message": text, "payload": map[string]any{
			"note": text, "report_html": "<h1>Strings</h1><pre>" + html.EscapeString(text) + "</pre>",
		}})
	}
	agents, out := filepath.Join(s.dir, "own"), filepath.Join(s.dir, "out")
	killed := s.killedAtCall(2, "run", "clerk", text, "--agents", agents, "--conversation", "new", "--json")
	if killed.code != -1 {
		t.Fatalf("exit %d: %s", killed.code, killed.stderr)
	}
	id := s.onlyRun().ID
	checkEveryday(t, "the engine's tables", string(s.engineDump()))
	if asked := s.atelier("resume", id, "--json"); asked.code != exitPaused {
		t.Fatalf("exit %d: %s%s", asked.code, asked.stdout, asked.stderr)
	}
	given, err := json.Marshal(map[string]string{"answer": text})
	if err != nil {
		t.Fatal(err)
	}
	end := s.must("resume", id, "--answer", "@"+s.write("answer.json", string(given)), "--out", out, "--json")
	checkEveryday(t, "--json", end.stdout, "message")
	shown := s.must("runs", "show", id, "--json").stdout
	checkEveryday(t, "runs show", shown, "task", "message", "note", "Description")
	checkEveryday(t, "runs events", s.must("runs", "events", id, "--jsonl").stdout, "task", "message", "reasoning")
	db := s.openLedger()
	for _, column := range []string{"task FROM agent_runs", "message FROM agent_runs", "payload FROM agent_runs", "params FROM agent_run_steps", "answer FROM prompt_runs", "message FROM conversation_details", "payload FROM run_events"} {
		checkEveryday(t, column, strings.Join(textColumn(t, db, "SELECT COALESCE("+strings.Replace(column, " ", ", '') ", 1)), "\n"))
	}
	conversations := read[struct{ Items []struct{ ID string } }](s.testEnv, "conversations", "list", "--json").Items
	if len(conversations) != 1 {
		t.Fatalf("%d conversations", len(conversations))
	}
	checkEveryday(t, "the conversation", s.must("conversations", "show", conversations[0].ID, "--json").stdout, "text")
	if page := html.UnescapeString(mustRead(t, filepath.Join(out, "report.html"))); !strings.Contains(page, text) {
		t.Errorf("the report lacks %q", everyday.Missing(page))
	}
	for i, r := range s.chat.Requests() {
		whole, last := "", r.Messages[len(r.Messages)-1].Text
		for _, m := range r.Messages {
			whole += m.Text + "\n"
		}
		if !strings.Contains(whole, text) {
			t.Errorf("call %d lacks %q", i+1, everyday.Missing(whole))
		}
		if turnOf(r) == 3 {
			checkEveryday(t, "the answer in a prompt", last)
		}
	}
}

// checkEveryday fails the test unless a sink contains all everyday strings, as they are or in JSON. If fields are
// named, the sink is JSON, and each of them must contain the strings.
func checkEveryday(t *testing.T, name, sink string, fields ...string) {
	t.Helper()
	escaped, err := json.Marshal(everyday.Text())
	if err != nil {
		t.Fatal(err)
	}
	inJSON := strings.Trim(string(escaped), `"`)
	legible := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON)
	if len(fields) == 0 && !strings.Contains(sink, everyday.Text()) && !strings.Contains(sink, inJSON) && !strings.Contains(sink, legible) {
		t.Errorf("%s lacks some everyday strings", name)
	}
	found := map[string]bool{}
	d := json.NewDecoder(strings.NewReader(sink))
	for len(fields) > 0 && d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		eachField(v, "", func(key, s string) { found[key] = found[key] || strings.Contains(s, everyday.Text()) })
	}
	for _, field := range fields {
		if !found[field] {
			t.Errorf("%s: no field %s contains all everyday strings", name, field)
		}
	}
}

// eachField calls f with every string of a JSON value and its key.
func eachField(v any, key string, f func(key, s string)) {
	switch v := v.(type) {
	case string:
		f(key, v)
	case []any:
		for _, e := range v {
			eachField(e, key, f)
		}
	case map[string]any:
		for k, e := range v {
			eachField(e, k, f)
		}
	}
}
