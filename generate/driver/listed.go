package driver

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"atelier/media/wire"
)

// Listed is a [Driver] whose provider can be asked which tasks there are, so that a call
// is not given up whose answer, and with it the name of its task, was lost. The driver tells
// what the list says; which task is that of a call is decided by [Find].
type Listed interface {
	Driver
	// ListsKeys reports whether the list shows [Task.Key]. Where it does not, a task is known by
	// all that the list tells of it, and the Gateway gives each one a seed of its own.
	ListsKeys() bool
	// List reads a part of the list: the first one, with the newest tasks, if from is empty, else the one that the part
	// before named. It costs nothing and begins nothing. Errors are those of Poll; media.CodeUnsupported or
	// media.CodeNotFound says that this provider has no list, so that it is not asked again.
	List(ctx context.Context, from string) (Listing, error)
}

// Listing is a part of a provider's list of tasks.
type Listing struct {
	Tasks []ListedTask
	// Next asks for the part behind this one; empty where there is none.
	Next string
}

// ListedTask is a task as its provider's list tells it. What the list does not tell is zero. A task without its key is
// known only where the rest is told: all of it but N, and sides that nobody asked for.
type ListedTask struct {
	Task Handle
	// Key is the key that came with the call.
	Key string
	// Waits says that the task waits for something before it is worked on.
	Waits bool
	// Made is when the task was begun.
	Made time.Time
	// Model is what the provider calls the model.
	Model                  string
	Prompt, NegativePrompt string
	Seed                   *int64
	Width, Height          int
	// N is how many results it made, once it is over.
	N int
}

const (
	// mostListed bounds how far back a list is read, in tasks.
	mostListed = 1000
	// skew is how far a provider's clock may be behind this one.
	skew = time.Minute
)

// Recognizable gives a task as the Gateway hands it to its driver: where the provider lists its
// tasks without their keys and nobody asks for a seed, one is drawn from the key, so that the
// task is known among the others by more than its words.
func Recognizable(d Driver, t Task) Task {
	l, ok := d.(Listed)
	if !ok || l.ListsKeys() || t.Seed != nil || t.Key == "" || t.Model.MaxSeed <= 0 {
		return t
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Key))                        // a hash does not fail
	seed := int64(h.Sum64() % uint64(t.Model.MaxSeed+1)) //nolint:gosec // Below MaxSeed, which is positive.
	t.Seed = &seed
	return t
}

// Find gives the tasks of a provider's list that can be the one that was begun for t, in this process or another, at
// since or later: those that bear its key, or that are equal to it in all that the list tells. What is merely alike is
// left out, and so is what waits before it is worked on. None is no proof that the call did not arrive: lists are cut
// off, providers forget, and a request may still be on its way. Errors are those of [Listed].
func Find(ctx context.Context, d Listed, t Task, since time.Time) ([]Handle, error) {
	t = Recognizable(d, t)
	if t.Key == "" && t.Seed == nil {
		return nil, nil
	}
	var found []Handle
	for from, read := "", 0; read < mostListed; {
		part, err := d.List(ctx, from)
		if err != nil {
			return nil, err
		}
		recent := false
		for _, l := range part.Tasks {
			recent = recent || !l.before(since)
			if l.of(t, since) && !slices.Contains(found, l.Task) { // parts move while they are read
				found = append(found, l.Task)
			}
		}
		if !recent || part.Next == "" || part.Next == from {
			break
		}
		from, read = part.Next, read+len(part.Tasks)
	}
	return found, nil
}

func (l ListedTask) before(since time.Time) bool {
	return !l.Made.IsZero() && l.Made.Before(since.Add(-skew))
}

// of reports whether the task can be the one of a call. A list is not trusted: a name that holds media is none.
func (l ListedTask) of(t Task, since time.Time) bool {
	switch id := l.Task.ID; {
	case id == "" || wire.NameMedia(id) != id || l.Waits || l.before(since):
		return false
	case l.Key != "":
		return l.Key == t.Key
	}
	words := func(have, want string) bool { return strings.TrimSpace(have) == strings.TrimSpace(want) }
	side := func(have, want int) bool { return want == 0 || have == want }
	return l.Seed != nil && t.Seed != nil && *l.Seed == *t.Seed && !l.Made.IsZero() && l.Model == t.Model.APIModel &&
		words(l.Prompt, t.Prompt) && words(l.NegativePrompt, t.NegativePrompt) &&
		side(l.Width, t.Width) && side(l.Height, t.Height) && (l.N == 0 || l.N == max(t.N, 1))
}
