// Package migrations contains the ledger's schema as SQL files for both SQLite and PostgreSQL. It may import only the
// standard library.
package migrations

import "embed"

// Files are the numbered, forward-only migrations.
//
//go:embed *.sql
var Files embed.FS

// Latest is the number of the newest migration. A database with a higher number was written by a newer program.
const Latest = 13
