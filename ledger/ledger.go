package ledger

import (
	"context"

	"atelier/media"
)

// Store is the whole ledger. Implementations are safe for concurrent use, also by
// several processes on one database.
type Store interface { //nolint:interfacebloat // it only joins the aggregates, each of which is small
	media.Recorder
	Runs
	RunStates
	Prompts
	Media
	RunMedia
	Blobs
	Operations
	Leases
	Budgets
	Events
	Conversations
	ConversationChanges
	Keys
	Contents
	OpenContents
	Interactions
	// Writable begins a write and leaves it empty. Its error is that of any other write.
	Writable(ctx context.Context) error
	// Together runs fn, and the saves that fn makes with the context it is given become
	// one commit when fn returns nil. One that fails undoes itself alone, if fn does not
	// hand its error on. fn reads what was saved before, makes nothing but saves, one after
	// the other, and may run again.
	Together(ctx context.Context, fn func(ctx context.Context) error) error
	// Version is the schema version of the open database.
	Version(ctx context.Context) (int64, error)
	// Close releases the database. Calls after it fail.
	Close() error
}

// Page limits. A zero limit means [DefaultLimit]; a larger one than [MaxLimit] is cut to it.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// Page asks for a part of a list.
type Page struct {
	// After is the Next of the part before; empty means from the start.
	After string
	// Limit is how many rows at most.
	Limit int
}

// Bound returns the limit that holds.
func (p Page) Bound() int {
	if p.Limit <= 0 {
		return DefaultLimit
	}
	return min(p.Limit, MaxLimit)
}

// List is a part of a list.
type List[T any] struct {
	Items []T `json:"items"`
	// Next asks for the following part; empty when this is the last one.
	Next string `json:"next"`
}

// AllOf reads a list of one of an owner's rows to its end.
func AllOf[T any](ctx context.Context, list func(ctx context.Context, owner, id string, p Page) (List[T], error), owner, id string) ([]T, error) {
	return All(func(p Page) (List[T], error) { return list(ctx, owner, id, p) })
}

// All reads a list to its end.
func All[T any](list func(Page) (List[T], error)) ([]T, error) {
	var out []T
	for p := (Page{Limit: MaxLimit}); ; {
		part, err := list(p)
		if err != nil {
			return nil, err
		}
		out = append(out, part.Items...)
		if p.After = part.Next; p.After == "" {
			return out, nil
		}
	}
}
