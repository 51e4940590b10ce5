package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"atelier/ledger"
	"atelier/media"
)

// OperationOfTask finds the operation of a provider's task.
func (s operations) OperationOfTask(ctx context.Context, provider, taskID string) (ledger.Operation, error) {
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+s.operationColumns()+` FROM operations WHERE id =
		(SELECT operation_id FROM provider_tasks WHERE provider = $1 AND task_id = $2 ORDER BY id LIMIT 1)`, provider, taskID))
	return o, s.failure("find operation of task", err)
}

// AnyOperation reads an operation of any owner.
func (s operations) AnyOperation(ctx context.Context, id string) (ledger.Operation, error) {
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+s.operationColumns()+` FROM operations WHERE id = $1`, id))
	return o, s.failure("read operation", err)
}

// UnassignedBlobs lists what arrived for an operation and is in none of its slots. A slot whose
// record could not be saved does not have it.
func (s operations) UnassignedBlobs(ctx context.Context, owner, operation string) ([]ledger.Blob, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	sel := selectFrom(blobColumns, "blobs", `operation_id = ?
		AND NOT EXISTS (SELECT 1 FROM operation_slots WHERE operation_slots.operation_id = blobs.operation_id AND operation_slots.digest = blobs.digest
			AND (operation_slots.media_id IS NOT NULL OR EXISTS (SELECT 1 FROM media WHERE media.digest = blobs.digest AND media.operation_id = blobs.operation_id)))
		AND NOT EXISTS (SELECT 1 FROM media WHERE media.digest = blobs.digest AND media.operation_id = blobs.operation_id
			AND (media.partial = 1 OR media.deleted_at IS NOT NULL OR media.id IN (SELECT parent_media_id FROM media_lineage)))`, operation)
	sel.where("(SELECT owner FROM operations WHERE operations.id = blobs.operation_id) = ?", owner)
	sel.text.WriteString(" ORDER BY created_at, digest")
	list, err := collect(ctx, s.read, sel, scanBlob)
	return list, s.failure("list blobs without slots", err)
}

// ReopenOperation makes a finished operation one that is in progress.
func (s operations) ReopenOperation(ctx context.Context, o ledger.Operation, slots []int) error {
	const what = "reopen operation"
	if err := needOwner(o.Owner); err != nil {
		return err
	}
	if err := need(what, "id", o.ID, "status", o.Status); err != nil {
		return err
	}
	now := s.stampNow()
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE operations SET status = $1, request = $2, updated_at = $3,
			finished_at = NULL, error_code = NULL, error_message = NULL, retryable = 0
			WHERE owner = $4 AND id = $5 AND finished_at IS NOT NULL`,
			o.Status, raw(o.Request), now, o.Owner, o.ID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, notReopened(ctx, tx, o))
		}
		for _, index := range slots {
			if _, err := tx.ExecContext(ctx, `DELETE FROM operation_slots WHERE operation_id = $1 AND slot_index = $2`, o.ID, index); err != nil {
				return err
			}
		}
		return nil
	})
}

// notReopened tells why no row was changed.
func notReopened(ctx context.Context, tx *sql.Tx, o ledger.Operation) error {
	var known int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM operations WHERE owner = $1 AND id = $2`, o.Owner, o.ID).Scan(&known); err != nil {
		return err
	}
	if known == 0 {
		return media.Errorf(media.CodeNotFound, "there is no operation %.40q", o.ID)
	}
	return media.Errorf(media.CodeConflict, "operation %s is not finished: wait for it", o.ID)
}
