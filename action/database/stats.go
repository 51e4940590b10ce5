package database

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of the analysis for a description.
const (
	// measureTime limits the analysis of one description.
	measureTime = 5 * time.Second
	// maxValues is the maximum number of frequent values shown per column. maxDistinct is the maximum number of
	// distinct values counted.
	maxValues   = 24
	maxDistinct = 1000
)

// kindOf returns the kind of a database type: integer, number, text, date, datetime or boolean.
func kindOf(databaseType string) string {
	t := strings.ToLower(databaseType)
	begins := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(t, w) })
	}
	switch {
	case t == "date":
		return t
	case strings.HasSuffix(t, "[]") || begins("interval"):
		return "text"
	case begins("bool"):
		return "boolean"
	case begins("int", "bigint", "smallint", "tinyint", "mediumint", "serial", "bigserial", "smallserial"):
		return "integer"
	case begins("real", "double", "float", "numeric", "decimal", "number"):
		return "number"
	case begins("timestamp", "datetime"):
		return "datetime"
	}
	return "text"
}

// measurable reports whether both databases can order and group by a column.
func (c Column) measurable() bool {
	t := strings.ToLower(c.DatabaseType)
	return c.Type != "text" || t == "" || strings.Contains(t, "char") || strings.Contains(t, "text") || strings.Contains(t, "clob")
}

// measure adds missing and distinct values, ranges and frequent values to tables until measureTime is over. A note
// marks the remaining tables.
func (d *Database) measure(ctx context.Context, tables []Table) {
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	for i := range tables {
		t := &tables[i]
		if t.Rows == nil && t.Kind == "table" || t.Rows != nil && *t.Rows > maxCount {
			t.Notes = append(t.Notes, "the table is too large to analyse: query ranges and values with SQL")
			continue
		}
		columns := append([]Column(nil), t.Columns...)
		err := d.read(ctx, func(tx *sql.Tx) error {
			for k := range columns {
				if err := d.measureColumn(ctx, tx, t.from, &columns[k]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Notes = append(t.Notes, "the columns could not be analysed: query ranges and values with SQL")
			continue
		}
		t.Columns = columns
	}
}

// measureColumn queries the facts of one column.
func (d *Database) measureColumn(ctx context.Context, tx *sql.Tx, of string, c *Column) error {
	name := d.engine.quote(c.Name)
	distinct, low, high := fmt.Sprintf("(SELECT count(*) FROM (SELECT DISTINCT %[1]s FROM %[2]s WHERE %[1]s IS NOT NULL LIMIT %[3]d) AS d)", name, of, maxDistinct+1), "min("+name+")", "max("+name+")"
	switch {
	case !c.measurable():
		distinct, low, high = "NULL", "NULL", "NULL"
	case c.Type == "boolean":
		low, high = "NULL", "NULL"
	}
	r, err := d.fetch(ctx, tx, fmt.Sprintf("SELECT count(*) - count(%s), %s, %s, %s FROM %s", name, distinct, low, high, of), 1)
	if err != nil {
		return err
	}
	if c.Missing = whole(r.rows[0][0]); !c.measurable() {
		return nil
	}
	c.Distinct, c.Min, c.Max = whole(r.rows[0][1]), r.rows[0][2], r.rows[0][3]
	if c.DistinctCapped = *c.Distinct > maxDistinct; c.DistinctCapped {
		*c.Distinct = maxDistinct
	}
	c.refine()
	if c.Type != "text" && c.Type != "boolean" {
		return nil
	}
	c.Min, c.Max = nil, nil
	if c.DistinctCapped {
		return nil
	}
	r, err = d.fetch(ctx, tx, fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE %[1]s IS NOT NULL GROUP BY %[1]s ORDER BY count(*) DESC, %[1]s LIMIT %[3]d", name, of, maxValues), maxValues)
	for _, row := range r.rows {
		c.Values = append(c.Values, clip(fmt.Sprint(row[0]), 60))
	}
	return err
}

// whole returns a count.
func whole(v any) *int64 {
	n, _ := v.(int64)
	return &n
}

// refine detects the type of the values in a text or untyped column. SQLite stores dates as text.
func (c *Column) refine() {
	if c.Type != "text" {
		return
	}
	_, whole := c.Max.(int64)
	_, fraction := c.Max.(float64)
	switch low := c.Min.(type) {
	case int64:
		if whole {
			c.Type = "integer"
		} else if fraction {
			c.Type = "number"
		}
	case float64:
		if whole || fraction {
			c.Type = "number"
		}
	case string:
		high, _ := c.Max.(string)
		for layout, kind := range map[string]string{
			time.DateOnly: "date", time.DateTime: "datetime", time.RFC3339: "datetime", "2006-01-02T15:04:05": "datetime", "2006-01-02 15:04": "datetime",
		} {
			_, first := time.Parse(layout, low)
			_, last := time.Parse(layout, high)
			if first == nil && last == nil {
				c.Type = kind
			}
		}
	}
}
