package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// connectPause is how long a call waits before it tries to connect again.
const connectPause = 250 * time.Millisecond

// patient connects to a server that may be unavailable for a while.
type patient struct {
	driver.Connector
	limit atomic.Int64 // how long Connect waits, in nanoseconds
}

// Connect tries until the server answers, the limit has elapsed, or ctx ends. A server that answers and refuses is not
// tried again.
func (p *patient) Connect(ctx context.Context) (driver.Conn, error) {
	limit := time.Duration(p.limit.Load())
	if limit <= 0 {
		return p.Connector.Connect(ctx)
	}
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		conn, err := p.Connector.Connect(ctx)
		if err == nil || !absent(err) {
			return conn, err
		}
		pause := time.NewTimer(connectPause)
		select {
		case <-pause.C:
		case <-end.C:
			return nil, err
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		}
	}
}

// absent reports whether an error means that the server is not available, or not yet.
func absent(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return ended(pe.Code)
	}
	_, dial := errors.AsType[*pgconn.ConnectError](err)
	return dial && !errors.Is(err, context.Canceled)
}
