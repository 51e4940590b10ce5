package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atelier/ledger/internal/sqlstore"
)

// searchText is the indexed text of a record.
const searchText = `(LOWER(COALESCE(label, '')) || ' ' || LOWER(COALESCE(description, '')) || ' ' || LOWER(COALESCE(file_name, '')))`

// Search indexes trigrams with the extension pg_trgm. Without it, or without the privilege to create it, searches read
// all records.
func (d dialect) Search(ctx context.Context, db *sql.DB, log *slog.Logger) (sqlstore.Finder, error) {
	var made, latin bool
	err := db.QueryRowContext(ctx, `SELECT to_regclass('media_texts') IS NOT NULL, datctype IN ('C', 'POSIX')
		FROM pg_database WHERE datname = current_database()`).Scan(&made, &latin)
	if err == nil && !made {
		err = d.Exclusively(ctx, db, func() error { return indexTexts(ctx, db) })
		if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
			log.InfoContext(ctx, "searches of media read all records: the index needs the extension pg_trgm (CREATE EXTENSION pg_trgm)",
				slog.String("database", d.place), slog.String("error", failed.Message))
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, text string) (string, []any, error) { return find(ctx, db, text, latin) }, nil
}

// indexTexts creates the extension and the index. The extension may be in any schema.
func indexTexts(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS pg_trgm`); err != nil {
		return err
	}
	var schema string
	if err := db.QueryRowContext(ctx, `SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'pg_trgm'`).Scan(&schema); err != nil {
		return err
	}
	// The list is short because a search reads all of its pending entries.
	_, err := db.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS media_texts ON media USING gin (`+searchText+` `+
		pgx.Identifier{schema, "gin_trgm_ops"}.Sanitize()+`) WITH (gin_pending_list_limit = 256)`)
	return err
}

// Contains compares the text with LIKE, in which the locale of the database decides about the case.
func (dialect) Contains(text string) (contains func(column string) string, pattern string) {
	return sqlstore.Like(text)
}

const (
	// wordsAtMost is the maximum number of words of a text that are considered.
	wordsAtMost = 8
	// frequent is the maximum number of records with a word for which the index is used.
	frequent = 20_000
)

// find returns a query for the records that contain one word, of at least three letters, of a text: the word for which
// the planner expects the fewest records, because the index is slow for texts that combine frequent and rare trigrams.
// In a database that knows only ASCII letters, words consist of those.
func find(ctx context.Context, db *sql.DB, text string, latin bool) (query string, args []any, err error) {
	if strings.ContainsRune(text, 'Σ') { // its lower case depends on the following letter
		return "", nil, nil
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) || latin && r > unicode.MaxASCII
	})
	words = slices.DeleteFunc(words, func(w string) bool { return utf8.RuneCountInString(w) < 3 })
	words = words[:min(len(words), wordsAtMost)]
	if len(words) == 0 {
		return "", nil, nil
	}
	const found = "SELECT id FROM media WHERE " + searchText + " LIKE LOWER($1)"
	best, fewest := words[0], 0.0
	for i, word := range words {
		rows, err := expected(ctx, db, found, "%"+word+"%")
		if err != nil {
			return "", nil, err
		}
		if i == 0 || rows < fewest {
			best, fewest = word, rows
		}
	}
	if fewest > frequent {
		return "", nil, nil
	}
	return found, []any{"%" + best + "%"}, nil
}

// expected returns how many rows the planner expects for a query.
func expected(ctx context.Context, db *sql.DB, query, arg string) (float64, error) {
	var text string
	if err := db.QueryRowContext(ctx, "EXPLAIN (FORMAT JSON) "+query, arg).Scan(&text); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) == 0 {
		return 0, fmt.Errorf("read the plan of a search: %.100s", text)
	}
	return plans[0].Plan.Rows, nil
}
