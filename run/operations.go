package run

import (
	"context"
	"encoding/json"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// Operations journals the gateway's billable calls in the ledger. Owner, run tree, run
// and step come from the context's media.Scope; without owner or tree Begin is
// refused, so that nothing is paid that nobody owns.
type Operations struct {
	store ledger.Store
}

var (
	_ generate.OperationLog = (*Operations)(nil)
	_ generate.Recaller     = (*Operations)(nil)
	_ generate.Resumer      = (*Operations)(nil)
	_ generate.Finder       = (*Operations)(nil)
	_ generate.Batcher      = (*Operations)(nil)
)

// NewOperations journals in the ledger.
func NewOperations(l ledger.Store) *Operations { return &Operations{store: l} }

// intent is what an operation was asked to do, as the ledger keeps it.
type intent struct {
	Prompt string `json:"prompt"`
	N      int    `json:"n"`
	// Plan is what the gateway needs to go on with it.
	Plan json.RawMessage `json:"plan,omitempty"`
}

// Begin saves the intent. It needs no sync of its own: nothing is asked before [Operations.Attempt]
// is saved, whose sync takes it along.
func (l *Operations) Begin(ctx context.Context, op generate.Operation) error {
	scope := media.ScopeOf(ctx)
	if scope.Owner == "" || scope.Tree == "" {
		return media.Errorf(media.CodeForbidden, "begin operation: the context has no owner or no run tree: set media.WithScope")
	}
	row := operationRow(op)
	row.Owner, row.Tree, row.RunID, row.StepID = scope.Owner, scope.Tree, scope.Run, scope.Step
	row.HeldBy, row.HeldUntil = op.Holder, op.HeldUntil
	row.Request = encode(intent{Prompt: op.Prompt, N: op.N, Plan: op.Request})
	return l.store.BeginOperation(ledger.Relaxed(ctx), row)
}

// Reopen makes a finished operation one that is under way.
func (l *Operations) Reopen(ctx context.Context, op generate.Operation, slots []int) error {
	row := operationRow(op)
	row.Owner, row.HeldBy, row.HeldUntil = media.ScopeOf(ctx).Owner, op.Holder, op.HeldUntil
	row.Request = encode(intent{Prompt: op.Prompt, N: op.N, Plan: op.Request})
	return l.store.ReopenOperation(ctx, row, slots)
}

// Finish saves the receipt. It needs no sync of its own: the receipts of the calls and their results are
// synced, and an operation without its end is finished from them.
func (l *Operations) Finish(ctx context.Context, op generate.Operation) error {
	row := operationRow(op)
	row.HeldBy = op.Holder
	return l.store.FinishOperation(ledger.Relaxed(ctx), row)
}

func operationRow(op generate.Operation) ledger.Operation {
	return ledger.Operation{
		ID: op.ID, Key: op.Key, Status: string(op.Status), Method: string(op.Method), Modality: op.Modality,
		Provider: op.Provider, Model: op.Model, APIModel: op.APIModel, Dispositions: encode(op.Dispositions),
		Usage: encode(op.Usage), Metadata: encode(op.Metadata), Warnings: op.Warnings,
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

// detail is what the ledger keeps of an attempt beside its columns.
type detail struct {
	APIModel    string         `json:"api_model,omitempty"`
	Slots       []int          `json:"slots"`
	Usage       generate.Usage `json:"usage"`
	ReportedUSD string         `json:"reported_usd,omitempty"`
	// TaskURL is where the provider said to ask for the task.
	TaskURL   string    `json:"task_url,omitempty"`
	StartedAt time.Time `json:"started_at"`
}

// Attempt saves a provider call.
func (l *Operations) Attempt(ctx context.Context, a generate.Attempt) error {
	return l.store.SaveTask(ctx, ledger.Task{
		ID: a.ID, OperationID: a.Operation, Call: a.Call, Attempt: a.Number, Key: a.Key, Provider: a.Provider,
		TaskID: a.Task.ID, Status: string(a.Status), Failure: failureOf(a.Error), FinishedAt: a.FinishedAt,
		Detail: encode(detail{APIModel: a.APIModel, Slots: a.Slots, Usage: a.Usage, ReportedUSD: a.ReportedUSD, TaskURL: a.Task.URL, StartedAt: a.StartedAt}),
	})
}

// SlotDone saves a slot.
func (l *Operations) SlotDone(ctx context.Context, operation string, s generate.Slot) error {
	row := ledger.Slot{
		OperationID: operation, Index: s.Index, Status: string(s.Status), RevisedPrompt: s.RevisedPrompt,
		Seed: s.Seed, Failure: failureOf(s.Error),
	}
	if s.Safety != nil {
		row.Safety = encode(s.Safety)
	}
	if s.Output != nil {
		row.MediaID, row.Ref, row.Digest = s.Output.ID, s.Output.Ref, s.Output.Digest
	}
	return l.store.SaveSlot(ctx, row)
}

// Together makes one commit of what fn saves, where the ledger can.
func (l *Operations) Together(ctx context.Context, fn func(context.Context)) error {
	return together(ctx, l.store, func(ctx context.Context) error {
		fn(ctx)
		return nil
	})
}

// together makes one commit of what fn saves in a store, where the store can; fn may then run
// again.
func together(ctx context.Context, store any, fn func(context.Context) error) error {
	if b, ok := store.(ledger.Batcher); ok {
		return b.Together(ctx, fn)
	}
	return fn(ctx)
}

// Recall gives the result of the finished operation with this key. One that is not
// finished is media.CodeConflict: its provider may have been paid already.
func (l *Operations) Recall(ctx context.Context, key string) (*generate.Result, error) {
	owner := media.ScopeOf(ctx).Owner
	found, err := l.store.OperationByKey(ctx, owner, key)
	if media.CodeOf(err) == media.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if found.FinishedAt.IsZero() {
		return nil, media.Errorf(media.CodeConflict,
			"operation %s with this idempotency key is %s and not finished: wait for it, or use another key to pay for a new one", found.ID, found.Status)
	}
	op, slots, _, err := l.store.Operation(ctx, owner, found.ID)
	if err != nil {
		return nil, err
	}
	saved, err := l.saved(ctx, op, slots)
	if err != nil {
		return nil, err
	}
	o := saved.Operation
	return &generate.Result{
		Operation: o.ID, Status: o.Status, Model: o.Model, Provider: o.Provider, Slots: saved.Slots,
		Dispositions: o.Dispositions, Usage: o.Usage, Cost: o.Cost, Warnings: o.Warnings, Metadata: o.Metadata,
	}, nil
}

// OperationOf finds an operation by its idempotency key.
func (l *Operations) OperationOf(ctx context.Context, key string) (string, error) {
	found, err := l.store.OperationByKey(ctx, media.ScopeOf(ctx).Owner, key)
	return found.ID, err
}

// slot reads a slot back. An item that was deleted since is a failed slot.
func (l *Operations) slot(ctx context.Context, owner string, s ledger.Slot) (generate.Slot, error) {
	slot := generate.Slot{Index: s.Index, Status: generate.Status(s.Status), RevisedPrompt: s.RevisedPrompt, Seed: s.Seed}
	if err := decode(s.Safety, &slot.Safety); err != nil {
		return slot, err
	}
	if s.Failure.Code != "" {
		slot.Error = &generate.SlotError{Code: media.Code(s.Failure.Code), Message: s.Failure.Message, Retryable: s.Failure.Retryable}
	}
	if s.MediaID == "" {
		return slot, nil
	}
	rec, err := l.store.MediaRecord(ctx, owner, s.MediaID)
	if media.CodeOf(err) == media.CodeNotFound {
		slot.Status = generate.StatusFailed
		slot.Error = &generate.SlotError{Code: media.CodeNotFound, Message: "the media item " + string(s.Ref) + " was deleted since"}
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
