package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"

	"atelier/ledger/internal/sqlstore"
)

// dialect is PostgreSQL, where transactions run concurrently.
type dialect struct{ place string }

var _ sqlstore.Dialect = dialect{}

// Goose returns the migration tool's dialect.
func (dialect) Goose() goose.Dialect { return goose.DialectPostgres }

// CountTables returns a query that counts tables in the search path.
func (dialect) CountTables() string {
	return `SELECT COUNT(*) FROM pg_catalog.pg_class WHERE oid = to_regclass($1)`
}

// Exclusively runs fn while this process holds the migration lock. Its transaction only waits, so the server must not
// end it as stuck.
func (d dialect) Exclusively(ctx context.Context, db *sql.DB, fn func() error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to commit
	if _, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return err
	}
	if err := d.Lock(ctx, tx, "migration"); err != nil {
		return err
	}
	return fn()
}

const (
	// tries and tryPause limit the repetition of a failed transaction.
	tries    = 4
	tryPause = 20 * time.Millisecond
)

// Commit runs fn in its own transaction, concurrently with others; the server syncs several at once. After a deadlock,
// or if the connection is lost before the commit, it runs fn again.
func (d dialect) Commit(ctx context.Context, db *sql.DB, _ string, fn func(context.Context, *sql.Tx) error) error {
	for try := 1; ; try++ {
		committing, err := transact(ctx, db, fn)
		if err == nil || committing || try == tries || !d.Retryable(err) {
			return err
		}
		wait := time.NewTimer(time.Duration(try*try) * tryPause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
	}
}

// transact runs fn in one transaction. After an error with committing, it is unknown whether the transaction was
// committed.
func transact(ctx context.Context, db *sql.DB, fn func(context.Context, *sql.Tx) error) (committing bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	if err := fn(ctx, tx); err != nil {
		_ = tx.Rollback() // fn's error is returned
		return false, err
	}
	return true, tx.Commit()
}

// Clock returns an expression of the server's time.
func (dialect) Clock(after time.Duration) string {
	return fmt.Sprintf(`to_char((clock_timestamp() + interval '%d milliseconds') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`, after.Milliseconds())
}

// Share returns a clause that locks the rows against changes.
func (dialect) Share() string { return " FOR SHARE" }

// Lock acquires an advisory lock on the hash of the name. Two names with the same hash only wait for each other.
func (dialect) Lock(ctx context.Context, tx *sql.Tx, name string) error {
	sum := sha256.Sum256([]byte("atelier " + name))
	key := int64(binary.BigEndian.Uint64(sum[:])) //nolint:gosec // any 64 bits will do
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key)
	return err
}
