package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/chat"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// runID is a UUIDv7, so that the ids of records are derived from it.
const runID = "019ba3f2-1c00-7aaa-baaa-aaaaaaaaaaaa"

// colourForm is the schema of most questions here.
const colourForm = `{"type":"object","required":["colour"],"properties":{"colour":{"enum":["blue","red"]}}}`

func asks(question string) string {
	return `{"ask":{"question":"` + question + `","schema":` + colourForm + `}}`
}

func reply(colour string) agent.Reply {
	return agent.Reply{Value: json.RawMessage(`{"colour":"` + colour + `"}`)}
}

// processes is a sequence of processes on the same blobs: each has only what it is given.
type processes struct {
	driver blob.Driver
	setup  setup
}

// start builds the world of a new process whose models return these answers.
func (p *processes) start(t *testing.T, answers map[string][]any) *testEnv {
	t.Helper()
	s := p.setup
	s.answers = answers
	return buildOn(t, p.driver, s)
}

// reloaded returns a state after saving and loading it.
func reloaded(t *testing.T, res *agent.Result) agent.State {
	t.Helper()
	if res.State == nil {
		t.Fatalf("the run has no state: it %s, %+v", res.Status, res.Error)
	}
	b, err := json.Marshal(res.State)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); wire.NameMedia(text) != text {
		t.Errorf("the state contains what looks like media: %s", text)
	}
	var s agent.State
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// runToPause runs until the run pauses.
func runToPause(t *testing.T, w *testEnv, req agent.Request) (*agent.Result, agent.State) {
	t.Helper()
	req.RunID = runID
	if req.Agent == "" {
		req.Agent, req.Message = "painter", "paint"
	}
	res, err := w.runner.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != agent.StatusPaused || len(res.Pending) == 0 || res.Error != nil {
		t.Fatalf("the run is %s, waits for %+v, error %+v", res.Status, res.Pending, res.Error)
	}
	return res, reloaded(t, res)
}

// resumeToEnd resumes a run to its successful end.
func resumeToEnd(t *testing.T, w *testEnv, s agent.State, a agent.Reply) *agent.Result {
	t.Helper()
	res, err := w.runner.Resume(t.Context(), s, a)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != agent.StatusSucceeded || res.State != nil || res.Pending != nil {
		t.Fatalf("the run %s and waits for %+v", res.Status, res.Pending)
	}
	return res
}

func TestAskPausesAndTheAnswerResumes(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
	w := p.start(t, map[string][]any{"painter": {
		paintStep(1),
		`{"message":"soon","actions":[{"name":"Paint","params":{"Number":2}}],"ask":{"question":"Which colour?","schema":` + colourForm + `},"done":true}`,
	}})
	res, s := runToPause(t, w, agent.Request{})
	want := []agent.Question{{
		ID: res.Pending[0].ID, Kind: agent.QuestionAsk, RunID: runID, AgentPath: "painter", Step: "turn-2-ask",
		Question: "Which colour?", Schema: s.Pending[0].Schema, AskedAt: res.Pending[0].AskedAt,
	}}
	if d := cmp.Diff(want, s.Pending); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{refOf(1), refOf(2)}, refs(res.AlsoMade)); d != "" {
		t.Errorf("the acts of the step were not run first: %s", d)
	}
	row, last := w.watcher.runs[len(w.watcher.runs)-1], w.watcher.events[len(w.watcher.events)-1]
	if row.Status != agent.StatusPaused || !row.FinishedAt.IsZero() || row.Turns != 2 || row.Message != "soon" {
		t.Errorf("the row is %+v", row)
	}
	if f, ok := last.Data.(agent.RunFinished); !ok || last.Type != agent.EventRunPaused || len(f.Questions) != 1 {
		t.Errorf("the last event is %+v", last)
	}

	w2 := p.start(t, map[string][]any{"painter": {func(r chat.Request) string {
		if n := len(r.Messages); n != 5 {
			t.Errorf("%d messages", n)
		}
		for _, part := range []string{`"question":"Which colour?"`, `"value":{"colour":"blue"}`, refOf(2), "done was not taken", `"note":"like the sea"`} {
			if !strings.Contains(lastMessage(r), part) {
				t.Errorf("the message to the model lacks %s: %s", part, lastMessage(r))
			}
		}
		return `{"message":"here: ${media:` + refOf(1) + `}","done":true}`
	}}})
	a := reply("blue")
	a.Note = "like the sea"
	end := resumeToEnd(t, w2, s, a)
	if w2.recorder.count() != 0 || len(w2.script.allRequests()) != 1 {
		t.Errorf("%d pictures and %d model calls were made again", w2.recorder.count(), len(w2.script.allRequests())-1)
	}
	if d := cmp.Diff([]string{refOf(1)}, refs(end.Outputs)); d != "" {
		t.Error(d)
	}
	if end.Usage.ModelCalls != 3 || end.Usage.InputTokens != 30 || *end.Cost.EstimatedUSD != "0.003" || end.Turns != 3 {
		t.Errorf("usage %+v, cost %s, %d turns", end.Usage, *end.Cost.EstimatedUSD, end.Turns)
	}
	if row2 := w2.watcher.runs[len(w2.watcher.runs)-1]; !row2.StartedAt.Equal(row.StartedAt) || row2.ID != runID {
		t.Errorf("the row began at %s, before at %s", row2.StartedAt, row.StartedAt)
	}
	sameRecords(t, w, w2)
}

// sameRecords checks that a replay gives steps the same ids, records no model call again, and emits no event again.
func sameRecords(t *testing.T, first, second *testEnv) {
	t.Helper()
	ids := func(w *testEnv) (steps, prompts, keys []string) {
		for _, s := range w.watcher.steps {
			steps = append(steps, s.ID+" "+s.Name)
		}
		for _, p := range w.watcher.prompts {
			prompts = append(prompts, p.ID)
		}
		for _, e := range w.watcher.events {
			keys = append(keys, e.Key)
		}
		return
	}
	s1, p1, k1 := ids(first)
	s2, p2, k2 := ids(second)
	for _, id := range p1 {
		if slices.Contains(p2, id) {
			t.Errorf("the model call %s is recorded again", id)
		}
	}
	for _, id := range s1 {
		if !slices.Contains(s2, id) {
			t.Errorf("the replay has no step %q", id)
		}
	}
	for _, key := range k1 {
		if key != "" && slices.Contains(k2, key) {
			t.Errorf("the event %q is emitted again", key)
		}
	}
}

func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {asks("Which colour?"), doneStep}}})
	_, s := runToPause(t, w, agent.Request{})
	before, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	newer, none := s, s
	newer.Version, none.Version = agent.StateVersion+1, 0
	answered, err := w.runner.Answered(t.Context(), s, reply("blue"))
	if err != nil {
		t.Fatal(err)
	}
	open := s.Pending[0].ID
	for name, c := range map[string]struct {
		state agent.State
		reply agent.Reply
		code  media.Code
		says  string
	}{
		"wrong value":     {s, reply("green"), media.CodeInvalid, "/colour"},
		"missing field":   {s, agent.Reply{Value: json.RawMessage(`{}`)}, media.CodeInvalid, "colour"},
		"wrong type":      {s, agent.Reply{Value: json.RawMessage(`"blue"`)}, media.CodeInvalid, "object"},
		"no value":        {s, agent.Reply{}, media.CodeInvalid, "no value"},
		"no JSON":         {s, agent.Reply{Value: json.RawMessage(`{"colour":`)}, media.CodeInvalid, "not JSON"},
		"two values":      {s, agent.Reply{Value: json.RawMessage(`{"colour":"red"} {}`)}, media.CodeInvalid, "not JSON"},
		"too large":       {s, agent.Reply{Value: json.RawMessage(`{"colour":"` + strings.Repeat("a b ", 20_000) + `"}`)}, media.CodeInvalid, "at most 65536"},
		"long note":       {s, agent.Reply{Value: reply("blue").Value, Note: strings.Repeat("so ", 2000)}, media.CodeInvalid, "note"},
		"unknown":         {s, agent.Reply{Question: "nobody", Value: reply("blue").Value}, media.CodeConflict, open},
		"answered before": {answered, reply("red"), media.CodeConflict, "answered before"},
		"stale":           {answered, agent.Reply{Question: open, Value: reply("red").Value}, media.CodeConflict, "answered before"},
		"no picture":      {s, agent.Reply{Value: reply("blue").Value, Images: []agent.Image{{Data: []byte("no")}}}, media.CodeUnsupported, "pictures"},
		"newer version":   {newer, reply("blue"), media.CodeUnsupported, "update atelier"},
		"no version":      {none, reply("blue"), media.CodeCorrupt, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := w.runner.Resume(t.Context(), c.state, c.reply)
			if media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %s and %q", err, c.code, c.says)
			}
			if after, _ := json.Marshal(s); string(after) != string(before) {
				t.Error("the state was changed")
			}
		})
	}
	req := s.Request
	req.State = &newer
	if _, err := w.runner.Run(t.Context(), req); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("run of a newer state: %v", err)
	}
}

func TestDefaultFormIsOneAnswer(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"ask":{"question":"Which?"}}`, doneStep}}})
	_, s := runToPause(t, w, agent.Request{})
	if _, err := w.runner.Answered(t.Context(), s, agent.Reply{Value: json.RawMessage(`{"answer":""}`)}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("got %v", err)
	}
	resumeToEnd(t, w, s, agent.Reply{Value: json.RawMessage(`{"answer":"that one"}`)})
}

// TestResumeWithoutAnswerPausesAgain: the run has the same questions, and nothing is repeated.
func TestResumeWithoutAnswerPausesAgain(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: map[string]string{"painter": painter}}}
	_, s := runToPause(t, p.start(t, map[string][]any{"painter": {paintStep(1), asks("Which colour?")}}), agent.Request{})
	w := p.start(t, map[string][]any{"painter": {"this is never asked"}})
	req := s.Request
	req.State = &s
	res, err := w.runner.Run(t.Context(), req)
	if err != nil || res.Status != agent.StatusPaused || len(w.script.allRequests()) != 0 || w.recorder.count() != 0 {
		t.Fatalf("got %v, %s, %d calls", err, res.Status, len(w.script.allRequests()))
	}
	if d := cmp.Diff(s, reloaded(t, res)); d != "" {
		t.Error(d)
	}
}

// TestPauseOnAJournal: the state contains the steps of the process's journal, also of a given transcript.
func TestPauseOnAJournal(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {asks("Which colour?"), doneStep}}})
	j := journal.NewTranscript(journal.Memory{}, nil)
	if _, err := j.Step(t.Context(), step.Name{Kind: step.KindGiven}, func(context.Context) ([]byte, error) { return []byte(`{"by":"others"}`), nil }); err != nil {
		t.Fatal(err)
	}
	_, s := runToPause(t, w, agent.Request{Agent: "painter", Message: "paint", Journal: j})
	if string(s.Steps["given"]) != `{"by":"others"}` {
		t.Errorf("steps %s", s.Steps)
	}
	s, err := w.runner.Answered(t.Context(), s, reply("red"))
	if err != nil {
		t.Fatal(err)
	}
	req := s.Request
	req.State, req.Journal = &s, journal.NewTranscript(journal.Memory{}, s.Known())
	if res, err := w.runner.Run(t.Context(), req); err != nil || res.Status != agent.StatusSucceeded {
		t.Errorf("got %+v, %v", res, err)
	}
}

// TestPausedRunHoldsNothing: the synctest bubble waits for every goroutine and timer of the run, so it would not end if
// one remained.
func TestPausedRunHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := build(t, setup{agents: twoChildren(), answers: map[string][]any{
			"painter": {askBoth, doneStep}, "left": {asks("Left?"), doneStep}, "right": {paintStep(2), asks("Right?"), doneStep},
		}})
		runToPause(t, w, agent.Request{Agent: "painter", Message: "paint", MaxTime: time.Hour})
	})
}

func twoChildren() map[string]string {
	return map[string]string{"painter": painter + "agents: [left, right]\n", "left": painter, "right": painter}
}

const askBoth = `{"agents":[{"name":"left","task":"l"},{"name":"right","task":"r"}],"actions":[{"name":"Paint","params":{"Number":9}}]}`

func TestSubAgentsPauseTheTree(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: twoChildren()}}
	w := p.start(t, map[string][]any{"painter": {askBoth}, "left": {asks("Left?")}, "right": {paintStep(2), asks("Right?")}})
	res, s := runToPause(t, w, agent.Request{})
	if d := cmp.Diff([]string{refOf(9), refOf(2)}, refs(res.AlsoMade)); d != "" {
		t.Errorf("what was made: %s", d)
	}
	var steps []string
	for _, q := range s.Pending {
		steps = append(steps, q.AgentPath+" "+q.Step)
	}
	if d := cmp.Diff([]string{"painter/left turn-1-agent-2-left/turn-1-ask", "painter/right turn-1-agent-3-right/turn-2-ask"}, steps); d != "" {
		t.Fatal(d)
	}
	status := map[string]agent.Status{}
	for _, r := range w.watcher.runs {
		status[r.AgentPath] = r.Status
	}
	if d := cmp.Diff(map[string]agent.Status{"painter": "paused", "painter/left": "paused", "painter/right": "paused"}, status); d != "" {
		t.Error(d)
	}
	if slices.Contains(w.watcher.types(), agent.EventAgentFinished) {
		t.Error("a paused sub-agent is reported as finished")
	}

	second := reply("red")
	second.Question = s.Pending[1].ID
	w = p.start(t, map[string][]any{"right": {`{"message":"right is red","done":true}`}})
	res, err := w.runner.Resume(t.Context(), s, second)
	if err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("got %+v, %v", res, err)
	}
	s2 := reloaded(t, res)
	if d := cmp.Diff(s.Pending[:1], s2.Pending); d != "" {
		t.Error(d)
	}
	w = p.start(t, map[string][]any{"left": {`{"message":"left is blue","done":true}`}, "painter": {func(r chat.Request) string {
		if message := lastMessage(r); !strings.Contains(message, "left is blue") || !strings.Contains(message, "right is red") || !strings.Contains(message, refOf(2)) {
			t.Errorf("the message to the parent is %s", message)
		}
		return doneStep
	}}})
	end := resumeToEnd(t, w, s2, reply("blue"))
	if d := cmp.Diff([]string{refOf(9), refOf(2)}, refs(end.AlsoMade)); d != "" || w.recorder.count() != 0 {
		t.Errorf("what was made: %s", d)
	}
	if end.Usage.ModelCalls != 7 {
		t.Errorf("usage %+v", end.Usage)
	}
	if !slices.Contains(w.watcher.types(), agent.EventAgentFinished) {
		t.Error("the sub-agents are not finished")
	}
}

// TestFailedSiblingDoesNotHideTheQuestion: the other question remains open, and a failed run has none.
func TestFailedSiblingDoesNotHideTheQuestion(t *testing.T) {
	t.Parallel()
	agents := twoChildren()
	w := build(t, setup{agents: agents, answers: map[string][]any{
		"painter": {askBoth, doneStep}, "left": {media.Errorf(media.CodeQuotaExceeded, "no credit")}, "right": {asks("Right?"), doneStep},
	}})
	_, s := runToPause(t, w, agent.Request{})
	if len(s.Pending) != 1 || s.Pending[0].AgentPath != "painter/right" {
		t.Fatalf("open are %+v", s.Pending)
	}
	end := resumeToEnd(t, w, s, reply("red"))
	if end.Usage.ModelCalls != 4 {
		t.Errorf("usage %+v", end.Usage)
	}
}

// TestQuestionsOfDefectsAreNotOpen: code that panics waits for nobody.
func TestQuestionsOfDefectsAreNotOpen(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": "agents: [left, coder]\n", "left": painter},
		gos: map[string]agent.GoAgent{"coder": func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
			_, err := c.Ask(ctx, "Which?", nil)
			panic(err)
		}},
		answers: map[string][]any{"painter": {`{"agents":[{"name":"left","task":"l"},{"name":"coder","task":"r"}]}`, doneStep}, "left": {asks("Left?"), doneStep}},
	})
	_, s := runToPause(t, w, agent.Request{})
	if len(s.Pending) != 1 || s.Pending[0].AgentPath != "painter/left" {
		t.Errorf("open are %+v", s.Pending)
	}
	resumeToEnd(t, w, s, reply("red"))
}

// TestThreeLevelsPause: the question of the lowest agent pauses all agents above it.
func TestThreeLevelsPause(t *testing.T) {
	t.Parallel()
	p := &processes{driver: memblob.New(), setup: setup{agents: threeLevels()}}
	w := p.start(t, map[string][]any{
		"painter": {`{"agents":[{"name":"writer","task":"write"}]}`}, "writer": {`{"agents":[{"name":"illustrator","task":"draw"}]}`},
		"illustrator": {paintStep(3), asks("Which colour?")},
	})
	_, s := runToPause(t, w, agent.Request{})
	w2 := p.start(t, map[string][]any{
		"painter": {`{"message":"${media:` + refOf(3) + `}","done":true}`}, "writer": {doneStep}, "illustrator": {paintStep(4), doneStep},
	})
	end := resumeToEnd(t, w2, s, reply("red"))
	if d := cmp.Diff([]string{refOf(3)}, refs(end.Outputs)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{refOf(4)}, refs(end.AlsoMade)); d != "" {
		t.Error(d)
	}
	sameRecords(t, w, w2)
}

// TestAskInTheLastTurn: an agent without further turns cannot wait for an answer.
func TestAskInTheLastTurn(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter + "turns: 1\n"}, answers: map[string][]any{"painter": {asks("Which?")}}})
	res, err := w.run(t, "paint")
	if media.CodeOf(err) != media.CodeOverBudget || res.Status != agent.StatusFailed || res.Pending != nil {
		t.Errorf("got %v, %s", err, res.Status)
	}
}

// TestCancelGoesBeforePause: a cancelled run does not pause.
func TestCancelGoesBeforePause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {func(chat.Request) string {
		cancel()
		return asks("Which?")
	}}}})
	res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "x"})
	if media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled || res.State != nil {
		t.Errorf("got %v, %s", err, res.Status)
	}
}
