package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// AppendEvents saves events. The counters are rows that the transaction locks, so
// sequence and position grow in commit order.
func (s events) AppendEvents(ctx context.Context, events []ledger.Event) ([]ledger.Event, error) {
	const what = "save event"
	all := slices.Clone(events)
	for i := range all {
		e := &all[i]
		if err := need(what, "tree", e.Tree, "run id", e.RunID, "kind", e.Kind); err != nil {
			return nil, err
		}
		if e.ID == "" {
			e.ID = s.cfg.NewID()
		}
		if e.CreatedAt.IsZero() {
			e.CreatedAt = s.cfg.Now()
		}
		e.CreatedAt = e.CreatedAt.UTC().Truncate(time.Microsecond)
	}
	var saved []ledger.Event
	err := s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		// Batches may touch several trees, in any order.
		if err := s.lock(ctx, tx, "events"); err != nil {
			return err
		}
		var err error
		if saved, err = unknownEvents(ctx, tx, all); err != nil || len(saved) == 0 {
			return err
		}
		if err := numberEvents(ctx, tx, saved); err != nil {
			return err
		}
		for part := range slices.Chunk(saved, 500) { // databases bound the parameters of a statement
			if err := insertEvents(ctx, tx, part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return saved, nil
}

// unknownEvents omits what was saved before, or stands in the batch twice.
func unknownEvents(ctx context.Context, tx *sql.Tx, all []ledger.Event) (fresh []ledger.Event, err error) {
	var ids strings.Builder
	args := make([]any, len(all))
	for i, e := range all {
		ids.WriteString(", $" + itoa(int64(i+1)))
		args[i] = e.ID
	}
	if len(all) == 0 {
		return nil, nil
	}
	q := `SELECT id FROM run_events WHERE id IN (` + ids.String()[2:] + `)` //nolint:gosec // numbers of parameters only
	rows, err := tx.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	known := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		known[id] = true
	}
	for _, e := range all {
		if !known[e.ID] {
			known[e.ID] = true
			fresh = append(fresh, e)
		}
	}
	return fresh, rows.Err()
}

// numberEvents gives each event its number in its tree and among all.
func numberEvents(ctx context.Context, tx *sql.Tx, events []ledger.Event) error {
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && events[to].Tree == events[from].Tree {
			to++
		}
		var last int64
		err := tx.QueryRowContext(ctx, `UPDATE agent_runs SET last_sequence = last_sequence + $2
			WHERE id = $1 AND tree_id = $1 RETURNING last_sequence`, events[from].Tree, to-from).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return media.Errorf(media.CodeNotFound, "save event: there is no root run %q", events[from].Tree)
		}
		if err != nil {
			return err
		}
		for ; from < to; from++ {
			events[from].Sequence = last - int64(to-from) + 1
		}
	}
	var last int64
	err := tx.QueryRowContext(ctx, `UPDATE sequences SET value = value + $1
		WHERE name = 'run_events' RETURNING value`, len(events)).Scan(&last)
	for i := range events {
		events[i].Position = last - int64(len(events)-i) + 1
	}
	return err
}

// insertEvents writes all rows by one statement.
func insertEvents(ctx context.Context, tx *sql.Tx, events []ledger.Event) error {
	var args []any
	var q strings.Builder
	n := int64(0)
	for i, e := range events {
		var v values
		v.set("id", e.ID)
		v.set("position", e.Position)
		v.set("tree_id", e.Tree)
		v.set("sequence", e.Sequence)
		v.set("run_id", e.RunID)
		v.set("agent_path", text(e.AgentPath))
		v.set("kind", e.Kind)
		v.set("payload", raw(e.Payload))
		v.set("created_at", stampText(e.CreatedAt))
		if i == 0 {
			q.WriteString(v.insertSQL("run_events"))
			n = int64(len(v.args))
		} else {
			sep := ", ($"
			for range v.args {
				n++
				q.WriteString(sep + itoa(n))
				sep = ", $"
			}
			q.WriteString(")")
		}
		args = append(args, v.args...)
	}
	_, err := tx.ExecContext(ctx, q.String(), args...)
	return err
}

// ListEvents lists the events of a run's tree.
func (s events) ListEvents(ctx context.Context, owner, runID string, after int64, limit int) ([]ledger.Event, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	tree, err := s.treeOf(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	sel := selectFrom(eventColumns, "run_events e", "e.tree_id = ?", tree)
	sel.where("e.sequence > ?", after)
	sel.text.WriteString(" ORDER BY e.sequence LIMIT " + itoa(int64(ledger.Page{Limit: limit}.Bound())))
	events, err := collect(ctx, s.read, sel, scanEvent)
	return events, s.failure("list events", err)
}

const eventColumns = "e.id, e.position, e.sequence, e.tree_id, e.run_id, e.agent_path, e.kind, e.payload, e.created_at"

func scanEvent(from row) (e ledger.Event, err error) {
	err = from.Scan(&e.ID, &e.Position, &e.Sequence, &e.Tree, &e.RunID, str(&e.AgentPath), &e.Kind, jsonCol{&e.Payload}, timeCol{&e.CreatedAt})
	return e, err
}

// EventsAfter lists events by their place among all.
func (s events) EventsAfter(ctx context.Context, owner, runID string, after int64, limit int) ([]ledger.Event, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	sel := selectFrom(eventColumns, "run_events e JOIN agent_runs r ON r.id = e.tree_id", "r.deleted_at IS NULL AND r.owner = ?", owner)
	by := "e.position"
	if runID != "" {
		tree, err := s.treeOf(ctx, owner, runID)
		if err != nil {
			return nil, err
		}
		sel.where("e.tree_id = ?", tree)
		by = "e.sequence" // the same order, and it has the index
	}
	sel.where("e.position > ?", after)
	sel.text.WriteString(" ORDER BY " + by + " LIMIT " + itoa(int64(ledger.Page{Limit: limit}.Bound())))
	events, err := collect(ctx, s.read, sel, scanEvent)
	return events, s.failure("list events", err)
}

// LastPosition is that of the newest event.
func (s events) LastPosition(ctx context.Context) (last int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT value FROM sequences WHERE name = 'run_events'`).Scan(&last)
	return last, s.failure("read the position of the newest event", err)
}

// treeOf is the tree of a run.
func (s events) treeOf(ctx context.Context, owner, runID string) (tree string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT tree_id FROM agent_runs
		WHERE owner = $1 AND id = $2 AND deleted_at IS NULL`, owner, runID).Scan(&tree)
	return tree, s.failure("read run "+runID, err)
}
