package ledger

import (
	"context"
	"encoding/json"
	"time"

	"atelier/media"
)

// Operation is one journalled generation: its intent is saved before any billable call, its receipt afterwards.
type Operation struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	Tree  string `json:"tree"`
	RunID string `json:"run_id,omitempty"`
	// StepID is the step that requested it.
	StepID string `json:"step_id,omitempty"`
	// Key is the idempotency key, unique per owner; empty means none.
	Key string `json:"idempotency_key,omitempty"`
	// Status is queued (no call was made), submitted (a call was sent), running (a provider has a task for it),
	// succeeded, partial, failed, moderated or cancelled.
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
	// EstimatedUSD and ReportedUSD are nil if unknown.
	EstimatedUSD *string `json:"estimated_usd"`
	ReportedUSD  *string `json:"reported_usd"`
	Failure      Failure `json:"failure,omitzero"`

	// HeldBy is the holder of the operation's lease and HeldUntil the end of the lease; both are empty if no process
	// works on it. They are read-only.
	HeldBy    string    `json:"-"`
	HeldUntil time.Time `json:"held_until,omitzero"`

	FinishedAt time.Time `json:"finished_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Slot is the place of one requested result in an operation.
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

// Task is one call to a provider for an operation.
type Task struct {
	ID          string `json:"id"`
	OperationID string `json:"operation_id"`
	// Call and Attempt count from 1: the part of a split request, and the attempt at it.
	Call    int `json:"call"`
	Attempt int `json:"attempt"`
	// Key is the idempotency key sent to the provider.
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

// OperationQuery filters a list of operations; zero fields match all.
type OperationQuery struct {
	Tree   string
	Status string
	Page
}

// Orphaned reports whether an operation is unfinished and no process works on it.
func (o Operation) Orphaned() bool { return o.FinishedAt.IsZero() && o.HeldUntil.IsZero() }

// Operations stores generations, their slots and their provider calls.
type Operations interface { //nolint:interfacebloat // the life of one operation, and who works on it
	// BeginOperation saves the intent. The error has code media.CodeConflict if the id or idempotency key exists.
	BeginOperation(ctx context.Context, o Operation) error
	// FinishOperation saves the receipt: status, model, dispositions, usage, metadata, warnings, money and failure.
	// With a FinishedAt, it releases the operation's lease. A second call overwrites.
	FinishOperation(ctx context.Context, o Operation) error
	// ReopenOperation reopens a finished operation: with the request and the status of o, without an end or a failure,
	// and without the given slots, whose failures stay with their calls. The error has code media.CodeConflict if the
	// operation is not finished, and media.CodeNotFound if the owner has no such operation.
	ReopenOperation(ctx context.Context, o Operation, slots []int) error
	// SaveSlot inserts or overwrites a slot by operation and index.
	SaveSlot(ctx context.Context, s Slot) error
	// SaveTask inserts or overwrites a provider call by id. With a submitted or running call, an unfinished operation
	// gets that status, in the same commit; its status never goes back.
	SaveTask(ctx context.Context, t Task) error
	// Operation returns an operation with its slots and provider calls.
	Operation(ctx context.Context, owner, id string) (Operation, []Slot, []Task, error)
	// OperationByKey returns the operation with an idempotency key.
	OperationByKey(ctx context.Context, owner, key string) (Operation, error)
	// OperationOfTask returns the operation of a provider's task, of any owner: a provider's notification does not
	// contain the owner.
	OperationOfTask(ctx context.Context, provider, taskID string) (Operation, error)
	// AnyOperation returns an operation of any owner, for the same reason.
	AnyOperation(ctx context.Context, id string) (Operation, error)
	// UnassignedBlobs lists the bytes received for an operation that are in none of its slots, oldest first: a process
	// died before it saved the slot, with or without a record. They include bytes of a slot without a record, which
	// could not be saved. They exclude kept previews, and bytes from which other media were made.
	UnassignedBlobs(ctx context.Context, owner, operation string) ([]Blob, error)
	// ListOpenOperations lists unfinished operations of any owner, newest first. Those of dead processes are adopted.
	ListOpenOperations(ctx context.Context, p Page) (List[Operation], error)
	// ListOperations lists operations, newest first.
	ListOperations(ctx context.Context, owner string, q OperationQuery) (List[Operation], error)
}
