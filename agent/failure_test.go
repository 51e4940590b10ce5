package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/media"
)

// TestCancelledBySignalIsCancelled: signal.NotifyContext cancels with its own cause, and an error caused by the
// cancellation is not a failure of the run.
func TestCancelledBySignalIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		func(chat.Request) string { return paintStep(1) },
		func(chat.Request) string { cancel(errors.New("interrupt signal received")); return "no step" },
	}}})
	res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "x"})
	if media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled || len(res.AlsoMade) != 1 {
		t.Errorf("got %v, %+v", err, res)
	}
	// The model's failure is "unavailable"; the reason is the person's Ctrl-C.
	ctx2, cancel2 := context.WithCancelCause(t.Context())
	w = build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {media.Errorf(media.CodeUnavailable, "broken pipe")}}})
	w.script.before = func() { cancel2(errors.New("interrupt signal received")) }
	res, err = w.runner.Run(ctx2, agent.Request{Agent: "painter", Message: "x"})
	if media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled {
		t.Errorf("got %v, %s", err, res.Status)
	}
}

// TestCancelStartsNothingNew: acts of a step that have not begun when the run is cancelled are not started.
func TestCancelStartsNothingNew(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ran atomic.Int32
	costly := action.Action{Name: "Costly", Description: "Costs.", Run: func(context.Context, *action.Call) (action.Result, error) {
		ran.Add(1)
		cancel()
		return action.Result{Message: "ok"}, nil
	}}
	calls := strings.TrimSuffix(strings.Repeat(`{"name":"Costly"},`, 50), ",")
	w := build(t, setup{
		agents: map[string]string{"painter": "actions: [Costly]\n"}, actions: []action.Action{costly},
		answers: map[string][]any{"painter": {`{"actions":[` + calls + `]}`}},
	})
	res, _ := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "x"})
	if res.Status != agent.StatusCancelled || ran.Load() > 16 {
		t.Errorf("%s, %d acts ran", res.Status, ran.Load())
	}
}

// TestUnknownRefInTheLastTurn: a report is not discarded because of one invented ref when no turn is left to repair it.
func TestUnknownRefInTheLastTurn(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter + "turns: 1\n"}, answers: map[string][]any{"painter": {
		`{"done":true,"message":"ok","payload":{"report_html":"<img src=\"${media:img-00000000}\">"}}`,
	}}})
	res, err := w.run(t, "x")
	if err != nil || len(res.Warnings) == 0 {
		t.Errorf("got %v, warnings %q", err, res.Warnings)
	}
}

// TestUnknownPromotionIsReported: a promotion of an unknown item causes a warning.
func TestUnknownPromotionIsReported(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		`{"done":true,"message":"ok","promote":["img-00000000"]}`,
	}}})
	res, err := w.run(t, "x")
	if err != nil || !strings.Contains(fmt.Sprint(res.Warnings), "img-00000000") {
		t.Errorf("got %v, warnings %q", err, res.Warnings)
	}
}

// TestWeirdAnswersThatAreSteps covers text that models wrap around a step.
func TestWeirdAnswersThatAreSteps(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"thoughts with a draft": "<think>Maybe {\"done\":true,\"message\":\"draft\"}? Or {\"a\": no.</think>\n{\"done\":true,\"message\":\"good\"}",
		"thoughts unopened":     "Let me see {\"done\":true,\"message\":\"draft\"}</think>{\"done\":true,\"message\":\"good\"}",
		"byte order mark":       "\ufeff{\"done\":true,\"message\":\"good\"}",
		"a list of one":         `[{"done":true,"message":"good"}]`,
		"two in a row":          `{"done":true,"message":"good"}{"done":true,"message":"invented"}`,
		"think inside a text":   `{"done":true,"message":"good","payload":{"report_html":"<p></think></p>"}}`,
		"nulls":                 `{"reasoning":null,"actions":null,"agents":null,"promote":null,"ask":null,"message":"good","payload":null,"payloadPatch":null,"done":true}`,
		"css before it":         "a{color:red} b{} " + strings.Repeat("p{x} ", 100) + `{"done":true,"message":"good"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {answer}}})
			res, err := w.run(t, "x")
			if err != nil || res.Message != "good" || res.Turns != 1 {
				t.Errorf("got %v, %+v", err, res)
			}
		})
	}
}

// TestTruncatedAnswerIsReported: a model whose answer reached its limit is asked to be shorter.
func TestTruncatedAnswerIsReported(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		chat.Response{Text: `{"message":"a long rep`, FinishReason: "length"}, `{"done":true,"message":"ok"}`,
	}}})
	if _, err := w.run(t, "x"); err != nil {
		t.Fatal(err)
	}
	if message := lastMessage(w.script.allRequests()[1]); !strings.Contains(message, "length limit") {
		t.Errorf("the message is %s", message)
	}
}

// TestMediaDataInKeys: keys that a model wrote are searched for media as values are.
func TestMediaDataInKeys(t *testing.T) {
	t.Parallel()
	long := base64Of(picture(7)) + strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 40)
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		`{"actions":[{"name":"Paint","params":{"Number":1,"` + long + `":1}}]}`,
		`{"done":true,"message":"ok","payload":{"a":{"` + long + `":"x"}}}`,
	}}})
	res, _ := w.run(t, "x")
	if strings.Contains(string(res.Payload), long[:48]) {
		t.Error("the payload contains it")
	}
	for _, s := range w.watcher.steps {
		if strings.Contains(string(s.Params)+s.Message, long[:48]) {
			t.Error("a step contains it")
		}
	}
	for _, p := range w.watcher.prompts {
		for _, m := range p.Messages {
			if strings.Contains(m.Text(), long[:48]) {
				t.Error("a prompt contains it")
			}
		}
	}
}

// TestLostModelCallMakesTheCostIncomplete: a call that may have been billed does not count as free.
func TestLostModelCallMakesTheCostIncomplete(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		paintStep(1), media.Errorf(media.CodeBadResponse, "lost: %w", chat.ErrUnsettled),
	}}})
	res, err := w.run(t, "x")
	if err == nil || res.Cost.Complete || res.Cost.EstimatedUSD == nil || *res.Cost.EstimatedUSD != "0.001" || len(res.AlsoMade) != 1 {
		t.Errorf("got %v, %+v", err, res.Cost)
	}
}

// TestModelThatPanics: a defect in a chat model's code fails the run, not the process, and the call may have been billed.
func TestModelThatPanics(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		paintStep(1), func(chat.Request) string { panic("index out of range") },
	}}})
	res, err := w.run(t, "x")
	if media.CodeOf(err) != media.CodeInternal || !strings.Contains(err.Error(), "failed because of a bug: index out of range") || res.Cost.Complete || len(res.AlsoMade) != 1 {
		t.Errorf("%v, %+v", err, res.Cost)
	}
}

// TestNoRunWithoutItsMediaSucceeds: a run fails if there was no room for what its act or its sub-agent's act made,
// whatever its model says; what could be stored is kept.
func TestNoRunWithoutItsMediaSucceeds(t *testing.T) {
	t.Parallel()
	cramped := action.Action{Name: "Cramped", Description: "Finds no room.", Run: func(context.Context, *action.Call) (action.Result, error) {
		return action.Result{}, media.Errorf(media.CodeDiskFull, "about 40 MiB are needed")
	}}
	for name, answers := range map[string]map[string][]any{
		"its own act": {"painter": {paintStep(1), `{"actions":[{"name":"Cramped"}]}`, `{"message":"all is well","done":true}`}},
		"a sub-agent": {
			"painter": {paintStep(1), `{"agents":[{"name":"helper","task":"help"}]}`, `{"message":"all is well","done":true}`},
			"helper":  {`{"actions":[{"name":"Cramped"}]}`, `{"message":"done","done":true}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents:  map[string]string{"painter": "actions: [Paint, Cramped]\nagents: [helper]\n", "helper": "actions: [Cramped]\n"},
				actions: []action.Action{cramped}, answers: answers,
			})
			res, err := w.run(t, "paint")
			if media.CodeOf(err) != media.CodeDiskFull || !strings.Contains(err.Error(), "40 MiB") || res.Status != agent.StatusFailed || len(res.AlsoMade) != 1 {
				t.Errorf("%v, %s, %d kept", err, res.Status, len(res.AlsoMade))
			}
		})
	}
}
