package main

import (
	"encoding/json"
	"image/color"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/generate"
)

// TestARefusalIsOneCall: a run that a model refuses ends after one call, with the model's words.
func TestARefusalIsOneCall(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	refusal := chattest.Services()[0].Shapes[chattest.SituationRefusal][0]
	s.chat.Play(refusal, refusal, refusal, refusal)
	o := p.atelier("run", "sage", "something bad")
	if o.code != exitProvider || !strings.Contains(o.stderr, refusal.Says) || len(s.chat.Requests()) != 1 {
		t.Errorf("exit %d after %d calls: %s", o.code, len(s.chat.Requests()), o.stderr)
	}
	if strings.Contains(o.stderr, "cost $0\n") {
		t.Errorf("what was billed is not counted: %s", o.stderr)
	}
}

// TestANewModelIsShownAPicture: a model id that is in no list is shown the picture; the result names the family that
// the model is treated as, and a budget of money refuses the model.
func TestANewModelIsShownAPicture(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = func(chattest.Request) string { return `{"message":"A picture.","done":true}` }
	args := []string{"run", "sage", "What is this?", "--model", "openai/gpt-9-sol", "--image", p.picture("a.png", 30, 20, color.NRGBA{G: 90, A: 255}), "--json"}
	ans := read[answer](p, args...)
	asked := s.chat.Requests()
	if ans.Status != "succeeded" || len(asked) != 1 || len(asked[0].Messages[len(asked[0].Messages)-1].Images) != 1 {
		t.Fatalf("%s after %d calls: %v", ans.Status, len(asked), ans.Warnings)
	}
	said := false
	for _, d := range ans.Dispositions {
		said = said || d.Setting == "chat_model" && d.Asked == "openai/gpt-9-sol" && d.Outcome == generate.OutcomeAdapted && strings.Contains(d.Reason, "family GPT") && strings.Contains(d.Reason, "price is unknown")
	}
	if !said || ans.Cost.Complete {
		t.Errorf("dispositions %+v, cost %+v", ans.Dispositions, ans.Cost)
	}
	if o := p.atelier(append(args, "--max-cost", "5")...); o.code != exitBudget || len(s.chat.Requests()) != 1 || !strings.Contains(o.stdout+o.stderr, "the price of gpt-9-sol (openai) is unknown") {
		t.Errorf("exit %d after %d calls: %s", o.code, len(s.chat.Requests()), o.stderr)
	}
}

// TestChatModelsAreCompared: models check --chat reports where a provider's list differs from the known models.
func TestChatModelsAreCompared(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]any{"id": "gpt-9-sol"}, map[string]any{"id": "gpt-6-luna", "shutdown_date": "2027-03-04"}}}) // the client reads it
	}))
	t.Cleanup(srv.Close)
	p.env["OPENAI_API_KEY"], p.env["OPENAI_BASE_URL"] = "k", srv.URL+"/v1"
	p.env["AWS_BEARER_TOKEN_BEDROCK"], p.env["AWS_REGION"] = "k", "us-east-1"
	o := p.atelier("models", "check", "--chat")
	for _, want := range []string{"Bedrock does not list its models through the runtime API", "gpt-9-sol", "family GPT", "it is shut down on 2027-03-04", "the provider does not list it"} {
		if o.code != exitOK || !strings.Contains(o.stdout, want) {
			t.Errorf("exit %d, %q is not in %s%s", o.code, want, o.stdout, o.stderr)
		}
	}
	if o := p.atelier("models", "list", "--chat", "--provider", "openai"); !strings.Contains(o.stdout, "price unknown") || !strings.Contains(o.stdout, "until 2027-01-14") || strings.Contains(o.stdout, "o4-mini") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	p.env["ATELIER_CHAT_MODEL"] = "openai/gpt-4-turbo"
	if o := p.atelier("doctor"); !strings.Contains(o.stdout, "gpt-4-turbo was shut down on 2026-10-23; GPT-6 Luna replaces it") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
}
