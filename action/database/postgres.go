package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"

	"atelier/media"
)

// dialTimeout limits the time to connect to a server.
const dialTimeout = 10 * time.Second

// postgresEngine is one PostgreSQL database.
type postgresEngine struct {
	host, database string
	timeout        time.Duration
}

var _ engine = postgresEngine{}

func openPostgres(cfg Config) (*sql.DB, engine, error) {
	c, err := pgx.ParseConfig(strings.TrimSpace(cfg.URL))
	if err != nil {
		// The driver's message may contain the URL.
		return nil, nil, media.Errorf(media.CodeInvalid, "the database URL is not valid: use postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	c.ConnectTimeout = min(max(c.ConnectTimeout, time.Second), dialTimeout)
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "atelier"
	}
	// Avoid named statements: they fail behind connection poolers.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxValue)
		return f
	}
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(-1) // no query inherits another query's settings
	e := postgresEngine{host: fmt.Sprintf("%s:%d", c.Host, c.Port), database: c.Database, timeout: cfg.Timeout}
	return db, e, nil
}

func (e postgresEngine) about() about {
	return about{
		name: "PostgreSQL", place: e.database + " on " + e.host, words: []string{"SELECT", "WITH", "VALUES", "TABLE"}, dollars: true, boolLiterals: true,
	}
}

func (postgresEngine) quote(id string) string { return pgx.Identifier{id}.Sanitize() }

// wrap adds a limit, so that the server sends at most limit rows.
func (postgresEngine) wrap(statement string, limit int) string {
	return fmt.Sprintf("SELECT * FROM (\n%s\n) AS bounded LIMIT %d", statement, limit)
}

// prepare makes the connection read-only and limits the time of its statements, on the server.
func (e postgresEngine) prepare(ctx context.Context, c *sql.Conn) error {
	for _, set := range []string{
		"SET default_transaction_read_only = on",
		fmt.Sprintf("SET statement_timeout = %d", e.timeout.Milliseconds()),
		"SET lock_timeout = 5000",
	} {
		if _, err := c.ExecContext(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

// describe lists the tables and views that the role can select from, with one query, because a server can be far away and a
// database can have many tables. Names that contain a dot are quoted.
func (e postgresEngine) describe(ctx context.Context, tx *sql.Tx) ([]Table, error) {
	return List(ctx, tx, `
		SELECT concat_ws('.', CASE WHEN n.nspname = 'public' THEN NULL WHEN strpos(n.nspname, '.') > 0 THEN quote_ident(n.nspname) ELSE n.nspname END,
				CASE WHEN strpos(c.relname, '.') > 0 THEN quote_ident(c.relname) ELSE c.relname END),
			format('%I.%I', n.nspname, c.relname),
			CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
			CASE WHEN c.reltuples >= 0 AND c.relkind <> 'v' THEN c.reltuples::bigint END,
			coalesce(obj_description(c.oid, 'pg_class'), ''),
			(SELECT coalesce(json_agg(json_build_object('name', a.attname, 'databaseType', format_type(a.atttypid, a.atttypmod), 'key', EXISTS (
					SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = a.attrelid AND x.indisprimary AND a.attnum = ANY (x.indkey))) ORDER BY a.attnum), '[]')::text
				FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
			(SELECT coalesce(json_agg(replace(replace(pg_get_constraintdef(k.oid), 'FOREIGN KEY ', ''), ' REFERENCES ', ' → ') ORDER BY pg_get_constraintdef(k.oid)), '[]')::text
				FROM pg_catalog.pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.oid)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
			AND n.nspname <> 'information_schema' AND left(n.nspname, 3) <> 'pg_'
			AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
		ORDER BY n.nspname <> 'public', 1 LIMIT $1`, func(scan func(...any) error) (t Table, err error) {
		var columns, references string
		err = scan(&t.Name, &t.from, &t.Kind, &t.Rows, &t.Comment, &columns, &references)
		if err == nil {
			err = errors.Join(json.Unmarshal([]byte(columns), &t.Columns), json.Unmarshal([]byte(references), &t.References))
		}
		for i, c := range t.Columns {
			t.Columns[i].Type = kindOf(c.DatabaseType)
		}
		if t.Rows != nil {
			t.Note = "estimated"
		}
		return t, err
	}, maxTables)
}

// explain converts an error of the server or of the connection to an error with a code.
func (e postgresEngine) explain(err error) error {
	var own *media.Error
	var pe *pgconn.PgError
	var long *pgproto3.ExceededMaxBodyLenErr
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &long):
		return media.Errorf(media.CodeTooLarge, "a row is longer than %d MiB: select fewer columns, or parts with substring()", maxValue>>20)
	case !errors.As(err, &pe):
		// The driver's message contains the user name, so name only the place.
		return media.Errorf(media.CodeUnavailable, "the database %s does not respond: check host, port and network", e.about().place)
	}
	words := clip(strings.Join(strings.Fields(pe.Message+" "+pe.Hint), " "), 300)
	switch class := pe.Code[:min(2, len(pe.Code))]; {
	case pe.Code == "25006", pe.Code == "42501":
		return refused(words)
	case pe.Code == "57014":
		return media.Errorf(media.CodeDeadline, "the database took longer than %s: narrow the query with WHERE, aggregate, or add LIMIT", e.timeout)
	case class == "28":
		return media.Errorf(media.CodeUnauthorized, "the database %s rejected the user or password in the URL", e.about().place)
	case pe.Code == "3D000":
		return media.Errorf(media.CodeNotFound, "database %[2]q does not exist on the server %[1]s", e.host, e.database)
	case class == "53", class == "57", class == "08":
		return media.Errorf(media.CodeUnavailable, "the database %s is not available: %s", e.about().place, words)
	}
	return media.Errorf(media.CodeInvalid, "PostgreSQL says: %s. See Describe Database for the names", words)
}
