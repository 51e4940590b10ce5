package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"atelier/agent"
	"atelier/media"
)

// FuzzState resumes an invalid or damaged state of a run: the call ends, an error has a code, and no media is revealed.
func FuzzState(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "states", "v1", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal("no states", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte(`{"colour":"red"}`))
		f.Add(text, []byte(`{"approve":true}`))
	}
	f.Fuzz(func(t *testing.T, text, value []byte) {
		var s agent.State
		if json.Unmarshal(text, &s) != nil {
			return
		}
		agents := twoChildren()
		w := build(t, setup{agents: agents, answers: map[string][]any{"painter": {doneStep}, "left": {doneStep}, "right": {doneStep}}})
		res, err := w.runner.Resume(t.Context(), s, agent.Reply{Value: value})
		if err != nil && (media.CodeOf(err) == "" || media.ErrorText(err.Error()) != err.Error()) {
			t.Errorf("error %v", err)
		}
		if res != nil && res.Status == agent.StatusRunning {
			t.Errorf("the run is still %s", res.Status)
		}
	})
}
