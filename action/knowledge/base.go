package knowledge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelier/action"
	"atelier/action/file"
	"atelier/internal/sqlitedb"
	"atelier/media"
)

// Config selects the folder to search and the location of its index.
type Config struct {
	// Dir is the folder; required.
	Dir string
	// Data is the folder of the index, one file for each Dir. It is created if it is missing. Required.
	Data string
	// MaxBytes is the largest document that is indexed; 0 means 64 MiB.
	MaxBytes int64
	// MaxCharacters is the maximum number of characters indexed of one document; 0 means 2,000,000.
	MaxCharacters int
	// MaxDocuments is the maximum number of indexed documents; 0 means 50,000.
	MaxDocuments int
	// Refresh is how long the state of the folder is cached; 0 means 2 seconds.
	Refresh time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Base is an indexed folder. It is safe for concurrent use, including by several processes.
type Base struct {
	cfg   Config
	files *file.Files
	db    *sql.DB

	// refreshLock is held by the call that refreshes; its holder sets and reads fresh and report.
	refreshLock chan struct{}
	fresh       time.Time // time of the last refresh
	report      Report
}

// Report is the result of the last refresh.
type Report struct {
	// Documents is the number of searchable documents, Passages the number of their parts.
	Documents, Passages int
	// Indexed and Removed are the numbers of changed and removed documents.
	Indexed, Removed int
	// Skipped lists the first 50 documents that could not be read, or not to their end.
	Skipped []file.Skipped
}

// Open opens the folder and updates the index, which takes some time at first. If ctx ends, what was indexed by then is
// kept.
func Open(ctx context.Context, cfg Config) (*Base, error) {
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 64<<20)
	cfg.MaxCharacters = cmp.Or(cfg.MaxCharacters, 2_000_000)
	cfg.MaxDocuments = cmp.Or(cfg.MaxDocuments, 50_000)
	cfg.Refresh = cmp.Or(cfg.Refresh, 2*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock
	}
	if cfg.Data == "" {
		return nil, media.Errorf(media.CodeInvalid, "knowledge.Config.Data is missing: name the folder for the index")
	}
	files, err := file.Open(file.Config{Dir: cfg.Dir}) //nolint:contextcheck // a short check of the folder
	if err != nil {
		return nil, err
	}
	b := &Base{cfg: cfg, files: files, refreshLock: make(chan struct{}, 1)}
	if err = b.open(ctx); err != nil {
		_ = files.Close() // opened for reading only
		return nil, err
	}
	return b, nil
}

// Close releases folder and index.
func (b *Base) Close() error { return errors.Join(b.db.Close(), b.files.Close()) }

// Descriptions returns the description of the action, without a knowledge base, for documentation and checks.
func Descriptions() []action.Description { return action.Document((&Base{}).Actions()...) }

// open opens and refreshes the index. It rebuilds a damaged index or one of another version.
func (b *Base) open(ctx context.Context) error {
	if err := os.MkdirAll(b.cfg.Data, 0o700); err != nil {
		return media.Errorf(media.CodeInvalid, "create the folder for the index: %w", err)
	}
	path, err := b.path()
	if err != nil {
		return err
	}
	if err = b.start(ctx, path); media.CodeOf(err) != media.CodeCorrupt {
		return err
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return media.Errorf(media.CodeInvalid, "remove the damaged index: %w", err)
		}
	}
	return b.start(ctx, path)
}

// path returns the path of the folder's index.
func (b *Base) path() (string, error) {
	abs, err := filepath.Abs(b.cfg.Dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", media.Errorf(media.CodeInvalid, "folder %s cannot be found: %w", b.cfg.Dir, err)
	}
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(b.cfg.Data, hex.EncodeToString(sum[:8])+".db"), nil
}

// version is the version of the tables; an index of another version is rebuilt.
const version = 1

const schema = `
CREATE TABLE IF NOT EXISTS document (
	id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified INTEGER NOT NULL,
	title TEXT NOT NULL, format TEXT NOT NULL, skipped TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS passage (
	id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES document (id), heading TEXT NOT NULL, start INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS passage_document ON passage (document);
CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (title, heading, text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
PRAGMA user_version = 1;`

// start connects to the index and refreshes it.
func (b *Base) start(ctx context.Context, path string) error {
	if err := sqlitedb.Private(path); err != nil {
		return explain(err)
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate")
	if err != nil {
		return explain(err)
	}
	db.SetMaxOpenConns(4)
	var have int
	if err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err == nil && have != 0 && have != version {
		err = media.Errorf(media.CodeCorrupt, "the index has another version")
	}
	if err == nil && have == 0 {
		_, err = db.ExecContext(ctx, schema)
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "SELECT count(*) FROM passage, document LIMIT 1")
	}
	if err != nil {
		_ = db.Close() // err is more specific
		return explain(err)
	}
	b.db = db
	if _, err := b.Refresh(ctx); err != nil {
		_ = b.db.Close() // err is more specific
		return err
	}
	return nil
}

// explain adds a code to an index error.
func explain(err error) error {
	var own *media.Error
	var se *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return media.Errorf(media.CodeOf(err), "search the knowledge base: %w", err)
	case errors.As(err, &se):
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR:
			return media.Errorf(media.CodeCorrupt, "the index of the knowledge base is damaged: %w", err)
		case sqlite3.SQLITE_FULL:
			return media.Errorf(media.CodeDiskFull, "no space left for the index of the knowledge base: %w", err)
		case sqlite3.SQLITE_INTERRUPT:
			return media.Errorf(media.CodeCancelled, "search the knowledge base: %w", err)
		}
	}
	return media.Errorf(media.CodeUnavailable, "use the index of the knowledge base: %w", err)
}
