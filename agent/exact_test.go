package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
)

// TestLargeNumbersStayExact: numbers that a float64 cannot hold reach the model as an action returned them, and as a
// person wrote them, in the input and in an answer.
func TestLargeNumbersStayExact(t *testing.T) {
	t.Parallel()
	const order, row, account = "9007199254740993", "9007199254740995", "12345678901234567891"
	shows := func(n string, next string) func(chat.Request) string {
		return func(r chat.Request) string {
			if text := r.Messages[len(r.Messages)-1].Text(); !strings.Contains(text, n) {
				t.Errorf("the model is not told %s: %s", n, text)
			}
			return next
		}
	}
	w := build(t, setup{
		agents: map[string]string{"boss": "actions: [Look Up]\n"},
		actions: []action.Action{{
			Name: "Look Up", Description: "Tests.",
			Run: func(context.Context, *action.Call) (action.Result, error) {
				return action.Result{Outputs: map[string]any{"row": int64(9007199254740995)}}, nil
			},
		}},
		answers: map[string][]any{"boss": {
			shows(order, `{"actions":[{"name":"Look Up"}]}`),
			shows(row, `{"ask":{"question":"Which account?","schema":{"type":"object","properties":{"account":{"type":"integer"}}}}}`),
			func(r chat.Request) string {
				if first := r.Messages[0].Text(); !strings.Contains(first, order) {
					t.Errorf("the model is told in the end: %s", first)
				}
				return shows(account, doneStep)(r)
			},
		}},
	})
	_, s := runToPause(t, w, agent.Request{Agent: "boss", Message: "look", Input: map[string]any{"order": json.Number(order)}})
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	s = agent.State{}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	res, err := w.runner.Resume(t.Context(), s, agent.Reply{Value: json.RawMessage(`{"account":` + account + `}`)})
	if err != nil || res.Status != agent.StatusSucceeded {
		t.Fatalf("got %+v, %v", res, err)
	}
	if saved := string(res.Steps[0].Outputs); !strings.Contains(saved, row) {
		t.Errorf("the record has %s", saved)
	}
}

// TestForksKeepLargeNumbers: a fork, which renames ids in the results of acts, keeps their numbers.
func TestForksKeepLargeNumbers(t *testing.T) {
	t.Parallel()
	const step = "turn-1-action-1"
	s := agent.State{Steps: map[string]json.RawMessage{step: json.RawMessage(`{"outcome":{"name":"x","outputs":{"id":"old","row":9007199254740995}}}`)}}
	if err := s.Rename(map[string]string{"old": "new"}); err != nil || !strings.Contains(string(s.Steps[step]), `"id":"new","row":9007199254740995`) {
		t.Errorf("got %s, %v", s.Steps[step], err)
	}
}
