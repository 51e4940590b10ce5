package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/chat/chattest"
)

// TestAnswersInWords: a run that waits takes words, --approve and --deny beside JSON; what does not fit
// the question is refused with what does, and changes nothing.
func TestAnswersInWords(t *testing.T) {
	t.Parallel()
	s := newAskingWorkshop(t)
	id, _ := s.begin(t)
	if shown := s.atelier("resume", "last").stdout; !strings.Contains(shown, "atelier resume "+id+" 'red'") {
		t.Errorf("shown is %s", shown)
	}
	for says, args := range map[string][]string{
		"none of the choices":       {"green"},
		"no matter of yes and no":   {"--approve"},
		"several answers are given": {"red", "--approve"},
		"choose one of words":       {"--approve", "--deny"},
		"--answer is no JSON":       {"--answer", "red"},
		"go with an answer":         {"--note", "quick"},
		"limits go with the answer": {"--max-turns", "9"},
	} {
		s.start(append([]string{"resume", "last"}, args...)...).wait().refused(t, exitInput, says)
	}
	o := s.start("resume", "last", "RED", "--json").wait()
	if ans := decode[answer](t, o); o.code != exitOK || ans.Status != agent.StatusSucceeded {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if got := s.submitted(t); got["a red boat"] != 1 {
		t.Errorf("painted %v", got)
	}
	s.atelier("resume", id, "red").refused(t, exitInput, "waits for no answer")
}

// TestApproveAndDeny: an approval is given or refused by a flag.
func TestApproveAndDeny(t *testing.T) {
	t.Parallel()
	for flag, painted := range map[string]int{"--approve": 1, "--deny": 0} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s := newWorkshop(t)
			s.chat.Answer = func(r chattest.Request) string {
				if turnOf(r) > 0 {
					return done(t, "That is all.")
				}
				return act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Size": "256x256"})
			}
			o := s.atelier("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--approve-over", "0.001")
			if o.code != exitPaused || !strings.Contains(o.stdout, "--approve, or --deny") {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			if o := s.start("resume", "last", flag).wait(); o.code != exitOK {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			if got := s.submitted(t); got["a fox"] != painted {
				t.Errorf("painted %v", got)
			}
		})
	}
}

// TestWordsBecomeValues of the form that a question has.
func TestWordsBecomeValues(t *testing.T) {
	t.Parallel()
	const free = `{"type":"object","required":["answer"],"properties":{"answer":{"type":"string"},"note":{"type":"string"}}}`
	for _, c := range []struct{ schema, text, want string }{
		{free, " in the \"old\" town ", `{"answer":"in the \"old\" town"}`},
		{free, "42", `{"answer":"42"}`},
		{`{"type":"string"}`, "blue", `"blue"`},
		{`{"enum":["small","large"]}`, "Large", `"large"`},
		{`{"enum":[1,2]}`, "2", `2`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, "12", `{"n":12}`},
		{`{"type":"object","properties":{"go":{"type":"boolean"}}}`, "No", `{"go":false}`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, "twelve", "no number"},
		{`{"type":"object","properties":{"go":{"type":"boolean"}}}`, "perhaps", "neither yes nor no"},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, "x", "several things"},
		{`{"type":"array","items":{"type":"string"}}`, "x", "several things"},
		{`true`, "x", "several things"},
	} {
		got, err := inWords(agent.Question{Question: "?", Schema: json.RawMessage(c.schema)}, c.text)
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && string(got) != c.want {
			t.Errorf("%q for %s: %s, %v, want %s", c.text, c.schema, got, err, c.want)
		}
	}
}

// TestQuestionsByTheirBeginning: of several open questions one is meant.
func TestQuestionsByTheirBeginning(t *testing.T) {
	t.Parallel()
	open := []agent.Question{{ID: "01a2-x"}, {ID: "01a2-y"}}
	for id, want := range map[string]string{"": "01a2-x", "01a2-y": "01a2-y", "01a2-": "several questions", "zz": "zz"} {
		q, err := asked(open, id)
		if err == nil && q.ID != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", id, q.ID, err)
		}
	}
}
