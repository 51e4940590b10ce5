package agent_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/media/blob/memblob"
)

// TestPausedAnywhereEndsEqually: however often a run pauses, each time in another process, it makes each requested item
// once and in order, and counts each call once.
func TestPausedAnywhereEndsEqually(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(seed, 1))
			p := &processes{driver: memblob.New(), setup: setup{agents: twoChildren()}}
			plan := newPlan(dice)
			w := p.start(t, plan.answers)
			req := agent.Request{Agent: "painter", Message: "paint", RunID: runID}
			made, pauses := 0, 0
			for {
				res, err := w.runner.Run(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				made += w.recorder.count()
				if res.Status == agent.StatusSucceeded {
					plan.check(t, res, made, pauses)
					return
				}
				s := reloaded(t, res)
				a := reply("red")
				a.Question = s.Pending[dice.IntN(len(s.Pending))].ID
				rest := w.script.answers // the remaining answers of the model
				w = p.start(t, rest)
				if s, err = w.runner.Answered(t.Context(), s, a); err != nil {
					t.Fatal(err)
				}
				req = s.Request
				req.State = &s
				pauses++
			}
		})
	}
}

// plan is the answers of the models, and the expected results.
type plan struct {
	answers map[string][]any
	numbers []int
	calls   int
	pauses  int
}

func newPlan(dice *rand.Rand) *plan {
	p := &plan{answers: map[string][]any{}}
	for _, slug := range []string{"left", "right"} {
		p.write(dice, slug, dice.IntN(4))
	}
	p.write(dice, "painter", dice.IntN(4))
	// The children work first, in parallel.
	p.answers["painter"] = append([]any{`{"agents":[{"name":"left","task":"l"},{"name":"right","task":"r"}]}`}, p.answers["painter"]...)
	p.calls++
	return p
}

// write plans the turns of one agent.
func (p *plan) write(dice *rand.Rand, slug string, turns int) {
	for range turns {
		n := len(p.numbers) + 1
		switch dice.IntN(3) {
		case 0:
			p.answers[slug] = append(p.answers[slug], paintStep(n))
			p.numbers = append(p.numbers, n)
		case 1:
			p.answers[slug] = append(p.answers[slug], asks("Which colour?"))
			p.pauses++
		case 2:
			p.answers[slug] = append(p.answers[slug], fmt.Sprintf(`{"actions":[{"name":"Paint","params":{"Number":%d}}],"ask":{"question":"Which colour?","schema":%s}}`, n, colourForm))
			p.numbers = append(p.numbers, n)
			p.pauses++
		}
	}
	p.answers[slug] = append(p.answers[slug], doneStep, "the script goes on behind its end")
	p.calls += turns + 1
}

func (p *plan) check(t *testing.T, res *agent.Result, made, pauses int) {
	t.Helper()
	want := []string{}
	for _, n := range p.numbers {
		want = append(want, refOf(n))
	}
	if d := cmp.Diff(want, refs(res.AlsoMade)); d != "" {
		t.Errorf("made: %s", d)
	}
	if made != len(want) || pauses != p.pauses || res.Usage.ModelCalls != p.calls {
		t.Errorf("made %d of %d pictures, %d pauses of %d, %d calls of %d", made, len(want), pauses, p.pauses, res.Usage.ModelCalls, p.calls)
	}
}

// TestTimesStay: acts from before the pause keep their times, and the pause does not count as work.
func TestTimesStay(t *testing.T) {
	t.Parallel()
	day := func(n int) func() time.Time {
		var calls atomic.Int64
		begin := time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC)
		return func() time.Time { return begin.Add(time.Duration(calls.Add(1)) * time.Second) }
	}
	on := func(n int, answers map[string][]any) *testEnv {
		s := setup{agents: twoChildren(), answers: answers}
		w := build(t, s)
		var err error
		w.runner, err = agent.NewRunner(agent.Config{
			Definitions: mustLoad(t, s.agents), Actions: w.actions, Models: w.script, Codec: w.store, Observer: w.watcher, Now: day(n),
		})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := on(1, map[string][]any{"painter": {askBoth}, "left": {doneStep}, "right": {asks("Right?")}})
	paused, s := runToPause(t, first, agent.Request{})
	if s.Worked.Milliseconds() != paused.Usage.WorkedMS || s.Worked <= 0 || s.Worked > time.Hour || s.Pending[0].AskedAt.Day() != 1 {
		t.Errorf("worked %s, asked at %s", s.Worked, s.Pending[0].AskedAt)
	}
	second := on(20, map[string][]any{"right": {asks("Right again?")}})
	res, err := second.runner.Resume(t.Context(), s, reply("red"))
	if err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("got %+v, %v", res, err)
	}
	s2 := reloaded(t, res)
	if s2.Worked <= s.Worked || s2.Worked > time.Hour || s2.Part != 1 || s2.Pending[0].AskedAt.Day() != 20 {
		t.Errorf("worked %s, before %s; asked at %s", s2.Worked, s.Worked, s2.Pending[0].AskedAt)
	}
	third := on(25, map[string][]any{"right": {doneStep}, "painter": {doneStep}})
	resumeToEnd(t, third, s2, reply("red"))
	for path, ended := range map[string]int{"painter": 25, "painter/left": 1, "painter/right": 25} {
		before, after := lastRun(first, path), lastRun(third, path)
		if !before.StartedAt.Equal(after.StartedAt) || after.FinishedAt.Day() != ended || after.Status != agent.StatusSucceeded {
			t.Errorf("%s began at %s, before at %s; it ended at %s", path, after.StartedAt, before.StartedAt, after.FinishedAt)
		}
	}
	for _, step := range third.watcher.steps {
		if want := map[string]int{"Paint": 1, "left": 1}[step.Name]; want != 0 && !step.FinishedAt.IsZero() && step.FinishedAt.Day() != want {
			t.Errorf("step %s ended at %s", step.Name, step.FinishedAt)
		}
		if step.Name == "right" && step.StartedAt.Day() != 1 && !step.FinishedAt.IsZero() {
			t.Errorf("step %s began at %s", step.Name, step.StartedAt)
		}
	}
}

func lastRun(w *testEnv, path string) (last agent.RunRecord) {
	for _, r := range w.watcher.runs {
		if r.AgentPath == path {
			last = r
		}
	}
	return last
}

// TestEventsOfEachPart: the events after each answer are emitted, and earlier events are not emitted again.
func TestEventsOfEachPart(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
	events := map[string]int{}
	note := func(w *testEnv) {
		for _, e := range w.watcher.events {
			if events[e.Key]++; events[e.Key] > 1 {
				t.Errorf("%s was emitted before: %s", e.Type, e.Key)
			}
		}
	}
	w := p.start(t, map[string][]any{"painter": {asks("One?")}})
	_, s := runToPause(t, w, agent.Request{})
	note(w)
	for _, question := range []string{"Two?", "Three?"} {
		w = p.start(t, map[string][]any{"painter": {asks(question)}})
		res, err := w.runner.Resume(t.Context(), s, reply("red"))
		if err != nil {
			t.Fatal(err)
		}
		s = reloaded(t, res)
		note(w)
	}
	w = p.start(t, map[string][]any{"painter": {doneStep}})
	resumeToEnd(t, w, s, reply("red"))
	note(w)
	count := map[agent.EventType]int{}
	for key := range events {
		count[agent.EventType(strings.Fields(key)[1])]++
	}
	want := map[agent.EventType]int{
		agent.EventRunStarted: 1, agent.EventRunPaused: 3, agent.EventRunResumed: 3, agent.EventRunSucceeded: 1,
		agent.EventTurnStarted: 4, agent.EventTurnFinished: 4, agent.EventMessageDelta: 1,
	}
	if d := cmp.Diff(want, count); d != "" {
		t.Error(d)
	}
}
