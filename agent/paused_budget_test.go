package agent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier/agent"
	"atelier/chat"
)

// TestBudgetsAcrossAPause: the usage before the run waited for a person counts once, the waiting does not.
func TestBudgetsAcrossAPause(t *testing.T) {
	t.Parallel()
	c := newClock()
	asked := false
	w := buildGatewayEnv(t, setup{
		agents: map[string]string{"painter": drawer},
		answers: map[string][]any{"painter": {func(r chat.Request) string {
			switch {
			case len(r.Messages) == 1:
				return drawStep(2)
			case !asked:
				asked = true
				return `{"ask":{"question":"which?"}}`
			case strings.Contains(lastMessage(r), lastTurnText):
				return `{"message":"finished","done":true}`
			}
			return drawStep(2)
		}}},
		now: c.Now,
	})
	w.script.before = func() { c.wait(10 * time.Second) }
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxTime: 35 * time.Second, MaxImages: 3, MaxCost: "1"})
	if err != nil || res.Status != agent.StatusPaused || res.Usage.WorkedMS != 20_000 {
		t.Fatalf("%v, %+v", err, res)
	}
	c.wait(24 * time.Hour)
	res, err = w.runner.Resume(t.Context(), *res.State, agent.Reply{Value: json.RawMessage(`{"answer":"the first"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if res.Message != "finished" || res.Usage.WorkedMS != 50_000 || res.Usage.Images != 2 {
		t.Errorf("%q, %+v", res.Message, res.Usage)
	}
	if last := lastMessage(lastRequest(w.testEnv)); !strings.Contains(last, "worked for 40s and may work for 35s") {
		t.Errorf("the last message is %s", last)
	}
}

// TestTimeThatIsUpAtAnAnswer: a run that has worked for longer than the limit in its answer gets the request to finish,
// and has the overtime to do so.
func TestTimeThatIsUpAtAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := build(t, setup{
			agents: map[string]string{"painter": painter},
			answers: map[string][]any{"painter": {paintStep(1), `{"ask":{"question":"which?"}}`, func(r chat.Request) string {
				if strings.Contains(lastMessage(r), "worked for 1h0m0s and may work for 10m0s") {
					return `{"message":"finished","done":true}`
				}
				return paintStep(2)
			}}},
			now: time.Now,
		})
		took := 30 * time.Minute
		w.script.before = func() { time.Sleep(took) }
		res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x"})
		if err != nil || res.Status != agent.StatusPaused {
			t.Fatalf("%v, %+v", err, res)
		}
		res.State.Request.MaxTime, took = 10*time.Minute, 50*time.Second
		res, err = w.runner.Resume(t.Context(), *res.State, agent.Reply{Value: json.RawMessage(`{"answer":"the first"}`)})
		if err != nil || res.Message != "finished" || len(res.AlsoMade) != 1 {
			t.Errorf("%v, %+v", err, res)
		}
	})
}
