package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"atelier/media"
)

// failures explains error codes of PostgreSQL, or classes of them. The first entry that a code begins with applies. In
// advice, {server} is the place of the database. See https://www.postgresql.org/docs/15/errcodes-appendix.html.
var failures = []struct {
	state  string
	code   media.Code
	advice string
}{
	{"53100", media.CodeDiskFull, "the disk of {server} is full: free some space"},
	{"25006", media.CodeForbidden, notWritable}, // a read-only transaction
	{"42501", media.CodeForbidden, notWritable}, // no privilege
	{"55P03", media.CodeUnavailable, locked},
	{deadlock, media.CodeUnavailable, locked},
	{notSerializable, media.CodeUnavailable, locked},
	{"53300", media.CodeUnavailable, "{server} has no free connections: try again, or raise max_connections"},
	{"57014", media.CodeDeadline, "{server} cancelled the statement: raise the role's statement_timeout"},
	{"3D000", media.CodeNotFound, "there is no {server}: create it with CREATE DATABASE"},
	{"3F000", media.CodeNotFound, "the schema in search_path does not exist: create it with CREATE SCHEMA"},
	{"42P01", media.CodeCorrupt, incomplete}, // no such table
	{"42703", media.CodeCorrupt, incomplete}, // no such column
	{"23505", media.CodeConflict, "it already exists"},
	{"23503", media.CodeNotFound, "it refers to a row that does not exist"},
	{idleInTransaction, media.CodeUnavailable, away},
	{"08", media.CodeUnavailable, away},
	{"53", media.CodeUnavailable, away},
	{"57", media.CodeUnavailable, away},
	{"58", media.CodeUnavailable, away},
	{"28", media.CodeUnauthorized, "{server} rejected the user or password in its URL"},
	{"22", media.CodeInvalid, invalidValue},
	{"23", media.CodeInvalid, invalidValue},
	{"XX001", media.CodeCorrupt, damaged},
	{"XX002", media.CodeCorrupt, damaged},
}

const (
	idleInTransaction = "25P03"
	deadlock          = "40P01"
	notSerializable   = "40001"

	notWritable  = "{server} is not writable: use its primary server and a role that may create and write tables in its schema"
	locked       = "another process has locked the rows for too long: try again, or end that process"
	incomplete   = "the schema of {server} is incomplete: restore a backup or name another database"
	away         = "{server} is not available: try again"
	invalidValue = "a value is missing or invalid"
	damaged      = "{server} is damaged: restore a backup"
)

// Retryable reports deadlocks and lost connections, but neither a lock timeout nor an unavailable server.
func (dialect) Retryable(err error) bool {
	var pe *pgconn.PgError
	var dial *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &pe):
		return pe.Code == deadlock || pe.Code == notSerializable || ended(pe.Code)
	case errors.As(err, &dial):
		return false
	}
	return broken(err)
}

// ended reports whether a server ends connections with this code: shutdown, crash, failover, or a terminated session.
func ended(code string) bool {
	return strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08") || code == idleInTransaction
}

// broken reports errors of a connection.
func broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}

// Failure adds a code to an error of the server or the connection. The driver's messages about connecting contain the
// user's name, so only their reason is reported.
func (d dialect) Failure(what string, err error) error {
	var pe *pgconn.PgError
	var dial *pgconn.ConnectError
	switch {
	case errors.As(err, &pe):
		for _, f := range failures {
			if strings.HasPrefix(pe.Code, f.state) {
				return media.Errorf(f.code, "%s: %s: %w", what, strings.ReplaceAll(f.advice, "{server}", d.place), pe)
			}
		}
		return media.Errorf(media.CodeInternal, "%s: %w", what, pe)
	case errors.Is(err, context.Canceled):
		return media.Errorf(media.CodeCancelled, "%s: %w", what, err)
	case errors.As(err, &dial):
		return media.Errorf(media.CodeUnavailable, "%s: %s does not answer: check that it runs, and the host and port of its URL: %s", what, d.place, DialReason(dial))
	case errors.Is(err, context.DeadlineExceeded):
		return media.Errorf(media.CodeDeadline, "%s: %s took too long: %w", what, d.place, err)
	case broken(err):
		return media.Errorf(media.CodeUnavailable, "%s: the connection to %s was lost, so the last write may or may not be saved: try again: %w", what, d.place, err)
	}
	return media.Errorf(media.CodeOf(err), "%s: %w", what, err)
}

// DialReason returns the cause of a connection error: the network error, or the innermost one.
func DialReason(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "it took too long"
	}
	first, _, _ := strings.Cut(err.Error(), "\n") // there is one line for each address and method
	return first
}
