package ledger

import (
	"context"
	"encoding/json"

	"atelier/media"
)

// Store is the whole ledger. Implementations are safe for concurrent use, even by several processes on one database.
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
	// Writable starts an empty write. It returns the error that any other write would return.
	Writable(ctx context.Context) error
	// InTransaction runs fn; the saves that fn makes with its context become one commit when fn returns nil. A failed
	// save is undone alone, unless fn returns its error. fn reads the state before these saves, makes only saves, one
	// after the other, and may be called again.
	InTransaction(ctx context.Context, fn func(ctx context.Context) error) error
	// Version returns the schema version of the open database.
	Version(ctx context.Context) (int64, error)
	// Close releases the database. Later calls fail.
	Close() error
}

// Page limits. A zero limit means [DefaultLimit]; a limit above [MaxLimit] is reduced to it.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// Page requests a part of a list.
type Page struct {
	// After is the Next of the previous part; empty means the start.
	After string
	// Limit is the maximum number of rows.
	Limit int
}

// EffectiveLimit returns the effective limit.
func (p Page) EffectiveLimit() int {
	if p.Limit <= 0 {
		return DefaultLimit
	}
	return min(p.Limit, MaxLimit)
}

// JSON encodes a value for a column of JSON. A value that cannot be encoded is omitted.
func JSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// List is a part of a list.
type List[T any] struct {
	Items []T `json:"items"`
	// Next identifies the following part; empty in the last part.
	Next string `json:"next"`
}

// AllOf reads a complete list that belongs to one of an owner's rows.
func AllOf[T any](ctx context.Context, list func(ctx context.Context, owner, id string, p Page) (List[T], error), owner, id string) ([]T, error) {
	return All(func(p Page) (List[T], error) { return list(ctx, owner, id, p) })
}

// All reads a complete list.
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
