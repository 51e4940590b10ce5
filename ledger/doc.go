// Package ledger is the audit database: runs, messages, media and costs. It contains one small interface per aggregate
// and the row types of these interfaces. Packages ledger/sqlite and ledger/postgres implement them, and package
// ledger/ledgertest is the test suite for all implementations.
//
// No row contains media bytes or base64, because they are removed before they reach the ledger. Texts and JSON are kept
// byte for byte, except for NUL bytes and invalid UTF-8. Ids are UUIDv7 text, so they sort by creation; times are UTC
// with microsecond precision; money is exact decimal text, nil if unknown. Lists are paged by id. Deletes leave a
// tombstone.
//
// Every read takes an owner. For an empty owner, the error has code media.CodeForbidden; for another owner's row
// media.CodeNotFound, as if it did not exist. Every write is its own commit and ignores the cancellation of its
// context, because results and payments must always be recorded.
//
// Errors are media.Error values: forbidden, not_found, invalid, conflict, ref_collision, disk_full, corrupt, and
// unavailable (retryable) if another process holds the database for too long or its server does not answer. It may
// import only media.
package ledger
