package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/journal/step"
)

// TestSavedNames: step names in states of all versions are recognized and written back unchanged.
func TestSavedNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/states/v*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no states: %v", err)
	}
	seen := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var s agent.State
		if json.Unmarshal(b, &s) != nil {
			continue // a damaged state
		}
		for full := range s.Steps {
			seen++
			p := step.ParsePath(full)
			if p.String() != full {
				t.Errorf("%s: %q became %q", f, full, p)
			}
			for _, n := range p {
				if n.Kind == step.KindOther {
					t.Errorf("%s: %q in %q is no known name", f, n, full)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d names in %d files", seen, len(files))
	}
}

// TestRename: Rename replaces ids in media and in values that are an id, and leaves text alone that only contains one.
func TestRename(t *testing.T) {
	t.Parallel()
	const out = `{"id":"old","modality":"image","origin":{},"created_at":"2026-01-02T03:04:05Z"}`
	text := "it was old, and run-1"
	s := agent.State{Request: agent.Request{RunID: "run-1", Message: text, Input: map[string]any{"run": "run-1", "say": text}}, Steps: map[string]json.RawMessage{
		"images":                                 json.RawMessage(`{"shown":[{"ref":"r","shown":` + out + `}]}`),
		"turn-1-model":                           json.RawMessage(`{"response":{"text":"` + text + `","media":[` + out + `]}}`),
		"turn-1-model-media":                     json.RawMessage(`[{"output":` + out + `}]`),
		"turn-1-action-1":                        json.RawMessage(`{"outcome":{"name":"a","success":true,"code":"SUCCESS","message":"` + text + `","outputs":{"id":"old","n":1.5}},"media":[` + out + `]}`),
		"turn-1-ask":                             json.RawMessage(`{"value":null,"granted":[` + out + `]}`),
		"turn-2-agent-1-a/turn-1-view-img-1":     json.RawMessage(`{"ref":"r","shown":` + out + `}`),
		"turn-2-agent-1-a/turn-1-model-again-1":  json.RawMessage(`{}`),
		"turn-2-agent-1-a/turn-2-model":          json.RawMessage(`{"response":{"text":"untouched"},"later":true}`),
		"turn-2-agent-1-a/some-step-of-no-agent": json.RawMessage(`"old"`),
	}}
	if err := s.Rename(map[string]string{"old": "new", "run-1": "run-2"}); err != nil {
		t.Fatal(err)
	}
	if s.Request.RunID != "run-2" || s.Request.Input["run"] != "run-2" || s.Request.Message != text || s.Request.Input["say"] != text {
		t.Errorf("request %+v", s.Request)
	}
	for _, name := range []string{"images", "turn-1-model", "turn-1-model-media", "turn-1-action-1", "turn-1-ask", "turn-2-agent-1-a/turn-1-view-img-1"} {
		if b := string(s.Steps[name]); strings.Contains(b, `"old"`) || !strings.Contains(b, `"id":"new"`) {
			t.Errorf("%s: %s", name, b)
		}
	}
	if b := string(s.Steps["turn-2-agent-1-a/some-step-of-no-agent"]); b != `"old"` {
		t.Errorf("a foreign step became %s", b)
	}
	if got := string(s.Steps["turn-2-agent-1-a/turn-2-model"]); got != `{"response":{"text":"untouched"},"later":true}` {
		t.Errorf("a step without ids was written anew: %s", got)
	}
	if got := string(s.Steps["turn-1-action-1"]); !strings.Contains(got, text) || !strings.Contains(got, `"id":"new"`) {
		t.Errorf("act %s", got)
	}
}
