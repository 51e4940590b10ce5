package gateway_test

import (
	"context"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// TestPollOnce: PollOnce asks once for each task in progress, and leaves unfinished tasks.
func TestPollOnce(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: task.Key}}, nil
	}
	var mu sync.Mutex // guards wait, polls and there
	wait, polls, there := true, map[string]int{}, ""
	ctx, leave := context.WithCancelCause(t.Context())
	h.gemini.OnPoll = func(call context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		mu.Lock()
		defer mu.Unlock()
		polls[to.ID]++
		if wait && len(polls) == 2 {
			leave(gateway.ErrHandedOver)
		}
		if to.ID == there {
			return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(call, t, uint8(len(there)))}}, nil
		}
		return driver.Update{Task: to}, nil
	}
	got, err := h.Generate(ctx, generate.Request{Model: "Nano Banana Pro", Prompt: "a house", N: 2})
	if err != nil || got.Status != generate.StatusRunning {
		t.Fatalf("%+v, %v", got, err)
	}
	g := h.successor(t, nil)
	mu.Lock()
	wait = false
	mu.Unlock()
	for round, ready := range []string{"", got.Operation + "-1", got.Operation + "-2"} {
		mu.Lock()
		clear(polls)
		there = ready
		mu.Unlock()
		res, err := g.PollOnce(t.Context(), got.Operation)
		if err != nil || len(res.Outputs()) != round || (res.Status == generate.StatusRunning) != (round < 2) {
			t.Fatalf("look %d: %+v, %v", round, res, err)
		}
		for id, n := range polls {
			if n != 1 {
				t.Errorf("look %d: %s was asked for %d times", round, id, n)
			}
		}
		if want := 2 - max(0, round-1); len(polls) != want {
			t.Errorf("look %d: %d tasks were asked for, want %d", round, len(polls), want)
		}
	}
	if n := len(h.gemini.Tasks()); n != 2 {
		t.Errorf("%d calls", n)
	}
	if _, err := g.PollOnce(t.Context(), "nobody"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("an unknown one: %v", err)
	}
}
