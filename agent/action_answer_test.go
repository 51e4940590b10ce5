package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/media"
	"atelier/media/blob/memblob"
)

// inquirer is an action that asks a person.
func inquirer() action.Action {
	return action.Action{
		Name: "Inquire", Description: "Asks.",
		Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			c, _ := agent.ContextOf(ctx)
			_, err := c.Ask(ctx, "How many?", nil)
			return action.Result{Message: "asked"}, err
		},
	}
}

// TestAnswersToActionsStay: the number and the picture of an answer to an action's question belong to the run, also
// after a later pause, and in the recorded result.
func TestAnswersToActionsStay(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": "actions: [Inquire]\n"}, actions: []action.Action{inquirer()}}}
	last := `{"message":"See ${media:` + refOf(2) + `}.","payload":{"report_html":"<p>There are 4711.</p>"},"done":true}`
	_, s := runToPause(t, withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {`{"actions":[{"name":"Inquire"}]}`}}), agent.Request{})
	a := reply("")
	a.Value, a.Images = json.RawMessage(`{"answer":"4711"}`), []agent.Image{{Data: picture(2)}}
	w := withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {asks("Which colour?"), last}})
	res, err := w.runner.Resume(t.Context(), s, a)
	if err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("got %+v, %v", res, err)
	}
	s, err = w.runner.Answered(t.Context(), reloaded(t, res), reply("red"))
	if err != nil {
		t.Fatal(err)
	}
	w = withVisionModel(t, p, chat.ImageLimits{}, map[string][]any{"painter": {last}})
	req := s.Request
	req.State = &s
	res, err = w.runner.Run(t.Context(), req)
	if err != nil || res.Status != agent.StatusSucceeded {
		t.Fatalf("got %+v, %v", res, err)
	}
	inputs := func(r *agent.Result) (refs []media.Ref) {
		for _, i := range r.InputImages {
			refs = append(refs, i.Ref)
		}
		return refs
	}
	if d := cmp.Diff([]media.Ref{media.Ref(refOf(2))}, inputs(res)); d != "" || len(res.Outputs) != 1 {
		t.Errorf("the picture is lost: %s outputs %v, warnings %q", d, res.Outputs, res.Warnings)
	}
	if got := marks(t, res); got != nil {
		t.Errorf("%q are called unsupported", got)
	}
	known := w.runner.Recorded(t.Context(), agent.Past{Run: w.watcher.runs[len(w.watcher.runs)-1], Items: res.All(), Steps: res.Steps, Journal: s.Steps})
	if got := marks(t, known); got != nil {
		t.Errorf("in the recorded result, %q are called unsupported", got)
	}
}

// TestConcurrentAnswersWithPictures: of questions that code asks concurrently, every picture becomes input of the run.
func TestConcurrentAnswersWithPictures(t *testing.T) {
	t.Parallel()
	const many = 200
	s := agent.State{Version: agent.StateVersion, Part: 1, Request: agent.Request{Agent: "coder", Message: "x", RunID: runID}, Steps: map[string]json.RawMessage{}}
	for n := range many {
		s.Steps[fmt.Sprintf("ask-%d", n+1)] = json.RawMessage(fmt.Sprintf(`{"value":{"answer":"1"},"images":[{"ref":"img-0000%04d"}]}`, n))
	}
	w := build(t, setup{gos: map[string]agent.GoAgent{"coder": func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				if _, err := c.Ask(ctx, "How many?", nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return agent.Answer{Message: "ok"}, nil
	}}})
	req := s.Request
	req.State = &s
	res, err := w.runner.Run(t.Context(), req)
	if err != nil || len(res.InputImages) != many {
		t.Errorf("%d pictures, %v", len(res.InputImages), err)
	}
}
