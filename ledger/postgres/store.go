// Package postgres implements the ledger on PostgreSQL 15 or newer, for deployments that outgrow one machine. Any
// number of processes may share the database; conflicting transactions are serialized by advisory locks.
//
// If the server does not answer, at the start or later, errors have code media.CodeUnavailable, which is retryable; a
// store continues by itself when the server is back. A transaction that lost its connection before its commit is first
// repeated a few times. Other errors are those of package ledger. It may import ledger with its SQL, media, the
// PostgreSQL driver and the migration tool.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"atelier/ledger"
	"atelier/ledger/internal/sqlstore"
	"atelier/media"
)

// Config configures the database and the dependencies of a [Store].
type Config struct {
	// URL is postgres://USER:PASSWORD@HOST:PORT/DATABASE with the parameters of libpq. Omitted parts come from libpq's
	// environment variables and password file. search_path names an existing schema other than public;
	// default_query_exec_mode=exec is for a pooler that shares connections between transactions. Required.
	URL string
	// Patience is how long a call waits for a server that answered when the ledger was opened and no longer does; 0
	// means that it does not wait.
	Patience time.Duration
	// LockTimeout is how long a transaction waits for another one; 0 means 10 s.
	LockTimeout time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID creates ids; nil means UUIDv7. Ids must sort in the order of their creation.
	NewID func() string
	// Logger receives a warning for every secondary row that could not be saved; nil means slog.Default.
	Logger *slog.Logger
}

const (
	// connections is the maximum number of open connections; a migration needs two.
	connections = 8
	// dialTimeout bounds connecting if the URL has no connect_timeout.
	dialTimeout = 10 * time.Second
	// idleLimit is how long an unused connection stays open, lifeLimit how long any connection does.
	idleLimit = 5 * time.Minute
	lifeLimit = time.Hour
	// stuckLimit is when the server ends a transaction whose process has stopped, so that it does not hold its locks
	// forever. A write takes at most a minute.
	stuckLimit = 2 * time.Minute
)

// Store is the ledger in one PostgreSQL database.
type Store struct{ *sqlstore.Store }

var _ ledger.Store = (*Store)(nil)

// Open opens the ledger and migrates it as needed; the database itself must exist. Errors: media.CodeUnsupported for a
// schema that a newer program wrote, media.CodeInvalid for an invalid URL, media.CodeNotFound for a database that does
// not exist, media.CodeUnauthorized for a refused password.
func Open(ctx context.Context, c Config) (*Store, error) {
	db, p, err := connect(c)
	if err != nil {
		return nil, err
	}
	s, err := sqlstore.Open(ctx, db)
	if err != nil {
		return nil, err
	}
	p.limit.Store(int64(c.Patience))
	return &Store{s}, nil
}

// Check reports whether a URL is valid, without connecting. The error has code media.CodeInvalid and does not repeat
// the URL, which may contain a password.
func Check(url string) error {
	_, err := parse(url)
	return err
}

func parse(url string) (*pgx.ConnConfig, error) {
	url = strings.TrimSpace(url)
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		if c, err := pgx.ParseConfig(url); err == nil {
			return c, nil
		}
	}
	return nil, media.Errorf(media.CodeInvalid, "the database URL is invalid: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %%XX")
}

func connect(c Config) (sqlstore.Config, *patient, error) {
	cc, err := parse(c.URL)
	if err != nil {
		return sqlstore.Config{}, nil, err
	}
	if cc.ConnectTimeout <= 0 {
		cc.ConnectTimeout = dialTimeout
	}
	for name, value := range map[string]string{
		"application_name":                    "atelier",
		"lock_timeout":                        milliseconds(cmp.Or(c.LockTimeout, 10*time.Second)),
		"idle_in_transaction_session_timeout": milliseconds(stuckLimit),
	} {
		if cc.RuntimeParams[name] == "" {
			cc.RuntimeParams[name] = value
		}
	}
	// A write depends on what others committed before it got its locks.
	cc.RuntimeParams["default_transaction_isolation"] = "read committed"
	d := dialect{place: place(cc)}
	p := &patient{Connector: stdlib.GetConnector(*cc)}
	db := sql.OpenDB(p)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleLimit)
	db.SetConnMaxLifetime(lifeLimit)
	return sqlstore.Config{Write: db, Read: db, Dialect: d, Place: d.place, StartOverHint: "name another database", Now: c.Now, NewID: c.NewID, Logger: c.Logger}, p, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// place describes the database for people.
func place(c *pgx.ConnConfig) string {
	name := c.Database
	if name == "" {
		name = c.User // the server's default
	}
	if strings.HasPrefix(c.Host, "/") {
		return fmt.Sprintf("PostgreSQL %s in %s", name, c.Host)
	}
	return fmt.Sprintf("PostgreSQL %s on %s:%d", name, c.Host, c.Port)
}
