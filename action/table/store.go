package table

import (
	"cmp"
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
	notes             []string
}

// store writes the temporary database.
type store struct {
	dir  string
	db   *sql.DB
	conn *sql.Conn
}

// newStore creates the database. Every run creates it anew, so nothing in it has to survive a crash. Without _dqs=0,
// SQLite takes an unknown name in double quotes for text, so that the sum of a misspelled column is 0.
func newStore(ctx context.Context, path string) (*store, error) {
	name := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() +
		"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-8000)&_dqs=0"
	s := &store{dir: filepath.Dir(path)}
	err := sqlitedb.Private(path)
	if err == nil {
		s.db, err = sql.Open("sqlite", name)
	}
	if err == nil {
		if s.conn, err = s.db.Conn(ctx); err != nil {
			_ = s.db.Close() // err is more specific
		}
	}
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "create the database of the tables: %w", err)
	}
	return s, nil
}

func (s *store) close() error {
	_ = s.conn.Close() // db.Close returns the error
	return s.db.Close()
}

// maxParameters is the maximum number of values in one statement, maxBatch the maximum number of rows.
const (
	maxParameters = 3000
	maxBatch      = 100
)

// fill creates the table and writes its rows: the second pass.
func (s *store) fill(ctx context.Context, tb *table, src source, sv *survey) error {
	types := map[Type]string{Integer: "INTEGER", Boolean: "INTEGER", Number: "REAL"}
	columns := make([]string, len(tb.columns))
	for i, c := range tb.columns {
		columns[i] = quote(c.name) + " " + cmp.Or(types[c.kind], "TEXT")
	}
	if _, err := s.conn.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", quote(tb.name), strings.Join(columns, ", "))); err != nil {
		return media.Errorf(media.CodeInvalid, "the columns cannot be stored: %w", err)
	}
	_, err := s.conn.ExecContext(ctx, "BEGIN")
	if err == nil {
		err = s.rows(ctx, tb, src, sv)
	}
	if _, cerr := s.conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err == nil {
		err = cerr
	}
	if err != nil {
		_, _ = s.conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+quote(tb.name)) // err is more specific
	}
	return err
}

// rows converts the rows and inserts them in batches.
func (s *store) rows(ctx context.Context, tb *table, src source, sv *survey) error {
	width := len(tb.columns)
	size := min(maxBatch, max(1, maxParameters/width))
	batch, err := s.conn.PrepareContext(ctx, tb.insert(size))
	if err != nil {
		return err
	}
	defer func() { _ = batch.Close() }() // nothing is read from it
	args := make([]any, 0, size*width)
	at := 0
	err = src.each(ctx, func(record []cell) error {
		at++
		if at <= sv.layout.skip || !sv.style.named && blank(record) || sv.excluded[at-1] {
			return nil
		}
		for i, c := range tb.columns {
			var in cell
			if i < len(record) {
				in = record[i]
			}
			args = append(args, c.take(in))
		}
		tb.rows++
		if len(args) < size*width {
			return nil
		}
		_, err := batch.ExecContext(ctx, args...)
		args = args[:0]
		return err
	})
	if err == nil && len(args) > 0 {
		_, err = s.conn.ExecContext(ctx, tb.insert(len(args)/width), args...)
	}
	return err
}

// insert returns the statement that inserts rows.
func (tb *table) insert(rows int) string {
	one := "(?" + strings.Repeat(",?", len(tb.columns)-1) + ")"
	return fmt.Sprintf("INSERT INTO %s VALUES %s%s", quote(tb.name), one, strings.Repeat(","+one, rows-1))
}
