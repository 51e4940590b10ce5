package gateway_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// paged is a provider's list in parts.
type paged struct {
	*generatetest.Driver
	keys  bool
	parts [][]driver.ListedTask
	read  int
	fails int // the part that fails, or 0
}

func (p *paged) ListsKeys() bool { return p.keys }

func (p *paged) List(_ context.Context, from string) (driver.Listing, error) {
	p.read++
	at, _ := strconv.Atoi(from)
	if p.fails > 0 && at+1 == p.fails {
		return driver.Listing{}, media.Errorf(media.CodeUnavailable, "away")
	}
	l := driver.Listing{Tasks: p.parts[at]}
	if at+1 < len(p.parts) {
		l.Next = strconv.Itoa(at + 1)
	}
	return l, nil
}

// anyTask returns a call with settings drawn from so few that calls are often equal.
func anyTask(r *rand.Rand, number int) driver.Task {
	word := func(all ...string) string { return all[r.IntN(len(all))] }
	t := driver.Task{
		Key: fmt.Sprintf("operation-%d", number), Model: catalog.Model{APIModel: word("one", "two"), SettingRules: catalog.SettingRules{MaxSeed: 1 << 40}},
		Prompt: word("a fox", "a house "), NegativePrompt: word("", "rain"), N: r.IntN(3), Width: 512 * r.IntN(3), Height: 512 * r.IntN(3),
	}
	if r.IntN(3) == 0 {
		seed := r.Int64N(2)
		t.Seed = &seed
	}
	return t
}

// listedAs returns how a faithful list describes a call's task.
func listedAs(p *paged, t driver.Task, number int) driver.ListedTask {
	l := driver.ListedTask{Task: driver.Handle{ID: strconv.Itoa(number)}, CreatedAt: day(11, 21)}
	if p.keys {
		l.Key = t.Key
		return l
	}
	l.Model, l.Prompt, l.NegativePrompt, l.Seed = t.Model.APIModel, t.Prompt, t.NegativePrompt, driver.WithDerivedSeed(p, t).Seed
	l.Width, l.Height, l.N = max(t.Width, 8), max(t.Height, 8), max(t.N, 1)
	return l
}

// TestListedTasksAreDistinguished: whatever else a list holds, a call finds its own task, and another call's only if
// nothing listed differs; then it finds both, so that neither is taken.
func TestListedTasksAreDistinguished(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 5))
	for range 300 {
		p := &paged{keys: r.IntN(2) == 0, parts: make([][]driver.ListedTask, 3)}
		var calls []driver.Task
		for i := range 12 {
			calls = append(calls, anyTask(r, i))
			at := r.IntN(len(p.parts))
			p.parts[at] = append(p.parts[at], listedAs(p, calls[i], i))
		}
		p.parts = slices.DeleteFunc(p.parts, func(part []driver.ListedTask) bool { return len(part) == 0 })
		for i, c := range calls {
			var want []string
			for j, other := range calls {
				a, b := driver.WithDerivedSeed(p, c), driver.WithDerivedSeed(p, other)
				if p.keys {
					a, b = driver.Task{Key: a.Key}, driver.Task{Key: b.Key}
				} else {
					a.Key, b.Key, a.N, b.N = "", "", max(a.N, 1), max(b.N, 1)
				}
				if a.Width == 0 { // the provider decides, so any value matches
					b.Width = 0
				}
				if a.Height == 0 {
					b.Height = 0
				}
				if cmp.Equal(a, b) {
					want = append(want, strconv.Itoa(j))
				}
			}
			found, err := driver.Find(t.Context(), p, c, day(11, 21))
			var got []string
			for _, h := range found {
				got = append(got, h.ID)
			}
			slices.Sort(got)
			slices.Sort(want)
			if err != nil || !slices.Equal(got, want) || !slices.Contains(got, strconv.Itoa(i)) {
				t.Fatalf("keys %v, call %d %+v found %v, %v; want %v", p.keys, i, c, got, err, want)
			}
		}
	}
}

// TestSimilarTasksAreNotEqual: one listed value that differs or is missing makes it another task.
func TestSimilarTasksAreNotEqual(t *testing.T) {
	t.Parallel()
	call := driver.Task{
		Key: "operation-1", Model: catalog.Model{APIModel: "one", SettingRules: catalog.SettingRules{MaxSeed: 99}}, Prompt: "a fox", NegativePrompt: "rain", N: 2, Width: 512, Height: 768,
	}
	for name, c := range map[string]struct {
		change func(*driver.ListedTask)
		found  bool
	}{
		"equal":                    {func(*driver.ListedTask) {}, true},
		"blanks":                   {func(l *driver.ListedTask) { l.Prompt = " a fox\n" }, true},
		"not over":                 {func(l *driver.ListedTask) { l.N = 0 }, true},
		"a clock that is behind":   {func(l *driver.ListedTask) { l.CreatedAt = l.CreatedAt.Add(-30 * time.Second) }, true},
		"before":                   {func(l *driver.ListedTask) { l.CreatedAt = l.CreatedAt.Add(-2 * time.Minute) }, false},
		"at no time":               {func(l *driver.ListedTask) { l.CreatedAt = time.Time{} }, false},
		"another seed":             {func(l *driver.ListedTask) { l.Seed = new(int64(100)) }, false},
		"no seed":                  {func(l *driver.ListedTask) { l.Seed = nil }, false},
		"another model":            {func(l *driver.ListedTask) { l.Model = "two" }, false},
		"other words":              {func(l *driver.ListedTask) { l.Prompt = "A fox" }, false},
		"other words to leave out": {func(l *driver.ListedTask) { l.NegativePrompt = "" }, false},
		"another width":            {func(l *driver.ListedTask) { l.Width = 0 }, false},
		"another height":           {func(l *driver.ListedTask) { l.Height = 512 }, false},
		"more results":             {func(l *driver.ListedTask) { l.N = 3 }, false},
		"waits":                    {func(l *driver.ListedTask) { l.Waits = true }, false},
		"another key":              {func(l *driver.ListedTask) { l.Key = "operation-2" }, false},
		"its key and no more":      {func(l *driver.ListedTask) { *l = driver.ListedTask{Task: l.Task, Key: "operation-1"} }, true},
		"its key, before":          {func(l *driver.ListedTask) { l.Key, l.CreatedAt = "operation-1", l.CreatedAt.Add(-2*time.Minute) }, false},
		"no name":                  {func(l *driver.ListedTask) { l.Task = driver.Handle{} }, false},
		"media for a name":         {func(l *driver.ListedTask) { l.Task.ID = strings.Repeat("iVBORw0KGgo", 24) }, false},
	} {
		p := &paged{}
		own := listedAs(p, call, 1)
		c.change(&own)
		p.parts = [][]driver.ListedTask{{own}}
		found, err := driver.Find(t.Context(), p, call, day(11, 21))
		if err != nil || (len(found) == 1) != c.found {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
	p := &paged{parts: [][]driver.ListedTask{{{Task: driver.Handle{ID: "1"}, CreatedAt: day(11, 21)}}}}
	if found, err := driver.Find(t.Context(), p, driver.Task{}, day(11, 21)); err != nil || len(found) > 0 || p.read > 0 {
		t.Errorf("a call that is known by nothing: found %v, %v", found, err)
	}
}

// TestHowFarListsAreRead: a list is read to its end, to the limit, or to the first part that is entirely older than the
// call; a task that is listed twice, because parts shift, counts once.
func TestHowFarListsAreRead(t *testing.T) {
	t.Parallel()
	call := driver.Task{Key: "operation-1"}
	part := func(n int, at time.Time, ids ...string) (l []driver.ListedTask) {
		for range n {
			l = append(l, driver.ListedTask{Task: driver.Handle{ID: "other"}, Key: "another", CreatedAt: at})
		}
		for _, id := range ids {
			l = append(l, driver.ListedTask{Task: driver.Handle{ID: id}, Key: call.Key, CreatedAt: at})
		}
		return l
	}
	now, old := day(11, 21), day(11, 20)
	for name, c := range map[string]struct {
		parts [][]driver.ListedTask
		fails int
		read  int
		found []driver.Handle
	}{
		"to the end":        {[][]driver.ListedTask{part(2, now), part(2, now, "a")}, 0, 2, handles("a")},
		"told twice":        {[][]driver.ListedTask{part(2, now, "a"), part(0, now, "a")}, 0, 2, handles("a")},
		"two equal":         {[][]driver.ListedTask{part(2, now, "a"), part(0, now, "b")}, 0, 2, handles("a", "b")},
		"to what is older":  {[][]driver.ListedTask{part(2, now), part(2, old), part(0, now, "a")}, 0, 2, nil},
		"out of order":      {[][]driver.ListedTask{append(part(2, old), part(1, now)...), part(0, now, "a")}, 0, 2, handles("a")},
		"times are unknown": {[][]driver.ListedTask{part(2, time.Time{}), part(0, time.Time{}, "a")}, 0, 2, handles("a")},
		"an empty part":     {[][]driver.ListedTask{nil, part(0, now, "a")}, 0, 1, nil},
		"a bound":           {slices.Repeat([][]driver.ListedTask{part(500, now)}, 9), 0, 2, nil},
		"not in half":       {[][]driver.ListedTask{part(2, now, "a"), part(2, now)}, 2, 2, nil},
	} {
		p := &paged{keys: true, parts: c.parts, fails: c.fails}
		found, err := driver.Find(t.Context(), p, call, now)
		if (err != nil) != (c.fails > 0) || p.read != c.read || !slices.Equal(found, c.found) {
			t.Errorf("%s: found %v in %d parts, %v", name, found, p.read, err)
		}
	}
}

// TestSeedOfItsOwn: if a list shows no keys and no seed is requested, each call gets its own seed, within the model's
// range and always the same; a requested seed is kept.
func TestSeedOfItsOwn(t *testing.T) {
	t.Parallel()
	row := catalog.Model{SettingRules: catalog.SettingRules{MaxSeed: 9_999}}
	seeds := map[string]int64{}
	for _, key := range []string{"operation-1", "operation-2", "operation-1"} {
		got := driver.WithDerivedSeed(&paged{}, driver.Task{Key: key, Model: row}).Seed
		if got == nil || *got < 0 || *got > row.MaxSeed || seeds[key] != 0 && seeds[key] != *got {
			t.Fatalf("%s has the seed %v", key, got)
		}
		seeds[key] = *got
	}
	if len(seeds) != 2 || seeds["operation-1"] == seeds["operation-2"] {
		t.Errorf("seeds %v", seeds)
	}
	if got := driver.WithDerivedSeed(&paged{}, driver.Task{Key: "operation-1", Model: row, Seed: new(int64(7))}).Seed; *got != 7 {
		t.Errorf("7 was asked for, and is %d", *got)
	}
	for name, d := range map[string]driver.Driver{"keys": &paged{keys: true}, "no list": &generatetest.Driver{}} {
		if got := driver.WithDerivedSeed(d, driver.Task{Key: "operation-1", Model: row}).Seed; got != nil {
			t.Errorf("%s: an unnecessary seed %d", name, *got)
		}
	}
	if got := driver.WithDerivedSeed(&paged{}, driver.Task{Key: "operation-1"}).Seed; got != nil {
		t.Errorf("a seed %d of a model without seeds", *got)
	}
}

// TestCallsAreMarked: a seed that the Gateway derives goes to the driver and is not reported to the caller.
func TestCallsAreMarked(t *testing.T) {
	t.Parallel()
	p := &paged{}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		p.Driver, c.Drivers[1] = h.gemini, p
		row := catalog.Model{
			Name:         "Listed",
			Provider:     "gemini",
			APIModel:     "listed",
			Modality:     media.ModalityImage,
			Methods:      []generate.Method{generate.MethodGenerate},
			Size:         catalog.SizeRule{Mode: "none"},
			SettingRules: catalog.SettingRules{MaxN: 1, MaxSeed: 9_999, Supports: []string{"seed"}},
		}
		var err error
		if c.Catalogue, err = catalog.New(row); err != nil {
			t.Fatal(err)
		}
	})
	got := h.must(t, generate.Request{Model: "Listed", N: 2})
	tasks := h.gemini.Tasks()
	if len(tasks) != 2 || tasks[0].Seed == nil || tasks[1].Seed == nil || *tasks[0].Seed == *tasks[1].Seed {
		t.Fatalf("calls %+v", tasks)
	}
	if slices.ContainsFunc(got.Dispositions, func(d generate.Disposition) bool { return d.Setting == "seed" }) {
		t.Errorf("no seed was requested: %+v", got.Dispositions)
	}
}
