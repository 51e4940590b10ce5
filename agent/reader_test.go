package agent_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/chat"
)

// TestBlockedTermsCoverEachOther: the longer of two terms that begin alike is removed whole, and any kind of space
// separates words.
func TestBlockedTermsCoverEachOther(t *testing.T) {
	t.Parallel()
	g, err := agent.BlockedTerms(agent.DecisionRedact, "red", "red button")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"a red button": "a [removed]", "a red\u00a0button": "a [removed]", "a red\u2003 button, red": "a [removed], [removed]", "red red": "[removed] [removed]"} {
		if v, err := g.Check(t.Context(), agent.GuardInput{Text: text}); err != nil || v.Text != want {
			t.Errorf("%q: got %q, %v", text, v.Text, err)
		}
	}
}

// TestGoAgentPayloadWithoutFiniteNumbers: one value that JSON cannot represent does not remove the payload.
func TestGoAgentPayloadWithoutFiniteNumbers(t *testing.T) {
	t.Parallel()
	w := build(t, setup{gos: map[string]agent.GoAgent{"coder": func(context.Context, *agent.Context) (agent.Answer, error) {
		return agent.Answer{Payload: map[string]any{"title": "kept", "mean": math.NaN(), "list": []float64{1, math.Inf(1)}}}, nil
	}}})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "coder", Message: "x"})
	if err != nil || !strings.Contains(string(res.Payload), "kept") {
		t.Errorf("payload %s, %v", res.Payload, err)
	}
}

// TestRepeatedImageIsOneImage: a picture that is given twice counts once for the limit of the model.
func TestRepeatedImageIsOneImage(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {doneStep}}})
	w.script.profile = visionProfile(chat.ImageLimits{MaxImages: 2})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}, {Data: picture(2)}, {Data: picture(1)}}})
	if err != nil || len(res.InputImages) != 2 {
		t.Errorf("got %+v, %v", res, err)
	}
}
