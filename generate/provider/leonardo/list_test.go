package leonardo_test

import (
	"slices"
	"testing"
	"time"

	"atelier/generate/driver"
	"atelier/generate/generatetest/leonardosim"
)

// TestFind: a generation belongs to a call only if it is equal in all that the list shows.
func TestFind(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := driver.Task{
		Key: "operation-1", Model: model(t, "phoenix_1_0"), Prompt: "a fox", NegativePrompt: "snow", N: 2, Width: 1024, Height: 576,
	}
	for name, c := range map[string]struct {
		change func(*driver.Task)
		since  time.Time
		found  bool
	}{
		"the call":                 {func(*driver.Task) {}, made, true},
		"a clock that is ahead":    {func(*driver.Task) {}, made.Add(30 * time.Second), true},
		"a generation before":      {func(*driver.Task) {}, made.Add(2 * time.Minute), false},
		"another key":              {func(q *driver.Task) { q.Key = "operation-2" }, made, false},
		"another seed":             {func(q *driver.Task) { q.Seed = pointer(int64(7)) }, made, false},
		"no seed at all":           {func(q *driver.Task) { q.Key = "" }, made, false},
		"another model":            {func(q *driver.Task) { q.Model.APIModel = "anime" }, made, false},
		"other words":              {func(q *driver.Task) { q.Prompt = "a fox in snow" }, made, false},
		"other words to leave out": {func(q *driver.Task) { q.NegativePrompt = "" }, made, false},
		"another width":            {func(q *driver.Task) { q.Width = 1152 }, made, false},
		"another height":           {func(q *driver.Task) { q.Height = 1024 }, made, false},
		"no size of its own":       {func(q *driver.Task) { q.Width, q.Height = 0, 0 }, made, true},
		"more pictures":            {func(q *driver.Task) { q.N = 3 }, made, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := set(t, leonardosim.Config{Pending: -1}, nil)
			u, err := b.driver.Start(t.Context(), driver.WithDerivedSeed(b.driver, task))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.driver.Poll(t.Context(), task, u.Task); err != nil { // now complete
				t.Fatal(err)
			}
			q := task
			c.change(&q)
			found, err := driver.Find(t.Context(), b.driver, q, c.since)
			if err != nil || c.found != slices.Equal(found, []driver.Handle{u.Task}) || !c.found && len(found) > 0 {
				t.Errorf("found %v, %v; want %t", found, err, c.found)
			}
			if n := len(b.sim.Captured()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}
