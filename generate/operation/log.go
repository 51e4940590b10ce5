package operation

import (
	"context"
	"encoding/json"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// Operation is one request as the ledger keeps it: first the intent, at the end the receipt. It holds no media.
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
	// N is how many results are asked for.
	N            int
	Status       generate.Status
	Dispositions []generate.Disposition
	Warnings     []string
	Usage        generate.Usage
	Cost         generate.Cost
	// Error is why nothing succeeded; nil otherwise.
	Error *generate.SlotError
	// Metadata is what the provider said beside the media.
	Metadata map[string]any
	// Request is what [gateway.Gateway.Resume] needs to continue in another process: JSON, small
	// and without media; empty if the operation cannot be resumed.
	Request json.RawMessage
	// Holder is who works on the operation, or did last. It holds the operation from
	// [Log.Begin] to [Log.Finish], see [Resumer.Hold].
	Holder    string
	StartedAt time.Time
	// FinishedAt is zero until [Log.Finish].
	FinishedAt time.Time
}

// Attempt is one provider call of an operation. Repeats of a call are attempts of their own with the same Key.
type Attempt struct {
	// ID is a UUIDv7.
	ID        string
	Operation string
	// Call counts the calls that the n results were split into, Number the attempts of that call; both from 1.
	Call, Number int
	// Key is the idempotency key that the provider gets, if it takes one.
	Key                string
	Provider, APIModel string
	// Slots are the indexes, from 1, that the call is to fill.
	Slots []int
	// Task names the provider's asynchronous task, once known.
	Task driver.Handle
	// Status is submitted before the call, running once a task id is known, then
	// succeeded, partial, failed, moderated or cancelled.
	Status generate.Status
	Error  *generate.SlotError
	Usage  generate.Usage
	// ReportedUSD is the cost that the provider named; empty if none.
	ReportedUSD string
	StartedAt   time.Time
	// FinishedAt is zero while the call is under way.
	FinishedAt time.Time
}

// Log journals billable calls (law 7): intent before, receipt after. Every
// method commits before it returns. Implementations are safe for concurrent use.
//
// If Begin, or the first Attempt of a call, fails, that call is not made. Later failures become warnings of the result:
// media that was made is never given up for the sake of a log.
type Log interface {
	// Begin saves the intent before any call, with Status queued.
	Begin(ctx context.Context, op Operation) error
	// Attempt saves an attempt, by its ID: before the call with Status submitted;
	// again when the task id is known, before the first poll; again as its receipt.
	Attempt(ctx context.Context, a Attempt) error
	// SlotDone saves one slot as soon as it is final.
	SlotDone(ctx context.Context, operation string, s generate.Slot) error
	// Finish saves the receipt: status, usage, cost, dispositions. The error has code
	// media.CodeConflict if another holder than op.Holder has held the operation since.
	Finish(ctx context.Context, op Operation) error
}

// Resumer is an optional ability of an [Log]: operations can be picked up by
// another process. All methods take the owner from the scope of ctx.
type Resumer interface {
	// Hold takes or keeps the sole right to work on an operation, for as long as its process lives. The
	// error has code media.CodeConflict while another holder has it.
	Hold(ctx context.Context, operation, holder string) error
	// Release takes the right from a holder, who may be another process: that one learns of it by
	// Keep. It is no error that the holder no longer has the right.
	Release(ctx context.Context, operation, holder string) error
	// Keep keeps the right while it is worked on. The error has code media.CodeConflict if somebody
	// else took it since, also where nobody holds it any more.
	Keep(ctx context.Context, operation, holder string) error
	// Reopen makes a finished operation, which op.Holder holds, one that is under way, in one commit: with the request,
	// the status and the hold of op, without an end or an error, and without the slots given, whose errors stay with
	// their attempts. The error has code media.CodeConflict if it is not finished, or not held so.
	Reopen(ctx context.Context, op Operation, slots []int) error
	// Saved reads an operation with all that was saved of it, its Holder too.
	Saved(ctx context.Context, operation string) (*Saved, error)
	// TaskOf finds the operation of a provider's task, of any owner; the error has
	// code media.CodeNotFound if there is none.
	TaskOf(ctx context.Context, provider, taskID string) (operation string, scope media.Scope, err error)
	// ScopeOf is where an operation of any owner belongs; the error has code media.CodeNotFound if there is none.
	ScopeOf(ctx context.Context, operation string) (media.Scope, error)
}

// Saved is an operation as the log has it.
type Saved struct {
	Operation Operation
	// Scope is where the operation belongs.
	Scope media.Scope
	// Attempts are in the order of making.
	Attempts []Attempt
	// Slots are those that are final.
	Slots []generate.Slot
	// Unassigned are the blobs that arrived for the operation and are in no slot: the process died between the two.
	Unassigned []media.Blob
}

// Recaller is an optional ability of a [Log]: it knows operations by their idempotency keys.
type Recaller interface {
	// Recall gives the result of the finished operation with this key and the scope of ctx; nil if there is none.
	Recall(ctx context.Context, key string) (*generate.Result, error)
	// OperationOf gives the id of the operation with this key and the owner of ctx, for [generate.Request.TakeUp]. The
	// error has code media.CodeNotFound if there is none.
	OperationOf(ctx context.Context, key string) (operation string, err error)
}

// Batcher is an optional ability of an [Log]: what belongs together costs one commit.
type Batcher interface {
	// Together makes one commit of what fn saves with its context, in the log or by the gateway's Recorder. A save that
	// fails undoes itself alone. After an error nothing of it is saved. fn does nothing but save, and may run again.
	Together(ctx context.Context, fn func(context.Context)) error
}

// NopLog keeps nothing: for library use without a ledger.
type NopLog struct{}

var _ Log = NopLog{}

// Begin keeps nothing.
func (NopLog) Begin(context.Context, Operation) error { return nil }

// Attempt keeps nothing.
func (NopLog) Attempt(context.Context, Attempt) error { return nil }

// SlotDone keeps nothing.
func (NopLog) SlotDone(context.Context, string, generate.Slot) error { return nil }

// Finish keeps nothing.
func (NopLog) Finish(context.Context, Operation) error { return nil }
