package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelier/media"
)

// Limits of one SQLite connection.
const (
	maxValue = 16 << 20  // bytes of one value or row
	maxSQL   = 100 << 10 // bytes of one statement
)

// sqliteEngine is one SQLite file.
type sqliteEngine struct {
	path string
	// describedBy is the action that lists table and column names.
	describedBy string
}

var _ engine = sqliteEngine{}

// openSQLite opens a file. It only inspects it before SQLite does: closing a file releases all locks of the process on
// it, also those of other queries.
func openSQLite(path, describedBy string) (*sql.DB, engine, error) {
	e := sqliteEngine{path: path, describedBy: describedBy}
	if path == "" {
		return nil, nil, media.Errorf(media.CodeInvalid, "the database is missing: give postgres://… or the path of an SQLite file")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, media.Errorf(media.CodeNotFound, "the database file %s does not exist: check the path", path)
	case err != nil:
		return nil, nil, media.Errorf(media.CodeInvalid, "the database file %s cannot be read: check its permissions", path)
	case !info.Mode().IsRegular() || info.Size() == 0:
		return nil, nil, e.foreign()
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, media.Errorf(media.CodeInvalid, "the path of the database is invalid: %w", err)
	}
	name := "file:" + (&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath() +
		"?mode=ro&_defensive=1&_dqs=0&_error_rc=1&_pragma=trusted_schema(0)&_pragma=busy_timeout(5000)&_pragma=query_only(1)"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, nil, media.Errorf(media.CodeInvalid, "open the database %s: %w", path, err)
	}
	db.SetMaxOpenConns(2)
	return db, e, nil
}

func (e sqliteEngine) foreign() error {
	return media.Errorf(media.CodeInvalid, "%s is not an SQLite database, or is encrypted or empty", e.path)
}

// prepare sets limits that SQL cannot raise: no attached files, no huge values.
func (sqliteEngine) prepare(_ context.Context, c *sql.Conn) error {
	for limit, value := range map[int]int{
		sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_LENGTH: maxValue, sqlite3.SQLITE_LIMIT_SQL_LENGTH: maxSQL,
	} {
		if _, err := sqlite.Limit(c, limit, value); err != nil {
			return err
		}
	}
	return nil
}

func (e sqliteEngine) about() about {
	return about{name: "SQLite", place: filepath.Base(e.path), words: []string{"SELECT", "WITH", "VALUES"}, extra: 1}
}

func (sqliteEngine) quote(id string) string { return `"` + strings.ReplaceAll(id, `"`, `""`) + `"` }

// wrap limits a result. The window function makes SQLite compute the whole result before the first row, the only phase
// that can be interrupted.
func (sqliteEngine) wrap(statement string, limit int) string {
	return fmt.Sprintf("SELECT *, count(*) OVER () FROM (SELECT * FROM (\n%s\n) LIMIT %d)", statement, limit)
}

// describe lists tables and views, without those in which virtual tables keep their content.
func (e sqliteEngine) describe(ctx context.Context, tx *sql.Tx) ([]Table, error) {
	out, err := List(ctx, tx, `SELECT name, CASE type WHEN 'view' THEN type ELSE 'table' END FROM pragma_table_list
		WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT ?`, func(scan func(...any) error) (t Table, err error) {
		err = scan(&t.Name, &t.Kind)
		t.from = e.quote(t.Name)
		return t, err
	}, maxTables)
	if err != nil {
		return nil, err
	}
	for i := range out {
		// The columns of a view over a missing table cannot be listed.
		out[i].Columns, _ = List(ctx, tx, `SELECT name, lower(type), pk > 0 FROM pragma_table_xinfo(?) WHERE hidden <> 1`, scanColumn, out[i].Name)
		out[i].References, _ = List(ctx, tx, `SELECT "from" || ' → ' || "table" || coalesce('(' || "to" || ')', '') FROM pragma_foreign_key_list(?)`, scanText, out[i].Name)
	}
	return out, ctx.Err()
}

// explain adds a code to an SQLite error.
func (e sqliteEngine) explain(err error) error {
	var se *sqlite.Error
	var own *media.Error
	switch {
	case errors.As(err, &own):
		return err
	case !errors.As(err, &se):
		return media.Errorf(media.CodeUnavailable, "read the database %s: %s", e.about().place, clip(err.Error(), 300))
	}
	words, _, _ := strings.Cut(strings.TrimPrefix(se.Error(), "SQL logic error: "), " ("+strconv.Itoa(se.Code())+")")
	words = clip(words, 300)
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_PERM:
		return refused(words)
	case sqlite3.SQLITE_NOTADB:
		return e.foreign()
	case sqlite3.SQLITE_CORRUPT:
		return media.Errorf(media.CodeCorrupt, "the database %s is damaged: %s", e.about().place, words)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return media.Errorf(media.CodeUnavailable, "the database %s is not readable: %s", e.about().place, words)
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL:
		return media.Errorf(media.CodeTooLarge, "the query creates values of more than %d MiB, or needs more space than is available: select less", maxValue>>20)
	}
	return media.Errorf(media.CodeInvalid, "SQLite says: %s. See %s for the names", words, e.describedBy)
}
