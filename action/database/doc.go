// Package database is what agents do with a database that the operator names:
// "Describe Database" and "Query Database" over an SQLite file or a PostgreSQL
// server. Both only read.
//
// That nothing is written does not rest on reading the SQL. An SQLite file is opened
// with mode=ro, no other file can be attached, and values are bounded; each
// PostgreSQL query runs in a READ ONLY transaction that is always rolled back, on a
// connection of its own. The look at the statement's
// first word only makes for better messages. Functions of the server that reach
// outside are a matter of the role's rights: give agents a role that may only select.
//
// Errors are media.Error values: [media.CodeInvalid] with the database's own words
// for bad SQL, [media.CodeForbidden] for writing, [media.CodeDeadline] for what takes
// too long, [media.CodeUnavailable] for a server that does not answer. None of them
// holds the URL's password. The package imports action, action/file, media, the
// SQLite driver and pgx.
package database
