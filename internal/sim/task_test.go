package sim_test

import (
	"net/http"
	"testing"

	"atelier/internal/sim"
)

func TestTasks(t *testing.T) {
	t.Parallel()
	var tasks sim.Tasks[string]
	a, b := &sim.Task[string]{ID: "a", Work: "fox"}, &sim.Task[string]{ID: "b"}
	if !tasks.Begin(a, 1) || tasks.Begin(b, 1) {
		t.Fatal("one task may be unfinished, and another one begins")
	}
	for i, want := range []bool{false, false, true, true} {
		if task, over, failing := tasks.Poll("a", 2); task != a || over != want || failing {
			t.Errorf("poll %d: %v, over %t, failing %t", i, task, over, failing)
		}
	}
	if !tasks.Begin(b, 1) {
		t.Error("a finished task counts")
	}
	if task, _, _ := tasks.Poll("c", 2); task != nil || tasks.End("c") != nil {
		t.Errorf("a task that never began: %v", task)
	}
	if tasks.End("b") != b {
		t.Error("a task is not found")
	}
	if _, over, _ := tasks.Poll("b", 2); !over {
		t.Error("a task that was ended goes on")
	}
	all, over := tasks.All()
	if len(all) != 2 || all[0] != a || !over[a] || !over[b] {
		t.Errorf("tasks %v, over %v", all, over)
	}
}

func TestPollsFailTwice(t *testing.T) {
	t.Parallel()
	var tasks sim.Tasks[string]
	tasks.Begin(&sim.Task[string]{ID: "a", Fault: sim.Injection{Fault: sim.FaultPollFails}}, 0)
	if _, over, failing := tasks.Poll("a", 0); over || !failing {
		t.Errorf("the first poll: over %t, failing %t", over, failing)
	}
	func() {
		defer func() {
			if err := recover(); err != http.ErrAbortHandler { //nolint:errorlint // the error is not wrapped
				t.Errorf("the second poll: %v", err)
			}
		}()
		tasks.Poll("a", 0)
	}()
	if _, over, failing := tasks.Poll("a", 0); !over || failing {
		t.Errorf("the third poll: over %t, failing %t", over, failing)
	}
}
