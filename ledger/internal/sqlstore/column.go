package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// stampLayout has a fixed width, so that text order is time order.
const stampLayout = "2006-01-02T15:04:05.000000Z"

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func stampText(t time.Time) string { return t.UTC().Format(stampLayout) }

// The functions below make column values; empty becomes NULL.

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stampText(t)
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// prose is free text as it came, but for what a database cannot hold: NUL bytes and broken
// UTF-8.
func prose(s string) any { return text(clean(s)) }

func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

func number[T int | int64 | float64](n T) any {
	if n == 0 {
		return nil
	}
	return n
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// document is JSON for a column: empty becomes NULL, and what JSON cannot hold is noted
// rather than losing the row.
func document(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		b, err = json.Marshal(map[string]string{"unencodable": fmt.Sprintf("%T", v)})
	}
	switch s := string(b); {
	case err != nil, s == "null", s == "{}", s == "[]":
		return nil
	default:
		return clean(s)
	}
}

// raw is JSON text for a column; text that is no JSON is kept as a JSON string.
func raw(m json.RawMessage) any {
	if len(m) == 0 {
		return nil
	}
	if !json.Valid(m) {
		return document(string(m))
	}
	return clean(string(m))
}

// The types below scan columns that may be NULL.

type timeCol struct{ to *time.Time }

func (c timeCol) Scan(src any) error {
	var s sql.NullString
	if err := s.Scan(src); err != nil || !s.Valid {
		return err
	}
	t, err := time.Parse(stampLayout, s.String)
	*c.to = t
	return err
}

type textCol[T ~string] struct{ to *T }

func (c textCol[T]) Scan(src any) error {
	var s sql.NullString
	err := s.Scan(src)
	*c.to = T(s.String)
	return err
}

// str scans a nullable text column.
func str[T ~string](to *T) textCol[T] { return textCol[T]{to} }

type numberCol[T int | int64 | float64] struct{ to *T }

func (c numberCol[T]) Scan(src any) error {
	var n sql.Null[T]
	err := n.Scan(src)
	*c.to = n.V
	return err
}

// num scans a nullable number column.
func num[T int | int64 | float64](to *T) numberCol[T] { return numberCol[T]{to} }

type digestCol struct{ to *media.Digest }

func (c digestCol) Scan(src any) error {
	var s sql.NullString
	if err := s.Scan(src); err != nil {
		return err
	}
	return c.to.UnmarshalText([]byte(s.String))
}

type jsonCol struct{ to any }

func (c jsonCol) Scan(src any) error {
	var s sql.NullString
	if err := s.Scan(src); err != nil || !s.Valid {
		return err
	}
	return json.Unmarshal([]byte(s.String), c.to)
}

// values are the columns of a row to write, in the order set.
type values struct {
	names []string
	args  []any
}

func (v *values) set(name string, value any) {
	v.names = append(v.names, name)
	v.args = append(v.args, value)
}

func (v *values) failure(f ledger.Failure) {
	v.set("error_code", text(f.Code))
	v.set("error_message", prose(f.Message))
	v.set("retryable", flag(f.Retryable))
}

// insert writes a new row.
func (v *values) insert(ctx context.Context, tx *sql.Tx, table string) error {
	_, err := tx.ExecContext(ctx, v.insertSQL(table), v.args...)
	return err
}

// upsert writes a row, or all its columns but key and created_at over the one with the
// same key, which is a list of columns.
func (v *values) upsert(ctx context.Context, tx *sql.Tx, table, key string) error {
	_, err := v.upsertWhere(ctx, tx, table, key, "")
	return err
}

// upsertWhere is upsert that writes over a row only under a condition; empty means always.
func (v *values) upsertWhere(ctx context.Context, tx *sql.Tx, table, key, condition string) (sql.Result, error) {
	var q strings.Builder
	q.WriteString(v.insertSQL(table))
	q.WriteString(" ON CONFLICT (" + key + ") DO UPDATE SET ")
	keys := strings.Split(key, ", ")
	sep := ""
	for _, n := range v.names {
		if n != "created_at" && !slices.Contains(keys, n) {
			q.WriteString(sep + n + " = excluded." + n)
			sep = ", "
		}
	}
	if condition != "" {
		q.WriteString(" WHERE " + condition)
	}
	return tx.ExecContext(ctx, q.String(), v.args...)
}

func (v *values) insertSQL(table string) string {
	var q strings.Builder
	q.WriteString("INSERT INTO " + table + " (" + strings.Join(v.names, ", ") + ") VALUES (")
	for i := range v.names {
		if i > 0 {
			q.WriteString(", ")
		}
		q.WriteString("$" + strconv.Itoa(i+1))
	}
	q.WriteString(")")
	return q.String()
}

// updateSQL is the statement without its condition, whose parameters follow the columns.
func (v *values) updateSQL(table string) string {
	var q strings.Builder
	q.WriteString("UPDATE " + table + " SET ")
	for i, n := range v.names {
		if i > 0 {
			q.WriteString(", ")
		}
		q.WriteString(n + " = $" + strconv.Itoa(i+1))
	}
	return q.String()
}
