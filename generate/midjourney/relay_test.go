package midjourney_test

import (
	"context"
	"errors"
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/midjourney"
	"atelier/journal"
)

// TestWindowOfADeadProcess: a process died between the job and the answer to its window. The next one
// recalls the job and answers the window; whoever comes after recalls both.
func TestWindowOfADeadProcess(t *testing.T) {
	t.Parallel()
	s := newStudio(t, midjourneysim.Config{})
	tile := s.made(t, task(t, nil), 1)
	single := s.made(t, following(t, tile, map[string]any{"action": "upscale"}), 0)
	mask := s.put(t, generatetest.PNG(64, 48, 255))
	q := following(t, single, nil)
	q.Method, q.Prompt, q.Mask = generate.MethodEdit, "a red door", &mask

	dead := errors.New("dead")
	relay := &generatetest.Relay{OnKept: func(context.Context, string) error { return dead }}
	d, err := midjourney.New(midjourney.Config{ProxyURL: s.base + "/mj/", Secret: s.sim.Key(), Codec: s.codec, Base: relay.Transport(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := relay.Prepare("c"); err != nil {
		t.Fatal(err)
	}
	before := len(s.sim.Captured())
	start := func(recalled bool, want int) generate.Update {
		u, err := d.Start(journal.WithCarried(s.ctx, &journal.Carried{ID: "c", Recalled: recalled}), q)
		if (err == nil) != (u.Task.ID != "") || len(s.sim.Captured()) != before+want {
			t.Errorf("Start: %+v, %v; %d requests, want %d", u, err, len(s.sim.Captured())-before, want)
		}
		return u
	}
	start(false, 1)
	relay.OnKept = nil
	first := start(true, 2)
	if path, _ := s.sent(t); path != "/mj/submit/modal" {
		t.Errorf("sent to %s", path)
	}
	if again := start(true, 2); again.Task != first.Task {
		t.Errorf("recalled %v, it was %v", again.Task, first.Task)
	}
}
