// Package sqlitedb opens SQLite databases whose connections keep their statements: SQLite
// compiles a query once for each connection, not at every call, which is a third of the
// time of a small transaction. Transactions of one pool that may write take turns, and a
// statement that has begun within one ends before the end of its context is heeded.
//
// Errors are those of the driver. It imports the driver and the standard library only.
package sqlitedb
