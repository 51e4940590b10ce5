// Package postgres is the ledger on PostgreSQL, 15 or newer, for deployments that
// outgrow one machine. Any number of processes may share the database; transactions
// that would get in each other's way take turns by advisory locks.
//
// A server that does not answer is media.CodeUnavailable, retryable, at the start and
// in the middle; a store continues by itself when the server is back. A transaction that
// lost its connection before its commit is repeated a few times first. Otherwise
// errors are those of package ledger. It imports ledger with its SQL, media, the
// PostgreSQL driver and the migration tool.
package postgres

import (
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

// Config says which database to open and what the store depends on.
type Config struct {
	// URL is postgres://USER:PASSWORD@HOST:PORT/DATABASE with the parameters of libpq;
	// what it omits comes from libpq's environment variables and password file.
	// search_path names another schema than public, which must exist;
	// default_query_exec_mode=exec goes through a pooler that shares connections between
	// transactions. Required.
	URL string
	// Connections is how many are open at most; 0 means 8, and one alone would not do.
	Connections int
	// DialTimeout bounds connecting where the URL has no connect_timeout; 0 means 10 s.
	DialTimeout time.Duration
	// Patience is how long a call waits for a server that was there when the ledger was
	// opened and does not answer any more; 0 means not at all.
	Patience time.Duration
	// LockTimeout is how long a transaction waits for another one; 0 means 10 s.
	LockTimeout time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID creates ids; nil means UUIDv7. Ids must sort in the order of making.
	NewID func() string
	// Logger gets a warning for every secondary row that could not be saved; nil means
	// slog.Default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Connections <= 0 {
		c.Connections = 8
	}
	c.Connections = max(c.Connections, 2) // a migration needs two
	if c.DialTimeout <= 0 {
		c.DialTimeout = 10 * time.Second
	}
	if c.LockTimeout <= 0 {
		c.LockTimeout = 10 * time.Second
	}
	return c
}

const (
	// idleLimit is how long an unused connection stays open, lifeLimit any at all.
	idleLimit = 5 * time.Minute
	lifeLimit = time.Hour
	// stuckLimit is when the server ends a transaction whose process has stopped, so
	// that it does not hold its locks for ever. A write takes a minute at most.
	stuckLimit = 2 * time.Minute
)

// Store is the ledger in one database.
type Store struct{ *sqlstore.Store }

var _ ledger.Store = (*Store)(nil)

// Open opens the ledger, migrating it as needed; the database itself must exist. A
// schema that a newer program wrote is media.CodeUnsupported, a URL that is none
// media.CodeInvalid, a database that does not exist media.CodeNotFound, a refused
// password media.CodeUnauthorized.
func Open(ctx context.Context, c Config) (*Store, error) {
	db, p, err := connect(c.withDefaults())
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

// Check reports whether a URL can be read, without connecting. The error has code
// media.CodeInvalid and does not repeat the URL, which may hold a password.
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
		cc.ConnectTimeout = c.DialTimeout
	}
	for name, value := range map[string]string{
		"application_name":                    "atelier",
		"lock_timeout":                        milliseconds(c.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(stuckLimit),
	} {
		if cc.RuntimeParams[name] == "" {
			cc.RuntimeParams[name] = value
		}
	}
	// A write decides by what others have committed before it got its locks.
	cc.RuntimeParams["default_transaction_isolation"] = "read committed"
	d := dialect{place: place(cc)}
	p := &patient{Connector: stdlib.GetConnector(*cc)}
	db := sql.OpenDB(p)
	db.SetMaxOpenConns(c.Connections)
	db.SetMaxIdleConns(c.Connections)
	db.SetConnMaxIdleTime(idleLimit)
	db.SetConnMaxLifetime(lifeLimit)
	return sqlstore.Config{Write: db, Read: db, Dialect: d, Place: d.place, Anew: "name another database", Now: c.Now, NewID: c.NewID, Logger: c.Logger}, p, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// place names the database for people.
func place(c *pgx.ConnConfig) string {
	name := c.Database
	if name == "" {
		name = c.User // as the server takes it
	}
	if strings.HasPrefix(c.Host, "/") {
		return fmt.Sprintf("PostgreSQL %s in %s", name, c.Host)
	}
	return fmt.Sprintf("PostgreSQL %s on %s:%d", name, c.Host, c.Port)
}
