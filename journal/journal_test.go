package journal_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"atelier/journal"
	"atelier/journal/journaltest"
	"atelier/journal/step"
	"atelier/media"
)

// memory runs workflows on a journal that keeps nothing.
type memory struct{}

func (memory) Run(t *testing.T, _ string, work journaltest.Work) {
	t.Helper()
	if err := work(t.Context(), journal.Memory{}); err != nil {
		t.Fatal(err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, journaltest.Config{Open: func(*testing.T) journaltest.Place { return memory{} }})
}

// transcripts runs workflows again with the steps in the transcript of the previous run.
type transcripts struct {
	twice bool

	mu    sync.Mutex // guards known
	known map[string]map[string][]byte
}

func (p *transcripts) Run(t *testing.T, id string, work journaltest.Work) {
	t.Helper()
	p.mu.Lock()
	known := p.known[id]
	p.mu.Unlock()
	var inner journal.Journal = journal.Memory{}
	if p.twice { // a transcript may wrap another one
		inner, known = journal.NewTranscript(inner, known), nil
	}
	j := journal.NewTranscript(inner, known)
	if err := work(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[id] = j.Steps()
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	for name, twice := range map[string]bool{"alone": false, "over another": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journaltest.Run(t, journaltest.Config{
				Open: func(*testing.T) journaltest.Place {
					return &transcripts{twice: twice, known: map[string]map[string][]byte{}}
				},
				Remembers: true,
			})
		})
	}
}

// TestTranscriptIsPortable: a transcript's steps have their full names, and a result that is added under such a name
// replaces the step.
func TestTranscriptIsPortable(t *testing.T) {
	t.Parallel()
	work := func(ctx context.Context, j journal.Journal) (string, error) {
		child, err := j.Child(ctx, named("writer"))
		if err != nil {
			return "", err
		}
		b, err := child.Step(ctx, named("ask"), func(context.Context) ([]byte, error) { return nil, errors.New("waits") })
		return string(b), err
	}
	first := journal.NewTranscript(journal.Memory{}, nil)
	if _, err := work(t.Context(), first); err == nil || len(first.Steps()) != 0 {
		t.Fatalf("got %v, %q", err, first.Steps())
	}
	known := first.Steps()
	known["writer/ask"] = []byte(`"blue"`)
	second := journal.NewTranscript(journal.Memory{}, known)
	delete(known, "writer/ask")
	got, err := work(t.Context(), second)
	if err != nil || got != `"blue"` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, ok := second.Steps()["writer/ask"]; !ok || second.Name(named("ask")) != "ask" {
		t.Error("the answer is not known by its full name")
	}
}

func TestIDsSortInTheirOrder(t *testing.T) {
	t.Parallel()
	const root = "019ba3f2-1c00-7fff-bfff-ffffffffffff"
	ids := []string{root}
	for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 255}, {1, 4095}, {2, 0}, {200, 3}, {4095, 1}} {
		id := journal.ID(root, "act", at[0], at[1])
		if len(id) != 36 || id[14] != '7' {
			t.Fatalf("id %q", id)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids are not in order: %q", ids)
	}
	again, other := journal.ID(root, "act", 1, 255), journal.ID(root, "prompt", 1, 255)
	if again != ids[4] || other == again {
		t.Errorf("ids %q, %q and %q", ids[4], again, other)
	}
	seen := map[string]bool{}
	for _, own := range []string{"", "run-1", "run-2", "019ba3f2-1c00-4fff-bfff-ffffffffffff", root + "00"} {
		first, second := journal.ID(own, "act", 1, 1), journal.ID(own, "act", 1, 2)
		if len(first) != 36 || first[14] != '7' || first >= second || seen[first[:13]] || first != journal.ID(own, "act", 1, 1) {
			t.Errorf("%q gave %q and %q", own, first, second)
		}
		seen[first[:13]] = true
	}
}

// TestEnding: a call that may be billed ends with its caller, or after the grace period if the caller hands over.
func TestEnding(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "kept"))
	call, over := journal.WithHandOverGrace(ctx)
	defer over()
	if call.Value(key{}) != "kept" || call.Err() != nil {
		t.Errorf("%v, %v", call.Value(key{}), call.Err())
	}
	gone := errors.New("gone")
	cancel(gone)
	if <-call.Done(); !errors.Is(context.Cause(call), gone) {
		t.Errorf("ended because of %v", context.Cause(call))
	}

	ctx, leave := context.WithCancelCause(t.Context())
	leaving, over := journal.WithHandOverGrace(ctx)
	defer over()
	brief, overBrief := journal.WithHandOverGrace(ctx)
	leave(journal.HandOver(time.Hour))
	if !journal.HandedOver(ctx) || leaving.Err() != nil {
		t.Errorf("left: %v, the call: %v", journal.HandedOver(ctx), leaving.Err())
	}
	overBrief()
	<-brief.Done() // nothing waits for the grace period of a call that has ended

	ctx, leave = context.WithCancelCause(t.Context())
	short, over := journal.WithHandOverGrace(ctx)
	defer over()
	leave(journal.HandOver(time.Millisecond))
	if <-short.Done(); !journal.HandedOver(short) {
		t.Errorf("ended because of %v", context.Cause(short))
	}
}

// TestDo: a value means the same when it is new and when it is recorded; errors are not recorded.
func TestDo(t *testing.T) {
	t.Parallel()
	j := journal.NewTranscript(journal.Memory{}, map[string][]byte{"images": []byte("{")})
	name := step.Name{Kind: step.KindGiven}
	failed := errors.New("no disk")
	var calls int
	given := func(context.Context) (step.Given, error) {
		if calls++; calls == 1 {
			return step.Given{}, failed
		}
		return step.Given{Answer: "a", Warnings: []string{"w"}}, nil
	}
	if _, err := journal.Do(t.Context(), j, name, given); !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	for range 2 {
		got, err := journal.Do(t.Context(), j, name, given)
		if err != nil || got.Answer != "a" || !slices.Equal(got.Warnings, []string{"w"}) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if calls != 2 {
		t.Errorf("ran %d times, want 2", calls)
	}
	_, err := journal.Do(t.Context(), j, step.Name{Kind: step.KindImages}, given)
	if media.CodeOf(err) != media.CodeCorrupt {
		t.Errorf("broken content: %v, want %s", err, media.CodeCorrupt)
	}
}
