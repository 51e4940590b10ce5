package durable

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	// The engine's SQLite support registers itself.
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"

	"atelier/internal/sqlitedb"
	"atelier/media"
)

const (
	// startLimit bounds the making of the tables on a server; one that is not there is told
	// at once. fileLimit bounds the wait for a file that another program holds.
	startLimit = time.Minute
	fileLimit  = 15 * time.Second
)

// connect opens the database and makes or updates the tables.
func (e *Engine) connect(ctx context.Context) error {
	const what = "open the durable engine's database"
	c := e.cfg
	d := dbos.Config{
		AppName: appName, ApplicationVersion: version, ExecutorID: c.Executor, Serializer: text{}, Logger: c.Logger,
		SystemDBStartupTimeout: startLimit,
	}
	begin := func() (err error) {
		e.root, err = dbos.NewContext(context.WithoutCancel(ctx), d)
		return err
	}
	if c.DatabaseURL == "" {
		db, err := openSQLite(c.Path)
		if err != nil {
			return err
		}
		d.SQLiteSystemDB, d.SystemDBStartupTimeout = db, fileLimit
		if err = oneAtATime(ctx, c.Locks, begin); err == nil {
			e.file, err = os.Stat(c.Path)
		}
		if err != nil {
			_ = db.Close() // the other error is the one to tell
			return fileFailure(what, c.Path, err)
		}
		return nil
	}
	pool, err := connect(ctx, c)
	if err != nil {
		return err
	}
	e.pool, d.SystemDBPool, d.DatabaseSchema = pool, pool, schema(pool)
	if err := alone(ctx, pool, begin); err != nil {
		pool.Close()
		return serverFailure(what, err)
	}
	return nil
}

// fileFailure gives an error of the SQLite file its code. The engine hands errors on as text.
func fileFailure(what, path string, err error) error {
	for _, known := range []struct {
		sign   string
		code   media.Code
		advice string
	}{
		{"not a database", media.CodeCorrupt, "restore " + path + " from a backup, or move it away: runs that were left in it cannot be resumed then, and atelier runs cancel RUN ends each"},
		{"malformed", media.CodeCorrupt, "restore " + path + " from a backup, or move it away: runs that were left in it cannot be resumed then, and atelier runs cancel RUN ends each"},
		{"readonly", media.CodeForbidden, "make " + path + " and its folder writable"},
		{"unable to open", media.CodeForbidden, "make " + path + " and its folder writable"},
		{"is full", media.CodeDiskFull, "free space on the disk of " + path},
		{"locked", media.CodeUnavailable, "another program holds " + path + " for too long: end it"},
		{"timed out", media.CodeUnavailable, "another program holds " + path + " for too long: end it"},
	} {
		if strings.Contains(err.Error(), known.sign) {
			return media.Errorf(known.code, "%s: %s: %w", what, known.advice, legible(err))
		}
	}
	return media.Errorf(media.CodeUnavailable, "%s: see that %s and its folder can be read and written: %w", what, path, legible(err))
}

// failure gives an error of the database its code.
func (e *Engine) failure(what string, err error) error {
	if e.pool != nil {
		return serverFailure(what, err)
	}
	return fileFailure(what, e.cfg.Path, err)
}

// oneAtATime runs fn while no other process makes or updates the tables of the file: the
// engine itself does not guard against another that does the same.
func oneAtATime(ctx context.Context, locks string, fn func() error) error {
	ctx, stop := context.WithTimeout(ctx, fileLimit)
	defer stop()
	alone, err := await(ctx, locks, tablesLock)
	if err != nil {
		return err
	}
	defer func() { _ = alone.release(false) }()
	return fn()
}

// openSQLite opens the file. A commit survives the end of the process at once, and the
// loss of power soon after: a step that is lost runs again, and what it paid for is in the ledger.
func openSQLite(path string) (*sql.DB, error) {
	if err := sqlitedb.Private(path); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "make the folder of the durable engine's database: %w", err)
	}
	name := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db := sqlitedb.Open("file:" + name +
		"?_pragma=busy_timeout(10000)&_pragma=synchronous(NORMAL)&" + sqlitedb.WAL + "&_pragma=foreign_keys(1)&_txlock=immediate")
	// One: transactions take turns anyway, and a second connection reads every page again that
	// the first one has changed.
	db.SetMaxOpenConns(1)
	return db, nil
}

// Place names the database for people.
func (e *Engine) Place() string {
	if e.pool == nil {
		return "SQLite " + e.cfg.Path
	}
	c := e.pool.Config().ConnConfig
	where := c.Host
	if !strings.HasPrefix(c.Host, "/") {
		where = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return "PostgreSQL " + c.Database + " at " + where + ", schema " + schema(e.pool)
}

// engineWords is what the engine puts before the reason of an error, also where it hands the
// error on as text.
var engineWords = regexp.MustCompile(`^.*(?:DBOS Error \w+: |execution error: )`) //nolint:gochecknoglobals // compiled once

// told is an error of the engine in words for people: what lies under it, without how the
// engine calls its own parts. The error itself stays beneath, for errors.Is and errors.As.
type told struct {
	text  string
	cause error
}

// Error is the reason alone.
func (t *told) Error() string { return t.text }

// Unwrap gives the engine's error.
func (t *told) Unwrap() error { return t.cause }

func legible(err error) error {
	under := err
	for own, ok := errors.AsType[*dbos.Error](under); ok && errors.Unwrap(own) != nil; own, ok = errors.AsType[*dbos.Error](under) {
		under = errors.Unwrap(own)
	}
	return &told{text: engineWords.ReplaceAllString(media.ErrorText(under.Error()), ""), cause: err}
}
