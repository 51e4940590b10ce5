// Package durable is the durable engine: work that goes on where it was when its
// process was killed. It is DBOS Transact on an embedded SQLite file or on PostgreSQL,
// and the only package that knows it.
//
// An [Engine] belongs to one process. It starts work at once in the process, without a
// queue, and gives it a [journal.Journal] whose steps it remembers. While a process
// lives, it holds a lock; work whose process holds none is an orphan that another
// engine may take over. Work that is taken over runs from its beginning, and its
// finished steps give what they gave before.
//
// The engine's tables hold small texts: the input of work and the results of steps.
// They are kept byte for byte.
//
// Errors are media.Error values: invalid, not_found, conflict, cancelled, unavailable.
// It may import media and journal.
package durable
