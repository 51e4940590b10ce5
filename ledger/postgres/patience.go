package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// connectPause is how long a call waits before it tries again to reach a server.
const connectPause = 250 * time.Millisecond

// patient connects to a server that may be away for a while.
type patient struct {
	driver.Connector
	limit atomic.Int64 // how long it waits, in nanoseconds
}

// Connect tries until the server answers, patience is at its end or ctx is. A server that
// answers and refuses is not asked again.
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

// absent tells that a server is not there, or not yet.
func absent(err error) bool {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return ended(pe.Code)
	}
	var dial *pgconn.ConnectError
	return errors.As(err, &dial) && !errors.Is(err, context.Canceled)
}
