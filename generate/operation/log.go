package operation

import (
	"context"
	"encoding/json"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// Operation is one request as stored in the ledger: first the intent, at the end the receipt. It contains no media.
type Operation struct {
	// ID is a UUIDv7.
	ID string
	// Key is the caller's idempotency key, or the ID if there was none.
	Key      string
	Method   generate.Method
	Modality media.Modality
	Provider string
	// Model is the display name, APIModel the provider's id.
	Model, APIModel string
	Prompt          string
	// N is how many results are requested.
	N            int
	Status       generate.Status
	Dispositions []generate.Disposition
	Warnings     []string
	Usage        generate.Usage
	Cost         generate.Cost
	// Error is why nothing succeeded; nil otherwise.
	Error *generate.SlotError
	// Metadata is what the provider returned besides the media.
	Metadata map[string]any
	// Request is the state that [gateway.Gateway.Resume] needs to continue in another process: JSON, small and without
	// media; empty if the operation cannot be resumed.
	Request json.RawMessage
	// Holder identifies who works on the operation, or did last. It holds the operation from [Log.Begin] to
	// [Log.Finish], see [Resumer.Hold].
	Holder    string
	StartedAt time.Time
	// FinishedAt is zero until [Log.Finish].
	FinishedAt time.Time
}

// Attempt is one provider call of an operation. Repeats of a call are separate attempts with the same Key.
type Attempt struct {
	// ID is a UUIDv7.
	ID        string
	Operation string
	// Call counts the calls that the n results were split into, Number the attempts of that call; both from 1.
	Call, Number int
	// Key is the idempotency key for the provider, if it takes one.
	Key                string
	Provider, APIModel string
	// Slots are the indexes, from 1, of the slots that the call fills.
	Slots []int
	// Task identifies the provider's asynchronous task, once known.
	Task driver.Handle
	// Status is submitted before the call, running once a task id is known, then
	// succeeded, partial, failed, moderated or cancelled.
	Status generate.Status
	Error  *generate.SlotError
	Usage  generate.Usage
	// ReportedUSD is the cost that the provider reported; empty if none.
	ReportedUSD string
	StartedAt   time.Time
	// FinishedAt is zero while the call is in progress.
	FinishedAt time.Time
}

// Log journals billable calls (law 7): intent before, receipt after. Every
// method commits before it returns. Implementations are safe for concurrent use.
//
// If Begin, or the first Attempt of a call, fails, that call is not made. Later failures become warnings of the result:
// finished media is never discarded because of a log.
type Log interface {
	// Begin saves the intent before any call, with Status queued.
	Begin(ctx context.Context, op Operation) error
	// Attempt saves an attempt, by its ID: before the call with Status submitted;
	// again when the task id is known, before the first poll; again as its receipt.
	Attempt(ctx context.Context, a Attempt) error
	// SlotDone saves a slot as soon as it is final.
	SlotDone(ctx context.Context, operation string, s generate.Slot) error
	// Finish saves the receipt: status, usage, cost, dispositions. The error has code media.CodeConflict if another
	// holder than op.Holder has held the operation since.
	Finish(ctx context.Context, op Operation) error
}

// Resumer is an optional interface of a [Log]: another process can resume its operations, and callers find them by their
// idempotency keys. Its methods take the owner from the scope of ctx, except OperationOfTask and ScopeOf.
type Resumer interface {
	// Hold acquires or keeps the exclusive right to work on an operation, while its process lives. The error has code
	// media.CodeConflict while another holder has it.
	Hold(ctx context.Context, operation, holder string) error
	// Release takes the right from a holder, who may be in another process and notices it through Keep. It is not an
	// error if the holder has already lost the right.
	Release(ctx context.Context, operation, holder string) error
	// Keep extends the right during work. The error has code media.CodeConflict if another holder has taken it since,
	// even if it has been released again.
	Keep(ctx context.Context, operation, holder string) error
	// Reopen sets a finished operation that op.Holder holds in progress again, in one commit: with the request, status
	// and holder of op, without an end or error, and without the given slots, whose errors remain with their attempts.
	// The error has code media.CodeConflict if it is not finished or not held by op.Holder.
	Reopen(ctx context.Context, op Operation, slots []int) error
	// Saved returns an operation with everything saved of it, including its Holder.
	Saved(ctx context.Context, operation string) (*Saved, error)
	// OperationOfTask returns the operation of a provider's task, of any owner; the error has code media.CodeNotFound
	// if there is none.
	OperationOfTask(ctx context.Context, provider, taskID string) (operation string, scope media.Scope, err error)
	// ScopeOf returns the scope of an operation of any owner; the error has code media.CodeNotFound if there is none.
	ScopeOf(ctx context.Context, operation string) (media.Scope, error)
	// OperationOf returns the id of the operation with this key, for [generate.Request.Adopt]. The error has code
	// media.CodeNotFound if there is none.
	OperationOf(ctx context.Context, key string) (operation string, err error)
}

// Saved is an operation as stored in the log.
type Saved struct {
	Operation Operation
	// Scope is the operation's scope.
	Scope media.Scope
	// Attempts are in the order in which they were made.
	Attempts []Attempt
	// Slots are the final slots.
	Slots []generate.Slot
	// Unassigned are blobs that arrived for the operation but are in no slot, because the process died in between.
	Unassigned []media.Blob
}

// Batcher is an optional interface of a [Log]: related saves share one commit.
type Batcher interface {
	// InTransaction saves in one commit what fn saves with its context, in the log or by the gateway's Recorder. A
	// failed save undoes only itself. After an error nothing is saved. fn only saves, and may be called again.
	InTransaction(ctx context.Context, fn func(context.Context)) error
}

// NopLog stores nothing: for library use without a ledger.
type NopLog struct{}

var _ Log = NopLog{}

// Begin stores nothing.
func (NopLog) Begin(context.Context, Operation) error { return nil }

// Attempt stores nothing.
func (NopLog) Attempt(context.Context, Attempt) error { return nil }

// SlotDone stores nothing.
func (NopLog) SlotDone(context.Context, string, generate.Slot) error { return nil }

// Finish stores nothing.
func (NopLog) Finish(context.Context, Operation) error { return nil }
