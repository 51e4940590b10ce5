package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"atelier/ledger"
	"atelier/media"
)

// columns returns the columns of an operation and of its live lease.
func (s operations) columns(o *ledger.Operation) columns {
	lease := ` FROM leases WHERE kind = 'generation' AND work = operations.id AND NOT ` + s.expired() + `)`
	return slices.Concat(columns{
		{"id", &o.ID},
		{"owner", &o.Owner},
		{"tree_id", &o.Tree},
		{"run_id", nullable(&o.RunID)},
		{"step_id", nullable(&o.StepID)},
		{"idempotency_key", nullable(&o.Key)},
		{"method", nullable(&o.Method)},
		{"modality", nullable(&o.Modality)},
		{"request", jsonCol{&o.Request}},
		{"(SELECT holder" + lease, readOnly{nullable(&o.HeldBy)}},
		{"(SELECT expires_at" + lease, readOnly{timeCol{&o.HeldUntil}}},
		{"created_at", timeCol{&o.CreatedAt}},
	}, receipt(o))
}

// receipt returns the columns that FinishOperation writes.
func receipt(o *ledger.Operation) columns {
	return slices.Concat(columns{
		{"status", &o.Status},
		{"provider", nullable(&o.Provider)},
		{"model", nullable(&o.Model)},
		{"api_model", nullable(&o.APIModel)},
		{"dispositions", jsonCol{&o.Dispositions}},
		{"usage_counts", jsonCol{&o.Usage}},
		{"metadata", jsonCol{&o.Metadata}},
		{"warnings", jsonCol{&o.Warnings}},
		{"estimated_usd", &o.EstimatedUSD},
		{"reported_usd", &o.ReportedUSD},
		{"finished_at", timeCol{&o.FinishedAt}},
		{"updated_at", timeCol{&o.UpdatedAt}},
	}, failureColumns(&o.Failure))
}

// BeginOperation saves the intent.
func (s operations) BeginOperation(ctx context.Context, o ledger.Operation) error {
	const what = "begin operation"
	if err := need(what, "id", o.ID, "owner", o.Owner, "tree", o.Tree, "status", o.Status); err != nil {
		return err
	}
	s.stamp(&o.CreatedAt, &o.UpdatedAt)
	return s.advance(ctx, what, saving("operations", "", s.columns(&o)))
}

// FinishOperation saves the receipt.
func (s operations) FinishOperation(ctx context.Context, o ledger.Operation) error {
	const what = "finish operation"
	o.UpdatedAt = s.cfg.Now()
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := receipt(&o).update(ctx, tx, "operations", "id = ?", o.ID)
		if err := checkRowChanged(what, o.ID, n, err); err != nil || o.FinishedAt.IsZero() {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM leases WHERE kind = $1 AND work = $2`, string(ledger.LeaseGeneration), o.ID)
		return err
	})
}

// ReopenOperation reopens a finished operation.
func (s operations) ReopenOperation(ctx context.Context, o ledger.Operation, slots []int) error {
	const what = "reopen operation"
	if err := needOwner(o.Owner); err != nil {
		return err
	}
	if err := need(what, "id", o.ID, "status", o.Status); err != nil {
		return err
	}
	reopened := ledger.Operation{Status: o.Status, Request: o.Request, UpdatedAt: s.cfg.Now()}
	changes := append(columns{
		{"status", &reopened.Status},
		{"request", jsonCol{&reopened.Request}},
		{"finished_at", timeCol{&reopened.FinishedAt}},
		{"updated_at", timeCol{&reopened.UpdatedAt}},
	}, failureColumns(&reopened.Failure)...)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := changes.update(ctx, tx, "operations", "owner = ? AND id = ? AND finished_at IS NOT NULL", o.Owner, o.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			if _, err := one(ctx, tx, only("id"), owned("operations", o.Owner).where("id = ?", o.ID)); err != nil {
				return s.failure("read operation "+o.ID, err)
			}
			return media.Errorf(media.CodeConflict, "operation %s is not finished: wait for it", o.ID)
		}
		for _, index := range slots {
			if _, err := tx.ExecContext(ctx, `DELETE FROM operation_slots WHERE operation_id = $1 AND slot_index = $2`, o.ID, index); err != nil {
				return err
			}
		}
		return nil
	})
}

func slotColumns(sl *ledger.Slot) columns {
	return slices.Concat(columns{
		{"operation_id", &sl.OperationID},
		{"slot_index", &sl.Index},
		{"status", &sl.Status},
		{"media_id", nullable(&sl.MediaID)},
		{"ref", nullable(&sl.Ref)},
		{"digest", digestCol{&sl.Digest}},
		{"revised_prompt", prose(&sl.RevisedPrompt)},
		{"seed", &sl.Seed},
		{"safety", jsonCol{&sl.Safety}},
		{"updated_at", timeCol{&sl.UpdatedAt}},
	}, failureColumns(&sl.Failure))
}

// SaveSlot inserts or overwrites a slot.
func (s operations) SaveSlot(ctx context.Context, sl ledger.Slot) error {
	sl.UpdatedAt = s.cfg.Now()
	row := append(slotColumns(&sl), column{"created_at", timeCol{&sl.UpdatedAt}})
	return s.advance(ctx, "save operation slot", saving("operation_slots", "operation_id, slot_index", row))
}

func taskColumns(t *ledger.Task) columns {
	return slices.Concat(columns{
		{"id", &t.ID},
		{"operation_id", &t.OperationID},
		{"call_index", &t.Call},
		{"attempt", &t.Attempt},
		{"idempotency_key", nullable(&t.Key)},
		{"provider", nullable(&t.Provider)},
		{"task_id", nullable(&t.TaskID)},
		{"status", &t.Status},
		{"detail", jsonCol{&t.Detail}},
		{"finished_at", timeCol{&t.FinishedAt}},
		{"created_at", timeCol{&t.CreatedAt}},
		{"updated_at", timeCol{&t.UpdatedAt}},
	}, failureColumns(&t.Failure))
}

// SaveTask inserts or overwrites a provider call, and updates the status of its operation.
func (s operations) SaveTask(ctx context.Context, t ledger.Task) error {
	const what = "save provider task"
	if err := need(what, "id", t.ID, "operation id", t.OperationID); err != nil {
		return err
	}
	s.stamp(&t.CreatedAt, &t.UpdatedAt)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		_, err := taskColumns(&t).upsert(ctx, tx, "provider_tasks", "id", "")
		if err != nil || t.Status != "submitted" && t.Status != "running" {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE operations SET status = $1, updated_at = $2
			WHERE id = $3 AND finished_at IS NULL AND (status = 'queued' OR status = 'submitted' AND $1 = 'running')`, t.Status, stampText(t.UpdatedAt), t.OperationID)
		return err
	})
}

// Operation returns an operation with its slots and provider calls.
func (s operations) Operation(ctx context.Context, owner, id string) (ledger.Operation, []ledger.Slot, []ledger.Task, error) {
	o, err := read(ctx, s.db, "read operation "+id, s.columns, owned("operations", owner).where("id = ?", id))
	if err != nil {
		return o, nil, nil, err
	}
	slots, err := readAll(ctx, s.db, "read operation slots", slotColumns, from("operation_slots").where("operation_id = ?", id).orderBy("slot_index"))
	if err != nil {
		return o, nil, nil, err
	}
	tasks, err := readAll(ctx, s.db, "read provider tasks", taskColumns, from("provider_tasks").where("operation_id = ?", id).orderBy("call_index, attempt, id"))
	return o, slots, tasks, err
}

// OperationByKey returns the operation with an idempotency key.
func (s operations) OperationByKey(ctx context.Context, owner, key string) (ledger.Operation, error) {
	return read(ctx, s.db, "read operation", s.columns, owned("operations", owner).where("idempotency_key = ?", key))
}

// OperationOfTask returns the operation of a provider's task.
func (s operations) OperationOfTask(ctx context.Context, provider, taskID string) (ledger.Operation, error) {
	return read(ctx, s.db, "find operation of task", s.columns, from("operations", provider, taskID).
		and("id = (SELECT operation_id FROM provider_tasks WHERE provider = $1 AND task_id = $2 ORDER BY id LIMIT 1)"))
}

// AnyOperation returns an operation of any owner.
func (s operations) AnyOperation(ctx context.Context, id string) (ledger.Operation, error) {
	return read(ctx, s.db, "read operation", s.columns, from("operations").where("id = ?", id))
}

// ListOperations lists operations, newest first.
func (s operations) ListOperations(ctx context.Context, owner string, q ledger.OperationQuery) (ledger.List[ledger.Operation], error) {
	sel := owned("operations", owner)
	if q.Tree != "" {
		sel.where("tree_id = ?", q.Tree)
	}
	if q.Status != "" {
		sel.where("status = ?", q.Status)
	}
	return page(ctx, s.db, "list operations", s.columns, sel.orderBy("id DESC").paged(q.Page))
}

// ListOpenOperations lists unfinished operations of any owner.
func (s operations) ListOpenOperations(ctx context.Context, p ledger.Page) (ledger.List[ledger.Operation], error) {
	return page(ctx, s.db, "list operations", s.columns, from("operations").and("finished_at IS NULL").orderBy("id DESC").paged(p))
}

// UnassignedBlobs lists the bytes received for an operation that are in none of its slots. A slot whose record could
// not be saved does not count.
func (s operations) UnassignedBlobs(ctx context.Context, owner, operation string) ([]ledger.Blob, error) {
	return readAll(ctx, s.db, "list blobs without slots", blobColumns, owned("blobs JOIN (SELECT id AS operation, owner FROM operations) o ON o.operation = operation_id", owner).
		where("operation_id = ?", operation).
		and(`NOT EXISTS (SELECT 1 FROM operation_slots WHERE operation_slots.operation_id = blobs.operation_id AND operation_slots.digest = blobs.digest
			AND (operation_slots.media_id IS NOT NULL OR EXISTS (SELECT 1 FROM media WHERE media.digest = blobs.digest AND media.operation_id = blobs.operation_id)))`).
		and(`NOT EXISTS (SELECT 1 FROM media WHERE media.digest = blobs.digest AND media.operation_id = blobs.operation_id
			AND (media.partial = 1 OR media.deleted_at IS NOT NULL OR media.id IN (SELECT parent_media_id FROM media_lineage)))`).
		orderBy("created_at, digest"))
}
