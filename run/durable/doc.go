// Package durable is the durable engine: it continues work where it stopped when its process died. It uses DBOS
// Transact on an embedded SQLite file or on PostgreSQL, and is the only package that imports DBOS.
//
// An [Engine] belongs to one process. It starts work immediately in that process, without a queue, and gives the work a
// [journal.Journal] that records its steps. A living process holds a lease on its work. Work without a living holder is
// an orphan, which another engine can adopt. Adopted work is executed from its beginning, and its finished steps return
// their recorded results.
//
// The engine's tables contain small texts: the input of work and the results of steps, byte for byte.
//
// Errors are media.Error values: invalid, not_found, conflict, cancelled, unavailable, unauthorized, forbidden,
// disk_full, corrupt, internal. It may import journal, ledger, media, run/lease and internal/sqlitedb.
package durable
