package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"atelier/ledger"
)

// ClaimKey saves a claim, or returns the existing one.
func (s keys) ClaimKey(ctx context.Context, c ledger.Claim, since time.Time) (ledger.Claim, error) {
	const what = "claim key"
	if err := need(what, "owner", c.Owner, "key", c.Key, "digest", c.Digest, "id", c.ID); err != nil {
		return ledger.Claim{}, err
	}
	var first ledger.Claim
	err := s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lock(ctx, tx, "key "+c.Owner+" "+c.Key); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM idempotency_keys WHERE created_at < $1`, stampText(since)); err != nil {
			return err
		}
		first = ledger.Claim{Owner: c.Owner, Key: c.Key}
		var answer string
		err := tx.QueryRowContext(ctx, `SELECT digest, made_id, answer FROM idempotency_keys
			WHERE owner = $1 AND idempotency_key = $2`, c.Owner, c.Key).Scan(&first.Digest, &first.ID, nullable(&answer))
		if answer != "" {
			first.Answer = []byte(answer)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		first = ledger.Claim{Owner: c.Owner, Key: c.Key, Digest: c.Digest, ID: c.ID}
		_, err = tx.ExecContext(ctx, `INSERT INTO idempotency_keys (owner, idempotency_key, digest, made_id, created_at)
			VALUES ($1, $2, $3, $4, $5)`, c.Owner, c.Key, c.Digest, c.ID, s.stampNow())
		return err
	})
	return first, err
}

// SettleKey saves the answer of a claim.
func (s keys) SettleKey(ctx context.Context, owner, key string, answer []byte) error {
	return s.change(ctx, "keep the answer of key", key, `UPDATE idempotency_keys SET answer = $3
		WHERE owner = $1 AND idempotency_key = $2`, owner, key, string(answer))
}

// ReleaseKey removes a claim without an answer.
func (s keys) ReleaseKey(ctx context.Context, owner, key string) error {
	return s.execute(ctx, "release key", `DELETE FROM idempotency_keys
		WHERE owner = $1 AND idempotency_key = $2 AND answer IS NULL`, owner, key)
}
