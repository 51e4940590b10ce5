package agent_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/contract"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/media"
	"atelier/media/blob/memblob"
)

// withVisionModel starts a process whose model sees pictures.
func withVisionModel(t *testing.T, p *processes, l chat.ImageLimits, answers map[string][]any) *testEnv {
	t.Helper()
	w := p.start(t, answers)
	w.script.profile = visionProfile(l)
	return w
}

func TestPicturesComeWithTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replace bool
		want    []string
		input   []string
	}{
		"beside":  {false, []string{refOf(1), refOf(2), refOf(3)}, []string{refOf(1), refOf(2), refOf(3)}},
		"instead": {true, []string{refOf(2), refOf(3)}, []string{refOf(2), refOf(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
			w := withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {paintStep(3), asks("Which colour?")}})
			_, s := runToPause(t, w, agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}}})
			a := reply("blue")
			a.Images, a.ReplaceImages = []agent.Image{{Data: picture(2), FileName: "two.png", Detail: "high"}, {Ref: media.Ref(refOf(3))}}, c.replace
			s, err := w.runner.Answered(t.Context(), s, a)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := json.Marshal(s); strings.Contains(string(b), base64Of(picture(2))[:48]) {
				t.Error("the state contains the picture")
			}
			w = withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {checkShown(t, c.want), checkShown(t, c.want), doneStep}})
			req := s.Request
			req.State = &s
			res, err := w.runner.Run(t.Context(), req)
			if err != nil || res.Status != agent.StatusSucceeded {
				t.Fatalf("got %+v, %v", res, err)
			}
			var input []string
			for _, i := range res.InputImages {
				input = append(input, string(i.Ref))
			}
			if d := cmp.Diff(c.input, input); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff([]string{refOf(3), refOf(7)}, refs(res.AlsoMade)); d != "" {
				t.Errorf("made: %s", d)
			}
			if last := w.script.allRequests()[2].Messages; !c.replace && last[0].Parts[len(last[0].Parts)-1].Media == nil {
				t.Error("the picture of the message is not shown any more")
			}
		})
	}
}

// checkShown checks the pictures that the model is shown, and answers with a paint step.
func checkShown(t *testing.T, want []string) func(chat.Request) string {
	t.Helper()
	return func(r chat.Request) string {
		if got := shownTo(r); !slices.Equal(got, want) {
			t.Errorf("the model sees %v, want %v", got, want)
		}
		if text := r.Messages[4].Text(); !strings.Contains(text, `"answer":{"question":"Which colour?"`) || !strings.Contains(text, refOf(2)) {
			t.Errorf("the message to the model is %s", text)
		}
		return paintStep(7)
	}
}

func TestPicturesOfAnswersAreGated(t *testing.T) {
	t.Parallel()
	two := chat.ImageLimits{MaxImages: 2}
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
	w := withVisionModel(t, p, two, map[string][]any{"painter": {asks("Which colour?"), doneStep}})
	_, strict := runToPause(t, w, agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}}})
	a := reply("blue")
	a.Images = []agent.Image{{Data: picture(2)}, {Data: picture(3)}}
	recorded := w.recorder.count()
	if _, err := w.runner.Answered(t.Context(), strict, a); media.CodeOf(err) == "" || !strings.Contains(err.Error(), "Seer") || !strings.Contains(err.Error(), "3") {
		t.Errorf("three pictures for a model that takes two: %v", err)
	}
	if w.recorder.count() != recorded {
		t.Error("pictures of a refused answer were recorded")
	}
	a.ReplaceImages = true
	if _, err := w.runner.Answered(t.Context(), strict, a); err != nil {
		t.Errorf("two pictures instead of one: %v", err)
	}
	lenient := strict
	lenient.Request.LenientImages = true
	a.ReplaceImages = false
	w = withVisionModel(t, p, two, map[string][]any{"painter": {func(r chat.Request) string {
		if got := shownTo(r); !slices.Equal(got, []string{refOf(1), refOf(2)}) || !strings.Contains(lastMessage(r), refOf(3)+" is not shown") {
			t.Errorf("the model sees %v, and the message is %s", got, lastMessage(r))
		}
		return doneStep
	}}})
	res := resumeToEnd(t, w, lenient, a)
	if len(res.Warnings) != 1 || len(res.Dispositions) != 1 || res.Dispositions[0].Asked != refOf(3) {
		t.Errorf("warnings %q, dispositions %+v", res.Warnings, res.Dispositions)
	}
	w = p.start(t, map[string][]any{"painter": {doneStep}})
	if _, err := w.runner.Resume(t.Context(), strict, a); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("pictures for a blind model: %v", err)
	}
}

// TestMediaInAnAnswerIsStored: media in a person's reply is stored, and no bytes remain in the state.
func TestMediaInAnAnswerIsStored(t *testing.T) {
	t.Parallel()
	canary := picture(77)
	data := "data:image/png;base64," + base64.StdEncoding.EncodeToString(canary)
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"ask":{"question":"Which?"}}`, func(r chat.Request) string {
		if message := lastMessage(r); !strings.Contains(message, refOf(77)) || strings.Contains(message, "base64,") {
			t.Errorf("the message to the model is %s", message)
		}
		return `{"message":"${media:` + refOf(77) + `}","done":true}`
	}}}})
	_, s := runToPause(t, w, agent.Request{})
	value, err := json.Marshal(map[string]string{"answer": data})
	if err != nil {
		t.Fatal(err)
	}
	s, err = w.runner.Answered(t.Context(), s, agent.Reply{Value: value, Note: "see " + data})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil || strings.Contains(string(b), base64Of(canary)[:48]) || !strings.Contains(string(b), "${media:"+refOf(77)+"}") {
		t.Errorf("the state is %s, %v", b, err)
	}
	req := s.Request
	req.State = &s
	res, err := w.runner.Run(t.Context(), req)
	if err != nil || len(res.Outputs) != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestGoAgentsAsk(t *testing.T) {
	t.Parallel()
	for name, hands := range map[string]bool{"hands the error on": true, "swallows it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
				painted := c.Action(ctx, "Paint", map[string]any{"Number": 5})
				first, err := c.Ask(ctx, "Which colour?", json.RawMessage(colourForm))
				if err == nil {
					var second agent.Reply
					if second, err = c.Ask(ctx, "Really?", nil); err == nil {
						return agent.Answer{Message: string(first.Value) + string(second.Value), Promote: []contract.Promotion{{Ref: string(painted.Media[0].Ref)}}}, nil
					}
				}
				if hands {
					return agent.Answer{}, fmt.Errorf("ask: %w", err)
				}
				return agent.Answer{Message: "went on without"}, nil
			}
			p := &processes{driver: memblob.New(), setup: setup{
				agents: map[string]string{"painter": "agents: [coder]\n"}, gos: map[string]agent.GoAgent{"coder": code},
			}}
			w := p.start(t, map[string][]any{"painter": {`{"agents":[{"name":"coder","task":"x"}]}`}})
			_, s := runToPause(t, w, agent.Request{})
			if s.Pending[0].AgentPath != "painter/coder" || w.recorder.count() != 1 {
				t.Errorf("open are %+v, made %d", s.Pending, w.recorder.count())
			}
			res, err := p.start(t, nil).runner.Resume(t.Context(), s, reply("red"))
			if err != nil || res.Status != agent.StatusPaused || res.Pending[0].Question != "Really?" {
				t.Fatalf("got %+v, %v", res, err)
			}
			s = reloaded(t, res)
			w = p.start(t, map[string][]any{"painter": {func(r chat.Request) string {
				if message := lastMessage(r); !strings.Contains(message, "red") || !strings.Contains(message, "yes") {
					t.Errorf("the message to the parent is %s", message)
				}
				return doneStep
			}}})
			resumeToEnd(t, w, s, agent.Reply{Value: json.RawMessage(`{"answer":"yes"}`)})
			if w.recorder.count() != 0 {
				t.Error("the picture was made again")
			}
		})
	}
}

func TestGoAgentsAskWell(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{}, gos: map[string]agent.GoAgent{"coder": func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		for _, schema := range []string{`{"type":"colour"}`, `{`, `7`} {
			if _, err := c.Ask(ctx, "Which?", json.RawMessage(schema)); media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("%s: %v", schema, err)
			}
		}
		for _, q := range []string{"", " ", strings.Repeat("so ", 2000)} {
			if _, err := c.Ask(ctx, q, nil); media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("%.9q: %v", q, err)
			}
		}
		return agent.Answer{Message: "fine"}, nil
	}}})
	if res, err := w.runner.Run(t.Context(), agent.Request{Agent: "coder", Message: "x"}); err != nil || res.Status != agent.StatusSucceeded {
		t.Errorf("got %+v, %v", res, err)
	}
}

// TestActionsAsk covers an action that asks, and an action within it that needs approval.
func TestActionsAsk(t *testing.T) {
	t.Parallel()
	clerk := action.Action{
		Name: "Ask Clerk", Description: "Asks.", Params: []action.Param{{Name: "Answer", Direction: action.Output, Type: "any"}},
		Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			c, ok := agent.ContextOf(ctx)
			if !ok {
				return action.Result{}, media.Errorf(media.CodeInternal, "no agent")
			}
			r, err := c.Ask(ctx, "Which colour?", json.RawMessage(colourForm))
			if err != nil {
				return action.Result{}, err
			}
			out := c.Action(ctx, "Paint Dearly", map[string]any{"Number": 4.0})
			return action.Result{Message: "The clerk says " + string(r.Value) + " " + out.Message}, out.Err
		},
	}
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": "actions: [Ask Clerk, Paint Dearly]\n"}, actions: []action.Action{clerk, priced()}}}
	step := `{"actions":[{"name":"Ask Clerk"},{"name":"Ask Clerk"}]}`
	_, s := runToPause(t, p.start(t, map[string][]any{"painter": {step}}), agent.Request{Agent: "painter", Message: "x", ApproveOver: "0"})
	var steps []string
	for len(s.Pending) > 0 {
		a := reply("red")
		if s.Pending[0].Kind == agent.QuestionApproval {
			a = approve()
		}
		steps = append(steps, s.Pending[0].Step)
		w := p.start(t, map[string][]any{"painter": {func(r chat.Request) string {
			if message := lastMessage(r); strings.Count(message, "The clerk says") != 2 {
				t.Errorf("the message to the model is %s", message)
			}
			return doneStep
		}}})
		res, err := w.runner.Resume(t.Context(), s, a)
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != agent.StatusPaused {
			break
		}
		s = reloaded(t, res)
	}
	want := []string{"turn-1-action-1-ask-1", "turn-1-action-1-call-HASH-1-approval", "turn-1-action-2-ask-1", "turn-1-action-2-call-HASH-1-approval"}
	for i := range steps {
		steps[i] = regexp.MustCompile(`-[0-9a-f]{12}-`).ReplaceAllString(steps[i], "-HASH-")
	}
	if d := cmp.Diff(want, slices.Sorted(slices.Values(steps))); d != "" {
		t.Error(d)
	}
}

// TestActsOfActionsKeepTheirPlace: an action that asks after other acts repeats these under the same ids, so that a
// paid act is recalled and not paid twice.
func TestActsOfActionsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	both := action.Action{
		Name: "Both", Description: "Paints, asks, paints.",
		Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			c, _ := agent.ContextOf(ctx)
			var all sync.WaitGroup
			for _, n := range []float64{1, 2, 1} {
				all.Go(func() { c.Action(ctx, "Paint", map[string]any{"Number": n}) })
			}
			all.Wait()
			_, err := c.Ask(ctx, "Which colour?", json.RawMessage(colourForm))
			return action.Result{}, err
		},
	}
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": "actions: [Both, Paint]\n"}, actions: []action.Action{both}}}
	w := p.start(t, map[string][]any{"painter": {`{"actions":[{"name":"Both"}]}`}})
	_, s := runToPause(t, w, agent.Request{})
	w2 := p.start(t, map[string][]any{"painter": {doneStep}})
	resumeToEnd(t, w2, s, reply("red"))
	ids := func(w *testEnv) []string {
		var out []string
		for _, s := range w.watcher.steps {
			if s.Name == "Paint" && s.Status == agent.StatusSucceeded {
				out = append(out, fmt.Sprintf("%s %s", s.ID, s.Params))
			}
		}
		return slices.Sorted(slices.Values(out))
	}
	first := ids(w)
	if d := cmp.Diff(first, ids(w2)); d != "" || len(slices.Compact(first)) != 3 {
		t.Errorf("the acts of the action were %q: %s", first, d)
	}
}

// TestPicturesOfAnswersAreMadeToFitOnce: whichever process continues the run, a picture is resized once.
func TestPicturesOfAnswersAreMadeToFitOnce(t *testing.T) {
	t.Parallel()
	small := chat.ImageLimits{MaxImageSide: 2}
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
	w := withVisionModel(t, p, small, map[string][]any{"painter": {asks("One?")}})
	_, s := runToPause(t, w, agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}}})
	w = withVisionModel(t, p, small, map[string][]any{"painter": {asks("Two?")}})
	a := reply("blue")
	a.Images = []agent.Image{{Data: picture(2)}}
	res, err := w.runner.Resume(t.Context(), s, a)
	if err != nil || res.Status != agent.StatusPaused || w.recorder.count() != 2 { // the picture and its smaller form
		t.Fatalf("got %+v, %v, %d records", res, err, w.recorder.count())
	}
	s = reloaded(t, res)
	w = withVisionModel(t, p, small, map[string][]any{"painter": {func(r chat.Request) string {
		if got := shownTo(r); len(got) != 2 {
			t.Errorf("the model sees %v", got)
		}
		return doneStep
	}}})
	end := resumeToEnd(t, w, s, reply("red"))
	if w.recorder.count() != 0 || len(end.Dispositions) != 2 || len(end.AlsoMade) != 0 {
		t.Errorf("%d records, dispositions %+v, made %v", w.recorder.count(), end.Dispositions, end.AlsoMade)
	}
}

// TestBudgetsCountAcrossAPause: the usage of earlier processes counts, the time of waiting does not.
func TestBudgetsCountAcrossAPause(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
	w := p.start(t, map[string][]any{"painter": {asks("Which colour?")}})
	_, s := runToPause(t, w, agent.Request{Agent: "painter", Message: "paint", MaxTokens: 59}) // a call takes 15
	w = p.start(t, map[string][]any{"painter": {paintStep(1), func(r chat.Request) string {
		if message := lastMessage(r); !strings.Contains(message, "last turn") {
			t.Errorf("the message does not announce the last turn: %s", message)
		}
		return doneStep
	}}})
	if end := resumeToEnd(t, w, s, reply("red")); end.Usage.InputTokens != 30 {
		t.Errorf("usage %+v", end.Usage)
	}
}

// TestPictureOfAnAnswerGoesAway: the picture is deleted between the answer and the continued run.
func TestPictureOfAnAnswerGoesAway(t *testing.T) {
	t.Parallel()
	for policy, want := range map[vision.LostImages]agent.Status{vision.LostDrop: agent.StatusSucceeded, vision.LostStop: agent.StatusFailed} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			driver := memblob.New()
			p := &processes{driver: driver, setup: setup{agents: map[string]string{"painter": painter}}}
			w := withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {asks("Which colour?")}})
			_, s := runToPause(t, w, agent.Request{Agent: "painter", Message: "look", LostImages: policy})
			a := reply("blue")
			a.Images = []agent.Image{{Data: picture(2)}}
			s, err := w.runner.Answered(t.Context(), s, a)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := driver.Delete(t.Context(), media.DigestOf(picture(2)), time.Time{}); err != nil {
				t.Fatal(err)
			}
			w = withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {func(r chat.Request) string {
				if message := lastMessage(r); len(shownTo(r)) != 0 || !strings.Contains(message, refOf(2)+" is not shown") {
					t.Errorf("the model sees %v, and the message is %s", shownTo(r), message)
				}
				return doneStep
			}}})
			req := s.Request
			req.State = &s
			res, err := w.runner.Run(t.Context(), req)
			if res.Status != want || (err == nil) != (want == agent.StatusSucceeded) {
				t.Errorf("the run %s, %v", res.Status, err)
			}
			if want == agent.StatusSucceeded && len(res.Warnings) == 0 {
				t.Error("there is no warning")
			}
		})
	}
}
