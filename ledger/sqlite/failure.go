package sqlite

import (
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelier/media"
)

// Failure adds a code to an error of the file system or of SQLite.
func (*dialect) Failure(what string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return full(what, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return readOnly(what, err)
	}
	var se *sqlite.Error
	if errors.As(err, &se) {
		return sqliteFailure(what, se)
	}
	return media.Errorf(media.CodeOf(err), "%s: %w", what, err)
}

func sqliteFailure(what string, err *sqlite.Error) error {
	switch err.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return full(what, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return readOnly(what, err)
	case sqlite3.SQLITE_CANTOPEN:
		return media.Errorf(media.CodeUnavailable, "%s: the file cannot be opened: check that it and its directory exist and are writable: %w", what, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return media.Errorf(media.CodeUnavailable, "%s: another process has locked the database: try again, or end that process: %w", what, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return media.Errorf(media.CodeCorrupt, "%s: the file is damaged or is not a ledger: restore a backup or name another file: %w", what, err)
	case sqlite3.SQLITE_CONSTRAINT:
		return constraint(what, err)
	case sqlite3.SQLITE_IOERR:
		return media.Errorf(media.CodeUnavailable, "%s: the disk failed, or is full: check it and try again: %w", what, err)
	}
	return media.Errorf(media.CodeInternal, "%s: %w", what, err)
}

func constraint(what string, err *sqlite.Error) error {
	switch err.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return media.Errorf(media.CodeConflict, "%s: it already exists: %w", what, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return media.Errorf(media.CodeNotFound, "%s: it refers to a row that does not exist: %w", what, err)
	}
	return media.Errorf(media.CodeInvalid, "%s: a required value is missing: %w", what, err)
}

func full(what string, err error) error {
	return media.Errorf(media.CodeDiskFull, "%s: the disk of the ledger is full: free some space, or move the data folder: %w", what, err)
}

func readOnly(what string, err error) error {
	return media.Errorf(media.CodeForbidden, "%s: the ledger is not writable: make the file and its directory writable, or name another data folder: %w", what, err)
}
