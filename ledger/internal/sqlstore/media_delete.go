package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// DeleteMedia leaves a tombstone.
func (s items) DeleteMedia(ctx context.Context, owner, id string) error {
	const what = "delete media"
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		m, err := one(ctx, tx, recordColumns, recordOf(owner, id).and("deleted_at IS NULL"))
		if err != nil {
			return err
		}
		if err := unused(ctx, tx, m); err != nil {
			return err
		}
		n, err := exec(ctx, tx, `UPDATE media SET deleted_at = $1, updated_at = $1
			WHERE id = $2 AND deleted_at IS NULL`, s.stampNow(), m.ID)
		return found(what, id, n, err)
	})
}

// unused refuses an item of a run, or of an operation, that has not ended.
func unused(ctx context.Context, tx *sql.Tx, m ledger.Record) error {
	const trees = ` IN (SELECT tree_id FROM media WHERE id = $1 UNION SELECT tree_id FROM media_grants WHERE media_id = $1)`
	for _, of := range []struct{ kind, command, rows string }{
		{"run", "runs", `agent_runs WHERE id` + trees + ` AND status IN ('running', 'paused')`},
		{"operation", "operations", `operations WHERE tree_id` + trees + ` AND finished_at IS NULL`},
	} {
		var id, status string
		err := tx.QueryRowContext(ctx, `SELECT id, status FROM `+of.rows+` ORDER BY id LIMIT 1`, m.ID).Scan(&id, &status) //nolint:gosec // constants
		if err == nil {
			return media.Errorf(media.CodeConflict, "%s belongs to %s %s, which is %s: wait until it ends, or cancel it first (atelier %s cancel %[3]s)", m.Ref, of.kind, id, status, of.command)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// RestoreMedia takes the tombstone away.
func (s items) RestoreMedia(ctx context.Context, owner, id string, since time.Time) error {
	return s.commit(ctx, "restore media", func(ctx context.Context, tx *sql.Tx) error {
		m, err := one(ctx, tx, recordColumns, recordOf(owner, id).and("deleted_at IS NOT NULL"))
		if err != nil {
			return err
		}
		if m.DeletedAt.Before(since) {
			return media.Errorf(media.CodeNotFound, "%s was deleted at %s, too long ago to be restored", m.Ref, stampText(m.DeletedAt))
		}
		scope := media.Scope{Owner: m.Owner, Tree: m.Tree}
		if err := s.lock(ctx, tx, treeLock(scope)); err != nil {
			return err
		}
		again, err := findByDigest(ctx, tx, scope, m.Digest)
		if err == nil {
			return media.Errorf(media.CodeConflict, "%s was made again in its run and is now %s: there is nothing to restore", m.Ref, again.ID)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE media SET deleted_at = NULL, updated_at = $1 WHERE id = $2`, s.stampNow(), m.ID)
		return err
	})
}
