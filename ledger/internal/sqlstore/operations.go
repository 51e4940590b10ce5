package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"atelier/ledger"
	"atelier/media"
)

// BeginOperation saves the intent.
func (s *Store) BeginOperation(ctx context.Context, o ledger.Operation) error {
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
	v.set("held_by", text(o.HeldBy))
	v.set("held_until", stamp(o.HeldUntil))
	receipt(&v, o, now)
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		return v.insert(ctx, tx, "operations")
	})
}

// FinishOperation saves the receipt.
func (s *Store) FinishOperation(ctx context.Context, o ledger.Operation) error {
	const what = "finish operation"
	var v values
	receipt(&v, o, s.stampNow())
	if !o.FinishedAt.IsZero() {
		v.set("held_until", nil)
	}
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		at := len(v.names)
		where := fmt.Sprintf(" WHERE id = $%d AND ($%d = '' OR held_by IS NULL OR held_by = $%[2]d)", at+1, at+2)
		res, err := tx.ExecContext(ctx, v.updateSQL("operations")+where, append(v.args, o.ID, o.HeldBy)...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, notFinished(ctx, tx, o.ID))
		}
		return nil
	})
}

// notFinished tells why no row was changed.
func notFinished(ctx context.Context, tx *sql.Tx, id string) error {
	var known int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM operations WHERE id = $1`, id).Scan(&known); err != nil {
		return err
	}
	if known == 0 {
		return media.Errorf(media.CodeNotFound, "finish operation: there is no %q here", id)
	}
	return media.Errorf(media.CodeConflict, "another process works on operation %s, or has ended it", id)
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
func (s *Store) SaveSlot(ctx context.Context, sl ledger.Slot) error {
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
	return s.commit(ctx, "save operation slot", func(ctx context.Context, tx *sql.Tx) error {
		return v.upsert(ctx, tx, "operation_slots", "operation_id, slot_index")
	})
}

// SaveTask inserts or overwrites a provider call.
func (s *Store) SaveTask(ctx context.Context, t ledger.Task) error {
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
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := v.upsert(ctx, tx, "provider_tasks", "id"); err != nil {
			return err
		}
		return underWay(ctx, tx, t, now)
	})
}

// underWay lets an operation follow a call of its own.
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

const operationColumns = `id, owner, tree_id, run_id, step_id, idempotency_key, status, method, modality,
	provider, model, api_model, request, dispositions, usage_counts, metadata, warnings, estimated_usd, reported_usd,
	error_code, error_message, retryable, held_by, held_until, finished_at, created_at, updated_at`

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
func (s *Store) Operation(ctx context.Context, owner, id string) (ledger.Operation, []ledger.Slot, []ledger.Task, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Operation{}, nil, nil, err
	}
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+operationColumns+
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
func (s *Store) OperationByKey(ctx context.Context, owner, key string) (ledger.Operation, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Operation{}, err
	}
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+operationColumns+
		` FROM operations WHERE owner = $1 AND idempotency_key = $2`, owner, key))
	return o, s.failure("read operation", err)
}

// ListOperations lists operations, newest first.
func (s *Store) ListOperations(ctx context.Context, owner string, q ledger.OperationQuery) (ledger.List[ledger.Operation], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.Operation]{}, err
	}
	sel := selectFrom(operationColumns, "operations", "owner = ?", owner)
	if q.Tree != "" {
		sel.where("tree_id = ?", q.Tree)
	}
	if q.Status != "" {
		sel.where("status = ?", q.Status)
	}
	list, err := page(ctx, s.read, sel, q.Page, order[ledger.Operation]{
		key: "id", descending: true, scan: scanOperation, next: func(o ledger.Operation) string { return o.ID },
	})
	return list, s.failure("list operations", err)
}
