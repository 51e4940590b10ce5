package leonardo_test

import (
	"slices"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest/leonardosim"
)

// TestFind: a generation is the call's only if it is equal in all that the list tells.
func TestFind(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := generate.Task{
		Key: "operation-1", Model: model(t, "phoenix_1_0"), Prompt: "a fox", NegativePrompt: "snow", N: 2, Width: 1024, Height: 576,
	}
	for name, c := range map[string]struct {
		change func(*generate.Task)
		since  time.Time
		found  bool
	}{
		"the call":                 {func(*generate.Task) {}, made, true},
		"a clock that is ahead":    {func(*generate.Task) {}, made.Add(30 * time.Second), true},
		"a generation before":      {func(*generate.Task) {}, made.Add(2 * time.Minute), false},
		"another key":              {func(q *generate.Task) { q.Key = "operation-2" }, made, false},
		"another seed":             {func(q *generate.Task) { q.Seed = pointer(int64(7)) }, made, false},
		"no seed at all":           {func(q *generate.Task) { q.Key = "" }, made, false},
		"another model":            {func(q *generate.Task) { q.Model.APIModel = "anime" }, made, false},
		"other words":              {func(q *generate.Task) { q.Prompt = "a fox in snow" }, made, false},
		"other words to leave out": {func(q *generate.Task) { q.NegativePrompt = "" }, made, false},
		"another width":            {func(q *generate.Task) { q.Width = 1152 }, made, false},
		"another height":           {func(q *generate.Task) { q.Height = 1024 }, made, false},
		"no size of its own":       {func(q *generate.Task) { q.Width, q.Height = 0, 0 }, made, true},
		"more pictures":            {func(q *generate.Task) { q.N = 3 }, made, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := set(t, leonardosim.Config{Pending: -1}, nil)
			u, err := b.driver.Start(t.Context(), generate.Marked(b.driver, task))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.driver.Poll(t.Context(), task, u.Task); err != nil { // now it is complete
				t.Fatal(err)
			}
			q := task
			c.change(&q)
			found, err := generate.Find(t.Context(), b.driver, q, c.since)
			if err != nil || c.found != slices.Equal(found, []generate.Handle{u.Task}) || !c.found && len(found) > 0 {
				t.Errorf("found %v, %v; want %t", found, err, c.found)
			}
			if n := len(b.sim.Captured()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}
