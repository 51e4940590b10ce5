package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"atelier/ledger"
	"atelier/ledger/internal/sqlstore"
	"atelier/ledger/ledgertest"
	"atelier/ledger/migrations"
	"atelier/media"
)

// files maps the databases of one test to directories, and keeps the pools that write to them.
type files struct {
	mu      sync.Mutex // guards dirs and writers
	dirs    map[string]string
	writers map[ledger.Store]*sql.DB
}

func (f *files) open(t *testing.T, name string, d ledgertest.Deps) (*Store, *sql.DB) {
	t.Helper()
	s, db := openWith(t, f.path(t, name), d)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writers[s] = db
	return s, db
}

func (f *files) writer(s ledger.Store) *sql.DB {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writers[s]
}

func (f *files) path(t *testing.T, name string) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	key := t.Name() + "/" + name
	dir, again := f.dirs[key]
	if !again {
		dir = t.TempDir()
		f.dirs[key] = dir
	}
	path := filepath.Join(dir, oddName)
	if !again {
		tables, err := migrated()
		if err == nil {
			err = os.WriteFile(path, tables, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const oddName = "odd name #1?%41.db"

// migrated returns the file of an empty ledger. Creating its tables takes longer than most tests.
var migrated = sync.OnceValues(func() (tables []byte, err error) {
	dir, err := os.MkdirTemp("", "atelier-ledger-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := Open(context.Background(), Config{Path: filepath.Join(dir, oddName)})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, oddName))
})

func open(t *testing.T, path string, d ledgertest.Deps) *Store {
	t.Helper()
	s, _ := openWith(t, path, d)
	return s
}

// openWith also returns the writing pool.
func openWith(t *testing.T, path string, d ledgertest.Deps) (*Store, *sql.DB) {
	t.Helper()
	s, db := openConfig(t, Config{Path: path, Now: d.Now, NewID: d.NewID, Logger: slog.New(slog.DiscardHandler)})
	return s, db.Write
}

// openConfig also returns the configuration beneath the store.
func openConfig(tb testing.TB, c Config) (*Store, sqlstore.Config) {
	tb.Helper()
	db, err := connect(c)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := sqlstore.Open(tb.Context(), db)
	if err != nil {
		tb.Fatal(err)
	}
	return &Store{s}, db
}

func TestConformance(t *testing.T) {
	t.Parallel()
	dbs := &files{dirs: map[string]string{}, writers: map[ledger.Store]*sql.DB{}}
	ledgertest.Run(t, ledgertest.Harness{
		Open: func(t *testing.T, name string, d ledgertest.Deps) ledger.Store {
			t.Helper()
			s, _ := dbs.open(t, name, d)
			return s
		},
		Fill: func(t *testing.T, s ledger.Store) {
			t.Helper()
			if _, err := dbs.writer(s).ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil {
				t.Fatal(err)
			}
		},
		Expire: func(t *testing.T, s ledger.Store, at string) {
			t.Helper()
			if _, err := dbs.writer(s).ExecContext(t.Context(), "UPDATE leases SET expires_at = $1", at); err != nil {
				t.Fatal(err)
			}
		},
		OpenReadOnly: func(t *testing.T, name string, d ledgertest.Deps) ledger.Store {
			t.Helper()
			s, db := dbs.open(t, name, d)
			if _, err := db.ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

// TestListsOfMediaReadNoOtherRows: the database finds each page by an index with the order of the page, so that the
// number of other rows does not matter.
func TestListsOfMediaReadNoOtherRows(t *testing.T) {
	t.Parallel()
	_, db := openWith(t, filepath.Join(t.TempDir(), "a.db"), ledgertest.Deps{})
	for condition, index := range map[string]string{
		"deleted_at IS NULL AND owner = 'a'":                            "media_owner ",
		"deleted_at IS NULL AND owner = 'a' AND id < 'x'":               "media_owner ",
		"deleted_at IS NULL AND owner = 'a' AND modality = 'video'":     "media_owner_modality ",
		"deleted_at IS NOT NULL AND owner = 'a'":                        "media_owner_deleted ",
		"deleted_at IS NOT NULL AND owner = 'a' AND modality = 'video'": "media_owner_deleted ",
	} {
		var id, parent, unused int
		var plan string
		row := db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT * FROM media WHERE "+condition+" ORDER BY id DESC LIMIT 51")
		if err := row.Scan(&id, &parent, &unused, &plan); err != nil || !strings.HasPrefix(plan, "SEARCH media USING INDEX "+index) {
			t.Errorf("%s: %s, %v", condition, plan, err)
		}
	}
}

// TestForeignSchemasAreRefused: the message says what the database is and what to do, and the database is unchanged.
func TestForeignSchemasAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, says string }{
		"newer":      {`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`, "has schema version 99"},
		"a gap":      {`DELETE FROM goose_db_version WHERE version_id = 4`, fmt.Sprintf("was written by another version of atelier: its schema has version %d, but only %d of its %[1]d parts", migrations.Latest, migrations.Latest-1)},
		"a gap, old": {`DELETE FROM goose_db_version WHERE version_id = 4 OR version_id > 5`, "but only 4 of its 5 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.db")
			s, db := openWith(t, path, ledgertest.Deps{})
			if _, err := db.ExecContext(t.Context(), c.change); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			before := mustRead(t, path)
			_, err := Open(t.Context(), Config{Path: path})
			if media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "or move the folder "+filepath.Dir(path)+" away; nothing was changed") {
				t.Errorf("error = %v", err)
			}
			if !bytes.Equal(mustRead(t, path), before) {
				t.Error("the database was changed")
			}
		})
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOlderSchemaIsBroughtUp opens databases of every earlier version.
func TestOlderSchemaIsBroughtUp(t *testing.T) {
	t.Parallel()
	for version := range int64(migrations.Latest) {
		path := filepath.Join(t.TempDir(), "a.db")
		old, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := goose.NewProvider(goose.DialectSQLite3, old, migrations.Files, goose.WithLogger(goose.NopLogger()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.UpTo(t.Context(), version); err != nil && version > 0 {
			t.Fatal(err)
		}
		if version > 0 {
			if _, err := old.ExecContext(t.Context(), `INSERT INTO agent_runs (id, owner, tree_id, depth, agent, status, task, created_at, updated_at)
				VALUES ('r', 'ann', 'r', 0, 'sage', 'succeeded', 'x', '2026-11-20T04:00:00.000000Z', '2026-11-20T04:00:00.000000Z')`); err != nil {
				t.Fatal(err)
			}
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, ledgertest.Deps{})
		if _, err := s.Run(t.Context(), "ann", "r"); version > 0 && err != nil {
			t.Error(err)
		}
		if v, err := s.Version(t.Context()); err != nil || v != migrations.Latest {
			t.Errorf("from %d to %d, %v", version, v, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCopiesAreMerged migrates a database in which every run tree had copies of the media it was given.
func TestCopiesAreMerged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, old, migrations.Files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	for _, statement := range ledgertest.VersionSeven() {
		if _, err := old.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, ledgertest.Deps{})
	ledgertest.Merged(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoDatabaseIsCorrupt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{Path: path})
	if media.CodeOf(err) != media.CodeCorrupt {
		t.Errorf("error = %v", err)
	}
}

func TestOpenNeedsPlace(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.Context(), Config{}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("no path: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: filepath.Join(file, "a.db")}); err == nil {
		t.Error("opened a database below a file")
	}
}

// TestSecondaryRowFails checks that a record survives when its link cannot be saved.
func TestSecondaryRowFails(t *testing.T) {
	t.Parallel()
	s, db := openWith(t, filepath.Join(t.TempDir(), "a.db"), ledgertest.Deps{})
	defer s.Close()
	for _, q := range []string{"DROP TABLE agent_run_media", "DROP TABLE prompt_run_media", "DROP TABLE media_lineage"} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	ledgertest.RecordComesFirst(t, s)
}

// TestColumnsArePortable checks that the migrations use no words of SQLite or PostgreSQL alone.
func TestColumnsArePortable(t *testing.T) {
	t.Parallel()
	entries, err := filepath.Glob("../migrations/*.sql")
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"AUTOINCREMENT", "WITHOUT ROWID", "STRICT", "INTEGER PRIMARY KEY", "datetime(", "strftime(", " BLOB,", " BLOB NOT", "BYTEA"} {
			if strings.Contains(strings.ToUpper(string(b)), strings.ToUpper(word)) {
				t.Errorf("%s uses %s", e, word)
			}
		}
	}
}

func TestFailureCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want media.Code
	}{
		{nil, ""},
		{syscall.ENOSPC, media.CodeDiskFull},
		{syscall.EROFS, media.CodeForbidden},
		{os.ErrPermission, media.CodeForbidden},
		{context.Canceled, media.CodeCancelled},
		{errors.New("odd"), media.CodeInternal},
		{media.Errorf(media.CodeTooLarge, "kept"), media.CodeTooLarge},
	} {
		if got := media.CodeOf(sqlstore.Failure(&dialect{}, "do it", c.err)); got != c.want {
			t.Errorf("%v: code %q, want %q", c.err, got, c.want)
		}
	}
}

// TestAnotherProcessHoldsTheLock checks that waiting ends with a retryable error.
func TestAnotherProcessHoldsTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	holder, db := openWith(t, path, ledgertest.Deps{})
	defer holder.Close()
	waiter, err := Open(t.Context(), Config{Path: path, BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer waiter.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = waiter.CreateRun(t.Context(), ledger.Run{ID: "r", Owner: "ann", Tree: "r", Agent: "a", Status: ledger.StatusRunning})
	if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
		t.Errorf("error = %v", err)
	}
	if _, err := waiter.ListRuns(t.Context(), "ann", ledger.RunQuery{}); err != nil {
		t.Errorf("reading beside a writer: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	for b.Loop() {
		s, err := Open(b.Context(), Config{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecord records an item with and without a text for searches.
func BenchmarkRecord(b *testing.B) {
	for name, description := range map[string]string{
		"bare":   "",
		"prompt": "A quiet harbour at dusk %d, fishing boats under a pink sky, wet cobblestones, lanterns, watercolour with loose brush strokes",
	} {
		b.Run(name, func(b *testing.B) {
			s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "a.db")})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			ctx := media.WithScope(b.Context(), media.Scope{Owner: "ann", Tree: "t", Run: "r"})
			for i := 0; b.Loop(); i++ {
				blob := media.Blob{Digest: media.DigestOf([]byte(strconv.Itoa(i))), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}
				if _, err := s.Record(ctx, media.NewOutput(blob, media.Meta{Description: strings.ReplaceAll(description, "%d", strconv.Itoa(i))})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
