package durable

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelier/ledger/postgres"
	"atelier/media"
)

// The limits of connections to a server.
const (
	// connections is the maximum number of connections of one engine; one of them listens.
	connections = 6
	dialTimeout = 10 * time.Second
	// idleLimit is how long an unused connection stays open, lifeLimit how long any connection does.
	idleLimit = 5 * time.Minute
	lifeLimit = time.Hour
)

// enginePart is the name of the engine's schema, or its suffix if the other tables have their own schema.
const enginePart = "atelier_engine"

// connect creates the connection pool of a server. The pool connects on first use.
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
	// The name shows the server's operator which process a connection belongs to.
	pc.ConnConfig.RuntimeParams["application_name"] = appName + " " + c.Leases.ID()
	return pgxpool.NewWithConfig(ctx, pc)
}

// schema returns the engine's schema: deployments that share a database by search_path have separate ones.
func schema(p *pgxpool.Pool) string {
	first, _, _ := strings.Cut(p.Config().ConnConfig.RuntimeParams["search_path"], ",")
	if first = strings.Trim(strings.TrimSpace(first), `"`); first == "" || first == "public" {
		return enginePart
	}
	return first + "_" + enginePart
}

// serverErrors explain error codes of PostgreSQL. See https://www.postgresql.org/docs/15/errcodes-appendix.html.
var serverErrors = map[string]struct { //nolint:gochecknoglobals // constant
	code   media.Code
	advice string
}{
	"28P01": {media.CodeUnauthorized, "check the user and password in the URL"}, // a wrong password
	"28000": {media.CodeUnauthorized, "check the user and password in the URL"}, // no right to log in
	"3D000": {media.CodeNotFound, "create the database with CREATE DATABASE"},
	"42501": {media.CodeForbidden, noRight}, // no privilege
	"25006": {media.CodeForbidden, noRight}, // a read-only transaction
	"53100": {media.CodeDiskFull, "free space on the server"},
}

const noRight = "name the primary server and a role that may create the schema " + enginePart + ", or owns it"

// serverFailure adds a code to an error of the server or its connection. The driver's connection errors contain the
// user's name, so only their reason is reported.
func serverFailure(what string, err error) error {
	var dial *pgconn.ConnectError
	var pe *pgconn.PgError
	var state string
	under := err
	if errors.As(err, &pe) {
		state, under = pe.Code, pe
	} else { // the engine passes some errors as text
		_, after, _ := strings.Cut(err.Error(), "(SQLSTATE ")
		state, _, _ = strings.Cut(after, ")")
	}
	v, known := serverErrors[state]
	switch {
	case known:
		return media.Errorf(v.code, "%s: %s: %w", what, v.advice, readableError(under))
	case errors.As(err, &dial):
		return media.Errorf(media.CodeUnavailable, "%s: the database server does not answer: check that it runs, and the host and port of its URL: %s", what, media.ErrorText(postgres.DialReason(dial)))
	case errors.Is(err, context.DeadlineExceeded):
		return media.Errorf(media.CodeUnavailable, "%s: the database server does not answer: check that it runs", what)
	}
	return media.Errorf(media.CodeUnavailable, "%s: check that the database server is running and accepts writes: %w", what, readableError(err))
}
