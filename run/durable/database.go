package durable

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	// The engine's SQLite support registers itself.
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"

	"atelier/internal/sqlitedb"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
)

const (
	// startLimit bounds the creation of the tables on a server; a missing server fails at once.
	// fileLimit bounds the wait for a file that another program has locked.
	startLimit = time.Minute
	fileLimit  = 15 * time.Second
	// tables is the work whose lease the process that creates the tables holds; others retry after askPause.
	tables   = "tables"
	askPause = 5 * time.Millisecond
)

// connect opens the database and creates or updates the tables.
func (e *Engine) connect(ctx context.Context) error {
	const what = "open the durable engine's database"
	c := e.cfg
	d := dbos.Config{
		AppName: appName, ApplicationVersion: version, ExecutorID: c.Leases.ID(), Serializer: text{}, Logger: slog.New(slog.DiscardHandler),
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
		if err = e.exclusively(ctx, fileLimit, begin); err == nil {
			e.file, err = os.Stat(c.Path)
		}
		if err != nil {
			_ = db.Close() // the other error is reported
			return fileFailure(what, c.Path, err)
		}
		return nil
	}
	pool, err := connect(ctx, c)
	if err != nil {
		return err
	}
	e.pool, d.SystemDBPool, d.DatabaseSchema = pool, pool, schema(pool)
	if err = pool.Ping(ctx); err == nil { // its error has the reason, without the user's name
		err = e.exclusively(ctx, startLimit, begin)
	}
	if err != nil {
		pool.Close()
		if _, own := errors.AsType[*media.Error](err); own {
			return err
		}
		return serverFailure(what, err)
	}
	return nil
}

// fileFailure adds a code to an error of the SQLite file. The engine passes errors as text.
func fileFailure(what, path string, err error) error {
	for _, known := range []struct {
		signs  []string
		code   media.Code
		advice string
	}{
		{[]string{"not a database", "malformed"}, media.CodeCorrupt, "restore " + path + " from a backup, or move it to another folder: its unfinished runs can then no longer be resumed; cancel each with atelier runs cancel RUN"},
		{[]string{"readonly", "unable to open"}, media.CodeForbidden, "make " + path + " and its folder writable"},
		{[]string{"is full"}, media.CodeDiskFull, "free space on the disk of " + path},
		{[]string{"database is closed"}, media.CodeUnavailable, "this process is stopping; try again when the next one runs"},
		{[]string{"locked", "timed out"}, media.CodeUnavailable, "another program has locked " + path + " for too long: stop that program"},
	} {
		if slices.ContainsFunc(known.signs, func(sign string) bool { return strings.Contains(err.Error(), sign) }) {
			return media.Errorf(known.code, "%s: %s: %w", what, known.advice, readableError(err))
		}
	}
	return media.Errorf(media.CodeUnavailable, "%s: make %s and its folder readable and writable: %w", what, path, readableError(err))
}

// failure adds a code to an error of the database.
func (e *Engine) failure(what string, err error) error {
	if e.pool != nil {
		return serverFailure(what, err)
	}
	return fileFailure(what, e.cfg.Path, err)
}

// exclusively runs fn while no other process creates or updates the tables: the engine does not lock them.
func (e *Engine) exclusively(ctx context.Context, limit time.Duration, fn func() error) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for {
		err := e.cfg.Leases.Acquire(ctx, ledger.LeaseEngine, tables, nil)
		if err == nil {
			break
		}
		if media.CodeOf(err) != media.CodeConflict {
			return err
		}
		if (journal.Memory{}).Sleep(ctx, askPause) != nil {
			return err
		}
	}
	err := fn()
	return errors.Join(err, e.cfg.Leases.Release(context.WithoutCancel(ctx), ledger.LeaseEngine, tables))
}

// openSQLite opens the file. A commit survives a crash of the process immediately, and a power failure soon after: a
// lost step is executed again, and the ledger has what it paid for.
func openSQLite(path string) (*sql.DB, error) {
	if err := sqlitedb.Private(path); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "create the folder of the durable engine's database: %w", err)
	}
	name := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db := sqlitedb.Open("file:" + name +
		"?_pragma=busy_timeout(10000)&_pragma=synchronous(NORMAL)&" + sqlitedb.WAL + "&_pragma=foreign_keys(1)&_txlock=immediate")
	// One connection: transactions are serial anyway, and a second connection would reread every page that the first
	// one changed.
	db.SetMaxOpenConns(1)
	return db, nil
}

// Place describes the database for people.
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

// engineErrorPrefix matches the prefix that the engine adds to errors, including errors in text.
var engineErrorPrefix = regexp.MustCompile(`^.*(?:DBOS Error \w+: |execution error: )`) //nolint:gochecknoglobals // compiled once

// engineError is the underlying reason of an engine error, without the engine's internal names. It wraps the original
// error for errors.Is and errors.As.
type engineError struct {
	text  string
	cause error
}

// Error returns only the reason.
func (t *engineError) Error() string { return t.text }

// Unwrap returns the engine's error.
func (t *engineError) Unwrap() error { return t.cause }

func readableError(err error) error {
	under := err
	for own, ok := errors.AsType[*dbos.Error](under); ok && errors.Unwrap(own) != nil; own, ok = errors.AsType[*dbos.Error](under) {
		under = errors.Unwrap(own)
	}
	return &engineError{text: engineErrorPrefix.ReplaceAllString(media.ErrorText(under.Error()), ""), cause: err}
}
