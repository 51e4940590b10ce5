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
	if err := needOwner(owner); err != nil {
		return err
	}
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		m, err := scanRecord(tx.QueryRowContext(ctx, `SELECT `+recordColumns+
			` FROM media WHERE owner = $1 AND id = `+recordID+` AND deleted_at IS NULL`, owner, id))
		if err == nil {
			err = unused(ctx, tx, m)
		}
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE media SET deleted_at = $1, updated_at = $1
			WHERE id = $2 AND deleted_at IS NULL`, s.stampNow(), m.ID)
		if err != nil {
			return err
		}
		return changed(what, id, res)
	})
}

// unused refuses an item of a run, or of an operation, that has not ended.
func unused(ctx context.Context, tx *sql.Tx, m ledger.Record) error {
	const trees = ` IN (SELECT tree_id FROM media WHERE id = $1 UNION SELECT tree_id FROM media_grants WHERE media_id = $1)`
	var id, status string
	err := tx.QueryRowContext(ctx, `SELECT id, status FROM agent_runs
		WHERE id`+trees+` AND status IN ('running', 'paused') ORDER BY id LIMIT 1`, m.ID).Scan(&id, &status)
	if err == nil {
		return media.Errorf(media.CodeConflict, "%s belongs to run %s, which is %s: wait until it ends, or cancel it first (atelier runs cancel %[2]s)", m.Ref, id, status)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = tx.QueryRowContext(ctx, `SELECT id, status FROM operations
		WHERE tree_id`+trees+` AND finished_at IS NULL ORDER BY id LIMIT 1`, m.ID).Scan(&id, &status)
	if err == nil {
		return media.Errorf(media.CodeConflict, "%s belongs to operation %s, which is %s: wait until it ends, or cancel it first (atelier operations cancel %[2]s)", m.Ref, id, status)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return nil
}

// RestoreMedia takes the tombstone away.
func (s items) RestoreMedia(ctx context.Context, owner, id string, since time.Time) error {
	if err := needOwner(owner); err != nil {
		return err
	}
	return s.commit(ctx, "restore media", func(ctx context.Context, tx *sql.Tx) error {
		m, err := scanRecord(tx.QueryRowContext(ctx, `SELECT `+recordColumns+
			` FROM media WHERE owner = $1 AND id = `+recordID+` AND deleted_at IS NOT NULL`, owner, id))
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
