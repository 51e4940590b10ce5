// Package database provides read-only actions on the database that the operator configures: "Describe Database" and
// "Query Database" on an SQLite file or a PostgreSQL server.
//
// This does not depend on parsing the SQL. An SQLite file is opened with mode=ro, no other file can be attached, and
// values are bounded; each PostgreSQL query runs in a READ ONLY transaction that is always rolled back, on its own
// connection. The check of the statement's first word only improves messages. Server functions with outside effects
// depend on the role's privileges: give agents a role that may only select.
//
// Errors are media.Error values: [media.CodeInvalid] with the database's message for bad SQL, [media.CodeForbidden] for
// writes, [media.CodeDeadline] for timeouts, [media.CodeUnavailable] for a server that does not respond. None of them
// contains the URL's password. The package imports action, action/file, media, probe, the SQLite driver and pgx.
package database
