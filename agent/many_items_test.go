package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/chat"
)

// manyImages returns an action that makes Count pictures.
func manyImages() action.Action {
	drawn := make([][]byte, 510)
	for i := range drawn {
		drawn[i] = picture(i)
	}
	return action.Action{
		Name: "Many", Description: "Gives many pictures.",
		Params: []action.Param{
			{Name: "Count", Direction: action.Input, ValueType: action.Scalar, Type: "integer", Required: true},
			{Name: "Images", Direction: action.Output, ValueType: action.Binary, Format: action.FormatBytes, IsArray: true},
		},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			return action.Result{Outputs: map[string]any{"Images": drawn[:c.Int("Count")]}}, nil
		},
	}
}

func manyImagesEnv(tb testing.TB, answers ...any) *testEnv {
	tb.Helper()
	return build(tb, setup{
		agents: map[string]string{"painter": "actions: [Many]\n"}, actions: append(mediaset.Actions(), manyImages()),
		answers: map[string][]any{"painter": answers},
	})
}

// TestThreeHundredItems: all items are kept and recorded in order; the model sees both ends of the list, the count, and
// how to see the rest.
func TestThreeHundredItems(t *testing.T) {
	t.Parallel()
	w := manyImagesEnv(t,
		`{"actions":[{"name":"Many","params":{"Count":300}}]}`,
		`{"actions":[{"name":"List Agent Media","params":{"Offset":100}}]}`,
		`{"message":"Here is one: ${media:`+refOf(150)+`}","done":true}`)
	res, err := w.run(t, "x")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 300 {
		want = append(want, refOf(i))
	}
	if diff := cmp.Diff(want, refs(res.All())); diff != "" || w.recorder.count() != 300 {
		t.Errorf("%d records: %s", w.recorder.count(), diff)
	}
	if diff := cmp.Diff([]string{refOf(150)}, refs(res.Outputs)); diff != "" {
		t.Error(diff)
	}
	asked := w.script.allRequests()
	message := lastMessage(asked[1])
	for _, part := range []string{refOf(0), refOf(19), refOf(295), refOf(299), `"leftOut":275`, `"count":300`, "List Agent Media lists them"} {
		if !strings.Contains(message, part) {
			t.Errorf("the message to the model lacks %s", part)
		}
	}
	if len(message) > 5000 || strings.Contains(message, refOf(150)) {
		t.Errorf("the message has %d characters", len(message))
	}
	if page := lastMessage(asked[2]); !strings.Contains(page, refOf(100)) || !strings.Contains(page, refOf(149)) || strings.Contains(page, refOf(150)) || len(page) > 12_000 {
		t.Errorf("the page has %d characters", len(page))
	}
	// The record of the act has all items.
	var kept int
	for _, s := range w.watcher.steps {
		if s.Name == "Many" {
			kept = strings.Count(string(s.Outputs), "refId")
		}
	}
	if kept != 300 {
		t.Errorf("the record of the act names %d items", kept)
	}
}

// TestTheLimitOfARun: only item 501 fails, and this is reported once.
func TestTheLimitOfARun(t *testing.T) {
	t.Parallel()
	w := manyImagesEnv(t, `{"actions":[{"name":"Many","params":{"Count":510}}]}`, `{"message":"ok","done":true}`)
	res, err := w.run(t, "x")
	if err != nil || len(res.All()) != 500 || w.recorder.count() != 500 {
		t.Fatalf("%v, %d items", err, len(res.All()))
	}
	message := lastMessage(w.script.allRequests()[1])
	for _, part := range []string{`"code":"PARTIAL"`, `"code":"too_large"`, `"failed":5`, "(10 times)", `"count":510`} {
		if !strings.Contains(message, part) {
			t.Errorf("the message to the model lacks %s: %s", part, message)
		}
	}
	if strings.Contains(message, refOf(505)) || len(res.Warnings) != 1 {
		t.Errorf("warnings %q", res.Warnings)
	}
}

// TestManyItemsOfASubAgent: a parent sees both ends of the list of its sub-agent's items, and an error lists a limited
// number of refs.
func TestManyItemsOfASubAgent(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents:  map[string]string{"painter": "agents: [writer]\n", "writer": "actions: [Many]\n"},
		actions: []action.Action{manyImages()},
		answers: map[string][]any{
			"painter": {`{"agents":[{"name":"writer","task":"draw"}]}`, `{"promote":["img-00000000"],"done":true}`, `{"message":"ok","done":true}`},
			"writer":  {`{"actions":[{"name":"Many","params":{"Count":300}}]}`, `{"message":"drawn","done":true}`},
		},
	})
	res, err := w.run(t, "x")
	if err != nil || len(res.AlsoMade) != 300 {
		t.Fatalf("%v, %d items", err, len(res.AlsoMade))
	}
	asked := w.script.allRequests()
	for i, r := range asked {
		if message := lastMessage(r); len(message) > 6000 {
			t.Errorf("request %d: the message has %d characters: %s", i, len(message), message[:300])
		}
	}
	if message := lastMessage(asked[len(asked)-1]); !strings.Contains(message, "250 older ones") || !strings.Contains(message, refOf(299)) {
		t.Errorf("the message is %s", message)
	}
}

// BenchmarkManyItems measures a run whose one act makes many pictures: its time, and how many characters of them the
// model reads.
func BenchmarkManyItems(b *testing.B) {
	for _, n := range []int{1, 50, 300, 500} {
		b.Run(fmt.Sprintf("items=%d", n), func(b *testing.B) {
			w := manyImagesEnv(b)
			b.ReportAllocs()
			for b.Loop() {
				w.script.answers = map[string][]any{"painter": {fmt.Sprintf(`{"actions":[{"name":"Many","params":{"Count":%d}}]}`, n), `{"message":"ok","done":true}`}}
				w.script.received, w.watcher.events, w.watcher.prompts, w.watcher.runs, w.watcher.steps = nil, nil, nil, nil, nil
				w.recorder.items = nil
				res, err := w.runner.Run(b.Context(), agent.Request{Agent: "painter", Message: "x"})
				if err != nil || len(res.All()) != n {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(lastMessage(w.script.allRequests()[1]))), "characters")
		})
	}
}

// TestBoundedKeepsOtherLists: only lists of media items are shortened.
func TestBoundedKeepsOtherLists(t *testing.T) {
	t.Parallel()
	rows := make([]any, 400)
	for i := range rows {
		rows[i] = map[string]any{"year": i, "name": "x"}
	}
	w := build(t, setup{
		agents: map[string]string{"painter": "actions: [Rows]\n"},
		actions: []action.Action{{
			Name: "Rows", Description: "Gives rows.",
			Params: []action.Param{{Name: "Rows", Direction: action.Output, ValueType: action.Other}},
			Run: func(context.Context, *action.Call) (action.Result, error) {
				return action.Result{Outputs: map[string]any{"Rows": rows}}, nil
			},
		}},
		answers: map[string][]any{"painter": {`{"actions":[{"name":"Rows"}]}`, `{"done":true}`}},
	})
	if _, err := w.run(t, "x"); err != nil {
		t.Fatal(err)
	}
	message := lastMessage(w.script.allRequests()[1])
	var got struct {
		Results struct {
			Actions []struct{ Outputs struct{ Rows []any } }
		}
	}
	body := strings.TrimSuffix(strings.TrimPrefix(message, "```json\n"), "\n```")
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Results.Actions[0].Outputs.Rows) != 400 {
		t.Errorf("%v: %.200s", err, message)
	}
}

// TestHugeText: of an action's text that no model takes, the model is shown the beginning and how much there is; the
// run and its record are complete.
func TestHugeText(t *testing.T) {
	t.Parallel()
	huge := action.Action{
		Name: "Huge", Description: "Gives a text and a picture.",
		Params: []action.Param{
			{Name: "Text", Direction: action.Output, ValueType: action.Scalar},
			{Name: "Image", Direction: action.Output, ValueType: action.Binary, Format: action.FormatBytes},
		},
		Run: func(context.Context, *action.Call) (action.Result, error) {
			return action.Result{Outputs: map[string]any{"Text": strings.Repeat("lorem ipsum ", 300_000), "Image": picture(1)}}, nil
		},
	}
	small := action.Action{
		Name: "Small", Description: "Gives a word.", Params: []action.Param{{Name: "Text", Direction: action.Output, ValueType: action.Scalar}},
		Run: func(context.Context, *action.Call) (action.Result, error) {
			return action.Result{Outputs: map[string]any{"Text": "dolor"}}, nil
		},
	}
	w := build(t, setup{
		agents: map[string]string{"painter": "actions: [Huge, Small]\n"}, actions: []action.Action{huge, small},
		answers: map[string][]any{"painter": {`{"actions":[{"name":"Huge"},{"name":"Small"}]}`, func(r chat.Request) string {
			text := lastMessage(r)
			if n := len(text); n < 100_000 || n > 2<<20 {
				t.Errorf("the model is shown %d bytes", n)
			}
			for _, want := range []string{"lorem ipsum", "the result has 3600", refOf(1), `"Text":"dolor"`} {
				if !strings.Contains(text, want) {
					t.Errorf("the model is not shown %s", want)
				}
			}
			return doneStep
		}}},
	})
	res, err := w.run(t, "x")
	if err != nil || len(res.Steps) != 2 || len(res.Steps[0].Outputs)+len(res.Steps[1].Outputs) < 3_600_000 {
		t.Fatalf("%v, %d steps", err, len(res.Steps))
	}
}

// TestHugeAnswerOfASubAgent: the same of the message and the payload of an agent in Go.
func TestHugeAnswerOfASubAgent(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": "agents: [talker]\n"},
		gos: map[string]agent.GoAgent{"talker": func(context.Context, *agent.Context) (agent.Answer, error) {
			list := make([]any, 200_000)
			for i := range list {
				list[i] = "dolor sit amet"
			}
			return agent.Answer{Message: strings.Repeat("lorem ipsum ", 300_000) + "the end", Payload: map[string]any{"list": list}}, nil
		}},
		answers: map[string][]any{"painter": {`{"agents":[{"name":"talker","task":"talk"}]}`, func(r chat.Request) string {
			text := lastMessage(r)
			if n := len(text); n < 100_000 || n > 2<<20 {
				t.Errorf("the model is shown %d bytes", n)
			}
			for _, want := range []string{"lorem ipsum", "the end", "dolor sit amet", "characters left out", "cut here"} {
				if !strings.Contains(text, want) {
					t.Errorf("the model is not shown %s", want)
				}
			}
			return doneStep
		}}},
	})
	if res, err := w.run(t, "x"); err != nil || res.Status != agent.StatusSucceeded {
		t.Fatal(err)
	}
}
