// Package table provides actions on the tables of a folder: "Describe Tables" and "Query Tables". CSV, TSV, JSON, JSONL
// and Excel files, delimited texts and logs in the common formats are imported at the first call, and again for a run
// that finds changed files, into a temporary SQLite database that only this program's user can read; [Tables.Close]
// removes it. Agents query it with SQL, so that each number is computed over the whole file.
//
// The import reads a file twice, JSON and Excel the second time from a temporary file: the first pass finds delimiter,
// encoding, header and the type of each column, the second converts and counts. 80 % of a column's values must be
// numbers or dates (66 % if all others are words), or all must be booleans; other values are unusable: they are NULL,
// counted, and some are shown. Ids, ZIP codes, SKUs and telephone numbers stay text. Total rows, remarks and titles are
// omitted, and the notes of the table say so.
//
// Errors are media.Error values: [media.CodeInvalid] for bad SQL with the existing names, [media.CodeNotFound] for an
// unknown table, [media.CodeDeadline] for timeouts. A file that is not a table is not an error: Describe Tables lists
// it with the reason. The package imports action and its internal packages, action/file, action/database, media, wire,
// internal/sqlitedb, excelize and the SQLite driver.
package table

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/file"
	"atelier/media"
)

// Config selects the folder whose tables agents see.
type Config struct {
	// Files is the folder; required. [Tables.Close] does not close it.
	Files *file.Files
	// Timeout limits a query; 0 means [database.DefaultTimeout].
	Timeout time.Duration
	// MaxRows is the maximum number of rows of a result; 0 means [database.DefaultMaxRows].
	MaxRows int
	// TempDir is the folder of the database; empty means the system's temporary folder.
	TempDir string
	// Now is the clock of progress notes; nil means [time.Now].
	Now func() time.Time
}

// Tables provides the tables of a folder. It is safe for concurrent use.
type Tables struct {
	cfg Config

	// importLock is held by the call that imports; its holder sets and reads loaded, its users, tree and closed.
	importLock chan struct{}
	loaded     *loaded
	tree       string // the run tree that last compared loaded with the files
	closed     bool
}

// New creates the tables of a folder. It reads nothing before the first call of an action.
func New(cfg Config) *Tables {
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, database.DefaultTimeout)
	cfg.MaxRows = cmp.Or(cfg.MaxRows, database.DefaultMaxRows)
	return &Tables{cfg: cfg, importLock: make(chan struct{}, 1)}
}

// Close removes the temporary database.
func (t *Tables) Close() error {
	t.importLock <- struct{}{}
	defer func() { <-t.importLock }()
	t.closed = true
	if t.loaded == nil {
		return nil
	}
	l := t.loaded
	t.loaded = nil
	return l.close()
}

// Actions returns Describe Tables and Query Tables.
func (t *Tables) Actions() []action.Action {
	return []action.Action{{
		Name: "Describe Tables",
		Description: "Describes the tables of the folder (CSV, TSV, JSON, JSONL, Excel): columns with type, unit, range, values, missing and unusable cells, " +
			"and sample rows. Use it before Query Tables.",
		Tags: []string{"file", action.TagSource},
		Params: []action.Param{
			{Name: "Table", Description: "The name of one table. The default is all tables."},
			{Name: "tables", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "name, path, sheet, title (the lines above the header), rowCount, columns, sampleRows and notes of each table."},
			{Name: "totalCount", Direction: action.Output, Type: "integer", Description: "The number of tables."},
			{Name: "moreTables", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "The names of the tables that are not described: describe one with Table."},
			{Name: "notRead", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path and reason of files that are not tables."},
		},
		Run: t.describe,
	}, {
		Name: "Query Tables",
		Description: fmt.Sprintf("Runs one SELECT (SQLite) on the tables that Describe Tables shows and returns its rows and the statement. "+
			"Aggregate, filter and sort in SQL: at most %d rows are read. Missing and unusable values are NULL; dates are text such as 2024-03-01, for strftime().", t.cfg.MaxRows),
		Tags: []string{"file", action.TagSource},
		Params: append(database.QueryParams(`One SELECT in the dialect of SQLite. Quote names with double quotes: SELECT "Net sales" FROM sales.`), action.Param{
			Name: "tables", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "name and path of the tables that the statement reads.",
		}),
		Run: t.query,
	}}
}

// Descriptions returns the descriptions of the actions, without a folder, for documentation and checks.
func Descriptions() []action.Description { return action.Document(New(Config{}).Actions()...) }

// sampleRows is the number of sample rows of a table.
const sampleRows = 5

// loaded is the result of the import.
type loaded struct {
	users   int    // the number of calls that read it
	version string // of the files
	dir     string
	db      *database.Database // nil if there are no tables
	tables  []*table
	views   []database.Table // of tables
	notRead []file.Skipped
}

func (l *loaded) close() error {
	if l.db != nil {
		_ = l.db.Close() // its files are removed next
	}
	return os.RemoveAll(l.dir)
}

// load imports the folder at the first call, and again when another run finds that a file has changed. The caller
// releases the result. A cancelled call leaves the work to the next one; other calls wait for it.
func (t *Tables) load(ctx context.Context, note func(string)) (*loaded, error) {
	select {
	case t.importLock <- struct{}{}:
		defer func() { <-t.importLock }()
	case <-ctx.Done():
		return nil, media.Errorf(media.CodeCancelled, "wait for the tables: %w", ctx.Err())
	}
	if t.closed {
		return nil, media.Errorf(media.CodeInternal, "the tables are closed")
	}
	tree := media.ScopeOf(ctx).Tree
	if t.loaded != nil && tree != "" && tree == t.tree {
		t.loaded.users++
		return t.loaded, nil
	}
	version, err := t.version(ctx)
	if err != nil {
		return nil, err
	}
	if t.loaded == nil || t.loaded.version != version {
		l, err := t.importAll(ctx, note)
		if err != nil {
			return nil, err
		}
		if t.loaded != nil && t.loaded.users == 0 {
			_ = t.loaded.close() // nothing reads it any more
		}
		l.version, t.loaded = version, l
	}
	t.tree = tree
	t.loaded.users++
	return t.loaded, nil
}

// release ends a call's use of l. The last one closes what was replaced.
func (t *Tables) release(l *loaded) {
	t.importLock <- struct{}{}
	defer func() { <-t.importLock }()
	if l.users--; l.users == 0 && l != t.loaded {
		_ = l.close() // nothing reads it any more
	}
}

// version identifies the names, sizes and modification times of the files.
func (t *Tables) version(ctx context.Context) (string, error) {
	sum := sha256.New()
	_, err := t.cfg.Files.Walk(ctx, func(f file.Source) error {
		_, err := fmt.Fprintf(sum, "%q %d %d\n", f.Name, f.Size, f.Modified.UnixNano())
		return err
	})
	return string(sum.Sum(nil)), err
}

// importAll imports the folder.
func (t *Tables) importAll(ctx context.Context, note func(string)) (*loaded, error) {
	sweep(t.cfg.TempDir, t.cfg.Now())
	dir, err := os.MkdirTemp(t.cfg.TempDir, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "create a folder for the tables: %w", err)
	}
	l := &loaded{dir: dir}
	path := filepath.Join(dir, "tables.db")
	if err := t.fill(ctx, l, path, note); err != nil {
		_ = l.close() // err is more specific
		return nil, err
	}
	if len(l.tables) > 0 {
		l.db, err = database.Open(ctx, database.Config{URL: path, Timeout: t.cfg.Timeout, MaxRows: t.cfg.MaxRows, Describe: "Describe Tables"})
		if err != nil {
			_ = l.close() // err is more specific
			return nil, err
		}
	}
	for _, tb := range l.tables {
		v := tb.view()
		l.db.Sample(ctx, &v, sampleRows)
		l.views = append(l.views, v)
	}
	if ctx.Err() != nil {
		_ = l.close() // the next call imports again
		return nil, ctx.Err()
	}
	return l, nil
}
