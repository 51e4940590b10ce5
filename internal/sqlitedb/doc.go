// Package sqlitedb opens SQLite databases whose connections keep their prepared statements: SQLite
// compiles a query once per connection instead of at every call. Compiling takes a third of the
// time of a small transaction. Writing transactions of one pool take turns. A statement that has
// started within one runs to its end even if its context is cancelled.
//
// Errors are those of the driver. It imports only the driver and the standard library.
package sqlitedb
