package sqlitedb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"atelier/internal/sqlitedb"
)

func open(t *testing.T) *sql.DB {
	t.Helper()
	db := sqlitedb.Open("file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	exec(t, db, "CREATE TABLE a (n INTEGER PRIMARY KEY, s TEXT)")
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func one(t *testing.T, db *sql.DB, query string, args ...any) (s string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&s); err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return s
}

// TestStatementsAgain: a repeated query returns each call's own rows and errors.
func TestStatementsAgain(t *testing.T) {
	t.Parallel()
	db := open(t)
	for i := range 5 {
		exec(t, db, "INSERT INTO a (n, s) VALUES ($1, $2)", i, fmt.Sprint("s", i))
	}
	for i := range 7 {
		want := fmt.Sprint("s", i)
		if i > 4 {
			want = ""
		}
		if got := one(t, db, "SELECT s FROM a WHERE n = $1", i); got != want {
			t.Errorf("%d: got %q", i, got)
		}
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO a (n, s) VALUES ($1, $2)", 1, "x"); err == nil {
		t.Error("a second row with the same key")
	}
	exec(t, db, "INSERT INTO a (n, s) VALUES ($1, $2)", 9, "s9")
	if _, err := db.ExecContext(t.Context(), "SELECT nonsense FROM a"); err == nil {
		t.Error("no error for a column that is not there")
	}
}

// TestNestedRows: a query that runs while its own rows are read returns separate rows.
func TestNestedRows(t *testing.T) {
	t.Parallel()
	db := open(t)
	db.SetMaxOpenConns(1)
	exec(t, db, "INSERT INTO a (n, s) VALUES (1, 'x'), (2, 'y'), (3, 'z')")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // it only reads
	const query = "SELECT n FROM a ORDER BY n"
	seen := 0
	count := func() {
		rows, err := tx.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			seen++
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	outer, err := tx.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	for outer.Next() {
		count()
	}
	if err := outer.Err(); err != nil || seen != 9 {
		t.Errorf("%d rows, %v", seen, err)
	}
}

// TestSchemaChanges: cached statements follow a table that changes.
func TestSchemaChanges(t *testing.T) {
	t.Parallel()
	db := open(t)
	exec(t, db, "INSERT INTO a (n, s) VALUES (1, 'x')")
	if got := one(t, db, "SELECT s FROM a"); got != "x" {
		t.Fatal(got)
	}
	exec(t, db, "ALTER TABLE a ADD COLUMN more TEXT DEFAULT 'm'")
	exec(t, db, "UPDATE a SET more = 'w'")
	if got := one(t, db, "SELECT s FROM a"); got != "x" {
		t.Error(got)
	}
	exec(t, db, "DROP TABLE a; CREATE TABLE a (s TEXT); INSERT INTO a VALUES ('new')")
	if got := one(t, db, "SELECT s FROM a"); got != "new" {
		t.Error(got)
	}
}

// TestManyAtOnce: each connection caches its own statements.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	db := open(t)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 40 {
				exec(t, db, "INSERT INTO a (n, s) VALUES ($1, 'v')", w*100+i)
				_ = one(t, db, "SELECT s FROM a WHERE n = $1", w*100+i)
			}
		})
	}
	all.Wait()
	if got := one(t, db, "SELECT COUNT(*) FROM a"); got != "320" {
		t.Error(got)
	}
	for i := range 600 { // more than are cached
		if got := one(t, db, fmt.Sprintf("SELECT %d", i)); got != fmt.Sprint(i) {
			t.Fatal(got)
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	plain, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	for name, db := range map[string]*sql.DB{"kept": sqlitedb.Open(path), "plain": plain} {
		b.Run(name, func(b *testing.B) {
			db.SetMaxOpenConns(1)
			for _, q := range []string{"PRAGMA synchronous=OFF", "CREATE TABLE IF NOT EXISTS a (n INTEGER PRIMARY KEY, s TEXT, u TEXT, v TEXT)"} {
				if _, err := db.ExecContext(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := db.ExecContext(b.Context(), "INSERT INTO a (s, u, v) VALUES ($1, $2, $3)", "a", "b", "c"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTransactionsTakeTurns: a transaction that may write waits for the previous one, in order and without polling,
// until its context ends; one that only reads does not wait.
func TestTransactionsTakeTurns(t *testing.T) {
	t.Parallel()
	db := open(t)
	first, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.ExecContext(t.Context(), "INSERT INTO a (n, s) VALUES (1, 'a')"); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := db.BeginTx(gone, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second transaction: %v", err)
	}
	reader, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Rollback(); err != nil {
		t.Error(err)
	}
	done := make(chan error)
	go func() {
		second, err := db.BeginTx(t.Context(), nil)
		if err == nil {
			_, err = second.ExecContext(t.Context(), "UPDATE a SET s = 'b' WHERE n = 1")
			err = errors.Join(err, second.Commit())
		}
		done <- err
	}()
	if err := errors.Join(first.Commit(), <-done); err != nil {
		t.Error(err)
	}
	if got := one(t, db, "SELECT s FROM a WHERE n = 1"); got != "b" {
		t.Errorf("got %q", got)
	}
}

// TestCancelledTransactionGivesItsTurn: no transaction waits for one whose caller has cancelled.
func TestCancelledTransactionGivesItsTurn(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.ExecContext(ctx, "INSERT INTO a (n, s) VALUES (1, 'a')"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := first.ExecContext(ctx, "INSERT INTO a (n, s) VALUES (2, 'a')"); err == nil {
		t.Error("a write after the cancellation")
	}
	second, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Commit(); err != nil {
		t.Error(err)
	}
	if got := one(t, db, "SELECT COUNT(*) FROM a"); got != "0" {
		t.Errorf("%s rows", got)
	}
}

// TestMissingFileIsNotRecreated: a pool whose file was moved away does not create a second file in its place, which
// would take the log of the first.
func TestMissingFileIsNotRecreated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := sqlitedb.Open("file:" + path + "?_pragma=journal_mode(WAL)")
	t.Cleanup(func() { _ = db.Close() }) // by then its file is back
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	busy, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("a second connection was opened")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a database was made")
	}
	if err := errors.Join(os.Rename(path+".away", path), busy.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Error(err)
	}
}
