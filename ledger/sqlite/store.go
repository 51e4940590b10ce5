// Package sqlite is the ledger on one SQLite file, for one machine: pure Go, write
// ahead log, foreign keys on, every commit synced before it returns. Writes that come
// while another is being synced share the next sync. Several processes may share the
// file; writers take turns.
//
// Errors are those of package ledger. It imports ledger, media, the SQLite driver and
// the migration tool.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	// The driver registers itself as "sqlite".
	_ "modernc.org/sqlite"

	"atelier/ledger"
	"atelier/media"
)

// Config says which file to open and what the store depends on.
type Config struct {
	// Path is the database file. Its directory is created if it is missing. Required.
	Path string
	// BusyTimeout is how long a call waits for another process; 0 means 10 s.
	BusyTimeout time.Duration
	// Readers is how many reads run at once; 0 means 4.
	Readers int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID makes ids; nil means UUIDv7. Ids must sort in the order of making.
	NewID func() string
	// Logger gets a warning for every secondary row that could not be saved; nil means
	// slog.Default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.BusyTimeout <= 0 {
		c.BusyTimeout = 10 * time.Second
	}
	if c.Readers <= 0 {
		c.Readers = 4
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default clock
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Store is the ledger in one file.
type Store struct {
	cfg Config
	// write has one connection, so that writers of this process queue here instead of
	// polling for SQLite's lock; read has several and cannot write.
	write, read *sql.DB
	writes      queue
}

var _ ledger.Store = (*Store)(nil)

// Open opens the ledger, creating and migrating it as needed. A database that a newer
// program wrote is media.CodeUnsupported; one that is no database is media.CodeCorrupt.
func Open(ctx context.Context, c Config) (*Store, error) {
	c = c.withDefaults()
	if c.Path == "" {
		return nil, media.Errorf(media.CodeInvalid, "ledger: Config.Path is empty: name the database file")
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o750); err != nil {
		return nil, failure("open ledger", err)
	}
	s := &Store{cfg: c}
	var err error
	if s.write, err = sql.Open("sqlite", dsn(c, "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")); err != nil {
		return nil, failure("open ledger", err)
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite", dsn(c, "_pragma=query_only(1)")); err != nil {
		return nil, errors.Join(failure("open ledger", err), s.write.Close())
	}
	s.read.SetMaxOpenConns(c.Readers)
	s.read.SetMaxIdleConns(c.Readers)
	if err := s.migrate(ctx); err != nil {
		_ = s.Close() // the migration's error is the one to tell
		return nil, err
	}
	return s, nil
}

func dsn(c Config, more string) string {
	path := (&url.URL{Path: filepath.ToSlash(c.Path)}).EscapedPath()
	busy := "_pragma=busy_timeout(" + itoa(c.BusyTimeout.Milliseconds()) + ")"
	return "file:" + path + "?" + busy + "&_pragma=foreign_keys(1)&" + more
}

// Close releases the file.
func (s *Store) Close() error {
	return failure("close ledger", errors.Join(s.read.Close(), s.write.Close()))
}

// attempt runs fn inside the transaction so that its failure undoes only itself, and
// logs that failure.
func (s *Store) attempt(ctx context.Context, tx *sql.Tx, what string, fn func() error) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT secondary"); err != nil {
		return failure(what, err)
	}
	err := fn()
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "ledger row not saved", slog.String("what", what),
			slog.String("error", media.Scrub(err.Error())))
		if _, rerr := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT secondary"); rerr != nil {
			return failure(what, rerr)
		}
	}
	if _, rerr := tx.ExecContext(ctx, "RELEASE SAVEPOINT secondary"); rerr != nil {
		return failure(what, rerr)
	}
	return nil
}

func (s *Store) stampNow() string { return stampText(s.cfg.Now()) }
