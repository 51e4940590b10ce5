package sqlite

import (
	"context"
	"database/sql"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// HoldOperation takes, keeps or releases the sole right to work on an operation.
func (s *Store) HoldOperation(ctx context.Context, owner, id, holder string, until time.Time) error {
	const what = "hold operation"
	if err := needOwner(owner); err != nil {
		return err
	}
	if err := need(what, "id", id, "holder", holder); err != nil {
		return err
	}
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE operations SET held_by = $1, held_until = $2
			WHERE owner = $3 AND id = $4 AND (held_by = $1 OR held_until IS NULL OR held_until < $5)`,
			holder, stamp(until), owner, id, s.stampNow())
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		var known int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM operations WHERE owner = $1 AND id = $2`, owner, id).Scan(&known); err != nil {
			return err
		}
		if known == 0 {
			return media.Errorf(media.CodeNotFound, "there is no operation %.40q", id)
		}
		return media.Errorf(media.CodeConflict, "another process works on operation %s: wait for it", id)
	})
}

// OperationOfTask finds the operation of a provider's task.
func (s *Store) OperationOfTask(ctx context.Context, provider, taskID string) (ledger.Operation, error) {
	o, err := scanOperation(s.read.QueryRowContext(ctx, `SELECT `+operationColumns+` FROM operations WHERE id =
		(SELECT operation_id FROM provider_tasks WHERE provider = $1 AND task_id = $2 ORDER BY id LIMIT 1)`, provider, taskID))
	return o, failure("find operation of task", err)
}

// AdriftBlobs lists what arrived for an operation and is in none of its slots.
func (s *Store) AdriftBlobs(ctx context.Context, owner, operation string) ([]ledger.Blob, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	sel := selectFrom(blobColumns, "blobs", `operation_id = ?
		AND NOT EXISTS (SELECT 1 FROM operation_slots WHERE operation_slots.operation_id = blobs.operation_id AND operation_slots.digest = blobs.digest)
		AND NOT EXISTS (SELECT 1 FROM media WHERE media.digest = blobs.digest AND media.operation_id = blobs.operation_id
			AND (media.partial = 1 OR media.deleted_at IS NOT NULL OR media.id IN (SELECT parent_media_id FROM media_lineage)))`, operation)
	sel.where("(SELECT owner FROM operations WHERE operations.id = blobs.operation_id) = ?", owner)
	sel.text.WriteString(" ORDER BY created_at, digest")
	list, err := collect(ctx, s.read, sel, scanBlob)
	return list, failure("list blobs without slots", err)
}
