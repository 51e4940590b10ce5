package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"atelier/chat/chattest"
	"atelier/generate/generatetest/bflsim"
	"atelier/ledger"
)

// agentEnv is an environment with two agents: boss requests two pictures and calls helper, who requests one; both
// promote every ref in their messages. The models' answers depend only on their messages, and a picture only on its
// prompt.
type agentEnv struct {
	*testEnv
	images *bflsim.Simulator
	chat   *chattest.Simulator

	mu sync.Mutex // guards the rest
	// requests counts what both services received.
	requests int
	// at, if not 0, is the number of the request at which kill is called: after the work on it and before its answer.
	at   int
	kill func()
	// hit is the method and path of the killed request.
	hit string
	// when, if not nil, selects a request instead of at; strike is called once for it, and the request is answered.
	when   func(*http.Request) bool
	strike func()
	// each, if not nil, is called with every request.
	each func(*http.Request)
}

func newAgentEnv(t *testing.T) *agentEnv {
	t.Helper()
	return newAgentEnvWith(t, bflsim.Config{Pending: 1, Steady: true})
}

// newAgentEnvWith is newAgentEnv with a configured provider of pictures.
func newAgentEnvWith(t *testing.T, images bflsim.Config) *agentEnv {
	t.Helper()
	s := &agentEnv{testEnv: newTestEnv(t), images: bflsim.New(images)}
	for slug, more := range map[string]string{"boss": "agents: [helper]\n", "helper": ""} {
		s.write("own/"+slug+".yaml", "slug: "+slug+"\nname: "+slug+"\ndescription: Paints.\nactions: [Generate Image]\n"+more)
		s.write("own/"+slug+".md", "You are "+slug+".")
	}
	paint := func(prompts ...string) []any {
		var acts []any
		for _, p := range prompts {
			acts = append(acts, map[string]any{"name": "Generate Image", "params": map[string]any{"Prompt": p, "Size": "256x256", "NegativePrompt": "people"}})
		}
		return acts
	}
	s.chat = &chattest.Simulator{Key: "sk-chat", Answer: func(r chattest.Request) string {
		answered := slices.ContainsFunc(r.Messages, func(m chattest.Message) bool { return m.Role == "assistant" })
		helper := strings.Contains(r.System(), "You are helper.")
		switch {
		case answered:
			return step(t, map[string]any{"reasoning": "finished", "message": "Here they are.", "promote": refsIn(r), "done": true})
		case helper:
			return step(t, map[string]any{"reasoning": "one", "actions": paint("a boat"), "done": false})
		}
		return step(t, map[string]any{
			"reasoning": "all", "actions": paint("a fox", "a hare"),
			"agents": []any{map[string]any{"name": "helper", "task": "paint a boat"}}, "done": false,
		})
	}}
	for variable, h := range map[string]http.Handler{"OPENAI": s.chat, "BFL": s.images} {
		srv := httptest.NewServer(s.countingHandler(h))
		t.Cleanup(srv.Close)
		s.env[variable+"_BASE_URL"] = srv.URL
	}
	s.env["OPENAI_BASE_URL"] += "/v1"
	s.env["OPENAI_API_KEY"], s.env["BFL_API_KEY"] = s.chat.Key, s.images.Key()
	s.env["ATELIER_CHAT_MODEL"], s.env["ATELIER_IMAGE_MODEL"] = "openai/gpt-5.4", "FLUX.2 Pro"
	return s
}

// countingHandler counts requests and kills the process that sent one of them before it is answered.
func (s *agentEnv) countingHandler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests++
		struck := s.when != nil && s.when(r)
		if struck {
			s.when = nil
		}
		doomed := s.requests == s.at
		kill := s.kill
		if doomed {
			s.hit = r.Method + " " + r.URL.Path
		}
		each := s.each
		s.mu.Unlock()
		if each != nil {
			each(r)
		}
		if struck {
			s.strike()
		}
		if !doomed {
			h.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		kill()
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// submitted counts the pictures that were paid for, by prompt.
func (s *agentEnv) submitted(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, c := range s.images.Captured() {
		var body struct {
			Prompt string `json:"prompt"`
		}
		if c.Method == http.MethodPost && json.Unmarshal(c.Body, &body) == nil && body.Prompt != "" {
			prompt, _, _ := strings.Cut(body.Prompt, "\n") // the negative prompt follows it
			count[prompt]++
		}
	}
	return count
}

// eventCounts returns how often each kind of event is in the log of a run, by agent path.
func (s *agentEnv) eventCounts(t *testing.T, id string) map[string]int {
	t.Helper()
	count := map[string]int{}
	next := int64(1)
	for _, line := range strings.Split(strings.TrimSpace(s.must("runs", "events", id, "--jsonl").stdout), "\n") {
		var e ledger.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %.200s", err, line)
		}
		if e.Sequence != next {
			t.Errorf("event %d follows %d", e.Sequence, next-1)
		}
		next++
		switch e.Kind {
		case "operation-progress", "operation-partial", "run-resumed": // each process sends its own
			continue
		}
		count[e.AgentPath+" "+e.Kind]++
	}
	return count
}

// run starts the run in a process that is killed at request number at, and returns the run's id. If at is 0 or beyond
// the last request, the process ends by itself.
func (s *agentEnv) run(t *testing.T, at int) (id string, ended outcome) {
	t.Helper()
	s.mu.Lock() // until the process is known
	proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--max-images", "3", "--max-time", "1h", "--json")
	s.at = at
	s.kill = func() { killNow(proc.cmd.Process) }
	s.mu.Unlock()
	ended = proc.wait()
	list := read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json")
	if len(list.Items) != 1 {
		t.Fatalf("%d runs, want 1\n%s", len(list.Items), ended.stderr)
	}
	return list.Items[0].ID, ended
}

// TestKillMatrix kills a run with a sub-agent and parallel generations at each of its requests, after the service has
// worked on it and before the answer, and resumes it in another process. An answer that only the dead process could
// read is lost with it and is reported; nothing else is lost or done twice. See docs/durability.md.
func TestKillMatrix(t *testing.T) {
	t.Parallel()
	whole := newAgentEnv(t)
	id, o := whole.run(t, 0)
	if o.code != exitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	want := whole.outcome(t, id)
	if len(want.digests) != 3 || want.events["boss run-succeeded"] != 1 || want.events["boss media-promoted"] != 3 || want.events["boss/helper warning"] != 1 {
		t.Fatalf("an undisturbed run: %+v", want)
	}
	eachRow(t, whole.requests, func(t *testing.T, at int) {
		t.Helper()
		checkKilledRun(t, at, want)
	})
}

// eachRow runs the rows of a matrix of n at once: each waits for leases to expire, not for the processor.
func eachRow(t *testing.T, n int, row func(t *testing.T, at int)) {
	t.Helper()
	var all sync.WaitGroup
	for _, at := range rows(n) {
		all.Go(func() {
			t.Run(fmt.Sprintf("request %d", at), func(t *testing.T) { row(t, at) })
		})
	}
	all.Wait()
}

// rows returns the rows of a matrix of n to run, counted from 1: all, or with -short four that are spread evenly and
// include the first and the last.
func rows(n int) []int {
	const few = 4
	var all []int
	for at := 1; at <= n; at++ {
		if !testing.Short() || n <= few || len(all) < 1+(at-1)*(few-1)/(n-1) {
			all = append(all, at)
		}
	}
	return all
}

// checkKilledRun kills a run at a request, resumes it, and compares the outcome with that of an undisturbed run.
func checkKilledRun(t *testing.T, at int, want runOutcome) {
	t.Helper()
	s := newAgentEnv(t)
	s.env["ATELIER_BUDGET_OWNER"], s.env["ATELIER_BUDGET_OWNER_IMAGES"], s.env["ATELIER_BUDGET_OWNER_TOKENS"] = "5", "3", "1000000"
	id, first := s.run(t, at)
	if first.code == exitOK {
		return // the number of polls varies: this run made fewer requests
	}
	lost, repeated := s.unanswered(t, id), 0
	if strings.HasPrefix(s.hit, "POST /v1/flux") && lost == 0 {
		t.Errorf("killed at %s: the ledger does not know of a call without an answer", s.hit)
	}
	if strings.HasSuffix(s.hit, "/chat/completions") {
		repeated = 1
	}
	o := s.start("resume", id, "--json").wait()
	if o.code != exitOK {
		t.Fatalf("killed at %s, resumed with exit %d: %s%s", s.hit, o.code, o.stdout, o.stderr)
	}
	for prompt, n := range s.submitted(t) {
		if n != 1 {
			t.Errorf("killed at %s: %s was asked for %d times", s.hit, prompt, n)
		}
	}
	s.checkRepeatedCalls(t, repeated)
	ans := decode[answer](t, o)
	if ans.Status != "succeeded" || len(ans.Outputs) != 3-lost || len(ans.AlsoMade) != 0 {
		t.Errorf("killed at %s: %s, %d outputs, %d also made", s.hit, ans.Status, len(ans.Outputs), len(ans.AlsoMade))
	}
	s.checkResumed(t, id, lost, want)
	if o := s.must("media", "verify"); !strings.Contains(o.stdout, "0 bad") {
		t.Errorf("verify: %s", o.stdout)
	}
	s.checkBudgets(t, id, at)
	s.checkNotResumable(t, id)
}

// checkRepeatedCalls checks how many of the four model calls were repeated: the one without an answer, and perhaps one
// that was in progress beside it.
func (s *agentEnv) checkRepeatedCalls(t *testing.T, want int) {
	t.Helper()
	again := len(s.chat.Requests()) - 4
	if again != want && again != 1 {
		t.Errorf("killed at %s: %d model calls were made again", s.hit, again)
	}
}

// checkBudgets checks that the budgets of a run and its owner count everything once: three pictures, because one that
// may have been paid for counts, and the tokens of the run. A model call that was answered and had to be repeated was
// paid for twice, and counts twice.
func (s *agentEnv) checkBudgets(t *testing.T, id string, at int) {
	t.Helper()
	w := &world{ctx: t.Context(), env: func(k string) string { return s.env[k] }}
	err := w.withStores(func(st *stores) error {
		row, err := st.Ledger.Run(w.ctx, owner, id)
		if err != nil {
			return err
		}
		for _, name := range []string{"images:run:" + id, "images:owner:" + owner} {
			if b, err := st.Ledger.Budget(w.ctx, name); err != nil || b.Spent != 3 || b.Reserved != 0 {
				t.Errorf("killed at request %d: %+v, %v, want 3 spent", at, b, err)
			}
		}
		used := row.Usage.InputTokens + row.Usage.OutputTokens
		again := max(int64(len(s.chat.Requests())-4), 1) // a recorded call counts even if it was not sent
		b, err := st.Ledger.Budget(w.ctx, "tokens:owner:"+owner)
		if err != nil || b.Reserved != 0 || b.Spent < used || b.Spent > used+again*used/2 {
			t.Errorf("killed at request %d: %+v, %v, want %d and %d calls more", at, b, err, used, again)
		}
		b, err = st.Ledger.Budget(w.ctx, "owner:"+owner)
		if b.Spent == 0 || b.Reserved != 0 {
			t.Errorf("killed at request %d: %+v", at, b)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// unanswered counts the calls to the provider of pictures that were sent and have no task yet: whether they are paid
// for is unknown.
func (s *agentEnv) unanswered(t *testing.T, run string) (n int) {
	t.Helper()
	for _, op := range read[ledger.List[ledger.Operation]](s.testEnv, "operations", "list", "--run", run, "--json").Items {
		shown := read[struct {
			Calls []ledger.Task `json:"calls"`
		}](s.testEnv, "operations", "show", op.ID, "--json")
		for _, c := range shown.Calls {
			if c.Status == "submitted" {
				n++
			}
		}
	}
	return n
}

// checkNotResumable checks that a run that has ended cannot be resumed.
func (s *agentEnv) checkNotResumable(t *testing.T, id string) {
	t.Helper()
	before := s.requests
	if o := s.atelier("resume", id); o.code != exitInput || !strings.Contains(o.stderr, "has already ended") {
		t.Errorf("resumed a second time: exit %d, %s", o.code, o.stderr)
	}
	if s.requests != before {
		t.Error("the services were asked again")
	}
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("run", "sage", "Hello.")
	if o := p.atelier("resume", "nothing"); o.code != exitInput || !strings.Contains(o.stderr, "nothing") {
		t.Errorf("unknown run: exit %d, %s", o.code, o.stderr)
	}
}

// TestServeContinues: serve adopts a killed run; a stop in the middle leaves it to a second serve, and the run ends
// once.
func TestServeContinues(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	id, _ := s.run(t, 6)
	if shown := s.must("runs", "show", id).stdout; !strings.Contains(shown, "used:    known when") || !strings.Contains(shown, "cost:    known when") {
		t.Errorf("before the run is continued: %s", shown)
	}
	serving := s.start("serve", "--listen", "127.0.0.1:0", "--grace", "1ms")
	eventually(t, "the address", func() bool { return strings.Contains(serving.stderr.String(), "serving on ") })
	_, url, _ := strings.Cut(serving.stderr.String(), "serving on ")
	url, _, _ = strings.Cut(url, "\n")
	eventually(t, "readiness", func() bool { return status(t, url+"/readyz") == http.StatusOK })
	if got := status(t, url+"/healthz"); got != http.StatusOK {
		t.Errorf("healthz: %d", got)
	}
	running := func() bool { return strings.Contains(s.must("runs", "show", id).stdout, "running") }
	before := s.requested()
	eventually(t, "work in the server", func() bool { return s.requested() > before || !running() })
	if err := serving.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
	again := s.start("serve", "--listen", "127.0.0.1:0")
	eventually(t, "the end of the run", func() bool { return s.hasEnded(id) })
	eventually(t, "the address", func() bool { return strings.Contains(again.stderr.String(), "serving on ") })
	_ = again.cmd.Process.Signal(os.Interrupt)
	if o := again.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
	for prompt, n := range s.submitted(t) {
		if n != 1 {
			t.Errorf("%s was asked for %d times", prompt, n)
		}
	}
	if events := s.eventCounts(t, id); events["boss run-succeeded"] != 1 {
		t.Errorf("events %v", events)
	}
	for _, bad := range []string{"nowhere", "0.0.0.0:0", "192.0.2.1:80"} {
		if o := s.atelier("serve", "--listen", bad); o.code != exitInput {
			t.Errorf("--listen %s: exit %d, %s", bad, o.code, o.stderr)
		}
	}
}

func (s *agentEnv) requested() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func status(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// TestCancelFromElsewhere: another command cancels a run while its process waits for pictures, and also a run whose
// process was killed.
func TestCancelFromElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("under way", func(t *testing.T) {
		t.Parallel()
		s := newAgentEnv(t)
		s.chat.Answer = func(chattest.Request) string {
			return act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Size": "256x256"})
		}
		srv := httptest.NewServer(s.chat)
		t.Cleanup(srv.Close)
		s.env["OPENAI_BASE_URL"] = srv.URL + "/v1"
		proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
		var id string
		eventually(t, "the run", func() bool {
			list := read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json")
			if len(list.Items) == 1 {
				id = list.Items[0].ID
			}
			return id != "" && len(s.images.Captured()) > 0
		})
		if o := s.must("runs", "cancel", id); !strings.Contains(o.stdout, "cancelled") {
			t.Errorf("cancel said %s%s", o.stdout, o.stderr)
		}
		if o := proc.wait(); o.code != exitInterrupted || decode[answer](t, o).Status != "cancelled" {
			t.Errorf("the run ended with %d: %s", o.code, o.stdout)
		}
		s.checkNotResumable(t, id)
	})
	t.Run("orphaned", func(t *testing.T) {
		t.Parallel()
		s := newAgentEnv(t)
		id, _ := s.run(t, 5)
		before := s.requested()
		if o := s.must("runs", "cancel", id); !strings.Contains(o.stdout, "cancelled") {
			t.Errorf("cancel said %s%s", o.stdout, o.stderr)
		}
		if s.requested() != before {
			t.Error("services were asked for a cancelled run")
		}
		if events := s.eventCounts(t, id); events["boss run-cancelled"] != 1 {
			t.Errorf("events %v", events)
		}
		s.checkNotResumable(t, id)
	})
}
