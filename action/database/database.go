package database

import (
	"cmp"
	"context"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"time"

	"atelier/action"
	"atelier/media"
)

// Defaults of [Config].
const (
	DefaultTimeout = 30 * time.Second
	DefaultMaxRows = 1000
)

// Config selects the database that agents can read.
type Config struct {
	// URL is postgres://USER:PASSWORD@HOST/DATABASE (or postgresql://), sqlite:PATH,
	// file:PATH, or the path of an SQLite file. Required.
	URL string
	// Timeout limits a query; 0 means [DefaultTimeout].
	Timeout time.Duration
	// Describe is the name of the action that lists tables and columns, for messages; empty means Describe Database.
	Describe string
	// MaxRows is the maximum number of rows of a result; 0 means [DefaultMaxRows].
	MaxRows int
}

// Database is one database that agents may read. It is safe for concurrent use.
type Database struct {
	cfg    Config
	engine engine
	db     *sql.DB
}

// engine abstracts the differences between kinds of databases.
type engine interface {
	// about describes the engine.
	about() about
	// describe lists the tables.
	describe(ctx context.Context, tx *sql.Tx) ([]Table, error)
	// quote quotes an identifier.
	quote(id string) string
	// wrap limits a statement to limit rows.
	wrap(statement string, limit int) string
	// prepare restricts a connection before each use.
	prepare(ctx context.Context, c *sql.Conn) error
	// explain adds a code to a database error.
	explain(err error) error
}

// about describes an engine.
type about struct {
	// name is the SQL dialect, for models.
	name string
	// place is the location of the database, without credentials.
	place string
	// words are the keywords that a statement can start with.
	words []string
	// dollars reports whether $tag$ quotes text; if so, square brackets do not quote.
	dollars bool
	// boolLiterals reports whether booleans are true and false instead of 1 and 0.
	boolLiterals bool
	// extra is the number of columns that wrap appends.
	extra int
}

// Open connects. It returns [media.CodeNotFound] for a missing file, [media.CodeInvalid] for a file that is not a
// database, and [media.CodeUnauthorized] if the server rejects the password.
func Open(ctx context.Context, cfg Config) (*Database, error) {
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.MaxRows = cmp.Or(cfg.MaxRows, DefaultMaxRows)
	cfg.Describe = cmp.Or(cfg.Describe, "Describe Database")
	if cfg.Timeout < 0 || cfg.MaxRows < 0 {
		return nil, media.Errorf(media.CodeInvalid, "database.Config.Timeout and MaxRows must not be negative")
	}
	d := &Database{cfg: cfg}
	var err error
	switch kind, rest := split(cfg.URL); kind {
	case "postgres":
		d.db, d.engine, err = openPostgres(cfg)
	case "sqlite":
		d.db, d.engine, err = openSQLite(rest, cfg.Describe)
	default:
		err = media.Errorf(media.CodeInvalid, "%q databases are not supported: give postgres://… or the path of an SQLite file", kind)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(d.cfg.Timeout, 15*time.Second))
	defer cancel()
	err = d.read(ctx, func(tx *sql.Tx) error {
		tables, err := d.engine.describe(ctx, tx)
		if err == nil && len(tables) == 0 {
			return media.Errorf(media.CodeInvalid, "the database %s has no readable tables", d.engine.about().place)
		}
		return err
	})
	if err != nil {
		_ = d.db.Close() // err is more specific
		return nil, err
	}
	return d, nil
}

// split returns the kind of database that a URL selects, and the path of a file.
func split(raw string) (kind, path string) {
	raw = strings.TrimSpace(raw)
	scheme, rest, ok := strings.Cut(raw, ":")
	lower := strings.ToLower(scheme)
	switch {
	case raw == "":
		return "sqlite", ""
	case !ok || len(scheme) == 1: // C:\data.db
		return "sqlite", raw
	case lower == "postgres" || lower == "postgresql":
		return "postgres", ""
	case lower == "sqlite" || lower == "sqlite3" || lower == "file":
		rest, _, _ = strings.Cut(rest, "?")
		rest = strings.TrimPrefix(rest, "//")
		if p, err := url.PathUnescape(rest); err == nil {
			rest = p
		}
		return "sqlite", rest
	}
	if _, err := os.Stat(raw); err == nil {
		return "sqlite", raw
	}
	return clip(scheme, 20), ""
}

// Close ends all connections.
func (d *Database) Close() error { return d.db.Close() }

// Actions returns Describe Database and Query Database.
func (d *Database) Actions() []action.Action {
	return []action.Action{d.describeAction(), d.queryAction()}
}

// Descriptions returns the descriptions of the actions, without a database, for documentation and checks.
func Descriptions() []action.Description {
	d := &Database{engine: anyEngine{}, cfg: Config{MaxRows: DefaultMaxRows}}
	return action.Document(d.Actions()...)
}

// anyEngine represents all engines in descriptions. It implements only about.
type anyEngine struct{ engine }

func (anyEngine) about() about { return about{name: "PostgreSQL or SQLite"} }

// read runs fn in a read-only transaction and always rolls it back.
func (d *Database) read(ctx context.Context, fn func(*sql.Tx) error) error {
	err := d.within(ctx, fn)
	deadline, limited := ctx.Deadline()
	switch {
	case err == nil:
		return nil
	case limited && time.Until(deadline) <= 0: // the connection can notice it before the context does
		return media.Errorf(media.CodeDeadline, "the database took longer than %s: narrow the query with WHERE, aggregate, or add LIMIT", d.cfg.Timeout)
	case ctx.Err() != nil:
		return media.Errorf(media.CodeCancelled, "query the database: %w", ctx.Err())
	}
	return d.engine.explain(err)
}

func (d *Database) within(ctx context.Context, fn func(*sql.Tx) error) error {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	if err := d.engine.prepare(ctx, conn); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	err = fn(tx)
	_ = tx.Rollback() // nothing to keep, and the error of fn is more specific
	return err
}
