package durable

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelier/media"
)

// The limits of connections to a server.
const (
	// connections is the maximum of one engine; one of them listens.
	connections = 6
	dialTimeout = 10 * time.Second
	// idleLimit is how long an unused connection stays open, lifeLimit how long any does.
	idleLimit = 5 * time.Minute
	lifeLimit = time.Hour
)

// enginePart is the name of the engine's schema, or its suffix if the other tables have their own
// schema.
const enginePart = "atelier_engine"

// connect creates the pool of a server. It connects on first use.
func connect(ctx context.Context, c Config) (*pgxpool.Pool, error) {
	pc, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "the database URL of the durable engine is not valid: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %%XX")
	}
	if !strings.Contains(c.DatabaseURL, "pool_max_conns=") {
		pc.MaxConns = connections
	}
	pc.MaxConnIdleTime, pc.MaxConnLifetime = idleLimit, lifeLimit
	if pc.ConnConfig.ConnectTimeout <= 0 {
		pc.ConnConfig.ConnectTimeout = dialTimeout
	}
	// Shows the server's operator which process a connection belongs to.
	pc.ConnConfig.RuntimeParams["application_name"] = appName + " " + c.Leases.ID()
	return pgxpool.NewWithConfig(ctx, pc)
}

// schema is the engine's own schema: deployments that share a database by search_path have separate
// ones.
func schema(p *pgxpool.Pool) string {
	first, _, _ := strings.Cut(p.Config().ConnConfig.RuntimeParams["search_path"], ",")
	if first = strings.Trim(strings.TrimSpace(first), `"`); first == "" || first == "public" {
		return enginePart
	}
	return first + "_" + enginePart
}

// The error codes of PostgreSQL that matter here. See
// https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	wrongPassword = "28P01"
	noLogin       = "28000"
	noDatabase    = "3D000"
	noPrivilege   = "42501"
	readOnly      = "25006"
	serverFull    = "53100"
)

// serverFailure adds a code to an error of the server or its connection. The driver's connection
// errors contain the user's name, so only their reason is reported.
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
	return media.Errorf(media.CodeUnavailable, "%s: check that the database server is running and accepts writes: %w", what, legible(err))
}

// verdict returns the problem for a server's error code; no code if it is unknown.
func verdict(state string) (code media.Code, advice string) {
	switch state {
	case wrongPassword, noLogin:
		return media.CodeUnauthorized, "check the user and password in the URL"
	case noDatabase:
		return media.CodeNotFound, "create the database with CREATE DATABASE"
	case noPrivilege, readOnly:
		return media.CodeForbidden, "name the primary server and a role that may create the schema " + enginePart + ", or owns it"
	case serverFull:
		return media.CodeDiskFull, "free space on the server"
	}
	return "", ""
}

// stateOf is the server's error code. The engine passes some errors as text.
func stateOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	_, after, _ := strings.Cut(err.Error(), "(SQLSTATE ")
	state, _, _ := strings.Cut(after, ")")
	return state
}

// unwrapped is the server's own error, if there is one.
func unwrapped(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe
	}
	return err
}

// reason is the underlying reason of a connection error.
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
