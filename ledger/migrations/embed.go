// Package migrations holds the ledger's schema as SQL files that SQLite and
// PostgreSQL both run. It imports the standard library only.
package migrations

import "embed"

// Files are the migrations, numbered, forward only.
//
//go:embed *.sql
var Files embed.FS

// Latest is the number of the newest migration. A database with a higher one was
// written by a newer program.
const Latest = 13
