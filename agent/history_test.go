package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/internal/everyday"
	"atelier/media"
)

// oneExchange returns a conversation of one exchange.
func oneExchange() []chat.Message {
	return []chat.Message{
		chat.Text(chat.RoleUser, "draw a fox"),
		chat.Text(chat.RoleAssistant, "Here it is: ${media:"+refOf(1)+"} \"red\""),
	}
}

func TestHistoryPrecedesTheTask(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents:  map[string]string{"painter": painter + "agents:\n  - slug: helper\n    payload_key: helper\n", "helper": painter},
		answers: map[string][]any{"painter": {`{"agents":[{"name":"helper","task":"help"}]}`, `{"done":true}`}, "helper": {`{"done":true}`}},
	})
	secret := base64Of([]byte(strings.Repeat("canary \x00\xff", 12)))
	history := append(oneExchange(), chat.Text(chat.RoleUser, "  "), chat.Text(chat.RoleUser, secret))
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "make it bluer", History: history}); err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	var got []string
	for _, m := range asked[0].Messages {
		got = append(got, string(m.Role)+": "+m.Text())
	}
	want := []string{
		"user: draw a fox",
		`assistant: {"done":true,"message":"Here it is: ${media:` + refOf(1) + `} \"red\""}`,
		"user: " + secret,
		"user: make it bluer",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(asked[1].Messages); n != 1 {
		t.Errorf("the sub-agent got %d messages", n)
	}
}

func TestHistoryIsDroppedWithoutRoom(t *testing.T) {
	t.Parallel()
	tooLong := media.Errorf(media.CodeContextLength, "too long")
	w := build(t, setup{
		agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {tooLong, `{"done":true}`}},
	})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "make it bluer", History: oneExchange()})
	if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "what was said before the task was left out") {
		t.Fatalf("%+v, %v", res, err)
	}
	if asked := w.script.allRequests(); len(asked[0].Messages) != 3 || len(asked[1].Messages) != 1 || lastMessage(asked[1]) != "make it bluer" {
		t.Errorf("%d and %d messages", len(asked[0].Messages), len(asked[1].Messages))
	}
}

func TestGoAgentsHaveTheHistory(t *testing.T) {
	t.Parallel()
	var got []chat.Message
	w := build(t, setup{gos: map[string]agent.GoAgent{"clerk": func(_ context.Context, c *agent.Context) (agent.Answer, error) {
		got = c.History()
		return agent.Answer{Message: "noted"}, nil
	}}})
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "clerk", Message: "x", History: oneExchange()}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(oneExchange(), got); d != "" {
		t.Error(d)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}})
	for want, r := range map[media.Code]agent.Request{
		"":                 {Agent: "Painter", Message: "x"},
		media.CodeInvalid:  {Agent: "painter", Message: " "},
		media.CodeNotFound: {Agent: "nobody", Message: "x"},
	} {
		if got := media.CodeOf(w.runner.Check(r)); got != want {
			t.Errorf("%+v: code %q, want %q", r, got, want)
		}
	}
}

// TestMediaInWordsIsLifted: pictures as data in the conversation before the task, in a model's answer and in the
// parameters and questions of Go code become refs, and the text around them remains byte for byte.
func TestMediaInWordsIsLifted(t *testing.T) {
	t.Parallel()
	url := "data:image/png;base64," + base64Of(picture(1))
	around := func(s string) string { return everyday.Text() + " see " + s + " \"there\" \\n" }
	var got string
	echo := action.Action{Name: "Echo", Params: []action.Param{{Name: "In"}}, Run: func(_ context.Context, c *action.Call) (action.Result, error) {
		got = c.Text("In")
		return action.Result{Message: "heard"}, nil
	}}
	w := build(t, setup{
		agents:  map[string]string{"painter": painter + "agents: [clerk]\n"},
		answers: map[string][]any{"painter": {`{"message":` + string(asJSON(t, around(url))) + `,"agents":[{"name":"clerk","task":"work"}]}`, `{"done":true}`}},
		gos: map[string]agent.GoAgent{"clerk": func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
			if out := c.Action(ctx, "Echo", map[string]any{"In": around(url)}); !out.Success {
				t.Errorf("%+v", out.Error)
			}
			return agent.Answer{Message: around(url)}, nil
		}},
		actions: []action.Action{echo},
	})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: around(url), History: []chat.Message{chat.Text(chat.RoleUser, around(url))}})
	if err != nil {
		t.Fatal(err)
	}
	want := around("${media:" + refOf(1) + "}")
	first, second := w.script.allRequests()[0].Messages, w.script.allRequests()[1].Messages
	for name, text := range map[string]string{"history": first[0].Text(), "task": first[1].Text(), "parameter": got} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: lacks %q, ends %q", name, everyday.Missing(text), text[max(0, len(text)-80):])
		}
	}
	if text := second[2].Text(); !strings.Contains(text, strings.Trim(string(asJSON(t, want)), `"`)) {
		t.Errorf("the model's own answer lacks %q", everyday.Missing(text))
	}
	if res.Status != agent.StatusSucceeded {
		t.Errorf("%s: %+v", res.Status, res.Error)
	}
}

// asJSON encodes text as a JSON string without HTML escapes.
func asJSON(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
