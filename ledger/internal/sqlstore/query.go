package sqlstore

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"atelier/ledger"
	"atelier/media"
)

// query is a SELECT that grows by conditions.
type query struct {
	text strings.Builder
	args []any
}

// where adds a condition; its ? stands for the value.
func (q *query) where(condition string, value any) {
	q.args = append(q.args, value)
	q.text.WriteString(" AND " + strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(len(q.args))))
}

// whereIn adds the condition that a column has one of some values, of which there is at least one.
func (q *query) whereIn(column string, values []string) {
	q.text.WriteString(" AND " + column + " IN (")
	for i, v := range values {
		if i > 0 {
			q.text.WriteByte(',')
		}
		q.args = append(q.args, v)
		q.text.WriteString("$" + strconv.Itoa(len(q.args)))
	}
	q.text.WriteByte(')')
}

func selectFrom(columns, from, condition string, value any) *query {
	q := &query{args: []any{value}}
	q.text.WriteString("SELECT " + columns + " FROM " + from + " WHERE " + strings.ReplaceAll(condition, "?", "$1"))
	return q
}

// page runs the query for one page in the order given, which must follow key.
func page[T any](ctx context.Context, db *sql.DB, q *query, p ledger.Page, o order[T]) (ledger.List[T], error) {
	list := ledger.List[T]{Items: []T{}}
	if p.After != "" {
		after, err := o.cursor(p.After)
		if err != nil {
			return list, err
		}
		q.where(o.key+o.after()+"?", after)
	}
	q.text.WriteString(" ORDER BY " + o.key + o.direction() + " LIMIT " + strconv.Itoa(p.Bound()+1))
	items, err := collect(ctx, db, q, o.scan)
	if err != nil {
		return list, err
	}
	if len(items) > p.Bound() {
		items = items[:p.Bound()]
		list.Next = o.next(items[len(items)-1])
	}
	list.Items = items
	return list, nil
}

// order says how a list is paged.
type order[T any] struct {
	key        string
	descending bool
	// numeric keys compare as numbers.
	numeric bool
	scan    func(row) (T, error)
	next    func(T) string
}

func (o order[T]) cursor(after string) (any, error) {
	if !o.numeric {
		return after, nil
	}
	n, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%.40q is not a page cursor: use next from the previous page", after)
	}
	return n, nil
}

func (o order[T]) after() string {
	if o.descending {
		return " < "
	}
	return " > "
}

func (o order[T]) direction() string {
	if o.descending {
		return " DESC"
	}
	return ""
}

// querier is *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func collect[T any](ctx context.Context, db querier, q *query, scan func(row) (T, error)) ([]T, error) {
	rows, err := db.QueryContext(ctx, q.text.String(), q.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // rows.Err tells what went wrong.
	items := []T{}
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, rows.Err()
}

// row is *sql.Row or *sql.Rows.
type row interface{ Scan(dest ...any) error }

// like is the pattern of a text that holds another one; empty for none.
func like(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(text)) + "%"
}
