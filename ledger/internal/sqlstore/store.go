// Package sqlstore implements the ledger in SQL that every supported database accepts. A [Dialect] contains the
// differences between databases; ledger/sqlite and ledger/postgres each implement one, open the database and pass it
// on.
//
// Statements use only what SQLite and PostgreSQL share: numbered parameters, ON CONFLICT, RETURNING, savepoints, text
// for ids, times and JSON. A transaction that depends on what it has read acquires a lock of the dialect first. Every
// method acquires its locks in a consistent order, so that no two wait for each other.
//
// Errors are those of package ledger. It may import ledger, ledger/migrations, media and the migration tool.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"atelier/ledger"
	"atelier/media"
)

// Dialect contains the differences between databases.
type Dialect interface { //nolint:interfacebloat // it is all that databases do differently
	// Goose returns the migration tool's name for the database.
	Goose() goose.Dialect
	// CountTables returns a query that counts the tables named $1 in the ledger's schema.
	CountTables() string
	// Exclusively runs fn while no other process does, if that requires more than fn's own transaction.
	Exclusively(ctx context.Context, db *sql.DB, fn func() error) error
	// Commit runs fn in a transaction and returns when it is synced; what describes it in errors. If the transaction
	// fails, fn may be called again in a new one.
	Commit(ctx context.Context, db *sql.DB, what string, fn func(context.Context, *sql.Tx) error) error
	// Clock returns an expression for the database's time plus a duration, in the ledger's time format.
	Clock(after time.Duration) string
	// Share ends a SELECT whose rows must not change until the transaction ends.
	Share() string
	// Lock locks a name until the transaction ends. Two transactions that lock the same name run one after the other,
	// and the second sees what the first one wrote.
	Lock(ctx context.Context, tx *sql.Tx, name string) error
	// Contains returns the condition that a column contains a text, whatever its case; ? in it is the pattern.
	Contains(text string) (contains func(column string) string, pattern string)
	// Search creates the index of the texts of media, unless it exists, and returns its Finder; nil if this database
	// cannot have one.
	Search(ctx context.Context, db *sql.DB, log *slog.Logger) (Finder, error)
	// Failure adds a code and advice to an error of the driver. It is called only for errors without a code.
	Failure(what string, err error) error
	// Retryable reports whether Commit runs fn again after an error: a deadlock or a lost connection.
	Retryable(err error) bool
}

// Config is an open database and the dependencies of the store.
type Config struct {
	// Write runs transactions, and Read everything else; they may be the same. The store closes both. Required.
	Write, Read *sql.DB
	// Dialect is required.
	Dialect Dialect
	// Place describes the database in messages, without a password.
	Place string
	// StartOverHint tells people in messages how to start with an empty ledger, after "or".
	StartOverHint string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID creates ids; nil means UUIDv7. Ids must sort in the order of their creation.
	NewID func() string
	// Logger receives a warning for every secondary row that could not be saved; nil means slog.Default.
	Logger *slog.Logger
}

// db is the database shared by the aggregates.
type db struct {
	cfg         Config
	dialect     Dialect
	write, read *sql.DB
	// find queries the index of the texts of media; nil if there is none.
	find Finder
}

// The aggregates, each a type with the methods of its part of [ledger.Store].
type (
	runs          struct{ *db }
	runStates     struct{ *db }
	prompts       struct{ *db }
	items         struct{ *db }
	blobs         struct{ *db }
	operations    struct{ *db }
	leases        struct{ *db }
	budgets       struct{ *db }
	events        struct{ *db }
	conversations struct{ *db }
	keys          struct{ *db }
	contents      struct{ *db }
	interactions  struct{ *db }
)

// Store is the ledger in one database.
type Store struct {
	*db
	runs
	runStates
	prompts
	items
	blobs
	operations
	leases
	budgets
	events
	conversations
	keys
	contents
	interactions
}

var _ ledger.Store = (*Store)(nil)

// Open migrates the database as needed. On an error it closes the database. For a schema that a newer program wrote,
// the error has code media.CodeUnsupported.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default clock
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &db{cfg: c, dialect: c.Dialect, write: c.Write, read: c.Read}
	if err := s.migrate(ctx); err != nil {
		_ = s.Close() // the migration's error is returned
		return nil, err
	}
	var err error
	if s.find, err = s.dialect.Search(ctx, s.write, s.cfg.Logger); err != nil {
		_ = s.Close() // the index's error is returned
		return nil, s.failure("index the texts of media", err)
	}
	return &Store{
		s,
		runs{s},
		runStates{s},
		prompts{s},
		items{s},
		blobs{s},
		operations{s},
		leases{s},
		budgets{s},
		events{s},
		conversations{s},
		keys{s},
		contents{s},
		interactions{s},
	}, nil
}

// Place describes the database, without a password.
func (s *db) Place() string { return s.cfg.Place }

// Close releases the database.
func (s *db) Close() error {
	return s.failure("close ledger", errors.Join(s.read.Close(), s.write.Close()))
}

// writeLimit bounds one write, whose context does not end with the caller's.
const writeLimit = time.Minute

// commit runs fn in a transaction of the dialect, or as a part of the transaction of ctx. It ignores the caller's
// cancellation, because results and payments must always be recorded.
func (s *db) commit(ctx context.Context, what string, fn func(context.Context, *sql.Tx) error) error {
	if t, ok := ctx.Value(sharedKey{}).(*shared); ok && t.store == s {
		if t.broken != nil {
			return s.failure(what, t.broken)
		}
		var err error
		err, t.broken = Savepoint(ctx, t.tx, "part", s.dialect.Retryable, func() error { return fn(ctx, t.tx) })
		return s.failure(what, errors.Join(err, t.broken))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return s.failure(what, s.dialect.Commit(ctx, s.write, what, fn))
}

// execute commits one statement.
func (s *db) execute(ctx context.Context, what, statement string, args ...any) error {
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// change commits a statement that must change a row, which id identifies in the error.
func (s *db) change(ctx context.Context, what, id, statement string, args ...any) error {
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := exec(ctx, tx, statement, args...)
		return checkRowChanged(what, id, n, err)
	})
}

// shared is a transaction of several saves.
type shared struct {
	store *db
	tx    *sql.Tx
	// broken is why the whole transaction must be repeated or abandoned.
	broken error
}

type sharedKey struct{}

// Writable starts an empty write that accesses a row, because SQLite starts any transaction on a read-only file.
func (s *db) Writable(ctx context.Context) error {
	return s.execute(ledger.Relaxed(ctx), "write into the ledger", `UPDATE sequences SET value = value WHERE name = ''`)
}

// InTransaction makes one commit of the saves that fn makes with its context. A failed save undoes only itself.
func (s *db) InTransaction(ctx context.Context, fn func(context.Context) error) error {
	return s.commit(ctx, "save together", func(ctx context.Context, tx *sql.Tx) error {
		t := &shared{store: s, tx: tx}
		err := fn(context.WithValue(ctx, sharedKey{}, t))
		if t.broken != nil {
			return t.broken
		}
		return err
	})
}

// Savepoint runs fn inside a transaction so that its failure undoes only itself. broken is why the whole transaction
// must be repeated or abandoned, such as an error of fn for which again returns true.
func Savepoint(ctx context.Context, tx *sql.Tx, name string, again func(error) bool, fn func() error) (failed, broken error) {
	if _, broken = tx.ExecContext(ctx, "SAVEPOINT "+name); broken != nil {
		return nil, broken
	}
	if failed = fn(); failed != nil {
		if again(failed) {
			return nil, failed
		}
		if _, broken = tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+name); broken != nil {
			return failed, broken
		}
	}
	_, broken = tx.ExecContext(ctx, "RELEASE SAVEPOINT "+name)
	return failed, broken
}

// attempt runs fn inside the transaction so that its failure undoes only itself and is logged.
func (s *db) attempt(ctx context.Context, tx *sql.Tx, what string, fn func() error) error {
	err, broken := Savepoint(ctx, tx, "secondary", s.dialect.Retryable, fn)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "ledger row not saved", slog.String("what", what),
			slog.String("error", media.ErrorText(err.Error())))
	}
	return s.failure(what, broken)
}

// lock locks names, which must be in the same order in every caller.
func (s *db) lock(ctx context.Context, tx *sql.Tx, names ...string) error {
	for _, n := range names {
		if err := s.dialect.Lock(ctx, tx, n); err != nil {
			return err
		}
	}
	return nil
}

// stamp sets times to now.
func (s *db) stamp(times ...*time.Time) {
	now := s.cfg.Now()
	for _, t := range times {
		*t = now
	}
}

func (s *db) stampNow() string { return stampText(s.cfg.Now()) }

// closedText is the text of the error of a closed [sql.DB], which the package does not export.
const closedText = "sql: database is closed"

// Failure adds a code to an error and wraps it once. Nil and errors with a code are returned unchanged.
func Failure(d Dialect, what string, err error) error {
	if err == nil {
		return nil
	}
	if _, coded := errors.AsType[*media.Error](err); coded {
		return err
	}
	item, read := strings.CutPrefix(what, "read ")
	switch {
	case errors.Is(err, sql.ErrNoRows) && read:
		return media.Errorf(media.CodeNotFound, "%s was not found", item)
	case errors.Is(err, sql.ErrNoRows):
		return media.Errorf(media.CodeNotFound, "%s: not found", what)
	case err.Error() == closedText:
		return media.Errorf(media.CodeUnavailable, "%s: the ledger is closed: open it again", what)
	}
	return d.Failure(what, err)
}

func (s *db) failure(what string, err error) error { return Failure(s.dialect, what, err) }

// needOwner refuses a read without an owner.
func needOwner(owner string) error {
	if owner == "" {
		return media.Errorf(media.CodeForbidden, "the owner is missing: every ledger read requires one")
	}
	return nil
}

// need refuses a row without its required values, given as pairs of name and value.
func need(what string, pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return media.Errorf(media.CodeInvalid, "%s: %s is empty: set it", what, pairs[i])
		}
	}
	return nil
}

// checkRowChanged returns the error of a statement that must change a row: not_found if it changed none.
func checkRowChanged(what, id string, rows int64, err error) error {
	if err == nil && rows == 0 {
		return media.Errorf(media.CodeNotFound, "%s: there is no %q", what, id)
	}
	return err
}
