package sqlitedb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"

	"modernc.org/sqlite"
)

// maxStatements is the maximum number of statements that a connection keeps: the most recently used ones.
const maxStatements = 256

// WAL is the part of a DSN that enables a write-ahead log. The log is checkpointed after 16 MiB instead of SQLite's 4
// MiB, so that pages changed by most transactions are copied once for more transactions.
const WAL = "_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(4000)"

// Open returns a pool like sql.Open("sqlite", dsn); nothing is opened before first use.
func Open(dsn string) *sql.DB {
	return sql.OpenDB(&connector{dsn: dsn, turn: make(chan struct{}, 1)})
}

// connector opens connections.
type connector struct {
	dsn  string
	turn chan struct{} // full while a connection of the pool is in a writing transaction
	// opened reports whether there was a connection: a file that was deleted since is not created again.
	opened atomic.Bool
}

// Connect implements driver.Connector.
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	dsn := c.dsn
	if c.opened.Load() && strings.HasPrefix(dsn, "file:") && strings.Contains(dsn, "?") {
		dsn += "&mode=rw"
	}
	inner, err := c.Driver().Open(dsn)
	if err != nil {
		return nil, err
	}
	c.opened.Store(true)
	return &conn{wholeConn: inner.(wholeConn), kept: map[string]*statement{}, turn: c.turn}, nil
}

// Driver implements driver.Connector.
func (*connector) Driver() driver.Driver { return &sqlite.Driver{} }

// wholeConn is the interface of the driver's connections.
type wholeConn interface {
	session
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	sqlite.HookRegisterer
}

// session is what a pool requires of a connection.
type session interface {
	driver.Conn
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// wholeStmt is the interface of the driver's statements.
type wholeStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is a connection that keeps its statements. Only one goroutine uses it at a time.
type conn struct {
	wholeConn
	kept  map[string]*statement
	calls uint64
	turn  chan struct{}
	inTx  bool // its transaction holds the turn
}

// statement is a compiled query. It is not reused while its rows are being read.
type statement struct {
	wholeStmt
	busy bool
	used uint64 // the most recent call that used it
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx, err := c.withoutCancelInTx(ctx)
	if err != nil {
		return nil, err
	}
	s := c.take(ctx, query)
	if s == nil {
		return c.wholeConn.ExecContext(ctx, query, args)
	}
	defer s.release()
	return s.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx, err := c.withoutCancelInTx(ctx)
	if err != nil {
		return nil, err
	}
	s := c.take(ctx, query)
	if s == nil {
		return c.wholeConn.QueryContext(ctx, query, args)
	}
	r, err := s.QueryContext(ctx, args)
	if err != nil {
		s.release()
		return nil, err
	}
	return &rows{Rows: r, of: s}, nil
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.kept {
		errs = append(errs, s.Close())
	}
	c.kept = nil
	c.end()
	return errors.Join(append(errs, c.wholeConn.Close())...)
}

// withoutCancelInTx lets a started statement of a transaction run to its end: watching for cancellation
// costs the driver a goroutine per statement, and these are short.
func (c *conn) withoutCancelInTx(ctx context.Context) (context.Context, error) {
	if !c.inTx {
		return ctx, nil
	}
	return context.WithoutCancel(ctx), ctx.Err()
}

// take returns the statement of a query, or nil if it is not kept or is in use.
func (c *conn) take(ctx context.Context, query string) *statement {
	s, ok := c.kept[query]
	if !ok {
		if !keepable(query) {
			return nil
		}
		if len(c.kept) >= maxStatements {
			c.drop()
		}
		inner, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil // the call itself returns the error
		}
		s = &statement{wholeStmt: inner.(wholeStmt)}
		c.kept[query] = s
	}
	if s.busy {
		return nil
	}
	c.calls++
	s.busy, s.used = true, c.calls
	return s
}

// drop discards the least recently used statement.
func (c *conn) drop() {
	oldest := ""
	for query, s := range c.kept {
		if !s.busy && (oldest == "" || s.used < c.kept[oldest].used) {
			oldest = query
		}
	}
	if s, ok := c.kept[oldest]; ok {
		_ = s.Close() // it has nothing to lose
		delete(c.kept, oldest)
	}
}

func (s *statement) release() { s.busy = false }

// keepable reports whether a query reads or changes rows and is a single statement. Statements that
// change the schema or the connection run only once.
func keepable(query string) bool {
	query = strings.TrimSpace(query)
	if strings.Contains(strings.TrimSuffix(query, ";"), ";") {
		return false
	}
	word, _, _ := strings.Cut(query, " ")
	switch strings.ToUpper(strings.TrimSpace(word)) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}

// rows releases its statement when it is closed.
type rows struct {
	driver.Rows
	of *statement
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	err := r.Rows.Close()
	if r.of != nil {
		r.of.release()
		r.of = nil
	}
	return err
}

// BeginTx implements driver.ConnBeginTx. A transaction that may write waits for those of the pool's
// other connections; SQLite itself would poll after a millisecond, then at longer intervals.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if o.ReadOnly {
		return c.wholeConn.BeginTx(ctx, o)
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	inner, err := c.wholeConn.BeginTx(ctx, o)
	if err != nil {
		<-c.turn
		return nil, err
	}
	c.inTx = true
	return &tx{inner, c}, nil
}

// tx releases the turn when it ends.
type tx struct {
	driver.Tx
	conn *conn
}

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	defer t.conn.end()
	return t.Tx.Commit()
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error {
	defer t.conn.end()
	return t.Tx.Rollback()
}

// end releases the connection's turn, once.
func (c *conn) end() {
	if c.inTx {
		c.inTx = false
		<-c.turn
	}
}
