package main

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/chat/chattest"
)

// TestGuardrailOfAnswersAndForks: blocked terms stop an answer, its note and the message of a fork as they stop a task.
// No model is called; the run stays paused, or as it was.
func TestGuardrailOfAnswersAndForks(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_BLOCKED_TERMS"] = "geheim"
	s.chat.Answer = func(r chattest.Request) string {
		if turnOf(r) == 0 {
			return step(t, map[string]any{"reasoning": "unsure", "ask": map[string]any{"question": "Which sign?", "schema": json.RawMessage(`{"type":"object"}`)}, "done": false})
		}
		return done(t, "Here it is.")
	}
	o := p.atelier("run", "sage", "Make a sign", "--json")
	id := decode[answer](t, o).RunID
	if o.code != exitPaused {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	status := func() agent.Status {
		t.Helper()
		return read[struct{ Run struct{ Status agent.Status } }](p, "runs", "show", id, "--json").Run.Status
	}
	stopped := func(want agent.Status, args ...string) {
		t.Helper()
		o := p.atelier(args...)
		if o.code != exitProvider || !strings.Contains(o.stderr, "stopped before a model saw it") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.stderr)
		}
		if now := status(); now != want {
			t.Errorf("%v: the run is %s", args, now)
		}
	}
	stopped(agent.StatusPaused, "resume", id, "--answer", `{"sign":"Geheim!"}`)
	stopped(agent.StatusPaused, "resume", id, "--answer", `{"sign":"Stop"}`, "--note", "it is geheim")
	if n := len(s.chat.Requests()); n != 1 {
		t.Errorf("%d model calls", n)
	}
	if ans := read[answer](p, "resume", id, "--answer", `{"sign":"Stop"}`, "--json"); ans.Status != agent.StatusSucceeded {
		t.Errorf("%+v", ans)
	}
	stopped(agent.StatusSucceeded, "runs", "fork", id, "--from", "turn-2-model", "--message", "Make a geheim sign")
	if n := len(s.chat.Requests()); n != 2 {
		t.Errorf("%d model calls", n)
	}
	if forked := read[answer](p, "runs", "fork", id, "--from", "turn-2-model", "--message", "Make a red sign", "--json"); forked.Status != agent.StatusSucceeded {
		t.Errorf("%+v", forked)
	}
}
