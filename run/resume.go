package run

import (
	"context"
	"encoding/json"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// Hold takes, keeps or gives up the sole right to work on an operation.
func (l *Operations) Hold(ctx context.Context, operation, holder string, until time.Time) error {
	return l.store.HoldOperation(ctx, media.ScopeOf(ctx).Owner, operation, holder, until)
}

// TaskOf finds the operation of a provider's task.
func (l *Operations) TaskOf(ctx context.Context, provider, taskID string) (string, media.Scope, error) {
	op, err := l.store.OperationOfTask(ctx, provider, taskID)
	return op.ID, scopeOf(op), err
}

// ScopeOf is where an operation belongs.
func (l *Operations) ScopeOf(ctx context.Context, operation string) (media.Scope, error) {
	op, err := l.store.AnyOperation(ctx, operation)
	return scopeOf(op), err
}

func scopeOf(op ledger.Operation) media.Scope {
	return media.Scope{Owner: op.Owner, Tree: op.Tree, Run: op.RunID, Step: op.StepID, Operation: op.ID}
}

// Saved reads an operation with all that was saved of it.
func (l *Operations) Saved(ctx context.Context, operation string) (*generate.Saved, error) {
	owner := media.ScopeOf(ctx).Owner
	op, slots, tasks, err := l.store.Operation(ctx, owner, operation)
	if err != nil {
		return nil, err
	}
	saved, err := l.saved(ctx, op, slots)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		a, err := attemptOf(t)
		if err != nil {
			return nil, err
		}
		saved.Attempts = append(saved.Attempts, a)
	}
	adrift, err := l.store.AdriftBlobs(ctx, owner, operation)
	for _, b := range adrift {
		saved.Adrift = append(saved.Adrift, b.Blob)
	}
	return saved, err
}

// saved reads an operation and its slots back.
func (l *Operations) saved(ctx context.Context, op ledger.Operation, slots []ledger.Slot) (*generate.Saved, error) {
	var in intent
	s := &generate.Saved{Scope: scopeOf(op), Operation: generate.Operation{
		ID: op.ID, Key: op.Key, Method: generate.Method(op.Method), Modality: op.Modality, Provider: op.Provider,
		Model: op.Model, APIModel: op.APIModel, Status: generate.Status(op.Status), Warnings: op.Warnings,
		Cost:  generate.Cost{EstimatedUSD: op.EstimatedUSD, ReportedUSD: op.ReportedUSD},
		Error: slotErrorOf(op.Failure), Holder: op.HeldBy, HeldUntil: op.HeldUntil, StartedAt: op.CreatedAt, FinishedAt: op.FinishedAt,
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
		slot, err := l.slot(ctx, op.Owner, row)
		if err != nil {
			return nil, err
		}
		s.Slots = append(s.Slots, slot)
	}
	return s, nil
}

func attemptOf(t ledger.Task) (generate.Attempt, error) {
	var d detail
	if err := decode(t.Detail, &d); err != nil {
		return generate.Attempt{}, err
	}
	return generate.Attempt{
		ID: t.ID, Operation: t.OperationID, Call: t.Call, Number: t.Attempt, Key: t.Key, Provider: t.Provider,
		APIModel: d.APIModel, Slots: d.Slots, Task: generate.Handle{ID: t.TaskID, URL: d.TaskURL},
		Status: generate.Status(t.Status), Error: slotErrorOf(t.Failure), Usage: d.Usage, ReportedUSD: d.ReportedUSD,
		StartedAt: d.StartedAt, FinishedAt: t.FinishedAt,
	}, nil
}

func slotErrorOf(f ledger.Failure) *generate.SlotError {
	if f.Code == "" {
		return nil
	}
	return &generate.SlotError{Code: media.Code(f.Code), Message: f.Message, Retryable: f.Retryable}
}
