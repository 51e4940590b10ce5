package table

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	// The driver of the temporary database.
	_ "modernc.org/sqlite"

	"atelier/internal/sqlitedb"
	"atelier/media"
)

// table is one imported table.
type table struct {
	name, path, sheet string
	title             string // the lines above the header
	rows              int
	columns           []*column
	sample            [][]any
	notes             []string
}

// store writes the temporary database.
type store struct {
	dir  string
	db   *sql.DB
	conn *sql.Conn
}

// newStore makes the database. It is made again at every run, so that nothing in it has to
// survive a crash.
func newStore(ctx context.Context, path string) (*store, error) {
	name := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() +
		"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-8000)"
	if err := sqlitedb.Private(path); err != nil {
		return nil, media.Errorf(media.CodeInternal, "create the database of the tables: %w", err)
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "create the database of the tables: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close() // the current error says more
		return nil, media.Errorf(media.CodeInternal, "create the database of the tables: %w", err)
	}
	return &store{dir: filepath.Dir(path), db: db, conn: conn}, nil
}

func (s *store) close() error {
	_ = s.conn.Close() // db.Close says more
	return s.db.Close()
}

// sampleRows is how many rows show what a table holds.
const sampleRows = 5

// maxParameters is how many values one statement takes, maxBatch how many rows.
const (
	maxParameters = 3000
	maxBatch      = 100
)

// fill creates the table and writes its rows: the second reading.
func (s *store) fill(ctx context.Context, tb *table, src source, sv *survey) error {
	if _, err := s.conn.ExecContext(ctx, tb.create()); err != nil {
		return media.Errorf(media.CodeInvalid, "the columns cannot be stored: %w", err)
	}
	w := &writer{store: s, table: tb}
	at := 0
	err := w.begin(ctx)
	if err == nil {
		err = src.each(ctx, func(record []cell) error {
			at++
			if at <= sv.layout.skip || blank(record) || sv.excluded[at-1] {
				return nil
			}
			return w.row(ctx, record)
		})
	}
	if err = w.end(ctx, err); err != nil {
		_, _ = s.conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+quote(tb.name)) // the current error says more
		return err
	}
	return nil
}

// create is the statement that makes the table.
func (tb *table) create() string {
	columns := make([]string, len(tb.columns))
	for i, c := range tb.columns {
		columns[i] = quote(c.name) + " " + c.storage()
	}
	return fmt.Sprintf("CREATE TABLE %s (%s)", quote(tb.name), strings.Join(columns, ", "))
}

// storage is the column's type in SQLite.
func (c *column) storage() string {
	switch c.kind {
	case Integer, Boolean:
		return "INTEGER"
	case Number:
		return "REAL"
	case Text, Date, DateTime:
	}
	return "TEXT"
}

// writer inserts rows in batches.
type writer struct {
	store *store
	table *table
	batch *sql.Stmt
	size  int // rows of a batch
	args  []any
}

func (w *writer) begin(ctx context.Context) (err error) {
	w.size = min(maxBatch, max(1, maxParameters/len(w.table.columns)))
	if _, err = w.store.conn.ExecContext(ctx, "BEGIN"); err == nil {
		w.batch, err = w.store.conn.PrepareContext(ctx, w.table.insert(w.size))
	}
	return err
}

// insert is the statement that writes rows.
func (tb *table) insert(rows int) string {
	one := "(?" + strings.Repeat(",?", len(tb.columns)-1) + ")"
	return fmt.Sprintf("INSERT INTO %s VALUES %s%s", quote(tb.name), one, strings.Repeat(","+one, rows-1))
}

// row converts a record and writes it with the batch.
func (w *writer) row(ctx context.Context, record []cell) error {
	from := len(w.args)
	for i, c := range w.table.columns {
		var in cell
		if i < len(record) {
			in = record[i]
		}
		w.args = append(w.args, c.take(in))
	}
	if len(w.table.sample) < sampleRows {
		w.table.sample = append(w.table.sample, append([]any(nil), w.args[from:]...))
	}
	w.table.rows++
	if len(w.args) < w.size*len(w.table.columns) {
		return nil
	}
	_, err := w.batch.ExecContext(ctx, w.args...)
	w.args = w.args[:0]
	return err
}

// end writes what is left of the last batch.
func (w *writer) end(ctx context.Context, err error) error {
	if w.batch != nil {
		_ = w.batch.Close() // nothing is read from it
	}
	if n := len(w.args) / len(w.table.columns); err == nil && n > 0 {
		_, err = w.store.conn.ExecContext(ctx, w.table.insert(n), w.args...)
	}
	if _, cerr := w.store.conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err == nil {
		err = cerr
	}
	return err
}
