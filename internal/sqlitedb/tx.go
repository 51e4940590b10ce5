package sqlitedb

import (
	"context"
	"database/sql/driver"
)

// BeginTx implements driver.ConnBeginTx. A transaction that may write waits for those of the
// pool's other connections: SQLite itself would ask again after a millisecond, then after more.
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

// tx gives its turn to the next one when it ends.
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

// end ends the connection's turn, once.
func (c *conn) end() {
	if c.inTx {
		c.inTx = false
		<-c.turn
	}
}
