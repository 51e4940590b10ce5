package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/journal"
	"atelier/media"
)

// endedContexts returns contexts that ended before a run is adopted.
func endedContexts(t *testing.T) map[agent.Status]context.Context {
	t.Helper()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadlineCause(t.Context(), time.Unix(1, 0), media.Errorf(media.CodeDeadline, "the run reached its time limit"))
	t.Cleanup(stop)
	return map[agent.Status]context.Context{agent.StatusCancelled: cancelled, agent.StatusFailed: late}
}

// stepsWithout runs a boss with two acts and a sub-agent in parallel to its end, and returns its steps except those
// whose names begin with one of the given prefixes.
func stepsWithout(t *testing.T, w *testEnv, without ...string) (whole *agent.Result, known map[string][]byte) {
	t.Helper()
	j := journal.NewTranscript(journal.Memory{}, nil)
	whole, err := w.runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "paint", RunID: fixedRun, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	known = j.Steps()
	for name := range known {
		for _, lost := range without {
			if strings.HasPrefix(name, lost) {
				delete(known, name)
			}
		}
	}
	return whole, known
}

const fixedRun = "019ba3f2-1c00-7fff-bfff-ffffffffffff"

func parallelEnv(t *testing.T) *testEnv {
	t.Helper()
	return build(t, setup{
		agents: map[string]string{"boss": "actions: [Paint]\nagents: [helper]\n", "helper": "actions: [Paint]\n"},
		answers: map[string][]any{
			"boss": {
				`{"actions":[{"name":"Paint","params":{"Number":1}},{"name":"Paint","params":{"Number":2}}],"agents":[{"name":"helper","task":"paint"}]}`,
				`{"message":"done","done":true}`,
			},
			"helper": {paintStep(3), `{"message":"painted","done":true}`},
		},
	})
}

// TestEndedBeforeAdoption: a run that is replayed after its end was requested replays its completed steps,
// including those parallel to incomplete ones, and begins nothing.
func TestEndedBeforeAdoption(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost  []string
		calls int
		turns int
		made  []int
	}{
		"in the last call":       {[]string{"turn-2-"}, 3, 2, []int{1, 2, 3}},
		"in an act":              {[]string{"turn-2-", "turn-1-action-1"}, 3, 1, []int{2, 3}},
		"in a call of the child": {[]string{"turn-2-", "turn-1-agent-3-helper/turn-2-"}, 2, 1, []int{1, 2, 3}},
		"in an act of the child": {[]string{"turn-2-", "turn-1-action-2", "turn-1-agent-3-helper/turn-1-action", "turn-1-agent-3-helper/turn-2-"}, 2, 1, []int{1}},
		"in the first call":      {[]string{"turn-"}, 0, 0, []int{}},
	} {
		for status := range endedContexts(t) {
			t.Run(name+" "+string(status), func(t *testing.T) {
				t.Parallel()
				w := parallelEnv(t)
				whole, known := stepsWithout(t, w, c.lost...)
				asked, kept := len(w.script.allRequests()), w.recorder.count()
				res, err := w.runner.Run(endedContexts(t)[status], agent.Request{
					Agent: "boss", Message: "paint", RunID: fixedRun, Journal: journal.NewTranscript(journal.Memory{}, known),
				})
				want := map[agent.Status]media.Code{agent.StatusCancelled: media.CodeCancelled, agent.StatusFailed: media.CodeDeadline}[status]
				if media.CodeOf(err) != want || res.Status != status || res.Turns != c.turns || res.Usage.ModelCalls != c.calls {
					t.Errorf("%v: %s after %d turns and %d calls, want %d and %d", err, res.Status, res.Turns, res.Usage.ModelCalls, c.turns, c.calls)
				}
				made := []string{}
				for _, n := range c.made {
					made = append(made, refOf(n))
				}
				if d := cmp.Diff(made, refs(res.AlsoMade)); d != "" {
					t.Error(d)
				}
				if len(w.script.allRequests()) != asked || w.recorder.count() != kept {
					t.Error("something was done anew")
				}
				if len(whole.AlsoMade) != 3 {
					t.Errorf("the whole run made %d", len(whole.AlsoMade))
				}
			})
		}
	}
}

// TestEndedWhenAllWasDone: a run whose steps were all completed ends as it would have.
func TestEndedWhenAllWasDone(t *testing.T) {
	t.Parallel()
	for _, ctx := range endedContexts(t) {
		w := parallelEnv(t)
		_, known := stepsWithout(t, w)
		res, err := w.runner.Run(ctx, agent.Request{Agent: "boss", Message: "paint", RunID: fixedRun, Journal: journal.NewTranscript(journal.Memory{}, known)})
		if err != nil || res.Status != agent.StatusSucceeded || res.Message != "done" {
			t.Errorf("%s %q, %v", res.Status, res.Message, err)
		}
	}
}

// TestGoAgentEndedBeforeItIsTakenOver: the code of a Go agent first gets its earlier results and then learns of the
// end, even if it makes no further call.
func TestGoAgentEndedBeforeItIsTakenOver(t *testing.T) {
	t.Parallel()
	var started chan struct{}
	code := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		for n := range 2 {
			if ctx.Err() != nil {
				return agent.Answer{}, errors.New("the end came before what was done")
			}
			c.Action(ctx, "Paint", map[string]any{"Number": n + 1})
		}
		close(started)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	w := build(t, setup{gos: map[string]agent.GoAgent{"coder": code}})
	j := journal.NewTranscript(journal.Memory{}, nil)
	for _, ctx := range endedContexts(t) {
		started = make(chan struct{})
		first, cancel := context.WithCancel(t.Context())
		go func() {
			<-started
			cancel()
		}()
		live, err := w.runner.Run(first, agent.Request{Agent: "coder", Message: "paint", RunID: fixedRun, Journal: j})
		if media.CodeOf(err) != media.CodeCancelled || len(live.AlsoMade) != 2 {
			t.Fatalf("%v, %d made", err, len(live.AlsoMade))
		}
		started = make(chan struct{})
		res, err := w.runner.Run(ctx, agent.Request{Agent: "coder", Message: "paint", RunID: fixedRun, Journal: journal.NewTranscript(journal.Memory{}, j.Steps())})
		if err == nil || strings.Contains(err.Error(), "before what") {
			t.Errorf("ended with %v", err)
		}
		if d := cmp.Diff(refs(live.AlsoMade), refs(res.AlsoMade)); d != "" {
			t.Error(d)
		}
	}
}
