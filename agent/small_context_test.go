package agent_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/media"
)

// smallContextModel is a chat model that refuses conversations beyond a number of characters.
type smallContextModel struct {
	*script
	characters int
	mu         sync.Mutex // guards accepted
	accepted   []chat.Request
}

func (n *smallContextModel) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: n}, nil
}

func (n *smallContextModel) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	if size(r) > n.characters {
		return chat.Response{}, media.Errorf(media.CodeContextLength, "at most %d characters", n.characters)
	}
	n.mu.Lock()
	n.accepted = append(n.accepted, r)
	n.mu.Unlock()
	return n.script.Generate(ctx, r)
}

// labelled returns an action that makes a picture with its own label, and a text.
func labelled() action.Action {
	return action.Action{
		Name: "Labelled", Description: "Gives a labelled picture.",
		Params: []action.Param{
			{Name: "Number", Direction: action.Input, ValueType: action.Scalar, Type: "integer", Required: true},
			{Name: "Length", Direction: action.Input, ValueType: action.Scalar, Type: "integer"},
			{Name: "Text", Direction: action.Output, ValueType: action.Scalar},
			{Name: "Image", Direction: action.Output, ValueType: action.Binary},
		},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			n := c.Int("Number")
			return action.Result{Message: "Made.", Outputs: map[string]any{
				"Text":  strings.Repeat("lorem ipsum ", c.Int("Length")/12),
				"Image": map[string]any{"data": picture(n), "mimeType": "image/png", "label": fmt.Sprintf("Label <%d>", n)},
			}}, nil
		},
	}
}

func smallContextEnv(tb testing.TB, yaml string, characters int, answers map[string][]any) (*testEnv, *smallContextModel) {
	tb.Helper()
	w := build(tb, setup{agents: map[string]string{"painter": yaml}, actions: []action.Action{labelled()}, answers: answers})
	n := &smallContextModel{script: w.script, characters: characters}
	defs, err := definition.Load(definitions(map[string]string{"painter": yaml}))
	if err != nil {
		tb.Fatal(err)
	}
	w.runner, err = agent.NewRunner(agent.Config{Definitions: defs, Actions: w.actions, Models: n, Codec: w.store, Recorder: w.recorder, Observer: w.watcher})
	if err != nil {
		tb.Fatal(err)
	}
	return w, n
}

// TestNarrowModelEndsWell: a run with many times more material than the model accepts ends with its report, and every
// picture is still known by its label.
func TestNarrowModelEndsWell(t *testing.T) {
	t.Parallel()
	var answers []any
	for n := range 12 {
		answers = append(answers, fmt.Sprintf(`{"reasoning":"%s","actions":[{"name":"Labelled","params":{"Number":%d,"Length":20000}}],"payload":{"part%d":"%s"}}`,
			strings.Repeat("because ", 100), n, n, strings.Repeat("text ", 300)))
	}
	answers = append(answers, `{"message":"All is there.","payload":{"report_html":"<img src=\"${media:`+refOf(0)+`}\">"},"done":true}`)
	w, model := smallContextEnv(t, "actions: [Labelled]\n", 9000, map[string][]any{"painter": answers})
	res, err := w.run(t, strings.Repeat("The task is long. ", 200))
	if err != nil {
		t.Fatal(err)
	}
	if res.Message != "All is there." || len(res.Outputs) != 1 || len(res.All()) != 12 {
		t.Errorf("%s, %d outputs of %d", res.Message, len(res.Outputs), len(res.All()))
	}
	last := allText(model.accepted[len(model.accepted)-1])
	for n := range 12 {
		if !strings.Contains(last, refOf(n)) || !strings.Contains(last, fmt.Sprintf("Label <%d>", n)) {
			t.Errorf("picture %d is not known any more", n)
		}
	}
	for _, want := range []string{"messagesLeftOut", "turn 2: Labelled: SUCCESS", `"part0":1502`} {
		if !strings.Contains(last, want) {
			t.Errorf("the message to the model lacks %s: %s", want, last)
		}
	}
	if !strings.Contains(string(res.Payload), `"part0"`) {
		t.Error("a part of the payload is lost")
	}
}

var refPattern = regexp.MustCompile(`\bimg-[0-9a-z]{8}\b`)

// TestNoRefIsEverLost: whatever expires or is compacted, summarised, trimmed or cut, a ref that the model was shown
// remains in the context with its label.
func TestNoRefIsEverLost(t *testing.T) {
	t.Parallel()
	labels := map[string]string{}
	for n := range 40 {
		labels[refOf(n)] = fmt.Sprintf("Label <%d>", n)
	}
	rapid.Check(t, func(rt *rapid.T) {
		yaml := fmt.Sprintf("actions:\n  - name: Labelled\n    result_expiration_turns: %d\n    result_expiration_mode: %s\n    compact_mode: %s\n    compact_length: %d\n",
			rapid.IntRange(0, 3).Draw(rt, "turns"), rapid.SampledFrom([]string{"None", "Remove", "Compact"}).Draw(rt, "mode"),
			rapid.SampledFrom([]string{"Truncate", "Summarize"}).Draw(rt, "compact"), rapid.IntRange(1, 800).Draw(rt, "length"))
		var answers []any
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			var calls []string
			for range rapid.IntRange(1, 3).Draw(rt, "calls") {
				calls = append(calls, fmt.Sprintf(`{"name":"Labelled","params":{"Number":%d,"Length":%d}}`,
					rapid.IntRange(0, 39).Draw(rt, "number"), rapid.IntRange(0, 5000).Draw(rt, "characters")))
			}
			answers = append(answers, `{"actions":[`+strings.Join(calls, ",")+`]}`)
		}
		answers = append(answers, `{"message":"ok","done":true}`)
		w, model := smallContextEnv(t, yaml, rapid.IntRange(6000, 40_000).Draw(rt, "characters taken"), map[string][]any{"painter": answers, "": {"A short summary."}})
		if _, err := w.run(t, "work"); err != nil {
			rt.Fatal(err)
		}
		known := map[string]bool{}
		for _, r := range model.accepted {
			if slugOf(r.System) == "" {
				continue // a summary request shows one result only
			}
			text := allText(r)
			for ref := range known {
				if !strings.Contains(text, ref) || !strings.Contains(text, labels[ref]) {
					rt.Fatalf("%s (%s) is lost: %s", ref, labels[ref], text)
				}
			}
			for _, ref := range refPattern.FindAllString(text, -1) {
				known[ref] = true
			}
		}
	})
}

// TestSummaries: each expired result takes one call of the agent's own model, counted and recorded, and never a second
// one.
func TestSummaries(t *testing.T) {
	t.Parallel()
	yaml := "actions:\n  - name: Labelled\n    ResultExpirationTurns: 1\n    ResultExpirationMode: Compact\n    CompactMode: Summarize\n    CompactLength: 300\n"
	call := func(n int) string {
		return fmt.Sprintf(`{"actions":[{"name":"Labelled","params":{"Number":%d,"Length":4000}}]}`, n)
	}
	idle := `{"actions":[{"name":"Labelled","params":{"Number":9,"Length":0}}]}`
	for name, tt := range map[string]struct {
		summaries []any
		want      string
		calls     int
		warned    bool
	}{
		"summarised":   {[]any{"It said lorem, twice. " + strings.Repeat("x ", 400)}, `"summary":"It said lorem, twice.`, 6, false},
		"fails":        {[]any{media.Errorf(media.CodeUnavailable, "down")}, `"shortened":"{\"Image\"`, 5, true},
		"says nothing": {[]any{"  "}, `"shortened":"{\"Image\"`, 6, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: map[string]string{"painter": yaml}, actions: []action.Action{labelled()}, answers: map[string][]any{
				"painter": {call(1), idle, idle, idle, `{"message":"ok","done":true}`}, "": tt.summaries,
			}})
			res, err := w.run(t, "work")
			if err != nil {
				t.Fatal(err)
			}
			var asked []chat.Request
			for _, r := range w.script.allRequests() {
				if slugOf(r.System) == "" {
					asked = append(asked, r)
				}
			}
			if len(asked) != 1 || asked[0].Schema != nil || !strings.Contains(asked[0].Messages[0].Text(), "lorem ipsum") {
				t.Fatalf("%d summaries were asked for: %+v", len(asked), asked)
			}
			if res.Usage.ModelCalls != tt.calls || res.Turns != 5 || *res.Cost.EstimatedUSD != fmt.Sprintf("0.00%d", tt.calls) {
				t.Errorf("%d calls, %d turns, %s", res.Usage.ModelCalls, res.Turns, *res.Cost.EstimatedUSD)
			}
			old := lastRequest(w).Messages[2].Text()
			if !strings.Contains(old, tt.want) || !strings.Contains(old, refOf(1)) || !strings.Contains(old, "Label <1>") || len(old) > 1200 {
				t.Errorf("the old result is %s", old)
			}
			if warned := strings.Contains(fmt.Sprint(res.Warnings), "was cut, not summarised"); warned != tt.warned {
				t.Errorf("warnings %q", res.Warnings)
			}
			var recorded int
			for _, p := range w.watcher.prompts {
				if slugOf(p.System) == "" && p.Status != agent.StatusRunning {
					recorded++
				}
			}
			if recorded != 1 {
				t.Errorf("%d records of the summary", recorded)
			}
		})
	}
}

// TestSummariesHoldNoData: a model's summary is text, never media.
func TestSummariesHoldNoData(t *testing.T) {
	t.Parallel()
	yaml := "actions:\n  - name: Labelled\n    result_expiration_turns: 1\n    result_expiration_mode: Compact\n    compact_mode: Summarize\n"
	call := `{"actions":[{"name":"Labelled","params":{"Number":1,"Length":9000}}]}`
	data := base64Of(picture(7))
	w := build(t, setup{agents: map[string]string{"painter": yaml}, actions: []action.Action{labelled()}, answers: map[string][]any{
		"painter": {call, call, call, `{"done":true}`}, "": {"It showed " + data + " and more."},
	}})
	if _, err := w.run(t, "work"); err != nil {
		t.Fatal(err)
	}
	if message := lastRequest(w).Messages[2].Text(); strings.Contains(message, data[:48]) || !strings.Contains(message, "It showed") {
		t.Errorf("the message is %s", message)
	}
	for _, p := range w.watcher.prompts {
		if strings.Contains(p.Response, data[:48]) {
			t.Error("a record contains it")
		}
	}
}

// TestOfflineModelIsNotAskedForSummaries: it follows rules and would return nonsense.
func TestOfflineModelIsNotAskedForSummaries(t *testing.T) {
	t.Parallel()
	yaml := "actions:\n  - name: Labelled\n    result_expiration_turns: 1\n    result_expiration_mode: Compact\n    compact_mode: Summarize\n"
	call := `{"actions":[{"name":"Labelled","params":{"Number":1,"Length":9000}}]}`
	w := build(t, setup{agents: map[string]string{"painter": yaml}, actions: []action.Action{labelled()}, answers: map[string][]any{
		"painter": {call, call, call, `{"done":true}`},
	}})
	w.script.profile = chat.Profile{ID: "rules", Name: "Rules", Provider: "offline", Offline: true}
	res, err := w.run(t, "work")
	if err != nil || res.Usage.ModelCalls != 4 || !strings.Contains(fmt.Sprint(res.Warnings), "Rules writes no summaries") {
		t.Errorf("%v, %d calls, %q", err, res.Usage.ModelCalls, res.Warnings)
	}
}
