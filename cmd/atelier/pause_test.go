package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/agent"
	"atelier/chat/chattest"
	"atelier/ledger"
)

// colours is the schema of helper's question.
const colours = `{"type":"object","required":["colour"],"properties":{"colour":{"enum":["red","blue"]}},"additionalProperties":false}`

// newQuestionEnv returns an agentEnv whose helper paints a hare, asks for a colour and paints a boat in it, while
// boss paints a fox.
func newQuestionEnv(t *testing.T) *agentEnv {
	t.Helper()
	s := newAgentEnv(t)
	paint := func(prompt string) []any {
		return []any{map[string]any{"name": "Generate Image", "params": map[string]any{"Prompt": prompt, "Size": "256x256"}}}
	}
	s.chat.Answer = func(r chattest.Request) string {
		turn := turnOf(r)
		helper := strings.Contains(r.System(), "You are helper.")
		switch {
		case !helper && turn == 0:
			return step(t, map[string]any{"reasoning": "all", "actions": paint("a fox"), "agents": []any{map[string]any{"name": "helper", "task": "paint a boat"}}, "done": false})
		case helper && turn == 0:
			return step(t, map[string]any{"reasoning": "one", "actions": paint("a hare"), "done": false})
		case helper && turn == 1:
			return step(t, map[string]any{"reasoning": "unsure", "ask": map[string]any{"question": "Which colour?", "schema": json.RawMessage(colours)}, "done": false})
		case helper && turn == 2:
			colour := "grey"
			if said := r.Messages[len(r.Messages)-1].Text; strings.Contains(said, "red") {
				colour = "red"
			}
			return step(t, map[string]any{"reasoning": "now", "actions": paint("a " + colour + " boat"), "done": false})
		}
		return done(t, "Here they are.")
	}
	return s
}

// turnOf returns how often the model has answered before.
func turnOf(r chattest.Request) (n int) {
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// startRun starts the run that asks, in a process that may be killed, and returns its id.
func (s *agentEnv) startRun(t *testing.T) (id string, ended outcome) {
	t.Helper()
	ended = s.runUntilKilled(t, "run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
	list := read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json")
	if len(list.Items) != 1 {
		t.Fatalf("%d runs, want 1\n%s", len(list.Items), ended.stderr)
	}
	return list.Items[0].ID, ended
}

// runUntilKilled runs a command in a process that is killed at request s.at.
func (s *agentEnv) runUntilKilled(t *testing.T, args ...string) outcome {
	t.Helper()
	proc := s.start(args...)
	s.mu.Lock()
	s.kill = func() { killNow(proc.cmd.Process) }
	s.mu.Unlock()
	return proc.wait()
}

const red = `{"colour":"red"}`

// stopKilling ends the killing of processes.
func (s *agentEnv) stopKilling() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = 0
}

// TestPausedRunOnTheCommandLine: the question is shown with the command to type; an invalid answer is refused and
// changes nothing; of two processes that answer, one continues the run.
func TestPausedRunOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	o := s.atelier("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"))
	list := read[ledger.List[pausedView]](s.testEnv, "runs", "list", "--status", "paused", "--json")
	if o.code != exitPaused || len(list.Items) != 1 || len(list.Items[0].Pending) != 1 {
		t.Fatalf("exit %d, %+v: %s%s", o.code, list, o.stdout, o.stderr)
	}
	id, q := list.Items[0].ID, list.Items[0].Pending[0]
	typed := "atelier resume " + id + " --answer '" + red + "'"
	for _, shown := range []string{
		o.stdout, s.atelier("resume", id).stdout, s.must("runs", "show", id).stdout,
	} {
		if !strings.Contains(shown, "boss/helper asks: Which colour?") || !strings.Contains(shown, typed) || !strings.Contains(shown, "colour") {
			t.Errorf("shown is %s", shown)
		}
	}
	if table := s.must("runs", "list", "--status", "paused").stdout; !strings.Contains(table, "Which colour?") || !strings.Contains(table, id) {
		t.Errorf("listed is %s", table)
	}
	asked := decode[answer](t, s.atelier("resume", id, "--json"))
	if asked.Status != agent.StatusPaused || len(asked.Pending) != 1 || asked.Pending[0].ID != q.ID || q.AgentPath != "boss/helper" {
		t.Errorf("as JSON %+v", asked)
	}
	before := s.requested()
	s.checkInvalidAnswers(t, id, q.ID)
	if got := s.requested(); got != before {
		t.Errorf("refused answers made %d requests", got-before)
	}
	answers := []*process{
		s.start("resume", id, "--answer", red, "--question", q.ID, "--json"), s.start("resume", id, "--answer", "@"+s.write("answer.json", red), "--json"),
	}
	var codes []int
	for _, a := range answers {
		o := a.wait()
		codes = append(codes, o.code)
		switch o.code {
		case exitOK:
			if ans := decode[answer](t, o); ans.Status != agent.StatusSucceeded || len(ans.AlsoMade) != 3 {
				t.Errorf("answer %+v", ans)
			}
		case exitInput:
			if !strings.Contains(o.stderr, "answer") {
				t.Errorf("the other process prints %s", o.stderr)
			}
		}
	}
	slices.Sort(codes)
	if !slices.Equal(codes, []int{exitOK, exitInput}) {
		t.Errorf("exit codes %v", codes)
	}
	if got := s.submitted(t); got["a red boat"] != 1 || len(got) != 3 {
		t.Errorf("painted %v", got)
	}
	for _, args := range [][]string{{"resume", id, "--answer", red}, {"resume", id}, {"runs", "retry", id}} {
		if o := s.atelier(args...); o.code != exitInput {
			t.Errorf("%v at its end: exit %d, %s", args, o.code, o.stderr)
		}
	}
	steps := s.must("runs", "show", id, "--steps").stdout
	if !strings.Contains(steps, "turn-1-agent-2-helper/turn-2-ask") {
		t.Errorf("steps\n%s", steps)
	}
}

// checkInvalidAnswers checks that invalid answers are refused.
func (s *agentEnv) checkInvalidAnswers(t *testing.T, id, question string) {
	t.Helper()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"against its form":   {[]string{id, "--answer", `{"colour":"green"}`}, "/colour"},
		"too much":           {[]string{id, "--answer", `{"colour":"red","x":1}`}, "x"},
		"no JSON":            {[]string{id, "--answer", "red"}, "not valid JSON"},
		"stale question":     {[]string{id, "--answer", red, "--question", id}, question},
		"unknown run":        {[]string{"nothing", "--answer", red}, "nothing"},
		"no file":            {[]string{id, "--answer", "@nowhere.json"}, "nowhere.json"},
		"no picture":         {[]string{id, "--answer", red, "--image", "nowhere.png"}, "nowhere.png"},
		"pictures alone":     {[]string{id, "--image", "nowhere.png"}, "--answer"},
		"a note alone":       {[]string{id, "--note", "quick"}, "--answer"},
		"a folder as answer": {[]string{id, "--answer", "@" + s.dir}, "answer"},
	} {
		o := s.atelier(append([]string{"resume"}, c.args...)...)
		if o.code != exitInput || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s: exit %d, %s", name, o.code, o.stderr)
		}
	}
	if o := s.atelier("run", "sage", "paint", "--approve-over", "cheap"); o.code != exitInput || !strings.Contains(o.stderr, "cheap") {
		t.Errorf("--approve-over: exit %d, %s", o.code, o.stderr)
	}
}

// TestPauseKillMatrix kills a run that pauses at each of its requests, before the question and after the answer,
// resumes it, and checks the result.
func TestPauseKillMatrix(t *testing.T) {
	t.Parallel()
	whole := newQuestionEnv(t)
	id, o := whole.startRun(t)
	if o.code != exitPaused {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	asked := whole.requested()
	if o := whole.runUntilKilled(t, "resume", id, "--answer", red, "--json"); o.code != exitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	events := whole.eventCounts(t, id)
	if events["boss run-paused"] != 1 || events["boss run-succeeded"] != 1 || len(whole.mediaList().Items) != 3 || whole.requested() <= asked {
		t.Fatalf("events %v", events)
	}
	eachRow(t, whole.requested(), func(t *testing.T, at int) {
		t.Helper()
		killedAndAnswered(t, at, events)
	})
}

func killedAndAnswered(t *testing.T, at int, events map[string]int) {
	t.Helper()
	s := newQuestionEnv(t)
	s.at = at
	id, o := s.startRun(t)
	if o.code == exitPaused {
		o = s.runUntilKilled(t, "resume", id, "--answer", red, "--json")
	}
	if o.code == exitOK {
		return // the number of polls varies: this run made fewer requests
	}
	s.stopKilling()
	lost := s.unanswered(t, id)
	o = s.atelier("resume", id, "--json")
	if o.code == exitPaused {
		o = s.atelier("resume", id, "--answer", red, "--json")
	}
	if o.code != exitOK {
		t.Fatalf("killed at %s, resumed with exit %d: %s%s", s.hit, o.code, o.stdout, o.stderr)
	}
	s.checkAnswered(t, id, decode[answer](t, o), lost, events)
	s.checkNotResumable(t, id)
}

// checkAnswered checks that a killed run lacks nothing and paid for nothing twice; lost is the number of pictures whose
// call had no answer.
func (s *agentEnv) checkAnswered(t *testing.T, id string, ans answer, lost int, events map[string]int) {
	t.Helper()
	for prompt, n := range s.submitted(t) {
		if n != 1 || strings.Contains(prompt, "grey") {
			t.Errorf("killed at %s: %s was asked for %d times", s.hit, prompt, n)
		}
	}
	if n := len(s.chat.Requests()); n < 6 || n > 7 || n == 6 && strings.HasSuffix(s.hit, "/chat/completions") {
		t.Errorf("killed at %s: %d model calls", s.hit, n)
	}
	if ans.Status != agent.StatusSucceeded || len(ans.Outputs)+len(ans.AlsoMade) != 3-lost || len(s.mediaList().Items) != 3-lost {
		t.Errorf("killed at %s: %+v, want %d pictures", s.hit, ans, 3-lost)
	}
	got := s.eventCounts(t, id)
	for k, n := range events {
		if strings.HasSuffix(k, " media-stored") && lost > 0 {
			continue
		}
		if got[k] != n {
			t.Errorf("killed at %s: event %s is there %d times, want %d", s.hit, k, got[k], n)
		}
	}
	if o := s.must("media", "verify"); !strings.Contains(o.stdout, "0 bad") {
		t.Errorf("verify: %s", o.stdout)
	}
}

// pollLedger polls the ledger until seen returns true, and then calls do, as soon after the commit as another process
// can.
func (s *agentEnv) pollLedger(t *testing.T, seen func(ledger.Store) bool, do func()) {
	t.Helper()
	s.withLedger(t, func(l ledger.Store) {
		for !seen(l) && t.Context().Err() == nil {
			time.Sleep(time.Millisecond) // leaves the processor to the other process
		}
		do()
	})
}

// blockRequests blocks all requests until the returned function is called.
func (s *agentEnv) blockRequests() (reopen func()) {
	over := make(chan struct{})
	each := func(with func(*http.Request)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.each = with
	}
	each(func(*http.Request) { <-over })
	return func() {
		each(nil)
		close(over)
	}
}

// withLedger calls at with the ledger of this environment.
func (s *agentEnv) withLedger(t *testing.T, at func(ledger.Store)) {
	t.Helper()
	w := &world{ctx: t.Context(), stdout: os.Stdout, stderr: os.Stderr, env: func(k string) string { return s.env[k] }}
	err := w.withStores(func(st *stores) error {
		at(st.Ledger)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestKilledBetweenPauseAndAnswer kills the process when the paused state is in the ledger, and the next one when the
// answer is: the previous workflow has not ended, and the next one has not started.
func TestKilledBetweenPauseAndAnswer(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"resume", "serve"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := newQuestionEnv(t)
			s.must("runs", "list") // creates the ledger
			proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
			var id string
			s.pollLedger(t, func(l ledger.Store) bool {
				list, err := l.ListRuns(t.Context(), owner, ledger.RunQuery{Roots: true, Status: ledger.StatusPaused})
				if err != nil || len(list.Items) == 0 {
					return false
				}
				id = list.Items[0].ID
				return true
			}, func() { _ = proc.cmd.Process.Kill() })
			proc.wait()
			if o := s.atelier("resume", id); o.code != exitPaused || !strings.Contains(o.stdout, "Which colour?") {
				t.Errorf("killed behind the pause: exit %d, %s%s", o.code, o.stdout, o.stderr)
			}
			reopen := s.blockRequests() // blocks the work that follows the answer
			proc = s.start("resume", id, "--answer", red)
			s.pollLedger(t, func(l ledger.Store) bool {
				st, err := l.RunState(t.Context(), owner, id)
				return err == nil && st.Status == ledger.WaitAnswered
			}, func() { _ = proc.cmd.Process.Kill() })
			proc.wait()
			reopen()
			if o := s.atelier("resume", id, "--answer", `{"colour":"blue"}`); o.code != exitInput {
				t.Errorf("a second answer: exit %d, %s%s", o.code, o.stdout, o.stderr)
			}
			if by == "resume" {
				s.must("resume", id)
			} else {
				s.finishByServer(t, id)
			}
			for prompt, n := range s.submitted(t) {
				if n != 1 || strings.Contains(prompt, "grey") {
					t.Errorf("%s was asked for %d times", prompt, n)
				}
			}
			got := s.eventCounts(t, id)
			if len(s.mediaList().Items) != 3 || got["boss run-paused"] != 1 || got["boss run-succeeded"] != 1 {
				t.Errorf("%d pictures, events %v", len(s.mediaList().Items), got)
			}
			s.checkNotResumable(t, id)
		})
	}
}

// finishByServer lets a server finish a run.
func (s *agentEnv) finishByServer(t *testing.T, id string) {
	t.Helper()
	serving := s.start("serve", "--listen", "127.0.0.1:0", "--grace", "1ms")
	s.withLedger(t, func(l ledger.Store) {
		eventually(t, "the end of the run", func() bool {
			st, err := l.RunState(t.Context(), owner, id)
			return err == nil && st.Status == ledger.WaitFinished
		})
	})
	_ = serving.cmd.Process.Signal(os.Interrupt)
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
}

// TestRetryAndForkOnTheCommandLine: a run fails at its last model call, is retried, and is then forked with another
// message.
func TestRetryAndForkOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	works := s.chat.Answer
	var mu sync.Mutex
	broken := true
	s.chat.Answer = func(r chattest.Request) string {
		mu.Lock()
		defer mu.Unlock()
		if broken && turnOf(r) > 0 && !strings.Contains(r.System(), "You are helper.") {
			return "no step at all"
		}
		return works(r)
	}
	id, o := s.run(t, 0)
	if o.code == exitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	o = s.must("runs", "retry", id, "--json")
	if ans := decode[answer](t, o); ans.RunID != id || ans.Status != agent.StatusSucceeded || len(ans.Outputs) != 3 {
		t.Errorf("tried again %+v", ans)
	}
	steps := read[ledger.List[struct{ Name string }]](s.testEnv, "runs", "show", id, "--steps", "--json").Items
	if len(steps) == 0 || steps[0].Name != "turn-1-model" {
		t.Errorf("steps %+v", steps)
	}
	forked := read[answer](s.testEnv, "runs", "fork", id, "--from", "turn-1-agent-3-helper", "--message", "paint it again", "--json")
	if forked.RunID == id || forked.Status != agent.StatusSucceeded || len(forked.Outputs) != 3 {
		t.Errorf("forked %+v", forked)
	}
	if got := s.submitted(t); got["a fox"] != 1 || got["a hare"] != 1 || got["a boat"] != 2 {
		t.Errorf("painted %v", got)
	}
	if shown := s.must("runs", "show", forked.RunID).stdout; !strings.Contains(shown, "forked:  from "+id+" at turn-1-agent-3-helper") || !strings.Contains(shown, "paint it again") {
		t.Errorf("shown\n%s", shown)
	}
	for _, args := range [][]string{
		{"runs", "fork", id},
		{"runs", "fork", id, "--from", "turn-7-model"},
		{"runs", "fork", "nothing", "--from", "turn-1-model"},
		{"runs", "retry", id},
		{"runs", "retry", "nothing"},
		{"runs", "show", "nothing", "--steps"},
	} {
		if o := s.atelier(args...); o.code != exitInput || o.stderr == "" {
			t.Errorf("%v: exit %d, %s", args, o.code, o.stderr)
		}
	}
	if o := s.must("media", "verify"); !strings.Contains(o.stdout, "0 bad") {
		t.Errorf("verify: %s", o.stdout)
	}
}

// TestTwoOpenQuestions: two sub-agents ask at once; each answer is for its question, and the run pauses again until the
// last one is answered.
func TestTwoOpenQuestions(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	works := s.chat.Answer
	s.chat.Answer = func(r chattest.Request) string {
		if strings.Contains(r.System(), "You are boss.") && turnOf(r) == 0 {
			helper := func(task string) any { return map[string]any{"name": "helper", "task": task} }
			return step(t, map[string]any{"reasoning": "both", "agents": []any{helper("the first boat"), helper("the second boat")}, "done": false})
		}
		if strings.Contains(r.System(), "You are helper.") && turnOf(r) == 0 {
			return step(t, map[string]any{"reasoning": "unsure", "ask": map[string]any{"question": "Which colour?", "schema": json.RawMessage(colours)}, "done": false})
		}
		if strings.Contains(r.System(), "You are helper.") {
			return done(t, "Noted.")
		}
		return works(r)
	}
	o := s.atelier("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
	ans := decode[answer](t, o)
	if o.code != exitPaused || len(ans.Pending) != 2 {
		t.Fatalf("exit %d, %+v", o.code, ans.Pending)
	}
	first, second := ans.Pending[0].ID, ans.Pending[1].ID
	if shown := s.atelier("resume", ans.RunID).stdout; !strings.Contains(shown, "--question "+second) {
		t.Errorf("shown is %s", shown)
	}
	o = s.atelier("resume", ans.RunID, "--answer", red, "--question", second, "--json")
	if ans = decode[answer](t, o); o.code != exitPaused || len(ans.Pending) != 1 || ans.Pending[0].ID != first {
		t.Fatalf("exit %d, %+v", o.code, ans.Pending)
	}
	if o := s.atelier("resume", ans.RunID, "--answer", red, "--question", second); o.code != exitInput || !strings.Contains(o.stderr, "not open") {
		t.Errorf("answered twice: exit %d, %s", o.code, o.stderr)
	}
	o = s.must("resume", ans.RunID, "--answer", red, "--json")
	if ans = decode[answer](t, o); ans.Status != agent.StatusSucceeded || len(s.chat.Requests()) != 6 {
		t.Errorf("%+v after %d model calls", ans, len(s.chat.Requests()))
	}
	s.checkNotResumable(t, ans.RunID)
}

// TestApprovalOnTheCommandLine: a picture that costs more than the amount waits for a person, and is painted only with
// approval.
func TestApprovalOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for approve, painted := range map[string]int{"true": 1, "false": 0} {
		t.Run(approve, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			s.chat.Answer = func(r chattest.Request) string {
				if turnOf(r) > 0 {
					return done(t, "That is all.")
				}
				return act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Size": "256x256"})
			}
			o := s.atelier("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--approve-over", "0.001")
			if o.code != exitPaused || !strings.Contains(o.stdout, "Generate Image") || !strings.Contains(o.stdout, `--answer '{"approve":true}'`) || !strings.Contains(o.stdout, "price:  $0.0") {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			if got := s.submitted(t); len(got) != 0 {
				t.Errorf("painted before it was approved: %v", got)
			}
			id := read[ledger.List[pausedView]](s.testEnv, "runs", "list", "--status", "paused", "--json").Items[0].ID
			s.must("resume", id, "--answer", `{"approve":`+approve+`,"note":"as you like"}`)
			if got := s.submitted(t); got["a fox"] != painted {
				t.Errorf("painted %v", got)
			}
		})
	}
}

// TestPausedRunIsCancelledByCommand: a paused run can be cancelled, and then accepts no answer.
func TestPausedRunIsCancelledByCommand(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	id, _ := s.startRun(t)
	if o := s.must("runs", "cancel", id); !strings.Contains(o.stdout, "cancelled") {
		t.Errorf("cancel said %s%s", o.stdout, o.stderr)
	}
	if o := s.atelier("resume", id, "--answer", red); o.code != exitInput {
		t.Errorf("answered: exit %d, %s", o.code, o.stderr)
	}
	for _, r := range read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--all", "--json").Items {
		if r.Status != ledger.StatusCancelled {
			t.Errorf("run %s is %s", r.AgentPath, r.Status)
		}
	}
	if o := s.atelier("runs", "retry", id, "--json"); o.code != exitPaused || len(decode[answer](t, o).Pending) != 1 {
		t.Errorf("tried again: exit %d, %s%s", o.code, o.stdout, o.stderr)
	}
}
