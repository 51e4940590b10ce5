package run_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/provider/offline"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/durable"
	"atelier/run/operations"
	"atelier/run/record"
)

// store is a ledger on either database.
type store interface {
	ledger.Store
}

// testService is the whole stack below the command line, with offline models.
type testService struct {
	path     string
	store    store
	observer *record.Observer
	service  *run.Service
	engine   *durable.Engine // the engine of the most recent durable service
	gateway  *gateway.Gateway
	runner   *agent.Runner
	mu       sync.Mutex // guards asked and emitted
	asked    []chat.Request
	// emitted holds the keys of the events that the runner's observer got.
	emitted []string
	// called, if not nil, receives the time of every call of the chat model.
	called chan time.Time
	// arrived receives a value when the action Wait is waiting; closing released ends it.
	arrived, released chan struct{}
	// blockedCall is the number of the chat model's call that sends to arrived and returns no answer until its context
	// ends; 0 means none.
	blockedCall int
}

// failingCall is the scripted answer of a failing model call.
const failingCall = "!"

// script is a chat model that returns one text after the other.
type script struct {
	answers []string
	next    *atomic.Int64
	seen    func(context.Context, chat.Request)
}

func (s script) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: s}, nil
}

func (s script) Profile() chat.Profile {
	return chat.Profile{ID: "script-1", Name: "Script", Provider: "offline", Offline: true, SupportsVision: true}
}

func (s script) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	s.seen(ctx, r)
	if err := ctx.Err(); err != nil {
		return chat.Response{}, err
	}
	n := int(s.next.Add(1)) - 1
	if text := s.answers[min(n, len(s.answers)-1)]; text == failingCall {
		return chat.Response{}, media.Errorf(media.CodeUnavailable, "the model is away")
	}
	return chat.Response{Text: s.answers[min(n, len(s.answers)-1)], Model: "script-1", Usage: chat.Usage{InputTokens: 10, OutputTokens: 5}}, nil
}

const painterYAML = `slug: painter
name: Painter
description: Paints.
prompt: painter.md
actions:
  - name: Draw
  - name: Wait
agents:
  - slug: helper
    payload_key: helper
`

func newTestService(t *testing.T, answers ...string) *testService {
	t.Helper()
	return newTestServiceAt(t, filepath.Join(t.TempDir(), "a.db"), run.BudgetConfig{}, answers...)
}

// newTestServiceAt returns a service with budgets on a ledger that others may have open.
func newTestServiceAt(t *testing.T, path string, budgets run.BudgetConfig, answers ...string) *testService {
	t.Helper()
	h := buildAt(t, path, budgets, answers...)
	var err error
	h.service, err = run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer})
	must(t, err)
	t.Cleanup(h.service.Close)
	return h
}

// build builds the layers below the service.
func build(tb testing.TB, answers ...string) *testService {
	tb.Helper()
	return buildAt(tb, filepath.Join(tb.TempDir(), "a.db"), run.BudgetConfig{}, answers...)
}

// buildAt builds these layers on the ledger of a path.
func buildAt(tb testing.TB, path string, budgets run.BudgetConfig, answers ...string) *testService {
	tb.Helper()
	h := &testService{path: path, arrived: make(chan struct{}, 1), released: make(chan struct{})}
	quiet := slog.New(slog.DiscardHandler)
	h.store = openStore(tb, h.path)
	tb.Cleanup(func() { must(tb, h.store.Close()) })
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	must(tb, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}}, Register: h.store.RegisterBlob,
	})
	must(tb, err)
	h.observer, err = record.NewObserver(record.Config{Ledger: h.store, Logger: quiet})
	must(tb, err)
	drv, err := offline.New(offline.Config{Store: codec})
	must(tb, err)
	budget, err := run.NewBudget(h.store, budgets)
	must(tb, err)
	h.gateway, err = gateway.New(gateway.Config{
		Budget: budget, Drivers: []driver.Driver{drv}, Recorder: h.store, Operations: operations.NewLog(h.store, nil), Events: h.observer.Progress,
	})
	must(tb, err)
	registry, err := action.NewRegistry(action.Config{Store: codec, Recorder: h.store})
	must(tb, err)
	must(tb, registry.Register(h.actions()...))
	defs, err := definition.Load(fstest.MapFS{
		"painter.yaml": {Data: []byte(painterYAML)}, "painter.md": {Data: []byte("You paint.")},
	})
	must(tb, err)
	h.runner, err = agent.NewRunner(agent.Config{
		Definitions: defs, Actions: registry, Codec: codec, Recorder: h.store, Observer: ownObserver{h.observer, h}, Budget: budget,
		Models:   script{answers: answers, next: &atomic.Int64{}, seen: h.record},
		GoAgents: map[string]agent.GoAgent{"helper": helper},
	})
	must(tb, err)
	return h
}

// release lets Wait end.
func (h *testService) release() { close(h.released) }

func (h *testService) record(ctx context.Context, r chat.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r)
	if len(h.asked) == h.blockedCall {
		h.arrived <- struct{}{}
		<-ctx.Done()
	}
	if h.called != nil {
		h.called <- time.Now()
	}
}

// last returns the last messages that the chat model got.
func (h *testService) last() []chat.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[len(h.asked)-1].Messages
}

// helper is a sub-agent that stores a note.
func helper(ctx context.Context, c *agent.Context) (agent.Answer, error) {
	o, err := c.Store(ctx, strings.NewReader("# A note of the helper\n"), media.Meta{Label: "note", MIMEType: "text/markdown", FileName: "note.md"})
	return agent.Answer{Message: "stored " + o.Ref.Placeholder(), Promote: []contract.Promotion{{Ref: string(o.Ref)}}}, err
}

// actions returns Draw, whose second of three pictures fails, and Wait, which draws one picture and then waits for the
// end of the run.
func (h *testService) actions() []action.Action {
	images := []action.Param{{Name: "Images", Direction: action.Output, ValueType: action.Binary, IsArray: true}}
	draw := func(ctx context.Context, r generate.Request) (action.Result, error) {
		res, err := h.gateway.Generate(ctx, r)
		if err != nil {
			return action.Result{}, err
		}
		return action.Result{Code: action.Partial, Outputs: map[string]any{"Images": res.Outputs()}}, nil
	}
	return []action.Action{
		{Name: "Draw", Description: "Draws.", Params: images, Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			return draw(ctx, generate.Request{
				Prompt: "a lighthouse", N: 3, Size: "64x64",
				Options: map[string]map[string]any{"offline": {"fail_slots": []int{2}}},
			})
		}},
		{Name: "Wait", Description: "Draws and waits.", Params: images, Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			res, err := draw(ctx, generate.Request{Prompt: "a pier", Size: "64x64"})
			if err != nil {
				return res, err
			}
			h.arrived <- struct{}{}
			select {
			case <-ctx.Done():
			case <-h.released:
			}
			return res, ctx.Err()
		}},
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

const owner = "ann"

func drawThenDone() []string {
	return []string{
		`{"reasoning":"draw first","actions":[{"name":"Draw","params":{}}],"agents":[{"name":"helper","task":"note it"}]}`,
		`{"reasoning":"finished","message":"Here they are.","payload":{"report_markdown":"# Lighthouses"},"done":true}`,
	}
}

func TestRunIsKept(t *testing.T) {
	t.Parallel()
	h := newTestService(t, drawThenDone()...)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint lighthouses", Owner: owner})
	must(t, err)
	if res.Status != agent.StatusSucceeded || res.Usage.Images != 2 || res.Usage.ModelCalls != 2 {
		t.Errorf("result = %+v", res)
	}
	if !res.Cost.Complete || res.Cost.EstimatedUSD == nil || *res.Cost.EstimatedUSD != "0" {
		t.Errorf("cost = %+v, want 0 and complete", res.Cost)
	}
	ctx := t.Context()
	row, err := h.store.Run(ctx, owner, res.RunID)
	must(t, err)
	if row.Status != ledger.StatusSucceeded || row.Message != "Here they are." || !strings.Contains(string(row.Payload), "# Lighthouses") ||
		row.DefinitionHash == "" || !strings.Contains(string(row.Definition), "You paint.") || row.Usage.InputTokens != 20 || row.FinishedAt.IsZero() {
		t.Errorf("run row = %+v", row)
	}
	tree, err := h.store.ListRuns(ctx, owner, ledger.RunQuery{Tree: res.RunID})
	must(t, err)
	if len(tree.Items) != 2 || tree.Items[0].Parent != res.RunID || tree.Items[0].AgentPath != "painter/helper" {
		t.Errorf("tree = %+v", tree.Items)
	}
	steps, err := h.store.ListSteps(ctx, owner, res.RunID, ledger.Page{})
	must(t, err)
	if len(steps.Items) != 2 || steps.Items[0].Turn != 1 {
		t.Errorf("steps = %+v", steps.Items)
	}
	prompts, err := h.store.ListPrompts(ctx, owner, res.RunID, ledger.Page{})
	must(t, err)
	if len(prompts.Items) != 2 || prompts.Items[1].Model != "script-1" || !strings.Contains(string(prompts.Items[1].Messages), "img-") {
		t.Errorf("prompts = %+v", prompts.Items)
	}
	list, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{Tree: res.RunID})
	must(t, err)
	if len(list.Items) != 3 {
		t.Errorf("media = %+v", list.Items)
	}
	ops, err := h.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: res.RunID})
	must(t, err)
	if len(ops.Items) != 1 || ops.Items[0].Status != string(generate.StatusPartial) || ops.Items[0].StepID == "" || ops.Items[0].FinishedAt.IsZero() {
		t.Fatalf("operations = %+v", ops.Items)
	}
	_, slots, tasks, err := h.store.Operation(ctx, owner, ops.Items[0].ID)
	must(t, err)
	if len(slots) != 3 || slots[0].MediaID == "" || slots[1].Failure.Code != string(media.CodeUnavailable) || slots[2].MediaID == "" || len(tasks) == 0 {
		t.Errorf("slots = %+v, tasks = %+v", slots, tasks)
	}
}

func TestEventsAreSavedAndFollowed(t *testing.T) {
	t.Parallel()
	h := newTestService(t, drawThenDone()...)
	live, stop := h.observer.Subscribe("")
	defer stop()
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	saved, err := h.store.ListEvents(t.Context(), owner, res.RunID, 0, ledger.MaxLimit)
	must(t, err)
	stop()
	var followed []ledger.Event
	passing := 0
	for e := range live {
		switch e.Kind {
		case "operation-progress":
			if passing++; e.Position != 0 {
				t.Errorf("progress was saved: %+v", e)
			}
		case "operation-partial":
		default:
			followed = append(followed, e)
		}
	}
	if d := cmp.Diff(saved, followed); d != "" {
		t.Error(d)
	}
	known := map[string]bool{}
	for _, k := range agent.EventTypes() {
		known[string(k)] = true
	}
	count := map[string]int{}
	for i, e := range saved {
		if e.Sequence != int64(i+1) || !known[e.Kind] || !json.Valid(e.Payload) {
			t.Errorf("event %d = %+v", i, e)
		}
		count[e.Kind]++
	}
	if saved[0].Kind != "run-started" || saved[len(saved)-1].Kind != "run-succeeded" || !strings.Contains(string(saved[len(saved)-1].Payload), `"estimated_usd":"0"`) {
		t.Errorf("first %+v, last %+v", saved[0], saved[len(saved)-1])
	}
	for kind, n := range map[string]int{"turn-started": 2, "media-stored": 3, "agent-finished": 1, "action-finished": 1} {
		if count[kind] != n {
			t.Errorf("%d × %s, want %d: %v", count[kind], kind, n, count)
		}
	}
	if passing < 4 || count["operation-progress"]+count["operation-partial"] > 0 {
		t.Errorf("%d notes of progress, saved %v", passing, count)
	}
}

func TestPromotedMediaIsSaved(t *testing.T) {
	t.Parallel()
	h := newTestService(t, drawThenDone()[0],
		`{"reasoning":"invented","message":"Look: ${media:image_1}","done":true}`, `{"message":"Sorry, none.","done":true}`)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "helper", Message: "note", Owner: owner})
	must(t, err)
	chosen, err := h.store.ListAgentMedia(t.Context(), owner, res.RunID, ledger.Page{})
	must(t, err)
	if len(chosen.Items) != 1 || chosen.Items[0].Label != "note" || chosen.Items[0].SourceID == "" || len(res.Outputs) != 1 {
		t.Errorf("agent media = %+v", chosen.Items)
	}
}

func TestCancelKeepsMedia(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"actions":[{"name":"Wait","params":{}}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-h.arrived
		cancel()
	}()
	res, err := h.service.Run(ctx, agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	if media.CodeOf(err) != media.CodeCancelled || res == nil || res.Status != agent.StatusCancelled {
		t.Fatalf("result %+v, %v", res, err)
	}
	row, err := h.store.Run(t.Context(), owner, res.RunID)
	must(t, err)
	list, err := h.store.ListMedia(t.Context(), owner, ledger.MediaQuery{Run: res.RunID})
	must(t, err)
	if row.Status != ledger.StatusCancelled || row.Failure.Code != string(media.CodeCancelled) || len(list.Items) != 1 {
		t.Errorf("run = %+v, media = %+v", row, list.Items)
	}
	events, err := h.store.ListEvents(t.Context(), owner, res.RunID, 0, 0)
	must(t, err)
	if last := events[len(events)-1]; last.Kind != "run-cancelled" {
		t.Errorf("last event = %+v", last)
	}
}

func TestFailedRunKeepsMedia(t *testing.T) {
	t.Parallel()
	h := newTestService(t, drawThenDone()[0], "prose", "prose", "prose", "prose")
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	if media.CodeOf(err) != media.CodeBadResponse || res.Status != agent.StatusFailed || len(res.AlsoMade)+len(res.Outputs) != 3 {
		t.Fatalf("result %+v, %v", res, err)
	}
	row, err := h.store.Run(t.Context(), owner, res.RunID)
	must(t, err)
	if row.Status != ledger.StatusFailed || row.Failure.Code != string(media.CodeBadResponse) {
		t.Errorf("run = %+v", row)
	}
}

// TestGrantedMediaIsLinked: a run that is granted an item has a link to its record, and no second record.
func TestGrantedMediaIsLinked(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"seen","done":true}`)
	first, err := h.service.Run(t.Context(), agent.Request{Agent: "helper", Message: "note", Owner: owner})
	must(t, err)
	second, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Owner: owner, Granted: first.Outputs})
	must(t, err)
	links, err := h.store.ListPromptMedia(t.Context(), owner, second.RunID, ledger.Page{})
	must(t, err)
	if len(links.Items) != 1 || links.Items[0].Direction != "input" || links.Items[0].MediaID != first.Outputs[0].ID {
		t.Errorf("links = %+v", links.Items)
	}
	if all, err := h.store.ListMedia(t.Context(), owner, ledger.MediaQuery{}); err != nil || len(all.Items) != 1 || all.Items[0].Run != first.RunID {
		t.Errorf("records %+v, %v", all.Items, err)
	}
	if len(second.AlsoMade) != 0 {
		t.Errorf("a given item counts as made: %v", second.AlsoMade)
	}
	_, err = h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Owner: owner, Granted: []media.Output{{URL: "http://x"}}})
	if media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("granting what is not stored: %v", err)
	}
}

func TestServiceRefuses(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"actions":[{"name":"Wait","params":{}}]}`)
	if _, err := h.service.Run(t.Context(), agent.Request{Agent: "nobody", Message: "x"}); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("unknown agent: %v", err)
	}
	r, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "x", RunID: "one"})
	must(t, err)
	<-h.arrived
	if _, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "x", RunID: "one"}); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("second start: %v", err)
	}
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Wait(gaveUp); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("giving up waiting: %v", err)
	}
	must(t, h.service.Cancel("one"))
	if res, err := r.Wait(t.Context()); res == nil || media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("cancelled run: %+v, %v", res, err)
	}
	if err := h.service.Cancel("nothing"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("cancel unknown: %v", err)
	}
	h.service.Close()
	if _, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "x"}); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("start after close: %v", err)
	}
	for name, c := range map[string]run.Config{"Agents": {}, "Ledger": {Agents: h.runner}, "Observer": {Agents: h.runner, Ledger: h.store}} {
		if _, err := run.NewService(c); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), name) {
			t.Errorf("no %s: %v", name, err)
		}
	}
}

func TestSlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "r", Run: "r"})
	must(t, h.store.CreateRun(ctx, ledger.Run{ID: "r", Owner: owner, Tree: "r", Agent: "a", Status: ledger.StatusRunning}))
	slow, stop := h.observer.Subscribe("r")
	defer stop()
	other, stopOther := h.observer.Subscribe("another")
	for range 300 {
		h.observer.Emit(ctx, agent.Event{Type: agent.EventWarning, Tree: "r", RunID: "r", Data: agent.Warning{Message: "x"}})
	}
	must(t, h.observer.Flush(ctx))
	n := 0
	for range slow {
		n++
	}
	events, err := h.store.ListEvents(ctx, owner, "r", int64(n), ledger.MaxLimit)
	must(t, err)
	if n == 0 || n+len(events) != 300 {
		t.Errorf("read %d live and %d saved of 300", n, len(events))
	}
	stopOther()
	stopOther()
	if _, open := <-other; open {
		t.Error("a reader of another tree got an event")
	}
}

// TestNoBytesInTheLedger searches the database for bytes in the messages of models and the task.
func TestNoBytesInTheLedger(t *testing.T) {
	t.Parallel()
	canary := make([]byte, 66_000)
	for i := range canary {
		canary[i] = byte(i*i>>3 ^ i*131)
	}
	copy(canary, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06\x00\x00\x00")
	text := base64.StdEncoding.EncodeToString(canary)
	answer, err := json.Marshal(map[string]any{"message": "look " + text, "payload": map[string]any{"raw": text}, "done": true})
	must(t, err)
	h := newTestService(t, `not json `+text, string(answer))
	res, _ := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "look at " + text, Owner: owner})
	if res == nil {
		t.Fatal("no result")
	}
	encoded, plain := substrings(text, 48), substrings(string(canary), 32)
	searched := 0
	for where, db := range h.dump(t) {
		if containsAny(db, encoded, 48) || containsAny(db, plain, 32) {
			t.Errorf("%s holds the canary", where)
		}
		if strings.Contains(db, res.RunID) {
			searched++
		}
	}
	if searched == 0 {
		t.Error("what was kept of the run was not searched")
	}
	// Media in the task causes an event, which is saved.
	events, err := h.store.ListEvents(t.Context(), owner, res.RunID, 0, ledger.MaxLimit)
	must(t, err)
	if len(events) < 3 || events[0].Kind != "run-started" || events[1].Kind != "media-stored" {
		t.Errorf("events = %+v", events)
	}
	if !containsAny("x"+text[100:150], encoded, 48) {
		t.Error("the search finds nothing at all")
	}
}

// substrings returns the set of all substrings of n bytes of s.
func substrings(s string, n int) map[string]bool {
	set := map[string]bool{}
	for i := 0; i+n <= len(s); i++ {
		set[s[i:i+n]] = true
	}
	return set
}

func containsAny(s string, set map[string]bool, n int) bool {
	for i := 0; i+n <= len(s); i++ {
		if set[s[i:i+n]] {
			return true
		}
	}
	return false
}

func TestEventsWithoutRunAreShown(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	live, stop := h.observer.Subscribe("gone")
	defer stop()
	h.observer.Emit(t.Context(), agent.Event{Type: agent.EventWarning, Tree: "gone", RunID: "gone", Data: agent.Warning{Message: "still seen"}})
	must(t, h.observer.Flush(t.Context()))
	if e := <-live; e.Sequence != 0 || !strings.Contains(string(e.Payload), "still seen") {
		t.Errorf("event = %+v", e)
	}
	if _, err := record.NewObserver(record.Config{}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("observer without ledger: %v", err)
	}
}
