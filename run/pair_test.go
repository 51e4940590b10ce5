package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/agent"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/durable"
)

// orphans begins runs in a process that ends before it executes them.
func (h *testService) orphans(t *testing.T, n int) (ids []string) {
	t.Helper()
	e, err := durable.Open(t.Context(), h.engineConfig())
	must(t, err)
	must(t, e.Launch(func(ctx context.Context, _ journal.Journal, _ string, _ []byte) error {
		<-ctx.Done()
		return journal.ErrHandedOver
	}))
	for i := range n {
		id := fmt.Sprintf("0198f000-0000-7000-8000-%012d", i)
		must(t, h.store.CreateRun(t.Context(), ledger.Run{
			ID: id, Owner: owner, Tree: id, Agent: "painter", AgentPath: "painter", Status: ledger.StatusRunning, Task: "paint", StartedAt: time.Now(),
		}))
		input, err := json.Marshal(map[string]any{"request": agent.Request{RunID: id, Agent: "painter", Message: "paint", Owner: owner}})
		must(t, err)
		must(t, e.Start(t.Context(), id, input))
		ids = append(ids, id)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, e.Close(gone))
	return ids
}

// process returns a service with its own engine, like a command that continues one run.
func (h *testService) process(t *testing.T) *run.Service {
	t.Helper()
	c := h.engineConfig()
	c.Adopts = true
	engine, err := durable.Open(t.Context(), c)
	must(t, err)
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer, Engine: engine})
	must(t, err)
	return s
}

// TestTwoResumes: of two processes that resume a run at the same moment, one succeeds. The other is refused with the
// name of the process that has the run, and no run stays running.
func TestTwoResumes(t *testing.T) {
	t.Parallel()
	pairs := 1000
	if testing.Short() {
		pairs = 80
	}
	const databases = 8
	for i := range databases {
		t.Run(fmt.Sprint("database ", i), func(t *testing.T) {
			t.Parallel()
			h := build(t, `{"message":"fine","done":true}`)
			h.called = make(chan time.Time)
			for _, id := range h.orphans(t, pairs/databases) {
				if h.pair(t, id); t.Failed() {
					return
				}
			}
			left, err := h.store.ListRuns(t.Context(), owner, ledger.RunQuery{Status: ledger.StatusRunning})
			must(t, err)
			if len(left.Items) > 0 {
				t.Errorf("%d runs stayed running", len(left.Items))
			}
		})
	}
}

// pair lets two processes resume a run at once. The refused one closes at once.
func (h *testService) pair(t *testing.T, id string) {
	t.Helper()
	var begin, refused sync.WaitGroup
	var errs [2]error
	var won [2]*run.Run
	services := [2]*run.Service{h.process(t), h.process(t)}
	begin.Add(1)
	for i, s := range services {
		refused.Go(func() {
			begin.Wait()
			if won[i], errs[i] = s.Resume(t.Context(), owner, id, nil); errs[i] != nil {
				s.Close()
			}
		})
	}
	begin.Done()
	refused.Wait()
	winner := 0
	if errs[0] != nil {
		winner = 1
	}
	text := fmt.Sprint(errs[1-winner])
	host, _ := os.Hostname()
	if errs[winner] != nil || media.CodeOf(errs[1-winner]) != media.CodeConflict || !errors.Is(errs[1-winner], run.ErrInProgress) ||
		!strings.Contains(text, fmt.Sprintf("process %d on %s has been working on it since 20", os.Getpid(), host)) {
		t.Errorf("run %s: %v", id, errs)
	}
	if errs[winner] == nil {
		<-h.called // the model answers when both have their result
		if res, err := won[winner].Wait(t.Context()); err != nil || res.Message != "fine" {
			t.Errorf("run %s ended with %+v, %v", id, res, err)
		}
		services[winner].Close()
	}
}
