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

// The error codes of PostgreSQL that are distinguished by more than their class. See
// https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	readOnlyTransaction = "25006"
	noPrivilege         = "42501"
	queryCancelled      = "57014"
	lockNotAvailable    = "55P03"
	diskFull            = "53100"
	tooManyConnections  = "53300"
	noDatabase          = "3D000"
	noSchema            = "3F000"
	noTable             = "42P01"
	noColumn            = "42703"
	uniqueViolation     = "23505"
	foreignKeyViolation = "23503"
	idleInTransaction   = "25P03"
	deadlock            = "40P01"
	notSerializable     = "40001"
)

// Again tells deadlocks and lost connections, but neither a long queue nor a server
// that is not there.
func (dialect) Again(err error) bool {
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

// ended tells the codes with which a server ends a connection: shutdown, crash,
// switch over, a terminated session.
func ended(code string) bool {
	return strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08") || code == idleInTransaction
}

// broken tells errors of a connection.
func broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}

// Failure adds a code to an error of the server or of the connection. The driver's
// words about connecting name the user, so only their reason is told.
func (d dialect) Failure(what string, err error) error {
	var pe *pgconn.PgError
	var dial *pgconn.ConnectError
	switch {
	case errors.As(err, &pe):
		return d.serverFailure(what, pe)
	case errors.Is(err, context.Canceled):
		return media.Errorf(media.CodeCancelled, "%s: %w", what, err)
	case errors.As(err, &dial):
		return media.Errorf(media.CodeUnavailable, "%s: %s does not answer: check that it runs, and the host and port of its URL: %s", what, d.place, reason(dial))
	case errors.Is(err, context.DeadlineExceeded):
		return media.Errorf(media.CodeDeadline, "%s: %s took too long: %w", what, d.place, err)
	case broken(err):
		return media.Errorf(media.CodeUnavailable, "%s: the connection to %s was lost, so the last write may or may not be saved: try again: %w", what, d.place, err)
	}
	return media.Errorf(media.CodeOf(err), "%s: %w", what, err)
}

// reason is what lies under an error of connecting: the network's words, or the last.
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
	first, _, _ := strings.Cut(err.Error(), "\n") // one line for each address and way of connecting
	return first
}

func (d dialect) serverFailure(what string, err *pgconn.PgError) error {
	switch err.Code {
	case diskFull:
		return media.Errorf(media.CodeDiskFull, "%s: the disk of %s is full: free some space: %w", what, d.place, err)
	case readOnlyTransaction, noPrivilege:
		return media.Errorf(media.CodeForbidden, "%s: %s is not writable: use its primary server and a role that may create and write tables in its schema: %w", what, d.place, err)
	case lockNotAvailable, deadlock, notSerializable:
		return media.Errorf(media.CodeUnavailable, "%s: another process has locked the rows for too long: try again, or end that process: %w", what, err)
	case tooManyConnections:
		return media.Errorf(media.CodeUnavailable, "%s: %s has no free connections: try again, or raise max_connections: %w", what, d.place, err)
	case queryCancelled:
		return media.Errorf(media.CodeDeadline, "%s: %s cancelled the statement: raise the role's statement_timeout: %w", what, d.place, err)
	case noDatabase:
		return media.Errorf(media.CodeNotFound, "%s: there is no %s: create it with CREATE DATABASE: %w", what, d.place, err)
	case noSchema:
		return media.Errorf(media.CodeNotFound, "%s: the schema in search_path does not exist: create it with CREATE SCHEMA: %w", what, err)
	case noTable, noColumn:
		return media.Errorf(media.CodeCorrupt, "%s: the schema of %s is incomplete: restore a backup or name another database: %w", what, d.place, err)
	case uniqueViolation:
		return media.Errorf(media.CodeConflict, "%s: it already exists: %w", what, err)
	case foreignKeyViolation:
		return media.Errorf(media.CodeNotFound, "%s: it refers to a row that does not exist: %w", what, err)
	}
	return d.classFailure(what, err)
}

// classFailure goes by the first two characters of the code.
func (d dialect) classFailure(what string, err *pgconn.PgError) error {
	class := err.Code[:min(2, len(err.Code))]
	switch {
	case ended(err.Code), class == "53", class == "57", class == "58":
		return media.Errorf(media.CodeUnavailable, "%s: %s is not available: try again: %w", what, d.place, err)
	case class == "28":
		return media.Errorf(media.CodeUnauthorized, "%s: %s rejected the user or password in its URL: %w", what, d.place, err)
	case class == "22", class == "23":
		return media.Errorf(media.CodeInvalid, "%s: a value is missing or invalid: %w", what, err)
	case err.Code == "XX001", err.Code == "XX002":
		return media.Errorf(media.CodeCorrupt, "%s: %s is damaged: restore a backup: %w", what, d.place, err)
	}
	return media.Errorf(media.CodeInternal, "%s: %w", what, err)
}
