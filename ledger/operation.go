package ledger

import (
	"context"
	"encoding/json"
	"time"

	"atelier/media"
)

// LongestHold is the longest that the right to work on an operation is held at once; it is renewed while
// somebody works.
const LongestHold = time.Hour

// Operation is one journalled generation: its intent is saved before any billable
// call, its receipt after.
type Operation struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	Tree  string `json:"tree"`
	RunID string `json:"run_id,omitempty"`
	// StepID is the step that asked for it.
	StepID string `json:"step_id,omitempty"`
	// Key is the idempotency key, unique per owner; empty means none.
	Key string `json:"idempotency_key,omitempty"`
	// Status is queued (no call was made), submitted (one was sent), running (a provider has
	// a task of it), succeeded, partial, failed, moderated or cancelled.
	Status   string         `json:"status"`
	Method   string         `json:"method,omitempty"`
	Modality media.Modality `json:"modality,omitempty"`
	Provider string         `json:"provider,omitempty"`
	// Model is the display name, APIModel the provider's id.
	Model    string `json:"model,omitempty"`
	APIModel string `json:"api_model,omitempty"`
	// Request, Dispositions, Usage and Metadata are small JSON without media.
	Request      json.RawMessage `json:"request,omitempty"`
	Dispositions json.RawMessage `json:"dispositions,omitempty"`
	Usage        json.RawMessage `json:"usage,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Warnings     []string        `json:"warnings,omitempty"`
	// EstimatedUSD and ReportedUSD are nil when unknown.
	EstimatedUSD *string `json:"estimated_usd"`
	ReportedUSD  *string `json:"reported_usd"`
	Failure      Failure `json:"failure,omitzero"`

	// HeldBy works on it, or did last, until HeldUntil alone; both are written by
	// BeginOperation. One that is not finished and not held was left.
	HeldBy    string    `json:"-"`
	HeldUntil time.Time `json:"held_until,omitzero"`

	FinishedAt time.Time `json:"finished_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Slot is one of the results that an operation was asked for.
type Slot struct {
	OperationID string `json:"operation_id"`
	// Index counts from 1.
	Index         int             `json:"index"`
	Status        string          `json:"status"`
	MediaID       string          `json:"media_id,omitempty"`
	Ref           media.Ref       `json:"ref,omitempty"`
	Digest        media.Digest    `json:"digest,omitzero"`
	RevisedPrompt string          `json:"revised_prompt,omitempty"`
	Seed          *int64          `json:"seed,omitempty"`
	Safety        json.RawMessage `json:"safety,omitempty"`
	Failure       Failure         `json:"failure,omitzero"`
	UpdatedAt     time.Time       `json:"updated_at"`
}

// Task is one call to a provider on behalf of an operation.
type Task struct {
	ID          string `json:"id"`
	OperationID string `json:"operation_id"`
	// Call and Attempt count from 1: which part of a split, and which try of it.
	Call    int `json:"call"`
	Attempt int `json:"attempt"`
	// Key is the idempotency key that the provider was given.
	Key      string `json:"idempotency_key,omitempty"`
	Provider string `json:"provider,omitempty"`
	// TaskID is the provider's id of an asynchronous task, saved before the first poll.
	TaskID string `json:"task_id,omitempty"`
	Status string `json:"status"`
	// Detail is small JSON without media: the slots it fills, usage, reported cost.
	Detail     json.RawMessage `json:"detail,omitempty"`
	Failure    Failure         `json:"failure,omitzero"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// OperationQuery narrows a list of operations; zero fields match all.
type OperationQuery struct {
	Tree   string
	Status string
	Page
}

// Left reports whether nobody works on an operation that is not finished.
func (o Operation) Left(now time.Time) bool {
	return o.FinishedAt.IsZero() && (o.HeldUntil.Before(now) || o.HeldUntil.After(now.Add(LongestHold)))
}

// Operations keeps generations, their slots and their provider calls.
type Operations interface { //nolint:interfacebloat // the life of one operation, and who works on it
	// BeginOperation saves the intent. An id or idempotency key that exists is media.CodeConflict.
	BeginOperation(ctx context.Context, o Operation) error
	// FinishOperation saves the receipt: status, model, dispositions, usage, metadata,
	// warnings, money and failure. With a FinishedAt nobody holds the operation any longer. Doing it again overwrites.
	// With a HeldBy it is media.CodeConflict if somebody else has held it since.
	FinishOperation(ctx context.Context, o Operation) error
	// ReopenOperation makes a finished operation, which o.HeldBy holds, one that is under
	// way: with the request, the status and the hold of o, without an end or a failure, and
	// without the slots given, whose failures stay with their calls. It is media.CodeConflict for one that is not
	// finished, or not held so, and media.CodeNotFound if the owner has none.
	ReopenOperation(ctx context.Context, o Operation, slots []int) error
	// SaveSlot inserts or overwrites a slot by operation and index.
	SaveSlot(ctx context.Context, s Slot) error
	// SaveTask inserts or overwrites a provider call by id. With a call that is submitted or
	// running, an operation that is not finished becomes so, in the same commit; it never
	// goes back.
	SaveTask(ctx context.Context, t Task) error
	// Operation reads one with its slots and provider calls.
	Operation(ctx context.Context, owner, id string) (Operation, []Slot, []Task, error)
	// OperationByKey finds one by its idempotency key.
	OperationByKey(ctx context.Context, owner, key string) (Operation, error)
	// HoldOperation takes or keeps the sole right to work on an operation until the
	// time given; a zero time gives it up. It is media.CodeConflict while somebody else
	// holds it. A hold that would last longer than LongestHold from now is none: a clock was wrong.
	HoldOperation(ctx context.Context, owner, id, holder string, until time.Time) error
	// OperationOfTask finds the operation of a provider's task, whoever owns it: a
	// provider's notification knows no owner.
	OperationOfTask(ctx context.Context, provider, taskID string) (Operation, error)
	// AnyOperation reads one, whoever owns it, for the same reason.
	AnyOperation(ctx context.Context, id string) (Operation, error)
	// AdriftBlobs lists what arrived for an operation and is in none of its slots, oldest
	// first: a process died between the two, before or after it saved the record. What a slot
	// names and no record does is among them, because the record could not be saved; kept
	// previews, and what other media were made from, are not.
	AdriftBlobs(ctx context.Context, owner, operation string) ([]Blob, error)
	// ListOperations lists operations, newest first.
	ListOperations(ctx context.Context, owner string, q OperationQuery) (List[Operation], error)
}
