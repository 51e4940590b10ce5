package agent_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/provider/offline"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// gatewayEnv is an environment whose action Draw makes Number pictures through the gateway.
type gatewayEnv struct {
	*testEnv
	gateway *gateway.Gateway
}

func buildGatewayEnv(t *testing.T, s setup) *gatewayEnv {
	t.Helper()
	d := &gatewayEnv{}
	s.actions = append(s.actions, action.Action{
		Name: "Draw", Description: "Draws.",
		Params: []action.Param{
			{Name: "Number", Direction: action.Input, ValueType: action.Scalar, Type: "integer", Required: true},
			{Name: "Images", Direction: action.Output, ValueType: action.Binary, IsArray: true},
		},
		Run: func(ctx context.Context, c *action.Call) (action.Result, error) {
			res, err := d.gateway.Generate(ctx, generate.Request{Prompt: "a pier of " + media.ScopeOf(ctx).Step, N: c.Int("Number"), Size: "64x64"})
			if err != nil {
				return action.Result{}, err
			}
			return action.Result{Outputs: map[string]any{"Images": res.Outputs()}}, nil
		},
	})
	d.testEnv = build(t, s)
	drv, err := offline.New(offline.Config{Store: d.store})
	if err != nil {
		t.Fatal(err)
	}
	d.gateway, err = gateway.New(gateway.Config{Drivers: []driver.Driver{drv}, Storage: d.store})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func drawStep(numbers ...int) string {
	return strings.ReplaceAll(paintStep(numbers...), "Paint", "Draw")
}

const drawer = "actions: [Draw, Paint]\n"

func TestImagesOfTheWholeRun(t *testing.T) {
	t.Parallel()
	// answerAfter checks the last message before the model's last answer.
	answerAfter := func(text string) func(chat.Request) string {
		return func(r chat.Request) string {
			if message := lastMessage(r); !strings.Contains(message, text) {
				return "the last message was " + message
			}
			return `{"message":"fine","done":true}`
		}
	}
	for name, tt := range map[string]struct {
		most    int64
		painter []any
		writer  []any
		images  int
	}{
		"as many as allowed": {3, []any{drawStep(3), answerAfter("Images")}, nil, 3},
		"one over":           {3, []any{drawStep(4), answerAfter("may make 3 images and has 3 left, and this makes 4")}, nil, 0},
		"fewer then":         {3, []any{drawStep(2), drawStep(2), drawStep(1), answerAfter("Images")}, nil, 3},
		"none left":          {2, []any{drawStep(2), drawStep(1), answerAfter("has 0 left")}, nil, 2},
		"at once":            {3, []any{drawStep(2, 2, 2), answerAfter("has 1 left")}, nil, 2},
		"sub-agent": {3, []any{drawStep(2), `{"agents":[{"name":"writer","task":"draw"}]}`, answerAfter("fine")}, []any{
			drawStep(2), answerAfter("has 1 left"),
		}, 2},
		"sub-agents at once": {3, []any{
			`{"agents":[{"name":"writer","task":"draw"},{"name":"writer","task":"draw more"}],"actions":[{"name":"Draw","params":{"Number":2}}]}`, answerAfter("has 1 left"),
		}, []any{func(r chat.Request) string {
			if len(r.Messages) == 1 {
				return drawStep(2)
			}
			return `{"message":"` + map[bool]string{true: "it has 1 left", false: "fine"}[strings.Contains(lastMessage(r), "has 1 left")] + `","done":true}`
		}}, 2},
		"no limit":      {0, []any{drawStep(4), answerAfter("Images")}, nil, 4},
		"far from it":   {math.MaxInt64, []any{drawStep(4), answerAfter("Images")}, nil, 4},
		"drawn by code": {1, []any{paintStep(1, 2, 3), answerAfter("Painted")}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := buildGatewayEnv(t, setup{
				agents:  map[string]string{"painter": drawer + "agents: [writer]\n", "writer": drawer},
				answers: map[string][]any{"painter": tt.painter, "writer": tt.writer},
			})
			res, err := d.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "draw", MaxImages: tt.most})
			if err != nil || res.Message != "fine" || res.Usage.Images != tt.images {
				t.Errorf("%v, %q, %d images, want %d", err, res.Message, res.Usage.Images, tt.images)
			}
		})
	}
}

func TestCostOfTheWholeRun(t *testing.T) {
	t.Parallel()
	// Every answer costs $0.001; without a price the cost of a request cannot be estimated.
	more := `{"message":"so far","payload":{"report_html":"${media:` + refOf(1) + `}"},"actions":[{"name":"Paint","params":{"Number":1}}]}`
	dear := chat.Profile{ID: "script-1", Name: "Script", Pricing: chat.Pricing{Rate: chat.Rate{InputUSD: "100", OutputUSD: "100"}}}
	for name, tt := range map[string]struct {
		most    string
		profile chat.Profile
		painter []any
		calls   int
		says    string
	}{
		"used up":            {"0.0025", chat.Profile{}, []any{more}, 3, "may cost $0.0025 and has $0 left, and this needs an unknown amount"},
		"enough":             {"0.0025", chat.Profile{}, []any{more, more, `{"done":true}`}, 3, ""},
		"sub-agent":          {"0.0025", chat.Profile{}, []any{more, `{"agents":[{"name":"writer","task":"write"}]}`}, 3, "$0 left"},
		"the estimate":       {"0.005", dear, []any{more}, 0, "may cost $0.005 and has $0.005 left, and this needs $"},
		"price unknown":      {"5", chat.Profile{ID: "script-1", Name: "Script", Provider: "test"}, []any{more}, 0, "the price of Script (test) is unknown, and the budget is one of money"},
		"unknown, no budget": {"", chat.Profile{ID: "script-1", Name: "Script", Provider: "test"}, []any{more, `{"done":true}`}, 2, ""},
		"nothing":            {"0", chat.Profile{}, []any{more}, 0, "has $0 left"},
		"nothing, and free":  {"0", chat.Profile{ID: "o", Offline: true}, []any{more, `{"done":true}`}, 2, ""},
		"no limit":           {"", dear, []any{more, `{"done":true}`}, 2, ""},
		"more than there is": {"4000000", dear, []any{more, `{"done":true}`}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents:  map[string]string{"painter": painter + "agents: [writer]\n", "writer": painter},
				answers: map[string][]any{"painter": tt.painter, "writer": {paintStep(2)}},
			})
			w.script.profile = tt.profile
			res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxCost: tt.most})
			if len(w.script.allRequests()) != tt.calls || res.Usage.ModelCalls != tt.calls {
				t.Errorf("%d calls, want %d", len(w.script.allRequests()), tt.calls)
			}
			if tt.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if media.CodeOf(err) != media.CodeOverBudget || res.Status != agent.StatusFailed || res.Error.Code != media.CodeOverBudget ||
				!strings.HasPrefix(err.Error(), "over budget: ") || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "what was made is kept") {
				t.Errorf("%s: %v", res.Status, err)
			}
			if tt.calls > 0 && (len(res.Outputs) != 1 || !strings.Contains(string(res.Payload), "report_html")) {
				t.Errorf("what was made is not kept: %+v", res)
			}
			if types := w.watcher.types(); types[len(types)-1] != agent.EventRunFailed {
				t.Errorf("the last event is %s", types[len(types)-1])
			}
		})
	}
}

// TestChatModelInItsPlace: the result says that a successor of the requested model answers, and warns of its planned
// shutdown.
func TestChatModelInItsPlace(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"done":true}`}}})
	w.script.choice = chat.Choice{
		Changes:  []chat.Change{{Asked: "old", Applied: "New", Reason: "Old was shut down on 2026-01-02; New replaces it"}},
		Warnings: []string{"New will be shut down on 2026-12-24"},
	}
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := generate.Disposition{Setting: "chat_model", Asked: "old", Applied: "New", Outcome: generate.OutcomeAdapted, Reason: "Old was shut down on 2026-01-02; New replaces it"}
	if !slices.Contains(res.Dispositions, want) || !slices.Contains(res.Warnings, w.script.choice.Warnings[0]) {
		t.Errorf("%+v, warnings %q", res.Dispositions, res.Warnings)
	}
}

// TestRefusedAndBilled: a refusal ends the run after one call. Its cost is counted as reported; an incomplete cost is
// marked as such.
func TestRefusedAndBilled(t *testing.T) {
	t.Parallel()
	cost := "0.02"
	refused := billedRefusal{
		chat.Response{Model: "script-1", Usage: chat.Usage{InputTokens: 40, OutputTokens: 9}, CostUSD: &cost, CostReported: true},
		media.Errorf(media.CodeModerated, "ask Script: refused: no; change the task or the material"),
	}
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {refused}}})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxCost: "1"})
	if media.CodeOf(err) != media.CodeModerated || len(w.script.allRequests()) != 1 || !strings.Contains(err.Error(), "refused: no") {
		t.Errorf("%d calls: %v", len(w.script.allRequests()), err)
	}
	if c := res.Cost; c.EstimatedUSD == nil || *c.EstimatedUSD != cost || c.ReportedUSD == nil || *c.ReportedUSD != cost || !c.Complete || res.Usage.OutputTokens != 9 || res.Usage.ModelCalls != 1 {
		t.Errorf("%+v, %+v", res.Usage, c)
	}
	part := chat.Response{Model: "script-1", Text: `{"done":true}`, Usage: refused.resp.Usage, CostUSD: &cost, CostIncomplete: true}
	w = build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {part}}})
	if res, err = w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x"}); err != nil || res.Cost.Complete || res.Cost.EstimatedUSD == nil || res.Cost.ReportedUSD != nil {
		t.Errorf("%+v, %v", res.Cost, err)
	}
}

// TestLastTurnForMoney: if the budget allows only one more model call, it is the last turn, and the run can still
// succeed.
func TestLastTurnForMoney(t *testing.T) {
	t.Parallel()
	run := func(most string) (*testEnv, *agent.Result, error) {
		w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
			func(r chat.Request) string {
				if strings.Contains(lastMessage(r), lastTurnText) {
					return `{"message":"finished","done":true}`
				}
				return paintStep(1)
			},
		}}})
		w.script.profile = chat.Profile{ID: "script-1", Name: "Script", Pricing: chat.Pricing{Rate: chat.Rate{InputUSD: "0.01", OutputUSD: "0.01"}}}
		res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxCost: most, MaxTurns: 5})
		return w, res, err
	}
	w, _, err := run("")
	if err != nil || len(w.script.allRequests()) != 5 {
		t.Fatal(err)
	}
	// Each answer costs $0.001; the estimate of a request is far lower.
	one, err := strconv.ParseFloat(*w.script.profile.Cost(chat.Usage{InputTokens: w.script.profile.EstimateTokens(lastRequest(w))}, time.Now()), 64)
	if err != nil || one > 0.0005 {
		t.Fatalf("a call is estimated at $%f, %v", one, err)
	}
	w, res, err := run(strconv.FormatFloat(0.002+1.5*one, 'f', 12, 64))
	if err != nil || res.Message != "finished" || len(w.script.allRequests()) != 3 || countLastTurns(w) != 1 {
		t.Errorf("%v, %q after %d calls", err, res.Message, len(w.script.allRequests()))
	}
	if all := strings.Join(res.Warnings, "\n"); !strings.Contains(all, "two more calls of the model do not fit, the run may cost $0.002") {
		t.Errorf("warnings %q", all)
	}
}

// clock advances by itself when somebody waits.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestTimeOfTheWholeRun(t *testing.T) {
	t.Parallel()
	// Every answer takes ten seconds; Rest takes an hour in which nobody works.
	finish := func(r chat.Request) string {
		if strings.Contains(lastMessage(r), lastTurnText) {
			return `{"message":"finished","done":true}`
		}
		return paintStep(1)
	}
	for name, tt := range map[string]struct {
		most   time.Duration
		answer []any
		code   media.Code
		calls  int
		worked int64
		says   string
	}{
		"heeded":      {25 * time.Second, []any{finish}, "", 4, 40_000, "worked for 30s and may work for 25s"},
		"not heeded":  {25 * time.Second, []any{paintStep(1)}, media.CodeOverBudget, 4, 40_000, "worked for 30s and may work for 25s and did not finish"},
		"to the dot":  {30 * time.Second, []any{finish}, "", 4, 40_000, "worked for 30s and may work for 30s"},
		"sub-agent":   {25 * time.Second, []any{`{"agents":[{"name":"writer","task":"write"}]}`, finish}, "", 5, 50_000, "may work for 25s"},
		"one turn":    {time.Nanosecond, []any{`{"message":"ok","done":true}`}, "", 1, 10_000, ""},
		"no limit":    {0, []any{paintStep(1), `{"done":true}`}, "", 2, 20_000, ""},
		"far from it": {math.MaxInt64, []any{paintStep(1), `{"done":true}`}, "", 2, 20_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			w := build(t, setup{
				agents:  map[string]string{"painter": painter + "agents: [writer]\n", "writer": painter},
				answers: map[string][]any{"painter": tt.answer, "writer": {finish}}, now: c.Now,
			})
			w.script.before = func() { c.wait(10 * time.Second) }
			res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxTime: tt.most})
			if media.CodeOf(err) != tt.code || res.Usage.ModelCalls != tt.calls || res.Usage.WorkedMS != tt.worked {
				t.Errorf("%v after %d calls and %d ms, want %d and %d", err, res.Usage.ModelCalls, res.Usage.WorkedMS, tt.calls, tt.worked)
			}
			if all := strings.Join(res.Warnings, "\n") + fmt.Sprint(err); !strings.Contains(all, tt.says) {
				t.Errorf("%q, %v", res.Warnings, err)
			}
		})
	}
}

// TestWhatHangsIsEnded: a model or an action that hangs is ended when the time and the overtime have elapsed, in
// sub-agents too; earlier results are kept.
func TestWhatHangsIsEnded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		painter string
		most    time.Duration
		want    time.Duration
	}{
		"action":             {`{"actions":[{"name":"Paint","params":{"Number":1}},{"name":"Hang","params":{}}]}`, 10 * time.Second, 20 * time.Second},
		"long overtime":      {`{"actions":[{"name":"Paint","params":{"Number":1}},{"name":"Hang","params":{}}]}`, time.Hour, time.Hour + time.Minute},
		"sub-agents at once": {`{"actions":[{"name":"Paint","params":{"Number":1}}],"agents":[{"name":"writer","task":"a"},{"name":"writer","task":"b"}]}`, 10 * time.Second, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := build(t, setup{
					agents:  map[string]string{"painter": "actions: [Paint, Hang]\nagents: [writer]\n", "writer": "actions: [Hang]\n"},
					answers: map[string][]any{"painter": {tt.painter}, "writer": {`{"actions":[{"name":"Hang","params":{}}]}`}},
					now:     time.Now,
					actions: []action.Action{{Name: "Hang", Description: "Hangs.", Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
						<-ctx.Done()
						return action.Result{}, ctx.Err()
					}}},
				})
				res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxTime: tt.most})
				if took := time.Since(start); media.CodeOf(err) != media.CodeOverBudget || res.Status != agent.StatusFailed || took != tt.want {
					t.Errorf("%v, %s after %s, want %s", err, res.Status, took, tt.want)
				}
				if len(res.AlsoMade) != 1 || res.Usage.WorkedMS != tt.want.Milliseconds() || !strings.Contains(err.Error(), "work in progress was stopped") {
					t.Errorf("%d made, worked %d ms: %v", len(res.AlsoMade), res.Usage.WorkedMS, err)
				}
				for _, r := range w.watcher.runs {
					if r.Status != agent.StatusRunning && (r.Status != agent.StatusFailed || r.Error.Code != media.CodeOverBudget) {
						t.Errorf("%s: %s, %+v", r.AgentPath, r.Status, r.Error)
					}
				}
			})
		})
	}
}

// TestCancelledIsNotOverBudget: a cancellation by Ctrl-C is reported as such even with a time limit.
func TestCancelledIsNotOverBudget(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {paintStep(1)}}})
	w.script.before = cancel
	res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "x", MaxTime: time.Hour})
	if media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled {
		t.Errorf("%s: %v", res.Status, err)
	}
}

// memoryJournal is a journal that keeps steps, as a durable one does.
type memoryJournal struct {
	prefix string
	mu     *sync.Mutex // guards known
	known  map[string][]byte
}

func newMemoryJournal() *memoryJournal {
	return &memoryJournal{mu: &sync.Mutex{}, known: map[string][]byte{}}
}

func (d *memoryJournal) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	d.mu.Lock()
	b, ok := d.known[d.prefix+name.String()]
	d.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := fn(ctx)
	if err == nil {
		d.mu.Lock()
		d.known[d.prefix+name.String()] = b
		d.mu.Unlock()
	}
	return b, err
}

func (d *memoryJournal) Sleep(ctx context.Context, t time.Duration) error {
	return journal.Memory{}.Sleep(ctx, t)
}

func (d *memoryJournal) Child(_ context.Context, name step.Name) (journal.Journal, error) {
	return &memoryJournal{prefix: d.prefix + name.String() + "/", mu: d.mu, known: d.known}, nil
}

// without returns a journal without the steps whose names begin with one of the prefixes.
func (d *memoryJournal) without(prefixes ...string) *memoryJournal {
	out := newMemoryJournal()
	for name, b := range d.known {
		lost := false
		for _, p := range prefixes {
			lost = lost || strings.HasPrefix(name, p)
		}
		if !lost {
			out.known[name] = b
		}
	}
	return out
}

// TestReplayUsesNothingTwice: a process that continues a run counts the usage of earlier processes once, whenever it
// occurred, and decides as they did.
func TestReplayUsesNothingTwice(t *testing.T) {
	t.Parallel()
	req := agent.Request{
		Agent: "painter", Message: "x", RunID: "019aa000-0000-7000-8000-000000000001",
		MaxTime: 25 * time.Second, MaxTokens: 1000, MaxImages: 3, MaxCost: "1",
	}
	// first gives one answer to a run's first request and another to all further ones.
	first := func(one, others string) []any {
		return []any{func(r chat.Request) string {
			if len(r.Messages) == 1 {
				return one
			}
			return others
		}}
	}
	late := 0 * time.Second
	run := func(d *memoryJournal, perCall time.Duration) (*agent.Result, int) {
		c := newClock()
		c.wait(late)
		late += 24 * time.Hour
		w := buildGatewayEnv(t, setup{
			agents: map[string]string{"painter": drawer + "agents: [writer]\n", "writer": drawer},
			answers: map[string][]any{
				"painter": first(`{"agents":[{"name":"writer","task":"draw"}]}`, drawStep(1)),
				"writer":  first(drawStep(2), `{"done":true}`),
			},
			now: c.Now, journal: d,
		})
		w.script.before = func() { c.wait(perCall) }
		res, err := w.runner.Run(t.Context(), req)
		if media.CodeOf(err) != media.CodeOverBudget {
			t.Fatal(err)
		}
		return res, len(w.script.allRequests())
	}
	d := newMemoryJournal()
	whole, calls := run(d, 10*time.Second)
	if calls != 4 || whole.Usage.WorkedMS != 40_000 || whole.Usage.Images != 2 {
		t.Fatalf("%d calls, %+v", calls, whole.Usage)
	}
	again, calls := run(d, 10*time.Second)
	if diff := cmp.Diff(whole.Usage, again.Usage); calls != 0 || diff != "" {
		t.Errorf("%d calls in a replay of everything: %s", calls, diff)
	}
	// The process died in the sub-agent's second call. The calls of this process are fast: it has time for more turns,
	// and one picture is left for them.
	part, calls := run(d.without("turn-1-agent-1-writer/turn-2", "turn-2", "turn-3"), time.Second)
	if calls != 6 || part.Usage.WorkedMS != 26_000 || part.Usage.Images != 3 {
		t.Errorf("%d calls after a takeover, %+v", calls, part.Usage)
	}
}

func TestLimitsThatMeanNothing(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {`{"done":true}`}}})
	for name, req := range map[string]agent.Request{
		"turns":          {MaxTurns: -1},
		"tokens":         {MaxTokens: -1},
		"images":         {MaxImages: -1},
		"time":           {MaxTime: -1},
		"cost":           {MaxCost: "-1"},
		"a fraction":     {MaxCost: "1/3"},
		"words":          {MaxCost: "a lot"},
		"an endless one": {MaxCost: "1e999999999"},
		"infinite":       {MaxCost: "Inf"},
		"too much":       {MaxCost: "4000000.01"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req.Agent, req.Message = "painter", "x"
			if _, err := w.runner.Run(t.Context(), req); media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("%v", err)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(w.script.allRequests()); n > 0 {
			t.Errorf("%d calls were made", n)
		}
	})
}
