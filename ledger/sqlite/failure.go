package sqlite

import (
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelier/media"
)

// failures explains result codes of SQLite, extended ones first.
var failures = []struct {
	result int
	code   media.Code
	advice string
}{
	{sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, media.CodeConflict, "it already exists"},
	{sqlite3.SQLITE_CONSTRAINT_UNIQUE, media.CodeConflict, "it already exists"},
	{sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, media.CodeNotFound, "it refers to a row that does not exist"},
	{sqlite3.SQLITE_CONSTRAINT, media.CodeInvalid, "a required value is missing"},
	{sqlite3.SQLITE_FULL, media.CodeDiskFull, full},
	{sqlite3.SQLITE_READONLY, media.CodeForbidden, readOnly},
	{sqlite3.SQLITE_PERM, media.CodeForbidden, readOnly},
	{sqlite3.SQLITE_AUTH, media.CodeForbidden, readOnly},
	{sqlite3.SQLITE_CANTOPEN, media.CodeUnavailable, "the file cannot be opened: check that it and its directory exist and are writable"},
	{sqlite3.SQLITE_BUSY, media.CodeUnavailable, locked},
	{sqlite3.SQLITE_LOCKED, media.CodeUnavailable, locked},
	{sqlite3.SQLITE_CORRUPT, media.CodeCorrupt, damaged},
	{sqlite3.SQLITE_NOTADB, media.CodeCorrupt, damaged},
	{sqlite3.SQLITE_IOERR, media.CodeUnavailable, "the disk failed, or is full: check it and try again"},
}

const (
	full     = "the disk of the ledger is full: free some space, or move the data folder"
	readOnly = "the ledger is not writable: make the file and its directory writable, or name another data folder"
	locked   = "another process has locked the database: try again, or end that process"
	damaged  = "the file is damaged or is not a ledger: restore a backup or name another file"
)

// Failure adds a code to an error of the file system or of SQLite.
func (*dialect) Failure(what string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return media.Errorf(media.CodeDiskFull, "%s: %s: %w", what, full, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return media.Errorf(media.CodeForbidden, "%s: %s: %w", what, readOnly, err)
	}
	se, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return media.Errorf(media.CodeOf(err), "%s: %w", what, err)
	}
	for _, f := range failures {
		if f.result == se.Code() || f.result == se.Code()&0xff {
			return media.Errorf(f.code, "%s: %s: %w", what, f.advice, se)
		}
	}
	return media.Errorf(media.CodeInternal, "%s: %w", what, se)
}
