package workflows_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/generate/catalog"
	"atelier/ledger"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/durable"
	"atelier/run/lease"
	"atelier/run/record"
	"atelier/run/runtest"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
	"atelier/workflow/subaction"
)

const owner = "ann"

// testService is a service of workflows on a durable engine, with an agent whose model returns the answer of the test,
// and a module that counts its calls.
type testService struct {
	*workflows.Service
	t      testing.TB
	dir    string
	store  ledger.Store
	runs   *run.Service
	events *record.Observer
	now    atomic.Int64 // hours that the clock is ahead

	mu      sync.Mutex // guards the fields below
	calls   map[string]int
	fails   error
	answer  string
	running int
	// checking, if not nil, is called when an answer is checked.
	checking  func()
	stopped   []string
	cancelErr error
}

func build(tb testing.TB) *testService {
	tb.Helper()
	h := &testService{t: tb, dir: tb.TempDir(), calls: map[string]int{}, answer: `{"message":"Found.","payload":{"z":1,"a":2},"done":true}`}
	ledgerFile, engineFile := filepath.Join(h.dir, "a.db"), filepath.Join(h.dir, "engine.db")
	runtest.CopyFiles(tb, ledgerFile, engineFile)
	quiet := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(tb.Context(), sqlite.Config{Path: ledgerFile, Logger: quiet})
	must(tb, err)
	h.store = store
	tb.Cleanup(func() { must(tb, store.Close()) })
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	must(tb, err)
	codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}}, Register: store.RegisterBlob})
	must(tb, err)
	h.events, err = record.NewObserver(record.Config{Ledger: store, Logger: quiet})
	must(tb, err)
	registry, err := action.NewRegistry(action.Config{Store: codec, Recorder: store})
	must(tb, err)
	catalogue, err := catalog.Load()
	must(tb, err)
	modules, err := workflow.NewModules(append(module.All(module.Config{Agents: workflows.Agents{Ledger: store}}), countingModule{h})...)
	must(tb, err)
	clock := func() time.Time { return time.Now().UTC().Add(time.Duration(h.now.Load()) * time.Hour) }
	h.Service, err = workflows.NewService(workflows.Config{
		Ledger: store, Modules: modules, Actions: subaction.New(catalogue, clock), Now: clock,
		Runs: func(context.Context) (*run.Service, error) { return h.runs, nil }, Emit: h.events.Emit, SubActions: h,
	})
	must(tb, err)
	defs, err := definition.Load(fstest.MapFS{
		"finder.yaml": {Data: []byte("slug: finder\nname: Finder\ndescription: Finds.\nprompt: finder.md\n")}, "finder.md": {Data: []byte("You find.")},
	})
	must(tb, err)
	runner, err := agent.NewRunner(agent.Config{
		Definitions: defs, GoAgents: map[string]agent.GoAgent{workflows.AgentName: h.Run}, Actions: registry, Models: h, Codec: codec, Recorder: store, Observer: h.events,
	})
	must(tb, err)
	engine, err := durable.Open(tb.Context(), durable.Config{Path: engineFile, Leases: lease.NewKeeper(store), Adopts: true})
	must(tb, err)
	h.runs, err = run.NewService(run.Config{Agents: runner, Ledger: store, Observer: h.events, Engine: engine})
	must(tb, err)
	tb.Cleanup(h.runs.Close)
	return h
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code media.Code) {
	t.Helper()
	if media.CodeOf(err) != code {
		t.Errorf("%v (%s), want %s", err, media.CodeOf(err), code)
	}
}

// Choose returns the service as the model.
func (h *testService) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: h}, nil
}

// Profile returns the profile of an offline model.
func (*testService) Profile() chat.Profile {
	return chat.Profile{ID: "script-1", Name: "Script", Provider: "offline", Offline: true}
}

// Generate returns the answer of the test.
func (h *testService) Generate(context.Context, chat.Request) (chat.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls["model"]++
	return chat.Response{Text: h.answer, Model: "script-1", Usage: chat.Usage{InputTokens: 10, OutputTokens: 5}}, nil
}

// Running returns the number of running sub-actions that the test sets.
func (h *testService) Running(context.Context, string, string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checking != nil {
		h.checking()
	}
	return h.running, nil
}

// CancelAll records that it was called.
func (h *testService) CancelAll(_ context.Context, _, interaction string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = append(h.stopped, interaction)
	return h.cancelErr
}

func (h *testService) called(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[name]
}

func (h *testService) failing(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fails = err
}

// countingModule is the module test.count: it counts its calls, and fails if the test wants it to.
type countingModule struct{ h *testService }

func (countingModule) ID() string { return "test.count" }

func (countingModule) InputSchema() *ordered.Object {
	return ordered.New("type", "object", "properties", ordered.New("name", ordered.New("type", "string")))
}

func (countingModule) Request(context.Context, workflow.Run) (*workflow.InteractionRequest, error) {
	return nil, nil //nolint:nilnil // it is not interactive
}

func (c countingModule) Execute(_ context.Context, r workflow.Run, _ *workflow.Answer) (*ordered.Object, error) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.h.calls[r.StepID]++
	return ordered.New("count", ordered.Int(c.h.calls[r.StepID])), c.h.fails
}

// start runs a definition until it pauses or ends.
func (h *testService) start(definition, state string) workflows.Status {
	h.t.Helper()
	r, err := h.Start(h.t.Context(), workflows.StartRequest{Owner: owner, Definition: h.definition(definition), State: h.object(state)})
	must(h.t, err)
	return h.waitForStatus(r)
}

// waitForStatus waits until a run pauses or ends, and returns its status.
func (h *testService) waitForStatus(r *run.Run) workflows.Status {
	h.t.Helper()
	_, err := r.Wait(h.t.Context())
	if err != nil && errors.Is(err, context.Canceled) {
		h.t.Fatal(err)
	}
	must(h.t, h.events.Flush(h.t.Context()))
	return h.status(r.ID)
}

func (h *testService) status(id string) workflows.Status {
	h.t.Helper()
	st, err := h.Status(h.t.Context(), owner, id)
	must(h.t, err)
	return st
}

func (h *testService) definition(text string) *workflow.Definition {
	h.t.Helper()
	modules, err := workflow.NewModules(append(module.All(module.Config{}), countingModule{h})...)
	must(h.t, err)
	d, found := workflow.Read(modules, "test.json", []byte(text))
	if len(found) > 0 {
		h.t.Fatal(found)
	}
	return d
}

func (h *testService) object(text string) *ordered.Object {
	h.t.Helper()
	o, err := ordered.DecodeObject([]byte(text))
	must(h.t, err)
	return o
}

// eventCounts counts the events of a run.
func (h *testService) eventCounts(id string) map[string]int {
	h.t.Helper()
	must(h.t, h.events.Flush(h.t.Context()))
	list, err := h.store.ListEvents(h.t.Context(), owner, id, 0, ledger.MaxLimit)
	must(h.t, err)
	count := map[string]int{}
	for _, e := range list {
		count[e.Kind]++
	}
	return count
}
