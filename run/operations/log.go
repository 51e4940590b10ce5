// Package operations journals the gateway's billable calls in the ledger, each under a lease, and reads them for the
// process that continues them.
//
// Errors are those of the ledger and of the leases. It may import generate, ledger, media and run/lease.
package operations

import (
	"context"
	"encoding/json"
	"time"

	"atelier/generate"
	"atelier/generate/operation"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/lease"
)

// Log journals the gateway's billable calls in the ledger. Owner, run tree, run and step come from the context's
// media.Scope. Without an owner or tree, Begin is refused, so that every payment has an owner.
type Log struct {
	store  ledger.Store
	leases *lease.Keeper
}

var (
	_ operation.Log     = (*Log)(nil)
	_ operation.Resumer = (*Log)(nil)
	_ operation.Batcher = (*Log)(nil)
)

// NewLog returns a log in the ledger. The keeper holds the leases of this process; nil creates one.
func NewLog(l ledger.Store, k *lease.Keeper) *Log {
	if k == nil {
		k = lease.NewKeeper(l)
	}
	return &Log{store: l, leases: k}
}

// intent is the request of an operation, as the ledger stores it.
type intent struct {
	Prompt string `json:"prompt"`
	N      int    `json:"n"`
	// Plan is what the gateway needs to continue the operation.
	Plan json.RawMessage `json:"plan,omitempty"`
}

// Begin saves the intent. It is not synced: no request is sent before [Log.Attempt] is saved, whose sync includes the
// intent.
func (l *Log) Begin(ctx context.Context, op operation.Operation) error {
	scope := media.ScopeOf(ctx)
	if scope.Owner == "" || scope.Tree == "" {
		return media.Errorf(media.CodeForbidden, "begin operation: the context has no owner or run tree: set them with media.WithScope")
	}
	row := operationRow(op)
	row.Owner, row.Tree, row.RunID, row.StepID = scope.Owner, scope.Tree, scope.Run, scope.Step
	row.Request = Encode(intent{Prompt: op.Prompt, N: op.N, Plan: op.Request})
	var hold func()
	err := l.store.InTransaction(ledger.Relaxed(ctx), func(ctx context.Context) (err error) {
		if hold, err = l.leases.AcquireIn(ctx, ledger.LeaseGeneration, op.ID, nil); err != nil {
			return err
		}
		return l.store.BeginOperation(ctx, row)
	})
	if err == nil {
		hold()
	}
	return err
}

// Reopen makes a finished operation active again.
func (l *Log) Reopen(ctx context.Context, op operation.Operation, slots []int) error {
	row := operationRow(op)
	row.Owner = media.ScopeOf(ctx).Owner
	row.Request = Encode(intent{Prompt: op.Prompt, N: op.N, Plan: op.Request})
	return l.store.ReopenOperation(l.under(ctx, op.ID), row, slots)
}

// Finish saves the receipt. It is not synced: the receipts of the calls and their results are, and an operation without
// its end is finished from them.
func (l *Log) Finish(ctx context.Context, op operation.Operation) error {
	err := l.store.FinishOperation(ledger.Relaxed(l.under(ctx, op.ID)), operationRow(op))
	switch {
	case op.FinishedAt.IsZero():
	case err == nil:
		l.leases.Forget(ledger.LeaseGeneration, op.ID)
	default: // this process has finished with it
		_ = l.leases.Release(context.WithoutCancel(ctx), ledger.LeaseGeneration, op.ID) // otherwise it expires
	}
	return err
}

// under returns a context for saves that advance an operation: they succeed only while this process holds the
// operation's lease.
func (l *Log) under(ctx context.Context, operation string) context.Context {
	return l.leases.WithLease(ctx, ledger.LeaseGeneration, operation)
}

func operationRow(op operation.Operation) ledger.Operation {
	return ledger.Operation{
		ID: op.ID, Key: op.Key, Status: string(op.Status), Method: string(op.Method), Modality: op.Modality,
		Provider: op.Provider, Model: op.Model, APIModel: op.APIModel, Dispositions: Encode(op.Dispositions),
		Usage: Encode(op.Usage), Metadata: Encode(op.Metadata), Warnings: op.Warnings,
		EstimatedUSD: op.Cost.EstimatedUSD, ReportedUSD: op.Cost.ReportedUSD,
		Failure: failureOf(op.Error), FinishedAt: op.FinishedAt,
	}
}

func failureOf(e *generate.SlotError) ledger.Failure {
	if e == nil {
		return ledger.Failure{}
	}
	return ledger.Failure{Code: string(e.Code), Message: e.Message, Retryable: e.Retryable}
}

// detail contains the values of an attempt that have no columns.
type detail struct {
	APIModel    string         `json:"api_model,omitempty"`
	Slots       []int          `json:"slots"`
	Usage       generate.Usage `json:"usage"`
	ReportedUSD string         `json:"reported_usd,omitempty"`
	// TaskURL is the provider's address of the task.
	TaskURL   string    `json:"task_url,omitempty"`
	StartedAt time.Time `json:"started_at"`
}

// Attempt saves a provider call.
func (l *Log) Attempt(ctx context.Context, a operation.Attempt) error {
	return l.store.SaveTask(l.under(ctx, a.Operation), ledger.Task{
		ID: a.ID, OperationID: a.Operation, Call: a.Call, Attempt: a.Number, Key: a.Key, Provider: a.Provider,
		TaskID: a.Task.ID, Status: string(a.Status), Failure: failureOf(a.Error), FinishedAt: a.FinishedAt,
		Detail: Encode(detail{APIModel: a.APIModel, Slots: a.Slots, Usage: a.Usage, ReportedUSD: a.ReportedUSD, TaskURL: a.Task.URL, StartedAt: a.StartedAt}),
	})
}

// SlotDone saves a slot.
func (l *Log) SlotDone(ctx context.Context, operation string, s generate.Slot) error {
	row := ledger.Slot{
		OperationID: operation, Index: s.Index, Status: string(s.Status), RevisedPrompt: s.RevisedPrompt,
		Seed: s.Seed, Failure: failureOf(s.Error),
	}
	if s.Safety != nil {
		row.Safety = Encode(s.Safety)
	}
	if s.Output != nil {
		row.MediaID, row.Ref, row.Digest = s.Output.ID, s.Output.Ref, s.Output.Digest
	}
	return l.store.SaveSlot(l.under(ctx, operation), row)
}

// InTransaction saves all changes of fn in one commit.
func (l *Log) InTransaction(ctx context.Context, fn func(context.Context)) error {
	return l.store.InTransaction(ctx, func(ctx context.Context) error {
		fn(ctx)
		return nil
	})
}

// OperationOf returns the id of the operation with an idempotency key.
func (l *Log) OperationOf(ctx context.Context, key string) (string, error) {
	found, err := l.store.OperationByKey(ctx, media.ScopeOf(ctx).Owner, key)
	return found.ID, err
}

// slot converts a stored slot. A slot whose item was deleted is a failed slot.
func (l *Log) slot(ctx context.Context, owner string, s ledger.Slot) (generate.Slot, error) {
	slot := generate.Slot{Index: s.Index, Status: generate.Status(s.Status), RevisedPrompt: s.RevisedPrompt, Seed: s.Seed, Error: slotErrorOf(s.Failure)}
	if err := decode(s.Safety, &slot.Safety); err != nil {
		return slot, err
	}
	if s.MediaID == "" {
		return slot, nil
	}
	rec, err := l.store.MediaRecord(ctx, owner, s.MediaID)
	if media.CodeOf(err) == media.CodeNotFound {
		slot.Status = generate.StatusFailed
		slot.Error = &generate.SlotError{Code: media.CodeNotFound, Message: "the media item " + string(s.Ref) + " has been deleted"}
		return slot, nil
	}
	slot.Output = &rec.Output
	return slot, err
}

// Encode returns a value as JSON for the ledger; one that cannot be encoded is omitted.
func Encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

func decode(from json.RawMessage, to any) error {
	if len(from) == 0 {
		return nil
	}
	if err := json.Unmarshal(from, to); err != nil {
		return media.Errorf(media.CodeCorrupt, "read operation: %w", err)
	}
	return nil
}
