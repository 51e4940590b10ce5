// Package operations journals the gateway's billable calls in the ledger, each under a lease, and reads them for the
// process that continues them.
//
// Errors are those of the ledger and of the leases. It may import generate, ledger, media and run/lease.
package operations

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
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
	row.Request = ledger.JSON(intent{Prompt: op.Prompt, N: op.N, Plan: op.Request})
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
	row.Request = ledger.JSON(intent{Prompt: op.Prompt, N: op.N, Plan: op.Request})
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
		Provider: op.Provider, Model: op.Model, APIModel: op.APIModel, Dispositions: ledger.JSON(op.Dispositions),
		Usage: ledger.JSON(op.Usage), Metadata: ledger.JSON(op.Metadata), Warnings: op.Warnings,
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
		Detail: ledger.JSON(detail{APIModel: a.APIModel, Slots: a.Slots, Usage: a.Usage, ReportedUSD: a.ReportedUSD, TaskURL: a.Task.URL, StartedAt: a.StartedAt}),
	})
}

// SlotDone saves a slot.
func (l *Log) SlotDone(ctx context.Context, operation string, s generate.Slot) error {
	row := ledger.Slot{
		OperationID: operation, Index: s.Index, Status: string(s.Status), RevisedPrompt: s.RevisedPrompt,
		Seed: s.Seed, Failure: failureOf(s.Error),
	}
	if s.Safety != nil {
		row.Safety = ledger.JSON(s.Safety)
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

func decode(from json.RawMessage, to any) error {
	if len(from) == 0 {
		return nil
	}
	if err := json.Unmarshal(from, to); err != nil {
		return media.Errorf(media.CodeCorrupt, "read operation: %w", err)
	}
	return nil
}

// Hold acquires or keeps the lease of an operation for this process.
func (l *Log) Hold(ctx context.Context, operation, _ string) error {
	return l.leases.Acquire(ctx, ledger.LeaseGeneration, operation, nil)
}

// Release releases the lease of an operation. If another process holds it, that process loses it.
func (l *Log) Release(ctx context.Context, operation, holder string) error {
	if l.leases.Holds(ledger.LeaseGeneration, operation) {
		return l.leases.Release(ctx, ledger.LeaseGeneration, operation)
	}
	return l.leases.Revoke(ctx, ledger.LeaseGeneration, operation, holder)
}

// Keep reports whether this process still holds the lease of an operation.
func (l *Log) Keep(ctx context.Context, operation, _ string) error {
	return l.leases.EnsureHeld(ctx, ledger.LeaseGeneration, operation)
}

// OperationOfTask returns the operation of a provider's task, and its scope.
func (l *Log) OperationOfTask(ctx context.Context, provider, taskID string) (string, media.Scope, error) {
	op, err := l.store.OperationOfTask(ctx, provider, taskID)
	return op.ID, scopeOf(op), err
}

// ScopeOf returns the scope of an operation.
func (l *Log) ScopeOf(ctx context.Context, operation string) (media.Scope, error) {
	op, err := l.store.AnyOperation(ctx, operation)
	return scopeOf(op), err
}

func scopeOf(op ledger.Operation) media.Scope {
	s := media.Scope{Owner: op.Owner, Tree: op.Tree, Run: op.RunID, Step: op.StepID, Operation: op.ID}
	if OfSubAction(op) {
		s.SubAction = op.Key
	}
	return s
}

// OfSubAction reports whether an operation belongs to a workflow's sub-action: its key is the id of
// the sub-action's row.
func OfSubAction(op ledger.Operation) bool {
	return strings.HasPrefix(op.Key, ledger.ContentGenerationPrefix)
}

// Saved reads an operation with everything that was saved about it.
func (l *Log) Saved(ctx context.Context, id string) (*operation.Saved, error) {
	owner := media.ScopeOf(ctx).Owner
	op, slots, tasks, err := l.store.Operation(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	var in intent
	s := &operation.Saved{Scope: scopeOf(op), Operation: operation.Operation{
		ID: op.ID, Key: op.Key, Method: generate.Method(op.Method), Modality: op.Modality, Provider: op.Provider,
		Model: op.Model, APIModel: op.APIModel, Status: generate.Status(op.Status), Warnings: op.Warnings,
		Cost:  generate.Cost{EstimatedUSD: op.EstimatedUSD, ReportedUSD: op.ReportedUSD},
		Error: slotErrorOf(op.Failure), Holder: op.HeldBy, StartedAt: op.CreatedAt, FinishedAt: op.FinishedAt,
	}}
	o := &s.Operation
	for _, part := range []struct {
		from json.RawMessage
		to   any
	}{{op.Dispositions, &o.Dispositions}, {op.Usage, &o.Usage}, {op.Metadata, &o.Metadata}, {op.Request, &in}} {
		if err := decode(part.from, part.to); err != nil {
			return nil, err
		}
	}
	o.Prompt, o.N, o.Request = in.Prompt, in.N, in.Plan
	for _, row := range slots {
		slot, err := l.slot(ctx, owner, row)
		if err != nil {
			return nil, err
		}
		s.Slots = append(s.Slots, slot)
	}
	for _, t := range tasks {
		var d detail
		if err := decode(t.Detail, &d); err != nil {
			return nil, err
		}
		s.Attempts = append(s.Attempts, operation.Attempt{
			ID: t.ID, Operation: t.OperationID, Call: t.Call, Number: t.Attempt, Key: t.Key, Provider: t.Provider,
			APIModel: d.APIModel, Slots: d.Slots, Task: driver.Handle{ID: t.TaskID, URL: d.TaskURL},
			Status: generate.Status(t.Status), Error: slotErrorOf(t.Failure), Usage: d.Usage, ReportedUSD: d.ReportedUSD,
			StartedAt: d.StartedAt, FinishedAt: t.FinishedAt,
		})
	}
	unassigned, err := l.store.UnassignedBlobs(ctx, owner, id)
	for _, b := range unassigned {
		s.Unassigned = append(s.Unassigned, b.Blob)
	}
	return s, err
}

func slotErrorOf(f ledger.Failure) *generate.SlotError {
	if f.Code == "" {
		return nil
	}
	return &generate.SlotError{Code: media.Code(f.Code), Message: f.Message, Retryable: f.Retryable}
}

// Requested returns the request of an operation, empty if it is not stored, and the prompt that the provider received.
// The error for an unreadable row has code media.CodeCorrupt.
func Requested(op ledger.Operation) (r generate.Request, sent string, err error) {
	var in struct {
		intent
		Plan struct {
			Request generate.Request `json:"request"`
		} `json:"plan"`
	}
	err = decode(op.Request, &in)
	return in.Plan.Request, in.Prompt, err
}

// Unpaid reports whether an operation returned nothing and cost nothing.
func Unpaid(op ledger.Operation) bool {
	switch generate.Status(op.Status) {
	case generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled:
		u := UsageOf(op)
		return op.ReportedUSD == nil && u.Images == 0 && u.Unsettled == 0
	default:
		return false
	}
}

// UsageOf returns the usage that the provider of an operation reported. An unreadable row counts as no usage.
func UsageOf(op ledger.Operation) (u generate.Usage) {
	_ = json.Unmarshal(op.Usage, &u)
	return u
}

// Pictures returns the number of pictures of an operation, including missing ones that its provider may have billed.
func Pictures(op ledger.Operation) int64 {
	if op.Modality != media.ModalityImage {
		return 0
	}
	var in intent
	u := UsageOf(op)
	if u.Unsettled > 0 && json.Unmarshal(op.Request, &in) == nil {
		u.Images = max(u.Images, in.N)
	}
	return int64(u.Images)
}
