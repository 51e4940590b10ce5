package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"

	"modernc.org/sqlite"

	"atelier/ledger/internal/sqlstore"
)

// searchIndex creates the index of the texts of media. The index only grows: a changed text is also found by its old
// trigrams, and a search compares its matches with the record. The number of a text is not the rowid of its record,
// because VACUUM may change the rowid.
var searchIndex = []string{ //nolint:gochecknoglobals // constant
	`CREATE TABLE media_texts (n INTEGER PRIMARY KEY, media_id TEXT NOT NULL)`,
	`CREATE VIRTUAL TABLE media_trigrams USING fts5 (label, description, file_name, content = '', columnsize = 0, detail = none, tokenize = 'trigram')`,
	`INSERT INTO media_texts (media_id) SELECT id FROM media WHERE COALESCE(label, description, file_name) IS NOT NULL ORDER BY id`,
	`INSERT INTO media_trigrams (rowid, label, description, file_name)
		SELECT t.n, m.label, m.description, m.file_name FROM media_texts t JOIN media m ON m.id = t.media_id ORDER BY t.n`,
	`CREATE TRIGGER media_texts_new AFTER INSERT ON media WHEN COALESCE(NEW.label, NEW.description, NEW.file_name) IS NOT NULL BEGIN
		INSERT INTO media_texts (media_id) VALUES (NEW.id);
		INSERT INTO media_trigrams (rowid, label, description, file_name) VALUES (last_insert_rowid(), NEW.label, NEW.description, NEW.file_name);
	END`,
	`CREATE TRIGGER media_texts_changed AFTER UPDATE OF label, description, file_name ON media
		WHEN NEW.label IS NOT OLD.label OR NEW.description IS NOT OLD.description OR NEW.file_name IS NOT OLD.file_name BEGIN
		INSERT INTO media_texts (media_id) VALUES (NEW.id);
		INSERT INTO media_trigrams (rowid, label, description, file_name) VALUES (last_insert_rowid(), NEW.label, NEW.description, NEW.file_name);
	END`,
}

// Search indexes trigrams with FTS5. If the index cannot be created, for example in a read-only file, searches read all
// records.
func (d *dialect) Search(ctx context.Context, db *sql.DB, log *slog.Logger) (sqlstore.Finder, error) {
	err := d.indexTexts(ctx, db)
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		log.InfoContext(ctx, "searches of media read all records: their index was not made", slog.String("error", failed.Error()))
		return nil, nil
	}
	return find, err
}

// indexTexts creates the index in one transaction, unless it exists.
func (d *dialect) indexTexts(ctx context.Context, db *sql.DB) error {
	var made int
	if err := db.QueryRowContext(ctx, d.CountTables(), "media_trigrams").Scan(&made); err != nil || made > 0 {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit there is nothing to undo
	if err := tx.QueryRowContext(ctx, d.CountTables(), "media_trigrams").Scan(&made); err != nil || made > 0 {
		return err // another process created it meanwhile
	}
	for _, statement := range searchIndex {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Contains compares the text with LIKE, or, if it contains other letters than those of ASCII, whose case SQLite does not
// know, with GLOB and a pattern of both cases.
func (*dialect) Contains(text string) (contains func(column string) string, pattern string) {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return sqlstore.Like(text)
	}
	var glob strings.Builder
	for _, r := range text {
		cases := string(r)
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			cases += string(other)
		}
		if len(cases) > utf8.RuneLen(r) || strings.ContainsRune("*?[", r) {
			cases = "[" + cases + "]"
		}
		glob.WriteString(cases)
	}
	return func(column string) string { return column + " GLOB ?" }, "*" + glob.String() + "*"
}

// trigramsAtMost is the maximum number of trigrams of a text in a query: more exclude little.
const trigramsAtMost = 24

// find returns a query for the records that contain all trigrams of a text.
func find(_ context.Context, text string) (query string, args []any, err error) {
	runes := []rune(text)
	if len(runes) < 3 || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", nil, nil
	}
	var all strings.Builder
	for i := 0; i+3 <= len(runes) && i < trigramsAtMost; i++ {
		if i > 0 {
			all.WriteString(" AND ")
		}
		all.WriteString(`"` + strings.ReplaceAll(string(runes[i:i+3]), `"`, `""`) + `"`)
	}
	return `SELECT t.media_id AS id FROM media_trigrams JOIN media_texts t ON t.n = media_trigrams.rowid WHERE media_trigrams MATCH $1`, []any{all.String()}, nil
}
