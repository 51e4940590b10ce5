package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"atelier/ledger"
	"atelier/media"
)

// query is a SELECT of the rows of a table, or of joined tables, that meet conditions.
type query struct {
	tables     string
	conditions []string
	args       []any
	order      string // columns, each optionally with DESC
	limit      int    // 0 means none
	page       ledger.Page
	none       bool  // a condition has a text that no row can contain
	err        error // why it must not be executed
}

// from selects the rows of tables, which may have parameters.
func from(tables string, args ...any) *query { return &query{tables: tables, args: args} }

// owned selects the rows of an owner. Without an owner, the query returns an error.
func owned(tables, owner string) *query {
	q := from(tables).where("owner = ?", owner)
	q.err = needOwner(owner)
	return q
}

// and adds a condition.
func (q *query) and(condition string) *query {
	q.conditions = append(q.conditions, condition)
	return q
}

// where adds a condition, in which ? is the value.
func (q *query) where(condition string, value any) *query {
	if text, ok := value.(string); ok && clean(text) != text {
		q.none = true
	}
	q.args = append(q.args, value)
	return q.and(strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(len(q.args))))
}

// whereIn adds the condition that a column has one of the values, of which there must be at least one.
func (q *query) whereIn(column string, values []string) *query {
	q.and(column + " IN (" + parameters(len(q.args)+1, len(values)) + ")")
	for _, v := range values {
		q.args = append(q.args, v)
	}
	return q
}

// orderBy sorts the rows by columns.
func (q *query) orderBy(columns string) *query {
	q.order = columns
	return q
}

// paged requests a page, which the function page reads.
func (q *query) paged(p ledger.Page) *query {
	q.page = p
	return q
}

// first limits the rows as in [ledger.Page].
func (q *query) first(limit int) *query {
	q.limit = ledger.Page{Limit: limit}.EffectiveLimit()
	return q
}

// sql returns the statement.
func (q *query) sql(columns string) string {
	s := "SELECT " + columns + " FROM " + q.tables
	if len(q.conditions) > 0 {
		s += " WHERE " + strings.Join(q.conditions, " AND ")
	}
	if q.order != "" {
		s += " ORDER BY " + q.order
	}
	if q.limit > 0 {
		s += " LIMIT " + strconv.Itoa(q.limit)
	}
	return s
}

// querier is *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// one reads the first row. The error is sql.ErrNoRows if there is none.
func one[T any](ctx context.Context, db querier, of func(*T) columns, q *query) (v T, err error) {
	if q.err != nil {
		return v, q.err
	}
	if q.none {
		return v, sql.ErrNoRows
	}
	c := of(&v)
	err = db.QueryRowContext(ctx, q.sql(c.names()), q.args...).Scan(c.targets()...)
	return v, err
}

// all reads all rows.
func all[T any](ctx context.Context, db querier, of func(*T) columns, q *query) ([]T, error) {
	if q.err != nil {
		return nil, q.err
	}
	if q.none {
		return []T{}, nil
	}
	var v, empty T
	c := of(&v)
	rows, err := db.QueryContext(ctx, q.sql(c.names()), q.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // rows.Err reports errors
	items := []T{}
	for targets := c.targets(); rows.Next(); v = empty {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, rows.Err()
}

// read is one outside of a transaction; what describes it in errors.
func read[T any](ctx context.Context, s *db, what string, of func(*T) columns, q *query) (T, error) {
	v, err := one(ctx, s.read, of, q)
	return v, s.failure(what, err)
}

// readAll is all outside of a transaction; what describes it in errors.
func readAll[T any](ctx context.Context, s *db, what string, of func(*T) columns, q *query) ([]T, error) {
	items, err := all(ctx, s.read, of, q)
	return items, s.failure(what, err)
}

// optional ignores that there is no row, so that the destinations of a scan keep their values.
func optional(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// only returns the columns of a query of one text column.
func only(name string) func(*string) columns {
	return func(s *string) columns { return columns{{name, s}} }
}

// page reads one page in the order of the query, which is one column with distinct values: a text, a digest or a
// number. what describes it in errors.
func page[T any](ctx context.Context, s *db, what string, of func(*T) columns, q *query) (ledger.List[T], error) {
	list := ledger.List[T]{Items: []T{}}
	key, descending := strings.CutSuffix(q.order, " DESC")
	if q.page.After != "" {
		after, err := cursor(of, key, q.page.After)
		if err != nil {
			return list, err
		}
		if descending {
			q.where(key+" < ?", after)
		} else {
			q.where(key+" > ?", after)
		}
	}
	most := q.page.EffectiveLimit()
	q.limit = most + 1
	items, err := readAll(ctx, s, what, of, q)
	if err != nil {
		return list, err
	}
	if len(items) > most {
		items = items[:most]
		switch v := keyOf(of, &items[len(items)-1], key).(type) {
		case *string:
			list.Next = *v
		case *int:
			list.Next = strconv.Itoa(*v)
		case digestCol:
			list.Next = v.to.String()
		}
	}
	list.Items = items
	return list, nil
}

func keyOf[T any](of func(*T) columns, v *T, key string) any {
	for _, c := range of(v) {
		if c.name == key {
			return c.value
		}
	}
	return nil
}

// cursor returns the value of the key after which a page starts.
func cursor[T any](of func(*T) columns, key, after string) (any, error) {
	if _, number := keyOf(of, new(T), key).(*int); !number {
		return after, nil
	}
	n, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%.40q is not a page cursor: use next from the previous page", after)
	}
	return n, nil
}

// Like is the Contains of a [Dialect] with the operator LIKE. It compares LOWER of both texts, because databases differ
// in which letters they lower.
func Like(text string) (contains func(column string) string, pattern string) {
	contains = func(column string) string { return "LOWER(" + column + `) LIKE LOWER(?) ESCAPE '\'` }
	return contains, "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
}
