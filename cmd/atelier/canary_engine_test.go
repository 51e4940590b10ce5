package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
)

// engineDump returns every column of every row of the durable engine's tables.
func (p *testEnv) engineDump() []byte {
	p.t.Helper()
	driver, source := "sqlite", filepath.Join(p.data, "engine.db")+"?_pragma=busy_timeout(10000)"
	list, prefix := `SELECT name FROM sqlite_master WHERE type = 'table'`, ""
	if p.env["ATELIER_DATABASE_URL"] != "" {
		driver, source = "pgx", p.env["ATELIER_DATABASE_URL"]
		list, prefix = `SELECT table_name FROM information_schema.tables WHERE table_schema = 'atelier_engine'`, "atelier_engine."
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // read only
	var dump bytes.Buffer
	for _, table := range textColumn(p.t, db, list) {
		dumpTable(p.t, db, prefix+`"`+table+`"`, &dump)
	}
	return dump.Bytes()
}

// dumpTable writes every value of a table with its column name.
func dumpTable(t *testing.T, db *sql.DB, table string, to *bytes.Buffer) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			value := *v.(*any)
			if b, ok := value.([]byte); ok {
				value = string(b)
			}
			fmt.Fprintf(to, "%s.%s=%v\n", table, names[i], value)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestCanaryInSavedStates: pictures that a person gives with the task or an answer, and that models and actions pass
// on, leave no trace in the durable engine and the saved states: during a run, while it waits for a person, after the
// answer, and at its end.
func TestCanaryInSavedStates(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 98)
	late := newCanary(t, 60, 97)
	s := newAgentEnv(t)
	s.chat.Answer = func(r chattest.Request) string { return canaryModel(t, r, small, big) }
	images := []string{"--image", s.write("small.png", string(small.raw)), "--image", s.write("big.png", string(big.raw))}
	killed := s.killedAtCall(4, append([]string{"run", "boss", "paint this: " + small.url(), "--agents", filepath.Join(s.dir, "own"), "--json"}, images...)...)
	id := s.onlyRun().ID
	found := sinks{"engine of a run under way": s.engineDump()}
	for _, want := range []string{id, "turn-1-model", "turn-1-action-1", "-helper/turn-1-model", "img-"} {
		if !bytes.Contains(found["engine of a run under way"], []byte(want)) {
			t.Errorf("the engine's tables lack %s, so nothing was proved\n%s", want, killed.stderr)
		}
	}
	found.add(killed)
	asked := s.atelier("resume", id, "--json")
	found.add(asked)
	found["engine of a paused run"], found["ledger of a paused run"] = s.engineDump(), s.ledgerDump()
	if asked.code != exitPaused || !bytes.Contains(found["ledger of a paused run"], []byte("turn-2-ask")) {
		t.Fatalf("exit %d, or the saved state was not searched: %s%s", asked.code, asked.stdout, asked.stderr)
	}
	found.search(t, small, big, late)
	answer := s.write("answer.json", `{"answer":"like `+small.url()+` and `+late.base64()+`"}`)
	killed = s.killedAtCall(1, "resume", id, "--answer", "@"+answer, "--note", "see "+late.url(), "--image", s.write("late.png", string(late.raw)), "--json")
	found.add(killed)
	found["engine behind the answer"], found["ledger behind the answer"] = s.engineDump(), s.ledgerDump()
	if killed.code != -1 || !bytes.Contains(found["engine behind the answer"], []byte(id+".1")) {
		t.Errorf("exit %d: %s", killed.code, killed.stderr)
	}
	found.add(s.must("resume", id, "--json"))
	found["engine of a run that is over"] = s.engineDump()
	if !strings.Contains(string(found["engine of a run that is over"]), "turn-3-model") {
		t.Error("the end of the run was not kept")
	}
	found.gather(s.testEnv)
	found.search(t, small, big, late)
	checkStored(t, s.testEnv, small, big, late)
}

// canaryModel is a model that passes pictures on as data wherever it can: it paints, calls a sub-agent, asks a person,
// and ends.
func canaryModel(t *testing.T, r chattest.Request, small, big canary) string {
	t.Helper()
	boss := strings.Contains(r.System(), "You are boss.")
	switch turn := turnOf(r); {
	case boss && turn == 1:
		return step(t, map[string]any{"reasoning": big.base64(), "ask": map[string]any{"question": "Like " + small.url() + "?"}, "done": false})
	case turn > 0:
		return step(t, map[string]any{"done": true, "message": "Like " + small.url(), "reasoning": big.base64(), "payload": map[string]any{"note": big.url()}})
	}
	return step(t, map[string]any{
		"message": small.url(), "reasoning": "as " + big.base64(), "done": false,
		"actions": []any{
			map[string]any{"name": "Generate Image", "params": map[string]any{"Prompt": "a fox like " + small.url(), "Size": "256x256"}},
			map[string]any{"name": "Nothing of the kind", "params": map[string]any{"Data": big.base64()}},
		},
		"agents": []any{map[string]any{"name": "helper", "task": "like " + big.url()}},
	})
}

// killedAtCall runs a command in a process that is killed at its n-th model call.
func (s *agentEnv) killedAtCall(n int, args ...string) outcome {
	seen := 0
	s.mu.Lock() // until the process is known
	proc := s.start(args...)
	s.when = func(r *http.Request) bool {
		if interferencePoints()["model call"](r) {
			seen++
		}
		return seen == n
	}
	s.strike = func() { killNow(proc.cmd.Process) }
	s.mu.Unlock()
	return proc.wait()
}
