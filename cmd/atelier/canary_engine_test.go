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

// engineDump is every column of every row that the durable engine holds.
func (p *place) engineDump() []byte {
	p.t.Helper()
	driver, source := "sqlite", filepath.Join(p.data, "engine.db")+"?_pragma=busy_timeout(10000)"
	list, prefix := `SELECT name FROM sqlite_master WHERE type = 'table'`, ""
	if p.env[databaseVariable] != "" {
		driver, source = "pgx", p.env[databaseVariable]
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

// dumpTable writes every value of a table with the name of its column.
func dumpTable(t *testing.T, db *sql.DB, table string, to *bytes.Buffer) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
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

// TestCanaryInSavedStates: pictures that a person gives and that models and actions hand
// on leave no trace in what the durable engine keeps, in the middle of a run and at its end.
func TestCanaryInSavedStates(t *testing.T) {
	t.Parallel()
	small, big := hatch(t, 98)
	s := newWorkshop(t)
	s.chat.Answer = func(r chattest.Request) string {
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				return step(t, map[string]any{"done": true, "message": "Like " + small.url(), "reasoning": big.base64(), "payload": map[string]any{"note": big.url()}})
			}
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
	images := []string{"--image", s.write("small.png", string(small.raw)), "--image", s.write("big.png", string(big.raw))}
	args := append([]string{"run", "boss", "paint this: " + small.url(), "--agents", filepath.Join(s.dir, "own"), "--json"}, images...)
	var proc *process
	seen := 0
	s.mu.Lock() // until the process is known
	proc = s.start(args...)
	s.when = func(r *http.Request) bool { // the last model call of the run
		if strikes()["model call"](r) {
			seen++
		}
		return seen == 4
	}
	s.strike = func() { _ = proc.cmd.Process.Kill() }
	s.mu.Unlock()
	killed := proc.wait()
	id := s.onlyRun().ID
	found := sinks{"engine of a run under way": s.engineDump()}
	for _, want := range []string{id, "turn-1-model", "turn-1-action-1", "-helper/turn-1-model", "img-"} {
		if !bytes.Contains(found["engine of a run under way"], []byte(want)) {
			t.Errorf("the engine's tables lack %s, so nothing was proved\n%s", want, killed.stderr)
		}
	}
	found.add(killed)
	found.add(s.must("resume", id, "--json"))
	found["engine of a run that is over"] = s.engineDump()
	if !strings.Contains(string(found["engine of a run that is over"]), "turn-2-model") {
		t.Error("the end of the run was not kept")
	}
	found.gather(s.place)
	found.search(t, small, big)
	kept(t, s.place, small, big)
}
