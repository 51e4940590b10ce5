package run_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"atelier/agent"
	"atelier/run"
)

// TestSourcesThatNoRunUsesAreClosed: the agents of a setting are shared by its runs, and closed when another setting is
// needed and no run uses them.
func TestSourcesThatNoRunUsesAreClosed(t *testing.T) {
	t.Parallel()
	h := build(t, `{"actions":[{"name":"Wait","params":{}}]}`, `{"message":"done","done":true}`)
	var mu sync.Mutex // guards state
	state := map[string]string{}
	note := func(setting json.RawMessage, what string) {
		mu.Lock()
		defer mu.Unlock()
		state[string(setting)] += what
	}
	s, err := run.NewService(run.Config{
		Agents: h.runner, Ledger: h.store, Observer: h.observer,
		NewAgents: func(_ context.Context, setting json.RawMessage) (*agent.Runner, func(), error) {
			note(setting, "opened ")
			return h.runner, func() { note(setting, "closed ") }, nil
		},
	})
	must(t, err)
	start := func(setting string) *run.Run {
		t.Helper()
		r, err := s.StartWith(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner}, json.RawMessage(setting))
		must(t, err)
		return r
	}
	check := func(setting, want string) bool {
		mu.Lock()
		defer mu.Unlock()
		return state[setting] == want
	}
	waiting := start(`"a"`)
	<-h.arrived
	finish := func(setting string) {
		t.Helper()
		_, err := start(setting).Wait(t.Context())
		must(t, err)
	}
	finish(`"b"`)
	finish(`"b"`)
	if !check(`"b"`, "opened ") {
		t.Errorf("b was %q", state[`"b"`])
	}
	for i := 0; !check(`"b"`, "opened closed "); i++ { // a run leaves the process soon after Wait
		if finish(strconv.Itoa(i)); i == 100 {
			t.Fatal("b is still open")
		}
	}
	if !check(`"a"`, "opened ") {
		t.Errorf("while its run waits, a was %q", state[`"a"`])
	}
	h.release()
	_, err = waiting.Wait(t.Context())
	must(t, err)
	s.Close()
	if !check(`"a"`, "opened closed ") {
		t.Errorf("at the end, a was %q", state[`"a"`])
	}
}
