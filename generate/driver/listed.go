package driver

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"atelier/media/wire"
)

// Listed is a [Driver] whose provider can list its tasks, so that a call whose answer, with the id of its task, was
// lost can be recovered. The driver returns what the list says; [Find] decides which task belongs to a call.
type Listed interface {
	Driver
	// ListsKeys reports whether the list shows [Task.Key]. If not, a task is matched by all other listed facts, and the
	// Gateway gives each task its own seed.
	ListsKeys() bool
	// List returns one page of the list: the first one, with the newest tasks, if from is empty, else the one that the
	// previous page named. It costs nothing and starts nothing. Errors are those of Poll; media.CodeUnsupported or
	// media.CodeNotFound means that this provider has no list and is not asked again.
	List(ctx context.Context, from string) (Listing, error)
}

// Listing is one page of a provider's list of tasks.
type Listing struct {
	Tasks []ListedTask
	// Next requests the next page; empty on the last one.
	Next string
}

// ListedTask is a task in its provider's list. Facts that the list lacks are zero. A task without its key is only
// matched if all other facts are listed, except N, and sides that were not requested.
type ListedTask struct {
	Task Handle
	// Key is the idempotency key of the call.
	Key string
	// Waits reports that the task waits for something before it is processed.
	Waits bool
	// CreatedAt is when the task was created.
	CreatedAt time.Time
	// Model is the provider's name of the model.
	Model                  string
	Prompt, NegativePrompt string
	Seed                   *int64
	Width, Height          int
	// N is the number of results, once it is over.
	N int
}

const (
	// maxListed limits how far back a list is read, in tasks.
	maxListed = 1000
	// skew is how far a provider's clock may lag behind this one.
	skew = time.Minute
)

// WithDerivedSeed returns a task as the Gateway passes it to its driver. If the provider lists tasks without their keys
// and no seed is requested, it derives one from the key, so that more than the prompt identifies the task.
func WithDerivedSeed(d Driver, t Task) Task {
	l, ok := d.(Listed)
	if !ok || l.ListsKeys() || t.Seed != nil || t.Key == "" || t.Model.MaxSeed <= 0 {
		return t
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Key))                        // a hash does not fail
	seed := int64(h.Sum64() % uint64(t.Model.MaxSeed+1)) //nolint:gosec // below MaxSeed, which is positive
	t.Seed = &seed
	return t
}

// Find returns the tasks of a provider's list that may be the one that was started for t, in this or another process,
// at since or later: those with its key, or those that match all listed facts. Similar tasks, and tasks that wait
// before they are processed, are excluded. An empty result does not prove that the call never arrived: lists are
// truncated, providers forget, and a request may still be in transit. Errors are those of [Listed].
func Find(ctx context.Context, d Listed, t Task, since time.Time) ([]Handle, error) {
	t = WithDerivedSeed(d, t)
	if t.Key == "" && t.Seed == nil {
		return nil, nil
	}
	var found []Handle
	for from, read := "", 0; read < maxListed; {
		part, err := d.List(ctx, from)
		if err != nil {
			return nil, err
		}
		recent := false
		for _, l := range part.Tasks {
			recent = recent || !l.before(since)
			if l.matches(t, since) && !slices.Contains(found, l.Task) { // pages shift while they are read
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
	return !l.CreatedAt.IsZero() && l.CreatedAt.Before(since.Add(-skew))
}

// matches reports whether the task may belong to a call. Lists are not trusted: an id that contains media is rejected.
func (l ListedTask) matches(t Task, since time.Time) bool {
	switch id := l.Task.ID; {
	case id == "" || wire.NameMedia(id) != id || l.Waits || l.before(since):
		return false
	case l.Key != "":
		return l.Key == t.Key
	}
	words := func(have, want string) bool { return strings.TrimSpace(have) == strings.TrimSpace(want) }
	side := func(have, want int) bool { return want == 0 || have == want }
	return l.Seed != nil && t.Seed != nil && *l.Seed == *t.Seed && !l.CreatedAt.IsZero() && l.Model == t.Model.APIModel &&
		words(l.Prompt, t.Prompt) && words(l.NegativePrompt, t.NegativePrompt) &&
		side(l.Width, t.Width) && side(l.Height, t.Height) && (l.N == 0 || l.N == max(t.N, 1))
}
