package durable

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelier/journal"
	"atelier/media"
)

// The limits of connections to a server.
const (
	// connections is how many one engine has at most; one of them listens.
	connections = 6
	dialTimeout = 10 * time.Second
	// idleLimit is how long an unused connection stays open, lifeLimit any at all.
	idleLimit = 5 * time.Minute
	lifeLimit = time.Hour
	// askPause is how long a process waits before it asks again for the lock.
	askPause = 20 * time.Millisecond
)

// enginePart is what the engine's schema is called, behind that of the tables beside it
// if they have one of their own.
const enginePart = "atelier_engine"

// connect makes the pool of a server. It connects only when it is used.
func connect(ctx context.Context, c Config) (*pgxpool.Pool, error) {
	pc, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "the database URL of the durable engine cannot be read: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, odd characters as %%XX")
	}
	if !strings.Contains(c.DatabaseURL, "pool_max_conns=") {
		pc.MaxConns = connections
	}
	pc.MaxConnIdleTime, pc.MaxConnLifetime = idleLimit, lifeLimit
	if pc.ConnConfig.ConnectTimeout <= 0 {
		pc.ConnConfig.ConnectTimeout = dialTimeout
	}
	// Whoever looks at the server sees which process a connection belongs to.
	pc.ConnConfig.RuntimeParams["application_name"] = appName + " " + c.Executor
	return pgxpool.NewWithConfig(ctx, pc)
}

// schema names the engine's own schema: deployments that share a database by search_path
// do not share it.
func schema(p *pgxpool.Pool) string {
	first, _, _ := strings.Cut(p.Config().ConnConfig.RuntimeParams["search_path"], ",")
	if first = strings.Trim(strings.TrimSpace(first), `"`); first == "" || first == "public" {
		return enginePart
	}
	return first + "_" + enginePart
}

// alone runs fn while no other process makes or updates tables in this database. Who
// waits asks again and again: a statement that waits would hold up the making of an index.
func alone(ctx context.Context, p *pgxpool.Pool, fn func() error) error {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	conn, err := p.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	sum := sha256.Sum256([]byte("atelier engine migration"))
	key := int64(binary.BigEndian.Uint64(sum[:])) //nolint:gosec // any 64 bits will do
	for locked := false; !locked; {
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&locked); err != nil {
			return err
		}
		if locked {
			break
		}
		if err := (journal.Memory{}).Sleep(ctx, askPause); err != nil {
			return err
		}
	}
	defer func() {
		// A connection that cannot give it back loses it with itself.
		_, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", key)
	}()
	return fn()
}

// The error codes of PostgreSQL that are told apart. See
// https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	wrongPassword = "28P01"
	noLogin       = "28000"
	noDatabase    = "3D000"
	noPrivilege   = "42501"
	readOnly      = "25006"
	serverFull    = "53100"
)

// serverFailure gives an error of the server or of its connection its code. The
// driver's words about connecting name the user, so only their reason is told.
func serverFailure(what string, err error) error {
	var dial *pgconn.ConnectError
	code, advice := verdict(stateOf(err))
	switch {
	case code != "":
		return media.Errorf(code, "%s: %s: %w", what, advice, legible(unwrapped(err)))
	case errors.As(err, &dial):
		return media.Errorf(media.CodeUnavailable, "%s: the database server does not answer: check that it runs, and the host and port of its URL: %s", what, reason(dial))
	case errors.Is(err, context.DeadlineExceeded):
		return media.Errorf(media.CodeUnavailable, "%s: the database server does not answer: check that it runs", what)
	}
	return media.Errorf(media.CodeUnavailable, "%s: see that the database server runs and takes what is written: %w", what, legible(err))
}

// verdict tells what is wrong with a server by its error code; no code if that does not tell.
func verdict(state string) (code media.Code, advice string) {
	switch state {
	case wrongPassword, noLogin:
		return media.CodeUnauthorized, "check user and password of the URL"
	case noDatabase:
		return media.CodeNotFound, "create the database with CREATE DATABASE"
	case noPrivilege, readOnly:
		return media.CodeForbidden, "name the primary server and a role that may create the schema " + enginePart + ", or owns it"
	case serverFull:
		return media.CodeDiskFull, "free space on the server"
	}
	return "", ""
}

// stateOf is the server's error code. The engine hands some errors on as text.
func stateOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	_, after, _ := strings.Cut(err.Error(), "(SQLSTATE ")
	state, _, _ := strings.Cut(after, ")")
	return state
}

// unwrapped is the server's own error where there is one.
func unwrapped(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe
	}
	return err
}

// reason is what lies under an error of connecting.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Error()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "it took too long"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return media.ErrorText(first)
}
