// Package durable is the durable engine: work that continues where it was when its process died. It
// is DBOS Transact on an embedded SQLite file or on PostgreSQL, and the only package that imports
// DBOS.
//
// An [Engine] belongs to one process. It starts work at once in the process, without a queue, and
// gives it a [journal.Journal] that records its steps. A living process holds a lease on its work;
// work without a living holder is an orphan, which another engine can adopt. Adopted work runs from
// its beginning, and its finished steps return their recorded results.
//
// The engine's tables contain small texts: the input of work and the results of steps, byte for
// byte.
//
// Errors are media.Error values: invalid, not_found, conflict, cancelled, unavailable. It may
// import media and journal.
package durable
