package atelier_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier"
	"atelier/action"
	"atelier/agent"
	"atelier/api"
	"atelier/chat/chattest"
	"atelier/run/runtest"
)

// contextModel is a chat model with two agents whose action reads the tool context.
type contextModel struct {
	config atelier.Config

	mu   sync.Mutex // guards what follows
	read []string   // agent and the values that it read
	sent bytes.Buffer
}

// toJSON returns a value as JSON.
func toJSON(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func newContextModel(t *testing.T) *contextModel {
	t.Helper()
	agents := t.TempDir()
	for name, text := range map[string]string{
		"clerk.yaml":  "slug: clerk\nname: Clerk\ndescription: Tests.\nprompt: clerk.md\nactions: [Look Up]\nagents: [{slug: helper, payload_key: helper}]\n",
		"clerk.md":    "You are clerk.",
		"helper.yaml": "slug: helper\nname: Helper\ndescription: Tests.\nprompt: helper.md\nactions: [Look Up]\n",
		"helper.md":   "You are helper.",
	} {
		if err := os.WriteFile(filepath.Join(agents, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := &contextModel{}
	model := &chattest.Simulator{Answer: o.answer}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // a body that did not arrive is no request
		o.mu.Lock()
		o.sent.Write(b)
		o.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(b))
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	o.config = atelier.Config{
		Dir: runtest.Folder(t), Sources: atelier.Sources{Agents: agents}, Actions: []action.Action{{Name: "Look Up", Description: "Tests.", Run: o.lookUp}},
		Keys: map[string]string{"openai": "sk-test"}, BaseURLs: map[string]string{"openai": srv.URL + "/v1"},
	}
	return o
}

func (o *contextModel) answer(r chattest.Request) string {
	turn := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			turn++
		}
	}
	look := map[string]any{"reasoning": "look", "actions": []any{map[string]any{"name": "Look Up", "params": map[string]any{}}}, "done": false}
	switch helper := strings.Contains(r.System(), "You are helper."); {
	case !helper && turn == 0:
		look["agents"] = []any{map[string]any{"name": "helper", "task": "look"}}
		return toJSON(look)
	case !helper && turn == 1:
		return toJSON(map[string]any{"reasoning": "unsure", "ask": map[string]any{"question": "Again?"}, "done": false})
	case helper && turn == 0, !helper && turn == 2:
		return toJSON(look)
	}
	return toJSON(map[string]any{"reasoning": "done", "message": "It is done.", "done": true})
}

func (o *contextModel) lookUp(_ context.Context, c *action.Call) (action.Result, error) {
	tenant, _, err := action.ToolValue[string](c.ToolContext, "tenant")
	if err != nil {
		return action.Result{}, err
	}
	account, ok, err := action.ToolValue[struct{ Number int64 }](c.ToolContext, "account")
	if err != nil || !ok {
		return action.Result{}, fmt.Errorf("account: %v, %w", ok, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read = append(o.read, fmt.Sprintf("%s %s %d", c.Agent, tenant, account.Number))
	return action.Result{Message: "Found."}, nil
}

// TestToolContextReachesActionsAlone: the exact values of a run reach the actions of its agents and sub-agents, also
// after a pause, in another process and in a fork; no prompt, event or response of the API contains one.
func TestToolContextReachesActionsAlone(t *testing.T) {
	t.Parallel()
	const tenant, number = "tenant-canary-7f3a9c", 9007199254740993 // more than a float64 represents exactly
	o := newContextModel(t)
	s := serve(t, o.config)
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{
		Agent: "clerk", Message: "Look it up.", ConversationID: "new",
		ToolContext: api.ToolContext{"tenant": json.RawMessage(`"` + tenant + `"`), "account": json.RawMessage(fmt.Sprintf(`{"Number":%d}`, number))},
	})).ID
	if r := s.waitForRun(id); r.Status != "paused" {
		t.Fatalf("%+v", r)
	}
	s.stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = serve(t, o.config)
	yes := "yes"
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+id+"/answer", api.Answer{Text: &yes}))
	if r := s.waitForRun(id); r.Status != "succeeded" {
		t.Fatalf("%+v", r)
	}
	fork := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+id+"/fork", api.Fork{Message: "Look again."})).ID
	if r := s.waitForRun(fork); r.Status != "paused" {
		t.Fatalf("%+v", r)
	}
	want := func(agent string) string { return fmt.Sprintf("%s %s %d", agent, tenant, number) }
	o.mu.Lock()
	slices.Sort(o.read)
	if !slices.Equal(o.read, []string{want("clerk"), want("clerk"), want("clerk"), want("helper"), want("helper")}) {
		t.Errorf("read %q", o.read)
	}
	sinks := map[string]string{"prompts": o.sent.String()}
	o.mu.Unlock()
	for _, e := range s.follow("/api/events?after=0", endsRun(fork)) {
		sinks["events"] += e.kind + toJSON(e.data)
	}
	for _, path := range []string{"/api/runs", "/api/runs/" + id, "/api/runs/" + fork, "/api/runs/" + id + "/acts", "/api/runs/" + id + "/model-calls", "/api/runs/" + id + "/steps", "/api/runs/" + id + "/report", "/api/conversations"} {
		sinks[path] = string(s.do(http.MethodGet, path, nil).body)
	}
	for name, text := range sinks {
		if len(text) < 20 || strings.Contains(text, tenant) || strings.Contains(text, "9007199") || strings.Contains(text, "tenant") {
			t.Errorf("%s: %d bytes with a value or a name: %.300s", name, len(text), text)
		}
	}
}

// TestToolContextIsNotPrinted: logging a request does not print its tool context; one that is too large or unreadable
// is refused.
func TestToolContextIsNotPrinted(t *testing.T) {
	t.Parallel()
	const secret = "canary-51b2"
	r := atelier.Request{Request: agent.Request{Agent: "sage", Message: "x", ToolContext: action.ToolContext{"token": json.RawMessage(`"` + secret + `"`)}}}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("run", slog.Any("context", r.ToolContext), slog.String("request", fmt.Sprintf("%v %+v %#v", r, r, r.ToolContext)))
	if log.Len() < 20 || strings.Contains(log.String(), secret) {
		t.Errorf("logged: %s", log.String())
	}
	if _, _, err := action.ToolValue[int](r.ToolContext, "token"); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("another type: %v", err)
	}
	if _, ok, err := action.ToolValue[int](r.ToolContext, "user"); ok || err != nil {
		t.Errorf("missing: %v, %v", ok, err)
	}
	s := serve(t, atelier.Config{})
	for body, status := range map[string]int{
		`{"agent":"sage","message":"Draw a boat, 128x128","tool_context":{"":1}}`:                                      http.StatusBadRequest,
		`{"agent":"sage","message":"Draw a boat, 128x128","tool_context":[1]}`:                                         http.StatusUnprocessableEntity,
		`{"agent":"sage","message":"Draw a boat, 128x128","tool_context":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`: http.StatusRequestEntityTooLarge,
	} {
		if got := s.do(http.MethodPost, "/api/runs", body); got.status != status {
			t.Errorf("%.80s: %d %s", body, got.status, got.body)
		}
	}
}

// TestLargeIntegersOfTheInput: the model is told an integer of the input that a float64 would round.
func TestLargeIntegersOfTheInput(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	const order = "9007199254740993"
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", `{"agent":"sage","message":"Draw a boat, 64x64","input":{"order":`+order+`}}`)).ID
	s.waitForRun(id)
	if calls := s.do(http.MethodGet, "/api/runs/"+id+"/model-calls", nil); !strings.Contains(string(calls.body), order) {
		t.Errorf("%s", calls.body)
	}
}
