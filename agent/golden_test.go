package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// addStates writes missing golden states. Existing ones are never overwritten: they represent runs that were paused
// with earlier versions.
var addStates = flag.Bool("update", false, "add missing golden states")

// golden is a run that paused in one way, and how it continues.
type golden struct {
	setup   setup
	profile chat.Profile
	request agent.Request
	before  map[string][]any
	// reply is the person's answer; the model's answers follow.
	reply agent.Reply
	after map[string][]any
	want  agent.Status
	made  []string
	says  string
}

// oldPicture returns picture n as it was encoded when the states were written.
func oldPicture(t *testing.T, n int) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "states", fmt.Sprintf("picture-%d.png", n)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func goldens(t *testing.T) map[string]golden {
	t.Helper()
	old := func(n int) string { return string(media.RefOf(media.ModalityImage, media.DigestOf(oldPicture(t, n)))) }
	clerk := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		c.Action(ctx, "Paint", map[string]any{"Number": 6})
		r, err := c.Ask(ctx, "Which colour?", json.RawMessage(colourForm))
		return agent.Answer{Message: string(r.Value)}, err
	}
	blue := reply("blue")
	pictures := blue
	pictures.Images, pictures.Note = []agent.Image{{Ref: media.Ref(old(1))}}, "this one"
	return map[string]golden{
		"question": {
			setup:   setup{agents: map[string]string{"painter": painter}},
			request: agent.Request{Agent: "painter", Message: "paint", Input: map[string]any{"n": 1}, MaxTurns: 9, MaxTokens: 9000, Owner: "ann"},
			before:  map[string][]any{"painter": {paintStep(1), asks("Which colour?")}},
			reply:   blue, after: map[string][]any{"painter": {`{"message":"${media:` + old(1) + `}","done":true}`}},
			want: agent.StatusSucceeded, made: []string{old(1)},
		},
		"sub-agents": {
			setup:  setup{agents: twoChildren()},
			before: map[string][]any{"painter": {askBoth}, "left": {asks("Left?")}, "right": {paintStep(2), asks("Right?")}},
			reply:  blue, after: map[string][]any{"left": {doneStep}}, want: agent.StatusPaused, made: []string{old(9), old(2)},
		},
		"approval": {
			setup:   setup{agents: map[string]string{"painter": "actions: [Paint Dearly]\n"}, actions: []action.Action{priced()}},
			request: agent.Request{Agent: "painter", Message: "paint", ApproveOver: "0.001"},
			before:  map[string][]any{"painter": {pricedStep("1,2")}},
			reply:   approve(), after: map[string][]any{"painter": {doneStep}}, want: agent.StatusSucceeded, made: []string{old(1), refOf(2)},
		},
		"approval-refused": {
			setup:  setup{agents: map[string]string{"painter": "actions: [{name: Paint Dearly, approval: always}]\n"}, actions: []action.Action{priced()}},
			before: map[string][]any{"painter": {pricedStep("1")}},
			reply:  reject("not now"), after: map[string][]any{"painter": {doneStep}}, want: agent.StatusSucceeded, made: []string{}, says: "refused by a person: not now",
		},
		"guardrail": {
			setup:  setup{agents: map[string]string{"painter": painter}},
			before: map[string][]any{"painter": {doneStep}},
			reply:  approve(), after: map[string][]any{"painter": {doneStep}}, want: agent.StatusSucceeded, made: []string{},
		},
		"images": {
			setup: setup{agents: map[string]string{"painter": painter}}, profile: visionProfile(chat.ImageLimits{}),
			request: agent.Request{
				Agent: "painter", Message: "look", Images: []agent.Image{{Data: oldPicture(t, 1), FileName: "one.png", Detail: "high"}},
				History: []chat.Message{chat.Text(chat.RoleUser, "hello"), chat.Text(chat.RoleAssistant, "hello")}, Vision: &definition.VisionContextPolicy{Enabled: true, AllowedSources: []string{"Paint"}},
			},
			before: map[string][]any{"painter": {paintStep(2), asks("Which colour?")}},
			reply:  pictures, after: map[string][]any{"painter": {`{"message":"${media:` + old(2) + `}","done":true}`}},
			want: agent.StatusSucceeded, made: []string{old(2)}, says: "this one",
		},
		"go-agent": {
			setup:  setup{agents: map[string]string{"painter": "agents: [clerk]\n"}, gos: map[string]agent.GoAgent{"clerk": clerk}},
			before: map[string][]any{"painter": {`{"agents":[{"name":"clerk","task":"x"}]}`}},
			reply:  blue, after: map[string][]any{"painter": {doneStep}}, want: agent.StatusSucceeded, made: []string{old(6)}, says: "blue",
		},
	}
}

// goldenEnv builds the process of a golden run, with the pictures of that time.
func goldenEnv(t *testing.T, name string, g golden, answers map[string][]any) *testEnv {
	t.Helper()
	s := g.setup
	s.answers = answers
	w := buildOn(t, memblob.New(), s)
	w.script.profile = g.profile
	if name == "guardrail" {
		var err error
		w.runner, err = agent.NewRunner(agent.Config{
			Definitions: mustLoad(t, s.agents), Actions: w.actions, Models: w.script, Codec: w.store, Observer: w.watcher,
			Guardrail: &guard{verdict: agent.Verdict{Decision: agent.DecisionPause, Reason: "ask ann"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{1, 2, 6, 9} {
		if _, err := w.store.Store(t.Context(), bytes.NewReader(oldPicture(t, n)), ""); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestGoldenStates resumes runs that older versions paused. The files never change; a new version of the state adds its
// own folder.
func TestGoldenStates(t *testing.T) {
	t.Parallel()
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "states", "v1", name+".json")
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) && *addStates {
				_, s := runToPause(t, goldenEnv(t, name, g, g.before), g.request)
				if text, err = json.MarshalIndent(s, "", "  "); err == nil {
					err = os.WriteFile(path, append(text, '\n'), 0o600)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			var s agent.State
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			w := goldenEnv(t, name, g, g.after)
			res, err := w.runner.Resume(t.Context(), s, g.reply)
			if err != nil || res.Status != g.want {
				t.Fatalf("the run %s, %v", res.Status, err)
			}
			if d := cmp.Diff(g.made, append(refs(res.Outputs), refs(res.AlsoMade)...)); d != "" {
				t.Error(d)
			}
			if asked := w.script.allRequests(); g.says != "" && !strings.Contains(lastMessage(asked[0]), g.says) {
				t.Errorf("the message to the model is %s", lastMessage(asked[0]))
			}
			if len(w.watcher.runs) == 0 || w.watcher.runs[0].StartedAt.After(s.Pending[0].AskedAt) {
				t.Errorf("the run began after it asked: %+v", w.watcher.runs)
			}
			b, err := json.Marshal(s)
			if err != nil || !sameJSON(t, b, text) {
				t.Errorf("the state is not written as it was read: %s, %v", b, err)
			}
		})
	}
}

// sameJSON reports whether two texts have the same JSON value, whatever their spelling.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}
