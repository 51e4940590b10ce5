package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"

	"atelier/ledger/internal/sqlstore"
)

// dialect is SQLite, where one transaction writes at a time.
type dialect struct{ writes queue }

var _ sqlstore.Dialect = (*dialect)(nil)

// Goose returns the migration tool's dialect.
func (*dialect) Goose() goose.Dialect { return goose.DialectSQLite3 }

// CountTables returns a query that counts tables in the file's schema.
func (*dialect) CountTables() string {
	return `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
}

// Exclusively calls fn, whose own transactions are sufficient.
func (*dialect) Exclusively(_ context.Context, _ *sql.DB, fn func() error) error { return fn() }

// Clock returns an expression of the machine's time, with millisecond precision.
func (*dialect) Clock(after time.Duration) string {
	return fmt.Sprintf("strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now', '%+.3f seconds')", after.Seconds())
}

// Share returns no clause: see Lock.
func (*dialect) Share() string { return "" }

// Lock does nothing: a transaction that writes holds the file from its start.
func (*dialect) Lock(context.Context, *sql.Tx, string) error { return nil }

// Retryable returns false: a transaction starts with the lock, and so cannot lose it.
func (*dialect) Retryable(error) bool { return false }
