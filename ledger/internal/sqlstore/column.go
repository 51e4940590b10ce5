package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// column is one column of a table with the location of its value in Go: a pointer, or one of the types below if an
// empty value is NULL or the database uses another format.
type column struct {
	name  string
	value any
}

// columns are the columns of one row. They are written from, and read into, the values that they point to.
type columns []column

func (c columns) names() string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].name
	}
	return strings.Join(names, ", ")
}

// targets returns the destinations of a scan.
func (c columns) targets() []any {
	targets := make([]any, len(c))
	for i := range c {
		targets[i] = c[i].value
		if r, ok := targets[i].(readOnly); ok {
			targets[i] = r.value
		}
	}
	return targets
}

func (c columns) without(names ...string) columns {
	return slices.DeleteFunc(slices.Clone(c), func(c column) bool { return slices.Contains(names, c.name) })
}

// withoutNull omits the named columns if they would be NULL, so that an update does not change them.
func (c columns) withoutNull(names ...string) columns {
	return slices.DeleteFunc(slices.Clone(c), func(c column) bool {
		v, _ := driver.DefaultParameterConverter.ConvertValue(c.value)
		return v == nil && slices.Contains(names, c.name)
	})
}

// written returns the names and values to write.
func (c columns) written() (names []string, args []any, err error) {
	for _, col := range c {
		if _, ok := col.value.(readOnly); ok {
			continue
		}
		arg, err := driver.DefaultParameterConverter.ConvertValue(col.value)
		if err != nil {
			return nil, nil, fmt.Errorf("write column %s: %w", col.name, err)
		}
		names, args = append(names, col.name), append(args, arg)
	}
	return names, args, nil
}

// insert writes a new row; rest ends the statement.
func (c columns) insert(ctx context.Context, tx *sql.Tx, table, rest string) error {
	names, args, err := c.written()
	if err == nil {
		_, err = tx.ExecContext(ctx, insertSQL(table, names)+rest, args...)
	}
	return err
}

func insertSQL(table string, names []string) string {
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + parameters(1, len(names)) + ")"
}

// parameters returns n numbered parameters: $1, $2.
func parameters(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(list, ", ")
}

// upsert inserts a row, or overwrites all columns except key and created_at of the row with the same key, which is a
// list of columns. A condition restricts which row is overwritten. It returns the number of rows written.
func (c columns) upsert(ctx context.Context, tx *sql.Tx, table, key, condition string) (int64, error) {
	names, args, err := c.written()
	if err != nil {
		return 0, err
	}
	var changes []string
	for _, n := range names {
		if n != "created_at" && !slices.Contains(strings.Split(key, ", "), n) {
			changes = append(changes, n+" = excluded."+n)
		}
	}
	q := insertSQL(table, names) + " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(changes, ", ")
	if condition != "" {
		q += " WHERE " + condition
	}
	return exec(ctx, tx, q, args...)
}

// update writes the columns to the rows that meet a condition, in which each ? is one of the further arguments. It
// returns the number of rows written.
func (c columns) update(ctx context.Context, tx *sql.Tx, table, condition string, more ...any) (int64, error) {
	names, args, err := c.written()
	if err != nil {
		return 0, err
	}
	for i, n := range names {
		names[i] = n + " = $" + strconv.Itoa(i+1)
	}
	for i := range more {
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)+i+1), 1)
	}
	return exec(ctx, tx, "UPDATE "+table+" SET "+strings.Join(names, ", ")+" WHERE "+condition, append(args, more...)...)
}

// saving returns a transaction that inserts a row or, with a key, overwrites the row with the same key.
func saving(table, key string, row columns) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		if key == "" {
			return row.insert(ctx, tx, table, "")
		}
		_, err := row.upsert(ctx, tx, table, key, "")
		return err
	}
}

// exec returns the number of rows that a statement changed.
func exec(ctx context.Context, tx *sql.Tx, statement string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// failureColumns returns the columns of a failure.
func failureColumns(f *ledger.Failure) columns {
	return columns{{"error_code", nullable(&f.Code)}, {"error_message", prose(&f.Message)}, {"retryable", flagCol{&f.Retryable}}}
}

// readOnly is a column that is an expression and is not written.
type readOnly struct{ value any }

type nullCol[T ~string | int | int64 | float64] struct{ to *T }

// nullable is a text or number column; empty text and 0 are NULL.
func nullable[T ~string | int | int64 | float64](to *T) nullCol[T] { return nullCol[T]{to} }

func (c nullCol[T]) Scan(src any) error {
	var v sql.Null[T]
	err := v.Scan(src)
	*c.to = v.V
	return err
}

func (c nullCol[T]) Value() (driver.Value, error) {
	if *c.to == *new(T) {
		return nil, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(*c.to)
}

// proseCol is a free text column without characters that a database cannot store; empty text is NULL.
type proseCol struct{ nullCol[string] }

func prose(to *string) proseCol { return proseCol{nullable(to)} }

func (c proseCol) Value() (driver.Value, error) { return orNull(clean(*c.to)), nil }

// flagCol is a boolean column; true is 1.
type flagCol struct{ to *bool }

func (c flagCol) Scan(src any) error {
	var b sql.NullBool
	err := b.Scan(src)
	*c.to = b.Bool
	return err
}

func (c flagCol) Value() (driver.Value, error) {
	if *c.to {
		return int64(1), nil
	}
	return int64(0), nil
}

// timeCol is a time column; the zero time is NULL.
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

func (c timeCol) Value() (driver.Value, error) {
	if c.to.IsZero() {
		return nil, nil
	}
	return stampText(*c.to), nil
}

type digestCol struct{ to *media.Digest }

func (c digestCol) Scan(src any) error {
	var s sql.NullString
	if err := s.Scan(src); err != nil {
		return err
	}
	return c.to.UnmarshalText([]byte(s.String))
}

func (c digestCol) Value() (driver.Value, error) { return orNull(c.to.String()), nil }

// jsonCol is a JSON column; an empty value is NULL.
type jsonCol struct{ to any }

func (c jsonCol) Scan(src any) error {
	var s sql.NullString
	if err := s.Scan(src); err != nil || !s.Valid {
		return err
	}
	if text, ok := c.to.(*json.RawMessage); ok { // it was checked when it was written
		*text = json.RawMessage(s.String)
		return nil
	}
	return json.Unmarshal([]byte(s.String), c.to)
}

func (c jsonCol) Value() (driver.Value, error) {
	m, isText := c.to.(*json.RawMessage)
	switch {
	case !isText:
		return document(c.to), nil
	case len(*m) == 0:
		return nil, nil
	case !json.Valid(*m):
		return document(string(*m)), nil // as a JSON string
	}
	return clean(string(*m)), nil
}

// document returns JSON for a column. An empty value becomes NULL, and a value that JSON cannot represent is replaced,
// so that the row is not lost.
func document(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		b, err = json.Marshal(map[string]string{"unencodable": strings.TrimPrefix(fmt.Sprintf("%T", v), "*")})
	}
	switch s := string(b); {
	case err != nil, s == "null", s == "{}", s == "[]":
		return nil
	default:
		return clean(s)
	}
}

// orNull returns the value of a column in which empty text is NULL.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// clean replaces invalid UTF-8 and removes NUL bytes, which a database cannot store.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// stampLayout has a fixed width, so that text order is chronological.
const stampLayout = "2006-01-02T15:04:05.000000Z"

func stampText(t time.Time) string { return t.UTC().Format(stampLayout) }
