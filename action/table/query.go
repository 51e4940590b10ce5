package table

import (
	"context"
	"errors"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/database"
	"atelier/media"
)

// query runs Query Tables.
func (t *Tables) query(ctx context.Context, c *action.Call) (action.Result, error) {
	l, err := t.load(ctx, c.Progress)
	if err != nil {
		return action.Result{}, err
	}
	defer t.release(l)
	if l.db == nil {
		return action.Result{}, media.Errorf(media.CodeNotFound, "the folder contains no tables: use List Files and Read File")
	}
	sql := c.Text("SQL")
	read := l.read(sql)
	rows, err := l.db.Query(ctx, sql)
	if err != nil {
		return action.Result{}, l.explain(err, read)
	}
	res := rows.Result()
	of := []map[string]string{}
	for _, tb := range read {
		of = append(of, map[string]string{"name": tb.name, "path": tb.path})
	}
	res.Outputs["tables"] = of
	return res, nil
}

// read returns the tables that a statement names.
func (l *loaded) read(sql string) []*table {
	named := map[string]bool{}
	for _, word := range database.Names(sql) {
		named[strings.ToLower(word)] = true
	}
	return slices.DeleteFunc(slices.Clone(l.tables), func(tb *table) bool { return !named[strings.ToLower(tb.name)] })
}

// explain adds the existing names to an SQL error.
func (l *loaded) explain(err error, read []*table) error {
	e, ok := errors.AsType[*media.Error](err)
	if !ok || e.Code != media.CodeInvalid {
		return err
	}
	retryable := *e
	retryable.Retryable = true
	switch {
	case strings.Contains(e.Message, "no such table") || len(read) == 0:
		retryable.Valid = l.tableNames(50)
		retryable.Message += "; tables: " + strings.Join(l.tableNames(20), ", ")
	case strings.Contains(e.Message, "no such column"):
		for _, tb := range read {
			for _, c := range tb.columns[:min(60, len(tb.columns))] {
				retryable.Valid = append(retryable.Valid, tb.name+"."+quote(c.name))
			}
		}
		retryable.Message += "; columns: " + strings.Join(retryable.Valid[:min(40, len(retryable.Valid))], ", ")
	}
	return &retryable
}
