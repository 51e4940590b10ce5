package leonardo_test

import (
	"encoding/json"
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
			u, err := b.driver.Start(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.driver.Poll(t.Context(), task, u.Task); err != nil { // now it is complete
				t.Fatal(err)
			}
			q := task
			c.change(&q)
			found, err := b.driver.Find(t.Context(), q, c.since)
			if err != nil || c.found != slices.Equal(found, []generate.Handle{u.Task}) || !c.found && len(found) > 0 {
				t.Errorf("found %v, %v; want %t", found, err, c.found)
			}
			if n := len(b.sim.Captured()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// TestSeedOfItsOwn: where no seed is asked for, each call has one of its own, in the range
// of the model and always the same; a seed that was asked for stays.
func TestSeedOfItsOwn(t *testing.T) {
	t.Parallel()
	b := set(t, leonardosim.Config{}, nil)
	row := model(t, "phoenix_1_0")
	for _, q := range []generate.Task{
		{Key: "operation-1"}, {Key: "operation-1"}, {Key: "operation-2"}, {Key: "operation-1", Seed: pointer(int64(7))}, {},
	} {
		q.Model, q.Prompt = row, "a fox"
		if _, err := b.driver.Start(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	var seeds []int64
	for _, call := range b.sim.Captured() {
		body := struct {
			Seed *int64 `json:"seed"`
		}{}
		if err := json.Unmarshal(call.Body, &body); err != nil {
			t.Fatal(err)
		}
		if body.Seed == nil {
			seeds = append(seeds, -1)
			continue
		}
		seeds = append(seeds, *body.Seed)
	}
	if seeds[0] != seeds[1] || seeds[0] == seeds[2] || seeds[3] != 7 || seeds[4] != -1 || min(seeds[0], seeds[2]) < 0 || max(seeds[0], seeds[2]) > row.MaxSeed {
		t.Errorf("seeds %d", seeds)
	}
}
