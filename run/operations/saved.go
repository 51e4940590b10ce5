package operations

import (
	"context"
	"encoding/json"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/operation"
	"atelier/ledger"
	"atelier/media"
)

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
