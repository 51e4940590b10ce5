// Package ledger is the audit database: what ran, what it said, what it made and
// what that cost. It holds one small interface per aggregate and the rows that they
// speak of; packages ledger/sqlite and ledger/postgres implement them, and package
// ledger/ledgertest is the suite that every implementation passes.
//
// No row holds media bytes or base64, because none gets past the entrances; texts and JSON
// are kept byte for byte, but for NUL bytes and broken UTF-8. Ids are UUIDv7 text, so that their order is the order of making;
// times are UTC to the microsecond; money is exact decimal text, nil when unknown.
// Lists are paged by id. Deletes leave a tombstone.
//
// Every read takes an owner. An empty owner is refused with media.CodeForbidden; a
// row of somebody else is media.CodeNotFound, as if it did not exist. Every write is
// its own commit and outlives the cancellation of its context, because what was made
// or paid must be known whatever happens next.
//
// Errors are media.Error values: forbidden, not_found, invalid, conflict,
// ref_collision, disk_full, corrupt, and unavailable (retryable) when another process
// holds the database for too long or its server does not answer. It imports media alone.
package ledger
