package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/media"
)

// threeLevels returns painter → writer → illustrator, three levels of agents.
func threeLevels() map[string]string {
	return map[string]string{
		"painter":     "agents: [{slug: writer, payload_key: '.', input: [facts]}]\nactions: [Paint]\n",
		"writer":      "agents: [{slug: illustrator, payload_key: art}]\n",
		"illustrator": "actions: [Paint]\n",
	}
}

func TestThreeLevelsRollUp(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: threeLevels(), answers: map[string][]any{
		"painter": {
			`{"payload":{"facts":{"n":1}},"agents":[{"name":"Writer","task":"write"}]}`,
			`{"message":"all done","done":true}`,
		},
		"writer": {
			func(r chat.Request) string {
				if !strings.Contains(r.Messages[0].Text(), `{"context":{"input":{"facts":{"n":1}}}}`) {
					return "the facts were not handed down"
				}
				return `{"agents":[{"name":"illustrator","task":"draw"}]}`
			},
			`{"payload":{"report_html":"<img src=\"${media:` + refOf(3) + `}\">"},"message":"written","done":true}`,
		},
		"illustrator": {paintStep(3, 4), `{"payload":{"cover":"${media:` + refOf(3) + `}"},"done":true}`},
	}})
	res, err := w.run(t, "paint")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"art":{"cover":"${media:` + refOf(3) + `}"},"facts":{"n":1},"report_html":"<img src=\"${media:` + refOf(3) + `}\">"}`
	if d := cmp.Diff(want, string(res.Payload)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{refOf(3)}, refs(res.Outputs)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{refOf(4)}, refs(res.AlsoMade)); d != "" {
		t.Error(d)
	}
	if got := res.Outputs[0].Origin.AgentPath; got != "painter/writer/illustrator" {
		t.Errorf("origin %q", got)
	}
	if res.Usage.ModelCalls != 6 || *res.Cost.EstimatedUSD != "0.006" {
		t.Errorf("usage %+v cost %s", res.Usage, *res.Cost.EstimatedUSD)
	}
	var paths []string
	for _, s := range res.Steps {
		paths = append(paths, s.AgentPath+":"+s.Name)
	}
	wantSteps := []string{"painter/writer/illustrator:Paint", "painter/writer/illustrator:Paint", "painter/writer:illustrator", "painter:writer"}
	if d := cmp.Diff(wantSteps, sortedCopy(paths), cmp.Transformer("sort", sortedCopy)); d != "" {
		t.Error(d)
	}
	trees := map[string]bool{}
	for _, r := range w.watcher.runs {
		trees[r.Tree] = true
	}
	if len(trees) != 1 {
		t.Errorf("one run tree has trees %v", trees)
	}
}

func sortedCopy(s []string) []string {
	out := append([]string(nil), s...)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

func TestFailedChildIsReportedAndKeepsItsMedia(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: threeLevels(), answers: map[string][]any{
		"painter":     {`{"agents":[{"name":"writer","task":"write"}],"actions":[{"name":"Paint","params":{"Number":8}}]}`, `{"message":"went on","done":true}`},
		"writer":      {`{"agents":[{"name":"illustrator","task":"draw"}]}`, media.Errorf(media.CodeQuotaExceeded, "no credit")},
		"illustrator": {paintStep(3), `{"done":true}`},
	}})
	res, err := w.run(t, "paint")
	if err != nil || res.Status != agent.StatusSucceeded {
		t.Fatalf("got %v, %s", err, res.Status)
	}
	if d := cmp.Diff([]string{refOf(8), refOf(3)}, refs(res.AlsoMade)); d != "" {
		t.Error(d)
	}
	asked := w.script.allRequests()
	message := lastMessage(asked[len(asked)-1])
	if !strings.Contains(message, `"success":false`) || !strings.Contains(message, "no credit") || !strings.Contains(message, refOf(3)) {
		t.Errorf("the message to the parent is %s", message)
	}
}

func TestGrantedMedia(t *testing.T) {
	t.Parallel()
	ref := refOf(1)
	ask := func(call string) map[string][]any {
		return map[string][]any{
			"painter": {paintStep(1), `{"agents":[` + call + `]}`, `{"done":true}`},
			"writer":  {`{"payload":{"report_html":"${media:` + ref + `}"},"done":true}`},
		}
	}
	tests := map[string]struct {
		call, reply string
		granted     bool
	}{
		"by ref":         {`{"name":"writer","task":"t","media":["` + ref + `"]}`, `"success":true`, true},
		"by placeholder": {`{"name":"writer","task":"t","media":["${media:` + ref + `}"]}`, `"success":true`, true},
		"in the task":    {`{"name":"writer","task":"use ${media:` + ref + `}"}`, `"success":true`, true},
		"unknown":        {`{"name":"writer","task":"t","media":["img-00000000"]}`, "valid refs are " + ref, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: threeLevels(), answers: ask(tt.call)})
			res, err := w.run(t, "paint")
			if err != nil || len(res.Warnings) != 0 {
				t.Fatalf("got %v, %q", err, res.Warnings)
			}
			asked := w.script.allRequests()
			if reply := lastMessage(asked[len(asked)-1]); !strings.Contains(reply, tt.reply) {
				t.Errorf("the message is %s", reply)
			}
			if got := len(res.Outputs) == 1; got != tt.granted {
				t.Errorf("outputs %v", res.Outputs)
			}
		})
	}
}

func TestActsOfOneStepRunAtOnceInOrder(t *testing.T) {
	t.Parallel()
	var gate sync.WaitGroup
	gate.Add(3)
	meet := action.Action{
		Name: "Meet", Description: "Waits for the others.",
		Params: []action.Param{{Name: "Who", Direction: action.Both, ValueType: action.Scalar}},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			gate.Done()
			gate.Wait()
			return action.Result{Outputs: map[string]any{"Who": c.Text("Who")}}, nil
		},
	}
	together := func(_ context.Context, _ *agent.Context) (agent.Answer, error) {
		gate.Done()
		gate.Wait()
		return agent.Answer{Message: "met"}, nil
	}
	w := build(t, setup{
		agents: map[string]string{"painter": "actions: [Meet]\nagents: [coder]\n"}, actions: []action.Action{meet},
		gos: map[string]agent.GoAgent{"coder": together},
		answers: map[string][]any{"painter": {
			`{"actions":[{"name":"Meet","params":{"Who":"a"}},{"name":"Meet","params":{"Who":"b"}}],"agents":[{"name":"coder","task":"x"}]}`, `{"done":true}`,
		}},
	})
	if _, err := w.run(t, "paint"); err != nil {
		t.Fatal(err)
	}
	message := lastMessage(w.script.allRequests()[1])
	a, b, c := strings.Index(message, `"Who":"a"`), strings.Index(message, `"Who":"b"`), strings.Index(message, `"met"`)
	if a < 0 || b < a || c < b {
		t.Errorf("results are not in the order asked: %s", message)
	}
}

func TestUnconfiguredSourceIsNotOffered(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": "agents: [reader]\n", "reader": "requires: files\nactions: [Read Nothing]\n"},
		answers: map[string][]any{"painter": {
			`{"agents":[{"name":"reader","task":"x"}]}`, `{"done":true}`,
		}},
		sources: map[string]agent.Source{"files": {Reason: "give --files DIR"}},
	})
	if _, err := w.run(t, "paint"); err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	if strings.Contains(asked[0].System, `"slug":"reader"`) {
		t.Error("an agent without its source is offered")
	}
	if !strings.Contains(lastMessage(asked[1]), "give --files DIR") {
		t.Errorf("the message is %s", lastMessage(asked[1]))
	}
}

func TestGoAgent(t *testing.T) {
	t.Parallel()
	code := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		o, err := c.Store(ctx, strings.NewReader(string(picture(21))), media.Meta{Label: "Stored"})
		if err != nil {
			return agent.Answer{}, err
		}
		if err := c.Promote(o); err != nil {
			return agent.Answer{}, err
		}
		if err := c.Promote(media.Output{Ref: "img-00000000"}); media.CodeOf(err) != media.CodeUnknownRef {
			t.Errorf("a foreign item is promoted: %v", err)
		}
		if out := c.Action(ctx, "Paint", map[string]any{"Number": 22}); !out.Success {
			t.Errorf("paint: %s", out.Message)
		}
		if n := len(c.Outputs()); n != 2 {
			t.Errorf("%d outputs", n)
		}
		return agent.Answer{Message: c.Task, Payload: map[string]any{"raw": picture(23)}}, nil
	}
	w := build(t, setup{
		agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"done":true}`}},
		gos: map[string]agent.GoAgent{"coder": code, "crash": func(context.Context, *agent.Context) (agent.Answer, error) { panic("boom") }},
	})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "coder", Message: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{refOf(21)}, refs(res.Outputs)); d != "" || res.Message != "hello" {
		t.Errorf("%s, message %q", d, res.Message)
	}
	if d := cmp.Diff([]string{refOf(22), refOf(23)}, refs(res.AlsoMade)); d != "" {
		t.Error(d)
	}
	res, err = w.runner.Run(t.Context(), agent.Request{Agent: "crash", Message: "hello"})
	if media.CodeOf(err) != media.CodeInternal || res.Status != agent.StatusFailed || strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v, %s", err, res.Status)
	}
}

func TestActionFindsItsRun(t *testing.T) {
	t.Parallel()
	var task string
	look := action.Action{Name: "Look", Description: "Looks.", Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
		c, ok := agent.ContextOf(ctx)
		if !ok {
			return action.Result{}, media.Errorf(media.CodeInternal, "no run")
		}
		task = c.Task
		return action.Result{}, nil
	}}
	w := build(t, setup{
		agents: map[string]string{"painter": "actions: [Look]\n"}, actions: []action.Action{look},
		answers: map[string][]any{"painter": {`{"actions":[{"name":"look"}]}`, `{"done":true}`}},
	})
	if _, err := w.run(t, "the task"); err != nil || task != "the task" {
		t.Errorf("got %v, %q", err, task)
	}
}

func TestGrantedInputIsNoOutput(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"done":true}`}}})
	blob, err := w.store.Store(t.Context(), strings.NewReader(string(picture(5))), "")
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.runner.Run(t.Context(), agent.Request{
		Agent: "painter", Message: "look", Granted: []media.Output{media.NewOutput(blob, media.Meta{Label: "Mine"})},
	})
	if err != nil || len(res.Outputs)+len(res.AlsoMade) != 0 || len(res.All()) != 1 {
		t.Errorf("got %v, %v, %v", err, res.Outputs, res.AlsoMade)
	}
	first := w.script.allRequests()[0].Messages[0].Text()
	if !strings.HasPrefix(first, "look\n\n```json\n{\"context\":{\"media\":[{\"refId\":\""+refOf(5)+`","placeholder":"${media:`) {
		t.Errorf("first message %s", first)
	}
}
