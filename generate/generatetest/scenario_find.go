package generatetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/media"
)

// mute is a log whose process dies when it is about to save the name of a task.
type mute struct {
	*Log
	dying, dead chan struct{}
	once        *sync.Once
}

// Attempt saves all but that.
func (l mute) Attempt(ctx context.Context, a generate.Attempt) error {
	if a.Status != generate.StatusRunning {
		return l.Log.Attempt(ctx, a)
	}
	l.once.Do(func() { close(l.dying) })
	<-l.dead
	return media.Errorf(media.CodeInternal, "dead")
}

// foundAgain: the process that began a task died with the task's name. Another one finds
// the task in the provider's list and goes on with it; the call is not made again.
func foundAgain(t *testing.T, h Harness) {
	t.Helper()
	dying, dead := make(chan struct{}), make(chan struct{})
	b := h.set(t, func(b *bench, c *generate.Config) { c.Operations = mute{b.log, dying, dead, &sync.Once{}} })
	var first sync.WaitGroup
	ctx, leave := context.WithCancelCause(scoped(t.Context()))
	r := b.request(t, 1)
	first.Go(func() { _, _ = b.gateway.Generate(ctx, r) })
	defer first.Wait()
	defer close(dead)
	defer leave(generate.ErrLeft) // what is left of the first process touches nothing
	<-dying
	id := b.log.IDs()[0]
	if a := b.log.Attempts()[0]; a.Status != generate.StatusSubmitted || a.Task != (generate.Handle{}) {
		t.Fatalf("the first process left %+v", a)
	}
	b.log.Release(id)
	got, err := b.second(t).Resume(scoped(t.Context()), id)
	if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 {
		t.Fatalf("Resume: %+v, %v", got, err)
	}
	if a := b.log.Attempts(); len(a) != 1 || a[0].Task == (generate.Handle{}) || a[0].Status != generate.StatusSucceeded {
		t.Errorf("attempts %+v, want one with its task", a)
	}
	if n := len(b.sim.Captured()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	b.single(t, h, got)
}

// foundAmong: among tasks that differ in nothing but their keys each call finds its own; a
// call that was never made finds none.
func foundAmong(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t, nil)
	d, ok := b.driver.(generate.Listed)
	if !ok {
		t.Fatal("the driver lists no tasks")
	}
	r := b.request(t, 1)
	task := func(key string) generate.Task {
		return generate.Marked(d, generate.Task{Key: key, Method: r.Method, Model: b.model, Prompt: r.Prompt, N: 1, Inputs: r.Inputs, Mask: r.Mask})
	}
	find := func(key string) []generate.Handle {
		found, err := generate.Find(scoped(t.Context()), d, task(key), now())
		if err != nil {
			t.Errorf("Find %s: %v", key, err)
		}
		return found
	}
	const calls = 52 // more than a page
	for i := range calls {
		key := fmt.Sprintf("operation-%d-1", i)
		u, err := d.Start(scoped(t.Context()), task(key))
		if err != nil {
			t.Fatalf("Start: %v", err)
		}
		if i%25 != 0 {
			continue
		}
		defer func() {
			if found := find(key); !slices.Equal(found, []generate.Handle{u.Task}) {
				t.Errorf("found %v of %s, want %s alone", found, key, u.Task.ID)
			}
		}()
	}
	if found := find("operation-99-1"); len(found) > 0 {
		t.Errorf("found %v of a call that was never made", found)
	}
	if n := len(b.sim.Captured()); n != calls {
		t.Errorf("%d calls, want %d", n, calls)
	}
	ctx, stop := context.WithCancel(scoped(t.Context()))
	stop()
	if found, err := generate.Find(ctx, d, task("operation-0-1"), now()); media.CodeOf(err) != media.CodeCancelled || len(found) > 0 {
		t.Errorf("Find for a caller who left: %v, %v", found, err)
	}
}
