package ledger

import (
	"context"
	"encoding/json"
	"time"

	"atelier/media"
)

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

	// HeldBy is the holder of its lease and HeldUntil the end of that; both are empty where
	// nobody works on it. They are read, never written.
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

// Unattended reports whether nobody works on an operation that is not finished.
func (o Operation) Unattended() bool { return o.FinishedAt.IsZero() && o.HeldUntil.IsZero() }

// Operations keeps generations, their slots and their provider calls.
type Operations interface { //nolint:interfacebloat // the life of one operation, and who works on it
	// BeginOperation saves the intent. An id or idempotency key that exists is media.CodeConflict.
	BeginOperation(ctx context.Context, o Operation) error
	// FinishOperation saves the receipt: status, model, dispositions, usage, metadata,
	// warnings, money and failure. With a FinishedAt its lease is released. Doing it again overwrites.
	FinishOperation(ctx context.Context, o Operation) error
	// ReopenOperation makes a finished operation one that is in progress: with the request and
	// the status of o, without an end or a failure, and without the slots given, whose failures
	// stay with their calls. It is media.CodeConflict for one that is not finished, and
	// media.CodeNotFound if the owner has none.
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
	// OperationOfTask finds the operation of a provider's task, of any owner: a
	// provider's notification knows no owner.
	OperationOfTask(ctx context.Context, provider, taskID string) (Operation, error)
	// AnyOperation reads one, of any owner, for the same reason.
	AnyOperation(ctx context.Context, id string) (Operation, error)
	// UnassignedBlobs lists what arrived for an operation and is in none of its slots, oldest
	// first: a process died between the two, before or after it saved the record. What a slot
	// names and no record does is among them, because the record could not be saved; kept
	// previews, and what other media were made from, are not.
	UnassignedBlobs(ctx context.Context, owner, operation string) ([]Blob, error)
	// ListOpenOperations lists unfinished operations of any owner, newest first: those
	// whose process has ended are taken over.
	ListOpenOperations(ctx context.Context, p Page) (List[Operation], error)
	// ListOperations lists operations, newest first.
	ListOperations(ctx context.Context, owner string, q OperationQuery) (List[Operation], error)
}
