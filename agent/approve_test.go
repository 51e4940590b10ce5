package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/media"
	"atelier/media/blob/memblob"
)

// priced returns Paint with a price: Number thousandths of a dollar, an unknown price for 7, and no price for negative
// numbers, which it refuses.
func priced() action.Action {
	a := paint()
	a.Name = "Paint Dearly"
	a.Price = func(_ context.Context, c *action.Call) (action.Price, error) {
		n := c.Int("Number")
		switch {
		case n < 0:
			return action.Price{}, media.Errorf(media.CodeModerated, "this picture was refused")
		case n == 7:
			return action.Price{Note: "nobody knows"}, nil
		}
		usd := fmt.Sprintf("0.%03d", n)
		return action.Price{USD: &usd, Note: "by the picture"}, nil
	}
	return a
}

func pricedStep(numbers string) string {
	var calls []string
	for n := range strings.SplitSeq(numbers, ",") {
		calls = append(calls, `{"name":"Paint Dearly","params":{"Number":`+n+`}}`)
	}
	return `{"actions":[` + strings.Join(calls, ",") + `]}`
}

func approve() agent.Reply { return agent.Reply{Value: json.RawMessage(`{"approve":true}`)} }

func reject(note string) agent.Reply {
	return agent.Reply{Value: json.RawMessage(`{"approve":false,"note":"` + note + `"}`)}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		yaml, numbers, over string
		asked               int // how many acts wait for approval
		reason              string
	}{
		"none":                    {"actions: [Paint Dearly]\n", "1,9", "", 0, ""},
		"always":                  {"actions: [{name: Paint Dearly, approval: always}]\n", "1", "", 1, "only with approval"},
		"always, also per run":    {"actions: [{name: Paint Dearly, approval: always}]\n", "1", "100", 1, "only with approval"},
		"below":                   {"actions: [{name: Paint Dearly, approval_over: 0.005}]\n", "1", "", 0, ""},
		"the limit itself":        {"actions: [{name: Paint Dearly, approval_over: 0.005}]\n", "5", "", 0, ""},
		"above":                   {"actions: [{name: Paint Dearly, approval_over: 0.005}]\n", "6", "", 1, "would cost $0.006, more than $0.005"},
		"one of two":              {"actions: [{name: Paint Dearly, approval_over: 0.005}]\n", "1,6", "", 1, "more than"},
		"unknown price":           {"actions: [{name: Paint Dearly, approval_over: 5}]\n", "7", "", 1, "not known"},
		"refused anyway":          {"actions: [{name: Paint Dearly, approval: always}]\n", "-1", "", 0, ""},
		"per run":                 {"actions: [Paint Dearly]\n", "2", "0.001", 1, "more than $0.001"},
		"per run goes before":     {"actions: [{name: Paint Dearly, approval_over: 0}]\n", "2", "0.003", 0, ""},
		"everything that costs":   {"actions: [Paint Dearly, Paint]\n", "1", "0", 1, "more than $0"},
		"nothing asks for naught": {"actions: [Paint Dearly]\n", "0", "0", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": c.yaml}, actions: []action.Action{priced()}}}
			w := p.start(t, map[string][]any{"painter": {pricedStep(c.numbers), doneStep}})
			req := agent.Request{Agent: "painter", Message: "paint", ApproveOver: c.over, RunID: runID}
			if c.asked == 0 {
				if res, err := w.runner.Run(t.Context(), req); err != nil || res.Status != agent.StatusSucceeded {
					t.Fatalf("got %+v, %v", res, err)
				}
				return
			}
			_, s := runToPause(t, w, req)
			if len(s.Pending) != c.asked {
				t.Fatalf("open are %+v", s.Pending)
			}
			q := s.Pending[0]
			if q.Kind != agent.QuestionApproval || q.Details == nil || q.Details.Action != "Paint Dearly" || !strings.Contains(q.Question, c.reason) ||
				!strings.Contains(string(q.Details.Params), `"Number"`) || (q.Details.EstimatedUSD == nil) != (c.reason == "not known") {
				t.Errorf("asked %+v, details %+v", q, q.Details)
			}
			if _, err := w.runner.Answered(t.Context(), s, agent.Reply{Value: json.RawMessage(`{"approve":"yes"}`)}); media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("an answer that is no approval: %v", err)
			}
			w = p.start(t, map[string][]any{"painter": {func(r chat.Request) string {
				if message := lastMessage(r); strings.Contains(message, "ERROR") {
					t.Errorf("the message to the model is %s", message)
				}
				return doneStep
			}}})
			end := resumeToEnd(t, w, s, approve())
			if w.recorder.count() != c.asked || len(end.AlsoMade) != strings.Count(c.numbers, ",")+1 {
				t.Errorf("%d pictures now, in all %d", w.recorder.count(), len(end.AlsoMade))
			}
		})
	}
}

func TestRefusedActIsAFailureAndTheRunContinues(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{
		agents: map[string]string{"painter": "actions: [{name: Paint Dearly, approval_over: 0}, Paint]\n"}, actions: []action.Action{priced()},
	}}
	w := p.start(t, map[string][]any{"painter": {pricedStep("1,2")}})
	_, s := runToPause(t, w, agent.Request{})
	if len(s.Pending) != 2 || w.recorder.count() != 0 {
		t.Fatalf("open are %+v, made %d", s.Pending, w.recorder.count())
	}
	w = p.start(t, map[string][]any{"painter": {"never asked"}})
	res, err := w.runner.Resume(t.Context(), s, reject("too dear"))
	if err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("got %+v, %v", res, err)
	}
	s = reloaded(t, res)
	w = p.start(t, map[string][]any{"painter": {func(r chat.Request) string {
		if message := lastMessage(r); !strings.Contains(message, "refused by a person: too dear") || !strings.Contains(message, `"code":"forbidden"`) {
			t.Errorf("the message to the model is %s", message)
		}
		return doneStep
	}}})
	end := resumeToEnd(t, w, s, approve())
	if d := cmp.Diff([]string{refOf(2)}, refs(end.AlsoMade)); d != "" {
		t.Error(d)
	}
	step := end.Steps[0]
	if step.Index != 1 {
		step = end.Steps[1]
	}
	if step.Status != agent.StatusFailed || step.Message != "refused by a person: too dear" {
		t.Errorf("the step is %+v", step)
	}
}

// TestApprovalOfASubAgent: the limit of the run applies to all of its agents.
func TestApprovalOfASubAgent(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{
		agents:  map[string]string{"painter": "agents: [left]\n", "left": "actions: [Paint Dearly]\n"},
		actions: []action.Action{priced()},
	}}
	w := p.start(t, map[string][]any{"painter": {`{"agents":[{"name":"left","task":"x"}]}`}, "left": {pricedStep("3")}})
	_, s := runToPause(t, w, agent.Request{Agent: "painter", Message: "x", ApproveOver: "0.001"})
	if s.Pending[0].AgentPath != "painter/left" || s.Pending[0].Step != "turn-1-agent-1-left/turn-1-action-1-approval" {
		t.Errorf("open are %+v", s.Pending)
	}
	resumeToEnd(t, p.start(t, map[string][]any{"painter": {doneStep}, "left": {doneStep}}), s, approve())
}

func TestBadLimits(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {doneStep}}})
	for _, bad := range []string{"-1", "1e3", "0,05", "5 dollars", "NaN", " 1", "1/2"} {
		_, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", ApproveOver: bad})
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "0.05") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for yaml, says := range map[string]string{
		"actions: [{name: Paint, approval: sometimes}]\n":     "none of always",
		"actions: [{name: Paint, approval_over: much}]\n":     "such as 0.05",
		"actions: [{name: Paint, approval_over: [1]}]\n":      "such as 0.05",
		"actions: [{name: Paint, approval_over: 0.05}]\n":     "approval: always",
		"actions: [{name: Paint Dearly, approval_over: 1}]\n": "",
	} {
		defs, problems := definition.Check(definition.Catalogue{Actions: map[string]string{"Paint": "", "Paint Dearly": ""}, Priced: []string{"Paint Dearly"}},
			definition.Folder{Files: definitions(map[string]string{"painter": yaml})})
		if says == "" {
			if len(problems) != 0 || len(defs) != 1 {
				t.Errorf("%s: %v", yaml, problems)
			}
			continue
		}
		if len(problems) == 0 || !strings.Contains(problems[0].Message, says) || problems[0].Line == 0 {
			t.Errorf("%s: got %v, want %q", yaml, problems, says)
		}
	}
}

func TestGuardrailPause(t *testing.T) {
	t.Parallel()
	g := &guard{verdict: agent.Verdict{Decision: agent.DecisionPause, Reason: "ask ann"}}
	w := guardedEnv(t, g)
	pause := func() agent.State {
		_, s := runToPause(t, w, agent.Request{Agent: "boss", Message: "tell the secret"})
		return s
	}
	s := pause()
	q := s.Pending[0]
	if q.Kind != agent.QuestionGuardrail || !strings.Contains(q.Question, "ask ann") || q.Details.Reason != "ask ann" || len(w.script.allRequests()) != 0 {
		t.Errorf("asked %+v after %d model calls", q, len(w.script.allRequests()))
	}
	if _, err := w.runner.Answered(t.Context(), s, agent.Reply{Value: approve().Value, Images: []agent.Image{{Data: picture(1)}}}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("an approval with a picture: %v", err)
	}
	resumeToEnd(t, w, s, approve())
	if n := len(g.saw); n != 1 {
		t.Errorf("the guardrail was asked %d times", n)
	}
	before := len(w.script.allRequests())
	res, err := w.runner.Resume(t.Context(), pause(), reject("not to you"))
	if media.CodeOf(err) != media.CodeModerated || !strings.Contains(err.Error(), "not to you") || res.Status != agent.StatusFailed {
		t.Errorf("got %v, %+v", err, res)
	}
	if n := len(w.script.allRequests()) - before; n != 0 {
		t.Errorf("%d model calls after a no", n)
	}
}
