package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/chat/chattest"
)

// TestAnswersInWords: a paused run accepts text, --approve and --deny besides JSON; an answer that does not fit the
// question is refused with what fits, and changes nothing.
func TestAnswersInWords(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	id, _ := s.startRun(t)
	if shown := s.atelier("resume", "last").stdout; !strings.Contains(shown, "atelier resume "+id+" 'red'") {
		t.Errorf("shown is %s", shown)
	}
	for says, args := range map[string][]string{
		"none of the choices":             {"green"},
		"not a yes-or-no question":        {"--approve"},
		"give only one answer":            {"red", "--approve"},
		"give only one answer: text":      {"--approve", "--deny"},
		"--answer is not valid JSON":      {"--answer", "red"},
		"require an answer":               {"--note", "quick"},
		"limits together with the answer": {"--max-turns", "9"},
	} {
		s.start(append([]string{"resume", "last"}, args...)...).wait().checkRefused(t, exitInput, says)
	}
	o := s.start("resume", "last", "RED", "--json").wait()
	if ans := decode[answer](t, o); o.code != exitOK || ans.Status != agent.StatusSucceeded {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if got := s.submitted(t); got["a red boat"] != 1 {
		t.Errorf("painted %v", got)
	}
	s.atelier("resume", id, "red").checkRefused(t, exitInput, "is not waiting for an answer")
}

// TestApproveAndDeny: a flag approves or denies an act.
func TestApproveAndDeny(t *testing.T) {
	t.Parallel()
	for flag, painted := range map[string]int{"--approve": 1, "--deny": 0} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
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

// TestWordsNeedOneField: a form with several fields requires JSON.
func TestWordsNeedOneField(t *testing.T) {
	t.Parallel()
	q := agent.Question{Question: "?", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)}
	if got, err := answerFromText(q, "x"); err == nil || !strings.Contains(err.Error(), "several fields") {
		t.Errorf("%s, %v", got, err)
	}
}

// TestQuestionsByTheirBeginning: an id selects one of several open questions; an ambiguous prefix is refused.
func TestQuestionsByTheirBeginning(t *testing.T) {
	t.Parallel()
	open := []agent.Question{{ID: "01a2-x"}, {ID: "01a2-y"}}
	for id, want := range map[string]string{"": "01a2-x", "01a2-y": "01a2-y", "01a2-": "several questions", "zz": "zz"} {
		q, err := openQuestion(open, id)
		if err == nil && q.ID != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", id, q.ID, err)
		}
	}
}
