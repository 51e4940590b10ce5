package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"atelier/ledger"
)

// BeginOperation saves the intent.
func (s operations) BeginOperation(ctx context.Context, o ledger.Operation) error {
	const what = "begin operation"
	if err := need(what, "id", o.ID, "owner", o.Owner, "tree", o.Tree, "status", o.Status); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", o.ID)
	v.set("owner", o.Owner)
	v.set("tree_id", o.Tree)
	v.set("run_id", text(o.RunID))
	v.set("step_id", text(o.StepID))
	v.set("idempotency_key", text(o.Key))
	v.set("method", text(o.Method))
	v.set("modality", text(string(o.Modality)))
	v.set("request", raw(o.Request))
	v.set("created_at", now)
	receipt(&v, o, now)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		return v.insert(ctx, tx, "operations")
	})
}

// FinishOperation saves the receipt.
func (s operations) FinishOperation(ctx context.Context, o ledger.Operation) error {
	const what = "finish operation"
	var v values
	receipt(&v, o, s.stampNow())
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, v.updateSQL("operations")+fmt.Sprintf(" WHERE id = $%d", len(v.names)+1), append(v.args, o.ID)...)
		if err != nil {
			return err
		}
		if err := changed(what, o.ID, res); err != nil || o.FinishedAt.IsZero() {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM leases WHERE kind = $1 AND work = $2`, string(ledger.LeaseGeneration), o.ID)
		return err
	})
}

func receipt(v *values, o ledger.Operation, now string) {
	v.set("status", o.Status)
	v.set("provider", text(o.Provider))
	v.set("model", text(o.Model))
	v.set("api_model", text(o.APIModel))
	v.set("dispositions", raw(o.Dispositions))
	v.set("usage_counts", raw(o.Usage))
	v.set("metadata", raw(o.Metadata))
	v.set("warnings", document(o.Warnings))
	v.set("estimated_usd", o.EstimatedUSD)
	v.set("reported_usd", o.ReportedUSD)
	v.failure(o.Failure)
	v.set("finished_at", stamp(o.FinishedAt))
	v.set("updated_at", now)
}

// SaveSlot inserts or overwrites a slot.
func (s operations) SaveSlot(ctx context.Context, sl ledger.Slot) error {
	now := s.stampNow()
	var v values
	v.set("operation_id", sl.OperationID)
	v.set("slot_index", sl.Index)
	v.set("status", sl.Status)
	v.set("media_id", text(sl.MediaID))
	v.set("ref", text(string(sl.Ref)))
	v.set("digest", text(sl.Digest.String()))
	v.set("revised_prompt", prose(sl.RevisedPrompt))
	v.set("seed", sl.Seed)
	v.set("safety", raw(sl.Safety))
	v.failure(sl.Failure)
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.advance(ctx, "save operation slot", func(ctx context.Context, tx *sql.Tx) error {
		return v.upsert(ctx, tx, "operation_slots", "operation_id, slot_index")
	})
}

// SaveTask inserts or overwrites a provider call.
func (s operations) SaveTask(ctx context.Context, t ledger.Task) error {
	const what = "save provider task"
	if err := need(what, "id", t.ID, "operation id", t.OperationID); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", t.ID)
	v.set("operation_id", t.OperationID)
	v.set("call_index", t.Call)
	v.set("attempt", t.Attempt)
	v.set("idempotency_key", text(t.Key))
	v.set("provider", text(t.Provider))
	v.set("task_id", text(t.TaskID))
	v.set("status", t.Status)
	v.set("detail", raw(t.Detail))
	v.failure(t.Failure)
	v.set("finished_at", stamp(t.FinishedAt))
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := v.upsert(ctx, tx, "provider_tasks", "id"); err != nil {
			return err
		}
		return underWay(ctx, tx, t, now)
	})
}

// underWay lets an operation follow its own call.
func underWay(ctx context.Context, tx *sql.Tx, t ledger.Task, now string) error {
	var err error
	switch t.Status {
	case "submitted":
		_, err = tx.ExecContext(ctx, `UPDATE operations SET status = $1, updated_at = $2
			WHERE id = $3 AND finished_at IS NULL AND status = 'queued'`, t.Status, now, t.OperationID)
	case "running":
		_, err = tx.ExecContext(ctx, `UPDATE operations SET status = $1, updated_at = $2
			WHERE id = $3 AND finished_at IS NULL AND status IN ('queued', 'submitted')`, t.Status, now, t.OperationID)
	}
	return err
}

// operationColumns are those of an operation and of its lease, while that is live.
func (s operations) operationColumns() string {
	lease := ` FROM leases WHERE kind = 'generation' AND work = operations.id AND NOT ` + s.expired() + `)`
	return `id, owner, tree_id, run_id, step_id, idempotency_key, status, method, modality,
	provider, model, api_model, request, dispositions, usage_counts, metadata, warnings, estimated_usd, reported_usd,
	error_code, error_message, retryable, (SELECT holder` + lease + `, (SELECT expires_at` + lease + `, finished_at, created_at, updated_at`
}

func scanOperation(from row) (ledger.Operation, error) {
	var o ledger.Operation
	err := from.Scan(&o.ID, &o.Owner, &o.Tree, str(&o.RunID), str(&o.StepID), str(&o.Key), &o.Status,
		str(&o.Method), str(&o.Modality), str(&o.Provider), str(&o.Model), str(&o.APIModel), jsonCol{&o.Request},
		jsonCol{&o.Dispositions}, jsonCol{&o.Usage}, jsonCol{&o.Metadata}, jsonCol{&o.Warnings}, &o.EstimatedUSD, &o.ReportedUSD,
		str(&o.Failure.Code), str(&o.Failure.Message), &o.Failure.Retryable,
		str(&o.HeldBy), timeCol{&o.HeldUntil}, timeCol{&o.FinishedAt}, timeCol{&o.CreatedAt}, timeCol{&o.UpdatedAt})
	return o, err
}

// Operation reads one with its slots and provider calls.
func (s operations) Operation(ctx context.Context, owner, id string) (ledger.Operation, []ledger.Slot, []ledger.Task, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Operation{}, nil, nil, err
	}
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+s.operationColumns()+
		` FROM operations WHERE owner = $1 AND id = $2`, owner, id))
	if err != nil {
		return o, nil, nil, s.failure("read operation "+id, err)
	}
	sel := selectFrom(`operation_id, slot_index, status, media_id, ref, digest, revised_prompt, seed, safety,
		error_code, error_message, retryable, updated_at`, "operation_slots", "operation_id = ?", id)
	sel.text.WriteString(" ORDER BY slot_index")
	slots, err := collect(ctx, s.read, sel, func(from row) (sl ledger.Slot, err error) {
		err = from.Scan(&sl.OperationID, &sl.Index, &sl.Status, str(&sl.MediaID), str(&sl.Ref), digestCol{&sl.Digest},
			str(&sl.RevisedPrompt), &sl.Seed, jsonCol{&sl.Safety}, str(&sl.Failure.Code), str(&sl.Failure.Message),
			&sl.Failure.Retryable, timeCol{&sl.UpdatedAt})
		return sl, err
	})
	if err != nil {
		return o, nil, nil, s.failure("read operation slots", err)
	}
	sel = selectFrom(`id, operation_id, call_index, attempt, idempotency_key, provider, task_id, status, detail,
		error_code, error_message, retryable, finished_at, created_at, updated_at`, "provider_tasks", "operation_id = ?", id)
	sel.text.WriteString(" ORDER BY call_index, attempt, id")
	tasks, err := collect(ctx, s.read, sel, func(from row) (t ledger.Task, err error) {
		err = from.Scan(&t.ID, &t.OperationID, &t.Call, &t.Attempt, str(&t.Key), str(&t.Provider), str(&t.TaskID),
			&t.Status, jsonCol{&t.Detail}, str(&t.Failure.Code), str(&t.Failure.Message), &t.Failure.Retryable,
			timeCol{&t.FinishedAt}, timeCol{&t.CreatedAt}, timeCol{&t.UpdatedAt})
		return t, err
	})
	return o, slots, tasks, s.failure("read provider tasks", err)
}

// OperationByKey finds one by its idempotency key.
func (s operations) OperationByKey(ctx context.Context, owner, key string) (ledger.Operation, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Operation{}, err
	}
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+s.operationColumns()+
		` FROM operations WHERE owner = $1 AND idempotency_key = $2`, owner, key))
	return o, s.failure("read operation", err)
}

// ListOperations lists operations, newest first.
func (s operations) ListOperations(ctx context.Context, owner string, q ledger.OperationQuery) (ledger.List[ledger.Operation], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.Operation]{}, err
	}
	sel := selectFrom(s.operationColumns(), "operations", "owner = ?", owner)
	if q.Tree != "" {
		sel.where("tree_id = ?", q.Tree)
	}
	if q.Status != "" {
		sel.where("status = ?", q.Status)
	}
	return s.newestOperations(ctx, sel, q.Page)
}

// ListOpenOperations lists unfinished operations of any owner.
func (s operations) ListOpenOperations(ctx context.Context, p ledger.Page) (ledger.List[ledger.Operation], error) {
	return s.newestOperations(ctx, selectFrom(s.operationColumns(), "operations", "finished_at IS NULL AND status <> ?", ""), p)
}

func (s operations) newestOperations(ctx context.Context, sel *query, p ledger.Page) (ledger.List[ledger.Operation], error) {
	list, err := page(ctx, s.read, sel, p, order[ledger.Operation]{
		key: "id", descending: true, scan: scanOperation, next: func(o ledger.Operation) string { return o.ID },
	})
	return list, s.failure("list operations", err)
}
