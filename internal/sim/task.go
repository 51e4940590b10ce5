package sim

import (
	"net/http"
	"slices"
	"sync"
)

// Task is one result under way at a provider.
type Task[T any] struct {
	ID    string
	Fault Injection
	// Work is what the provider knows of it; it is not changed after [Tasks.Begin].
	Work T

	polls int
	over  bool
}

// Tasks is the table of a provider's tasks. The zero value is empty and ready; it is safe for concurrent use.
type Tasks[T any] struct {
	mu   sync.Mutex // guards all below, and polls and over of each task
	byID map[string]*Task[T]
	list []*Task[T] // in the order in which they began
}

// Begin adds a task, unless so many are unfinished already; 0 is no limit.
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

// Poll finds a task, nil if there is none, and tells whether it is over: that many polls find it unfinished. Of
// the polls of a task with [FaultPollFails], the first gives failing, and the second breaks the connection.
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

// End ends a task; it gives nil if there is none.
func (t *Tasks[T]) End(id string) *Task[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	task := t.byID[id]
	if task != nil {
		task.over = true
	}
	return task
}

// All lists the tasks in the order in which they began, with those that are over.
func (t *Tasks[T]) All() (tasks []*Task[T], over map[*Task[T]]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	over = map[*Task[T]]bool{}
	for _, task := range t.list {
		over[task] = task.over
	}
	return slices.Clone(t.list), over
}
