// Package sqlite implements the ledger in one SQLite file, for one machine: pure Go, write-ahead log, foreign keys on,
// and every commit except a relaxed one synced before it returns. Writes that arrive during a sync share the next one.
// Several processes may share the file; they write one at a time.
//
// Errors are those of package ledger. It may import ledger with its SQL, media, internal/sqlitedb, the SQLite driver
// and the migration tool.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelier/internal/sqlitedb"
	"atelier/ledger"
	"atelier/ledger/internal/sqlstore"
	"atelier/media"
)

// Config configures the file and the dependencies of a [Store].
type Config struct {
	// Path is the database file. Its directory is created if it is missing. Required.
	Path string
	// BusyTimeout is how long a call waits for another process; 0 means 10 s.
	BusyTimeout time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID creates ids; nil means UUIDv7. Ids must sort in the order of their creation.
	NewID func() string
	// Logger receives a warning for every secondary row that could not be saved; nil means slog.Default.
	Logger *slog.Logger
}

const (
	// readers is the maximum number of concurrent reads.
	readers = 4
	// busyTimeout is the default of Config.BusyTimeout.
	busyTimeout = 10 * time.Second
)

// Store is the ledger in one SQLite file.
type Store struct{ *sqlstore.Store }

var _ ledger.Store = (*Store)(nil)

// Open opens the ledger, and creates and migrates it as needed. The error has code media.CodeUnsupported for a database
// of a newer program, or of an unreleased version whose migrations have gaps, which stays unchanged, and
// media.CodeCorrupt for a file that is not a database.
func Open(ctx context.Context, c Config) (*Store, error) {
	db, err := connect(c)
	if err != nil {
		return nil, err
	}
	ready(ctx, db.Write, cmp.Or(c.BusyTimeout, busyTimeout))
	s, err := sqlstore.Open(ctx, db)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// connect opens two pools. The write pool has one connection, so that writers of this process queue there instead of
// polling for SQLite's lock. The read pool has several and cannot write.
func connect(c Config) (sqlstore.Config, error) {
	const what = "open ledger"
	d := &dialect{}
	db := sqlstore.Config{Dialect: d, Place: "SQLite " + c.Path, StartOverHint: "move the folder " + filepath.Dir(c.Path) + " away", Now: c.Now, NewID: c.NewID, Logger: c.Logger}
	if c.Path == "" {
		return db, media.Errorf(media.CodeInvalid, "ledger: Config.Path is empty: name the database file")
	}
	if err := sqlitedb.Private(c.Path); err != nil {
		return db, sqlstore.Failure(d, what, err)
	}
	db.Write = sqlitedb.Open(dsn(c, sqlitedb.WAL+"&_pragma=synchronous(FULL)&_txlock=immediate"))
	db.Write.SetMaxOpenConns(1)
	db.Read = sqlitedb.Open(dsn(c, "_pragma=query_only(1)"))
	db.Read.SetMaxOpenConns(readers)
	db.Read.SetMaxIdleConns(readers)
	return db, nil
}

// ready waits while another process converts an empty file to a database with a write-ahead log, for which SQLite
// itself does not wait. Other errors appear when the database is used.
func ready(ctx context.Context, db *sql.DB, limit time.Duration) {
	const again = 10 * time.Millisecond
	for range limit / again {
		if e, ok := errors.AsType[*sqlite.Error](db.PingContext(ctx)); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

func dsn(c Config, more string) string {
	path := (&url.URL{Path: filepath.ToSlash(c.Path)}).EscapedPath()
	busy := "_pragma=busy_timeout(" + strconv.FormatInt(cmp.Or(c.BusyTimeout, busyTimeout).Milliseconds(), 10) + ")"
	return "file:" + path + "?" + busy + "&_pragma=foreign_keys(1)&" + more
}
