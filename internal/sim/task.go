package sim

import (
	"net/http"
	"slices"
	"sync"
)

// Task is one task at a provider.
type Task[T any] struct {
	ID    string
	Fault Injection
	// Work is the provider's data of the task; it is not changed after [Tasks.Begin].
	Work T

	polls int
	over  bool
}

// Tasks is a provider's table of tasks. The zero value is empty and ready to use; it is safe for concurrent use.
type Tasks[T any] struct {
	mu   sync.Mutex // guards the fields below, and polls and over of each task
	byID map[string]*Task[T]
	list []*Task[T] // in the order of their start
}

// Begin adds a task and reports whether it did: not if limit tasks are unfinished; 0 means no limit.
func (t *Tasks[T]) Begin(task *Task[T], limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	active := 0
	for _, other := range t.list {
		if !other.over {
			active++
		}
	}
	if limit > 0 && active >= limit {
		return false
	}
	if t.byID == nil {
		t.byID = map[string]*Task[T]{}
	}
	t.byID[task.ID], t.list = task, append(t.list, task)
	return true
}

// Poll returns a task, nil if there is none, and reports whether it has ended: pending polls find it unfinished. For a
// task with [FaultPollFails], the first poll returns failing, and the second breaks the connection.
func (t *Tasks[T]) Poll(id string, pending int) (task *Task[T], over, failing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task = t.byID[id]; task == nil {
		return nil, false, false
	}
	task.polls++
	if task.Fault.Fault == FaultPollFails && task.polls <= 2 {
		if task.polls == 2 {
			panic(http.ErrAbortHandler)
		}
		return task, false, true
	}
	task.over = task.over || task.polls > pending
	return task, task.over, false
}

// End ends a task and returns it; nil if there is none.
func (t *Tasks[T]) End(id string) *Task[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	task := t.byID[id]
	if task != nil {
		task.over = true
	}
	return task
}

// All returns the tasks in the order of their start, and which of them have ended.
func (t *Tasks[T]) All() (tasks []*Task[T], over map[*Task[T]]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	over = map[*Task[T]]bool{}
	for _, task := range t.list {
		over[task] = task.over
	}
	return slices.Clone(t.list), over
}
