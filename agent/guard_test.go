package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"atelier/agent"
	"atelier/chat"
	"atelier/media"
)

// guard answers with a verdict and records the texts it saw.
type guard struct {
	verdict agent.Verdict
	err     error

	mu  sync.Mutex // guards saw
	saw []agent.GuardInput
}

func (g *guard) Check(_ context.Context, in agent.GuardInput) (agent.Verdict, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saw = append(g.saw, in)
	return g.verdict, g.err
}

// guardedEnv returns an environment whose runner has a guardrail.
func guardedEnv(t *testing.T, g agent.Guardrail) *testEnv {
	t.Helper()
	agents := map[string]string{"boss": "agents: [painter]\n", "painter": painter}
	w := build(t, setup{agents: agents, answers: map[string][]any{
		"boss": {`{"agents":[{"name":"painter","task":"paint the secret"}]}`, doneStep}, "painter": {doneStep},
	}})
	w.script.profile = visionProfile(chat.ImageLimits{})
	var err error
	w.runner, err = agent.NewRunner(agent.Config{
		Definitions: mustLoad(t, agents), Actions: w.actions, Models: w.script, Codec: w.store, Recorder: w.recorder, Observer: w.watcher, Guardrail: g,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestGuardrail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verdict agent.Verdict
		err     error
		code    media.Code
		task    string
	}{
		"allow":      {agent.Verdict{}, nil, "", "tell the secret"},
		"redact":     {agent.Verdict{Decision: agent.DecisionRedact, Text: "tell nothing", Reason: "secret"}, nil, "", "tell nothing"},
		"redact all": {agent.Verdict{Decision: agent.DecisionRedact}, nil, media.CodeModerated, ""},
		"stop":       {agent.Verdict{Decision: agent.DecisionStop, Reason: "no secrets"}, nil, media.CodeModerated, ""},
		"nonsense":   {agent.Verdict{Decision: "shrug"}, nil, media.CodeInternal, ""},
		"down":       {agent.Verdict{}, media.Errorf(media.CodeUnavailable, "down"), media.CodeUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &guard{verdict: c.verdict, err: c.err}
			w := guardedEnv(t, g)
			_, err := w.runner.Run(t.Context(), agent.Request{
				Agent: "boss", Message: "tell the secret", Images: []agent.Image{{Data: picture(1)}},
				History: []chat.Message{chat.Text(chat.RoleUser, "earlier words"), chat.Text(chat.RoleAssistant, "an answer")},
			})
			if media.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.verdict.Reason) {
				t.Fatalf("got %v", err)
			}
			if len(g.saw) != 1 || g.saw[0].Text != "tell the secret" || g.saw[0].Agent != "boss" {
				t.Errorf("the guardrail saw %+v", g.saw)
			}
			if c.code != "" {
				if n := len(w.script.allRequests()); n != 0 {
					t.Errorf("%d model calls", n)
				}
				return
			}
			if task := w.watcher.runs[0].Task; task != c.task {
				t.Errorf("the run's task is %q", task)
			}
			for _, m := range w.script.allRequests()[0].Messages {
				if c.task != "tell the secret" && strings.Contains(m.Text(), "tell the secret") {
					t.Errorf("the message to the model is %s", m.Text())
				}
			}
		})
	}
}

func TestBlockedTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"build a Red   Button now": "build a [removed] now", "redbutton": "", "a button, red": "", "red button red button": "[removed] [removed]",
		"GEHEIM!": "[removed]!", "geheimnis": "", "it was removed": "it was [removed]", "c++ is fine": "[removed] is fine", "": "",
	} {
		g, err := agent.BlockedTerms(agent.DecisionRedact, "red button", " ", "geheim", "C++", "removed")
		if err != nil {
			t.Fatal(err)
		}
		v, err := g.Check(t.Context(), agent.GuardInput{Text: text})
		if err != nil || v.Text != want || (want == "") != (v.Decision == agent.DecisionAllow) {
			t.Errorf("%q: got %+v, %v", text, v, err)
		}
		if strings.Contains(v.Reason, "geheim") {
			t.Errorf("the reason repeats the term: %s", v.Reason)
		}
	}
	if _, err := agent.BlockedTerms(agent.DecisionAllow, "x"); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("got %v", err)
	}
	if _, err := agent.BlockedTerms("", " "); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("got %v", err)
	}
	g, err := agent.BlockedTerms("", "secret")
	if err != nil {
		t.Fatal(err)
	}
	_, err = guardedEnv(t, g).runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "tell the secret"})
	if media.CodeOf(err) != media.CodeModerated {
		t.Errorf("got %v", err)
	}
	// A model wrote the task of a sub-agent, so the guardrail does not check it.
	if _, err := guardedEnv(t, g).runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "hello"}); err != nil {
		t.Error(err)
	}
}
