package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/chat"
	"atelier/media"
	"atelier/media/blob/memblob"
)

// wordGuard decides about texts that contain a word, and passes others.
type wordGuard struct {
	words map[string]agent.Verdict
	down  error

	mu  sync.Mutex // guards saw
	saw []string
}

func (j *wordGuard) Check(_ context.Context, in agent.GuardInput) (agent.Verdict, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.saw = append(j.saw, in.Agent+": "+in.Text)
	for word, v := range j.words {
		if strings.Contains(in.Text, word) {
			return v, j.down
		}
	}
	return agent.Verdict{}, nil
}

// openForm accepts texts of all kinds.
const openForm = `{"type":"object","required":["wish"],"properties":{"wish":{"type":"string","maxLength":40},"more":{"type":"object"}}}`

// guardedAsk returns a paused run with a guardrail.
func guardedAsk(t *testing.T, j *wordGuard, next ...any) (*testEnv, agent.State) {
	t.Helper()
	w := build(t, setup{agents: map[string]string{"painter": painter}, guard: j, answers: map[string][]any{
		"painter": append([]any{`{"ask":{"question":"What do you want?","schema":` + openForm + `}}`}, next...),
	}})
	_, s := runToPause(t, w, agent.Request{})
	return w, s
}

// TestGuardrailRefusesReplies: a reply is refused for its value, a key, its note or an error of the guardrail; the run
// is unchanged and accepts another reply.
func TestGuardrailRefusesReplies(t *testing.T) {
	t.Parallel()
	stop := map[string]agent.Verdict{"secret": {Decision: agent.DecisionStop, Reason: "no secrets"}}
	for name, c := range map[string]struct {
		words map[string]agent.Verdict
		reply agent.Reply
		code  media.Code
		says  string
	}{
		"value":    {stop, agent.Reply{Value: json.RawMessage(`{"wish":"a secret sign"}`)}, media.CodeModerated, "no secrets"},
		"deeper":   {stop, agent.Reply{Value: json.RawMessage(`{"wish":"a sign","more":{"a":["b","secret"]}}`)}, media.CodeModerated, "no secrets"},
		"key":      {stop, agent.Reply{Value: json.RawMessage(`{"wish":"a sign","more":{"secret":1}}`)}, media.CodeModerated, "no secrets"},
		"note":     {stop, agent.Reply{Value: json.RawMessage(`{"wish":"a sign"}`), Note: "it is secret"}, media.CodeModerated, "no secrets"},
		"picture":  {stop, agent.Reply{Value: json.RawMessage(`{"wish":"a secret"}`), Images: []agent.Image{{Data: picture(9)}}}, media.CodeModerated, ""},
		"down":     {stop, agent.Reply{Value: json.RawMessage(`{"wish":"secret"}`)}, media.CodeUnavailable, ""},
		"nonsense": {map[string]agent.Verdict{"a": {Decision: "shrug"}}, agent.Reply{Value: json.RawMessage(`{"wish":"a"}`)}, media.CodeInternal, ""},
		"emptied":  {map[string]agent.Verdict{"a": {Decision: agent.DecisionRedact}}, agent.Reply{Value: json.RawMessage(`{"wish":"a"}`)}, media.CodeModerated, ""},
		"no longer fits": {
			map[string]agent.Verdict{"a": {Decision: agent.DecisionRedact, Text: strings.Repeat("x", 41)}},
			agent.Reply{Value: json.RawMessage(`{"wish":"a"}`)},
			media.CodeModerated, "does not fit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &wordGuard{} // the task passes
			w, s := guardedAsk(t, j, doneStep)
			w.script.profile = visionProfile(chat.ImageLimits{})
			j.words = c.words
			if c.code == media.CodeUnavailable {
				j.down = media.Errorf(c.code, "down")
			}
			before, items := plainJSON(t, s), w.recorder.count()
			res, err := w.runner.Resume(t.Context(), s, c.reply)
			if res != nil || media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %+v, %v", res, err)
			}
			if d := cmp.Diff(before, plainJSON(t, s)); d != "" {
				t.Errorf("the state changed: %s", d)
			}
			if n := len(w.script.allRequests()); n != 1 || w.recorder.count() != items {
				t.Errorf("%d model calls, %d new items", n, w.recorder.count()-items)
			}
			resumeToEnd(t, w, s, agent.Reply{Value: json.RawMessage(`{"wish":"cosy"}`)})
		})
	}
}

func plainJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestGuardrailRedactsReplies: the model sees only the redacted text, in the value and in the note, and a warning says
// so. Keys of the form are the agent's words and are not checked.
func TestGuardrailRedactsReplies(t *testing.T) {
	t.Parallel()
	j := &wordGuard{words: map[string]agent.Verdict{"secret": {Decision: agent.DecisionRedact, Text: "[removed]", Reason: "a secret"}}}
	w, s := guardedAsk(t, j, doneStep)
	res := resumeToEnd(t, w, s, agent.Reply{Value: json.RawMessage(`{"wish":"the secret","more":{"wish":12345}}`), Note: "secret too"})
	message := lastMessage(w.script.allRequests()[1])
	for _, part := range []string{`"wish":"[removed]"`, `"note":"[removed]"`, `12345`} {
		if !strings.Contains(message, part) {
			t.Errorf("the message to the model lacks %s: %s", part, message)
		}
	}
	if strings.Contains(message, "secret") {
		t.Errorf("the message to the model is %s", message)
	}
	if !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, "a secret") }) {
		t.Errorf("warnings %q", res.Warnings)
	}
	if d := cmp.Diff([]string{"painter: paint", "painter: the secret", "painter: secret too"}, j.saw); d != "" {
		t.Error(d)
	}
}

// TestGuardrailHoldsReplies: a reply that needs approval waits for another question; a no opens the first question
// again, a yes accepts the reply, also in another process.
func TestGuardrailHoldsReplies(t *testing.T) {
	t.Parallel()
	j := &wordGuard{words: map[string]agent.Verdict{"secret": {Decision: agent.DecisionPause, Reason: "a secret"}}}
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}, guard: j}}
	w := p.start(t, map[string][]any{"painter": {`{"ask":{"question":"What do you want?","schema":` + openForm + `}}`}})
	_, s := runToPause(t, w, agent.Request{})
	first := s.Pending[0]
	hold := func(s agent.State) agent.State {
		t.Helper()
		res, err := p.start(t, nil).runner.Resume(t.Context(), s, agent.Reply{Value: json.RawMessage(`{"wish":"the secret"}`)})
		if err != nil || res.Status != agent.StatusPaused || len(res.Pending) != 1 {
			t.Fatalf("got %+v, %v", res, err)
		}
		q := res.Pending[0]
		if q.Kind != agent.QuestionGuardrail || q.ID == first.ID || q.Details.Reason != "a secret" || !strings.Contains(q.Question, "What do you want?") {
			t.Errorf("the question is %+v", q)
		}
		return reloaded(t, res)
	}
	approve := func(yes string) agent.Reply { return agent.Reply{Value: json.RawMessage(`{"approve":` + yes + `}`)} }
	held := hold(s)
	res, err := p.start(t, nil).runner.Resume(t.Context(), held, approve("false"))
	if err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("got %+v, %v", res, err)
	}
	if d := cmp.Diff([]agent.Question{first}, reloaded(t, res).Pending); d != "" {
		t.Errorf("the question is not open again: %s", d)
	}
	w2 := p.start(t, map[string][]any{"painter": {doneStep}})
	resumeToEnd(t, w2, hold(reloaded(t, res)), approve("true"))
	if message := lastMessage(w2.script.allRequests()[0]); !strings.Contains(message, `"wish":"the secret"`) {
		t.Errorf("the message to the model is %s", message)
	}
}
