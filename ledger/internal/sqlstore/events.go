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

// AppendEvents saves events. The counters are rows that the transaction locks, so sequences and positions increase in
// commit order.
func (s events) AppendEvents(ctx context.Context, events []ledger.Event) ([]ledger.Event, error) {
	const what = "save event"
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
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
		// Batches may contain several trees, in any order.
		if err := s.lock(ctx, tx, "events"); err != nil {
			return err
		}
		var err error
		if saved, err = unknownEvents(ctx, tx, events); err != nil || len(saved) == 0 {
			return err
		}
		if err := numberEvents(ctx, tx, saved); err != nil {
			return err
		}
		for part := range slices.Chunk(saved, 500) { // databases limit the parameters of a statement
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

// unknownEvents omits events that were saved before, and duplicates in the batch.
func unknownEvents(ctx context.Context, tx *sql.Tx, events []ledger.Event) (fresh []ledger.Event, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	saved, err := all(ctx, tx, only("id"), from("run_events").whereIn("id", ids))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, id := range saved {
		known[id] = true
	}
	for _, e := range events {
		if !known[e.ID] {
			known[e.ID] = true
			fresh = append(fresh, e)
		}
	}
	return fresh, nil
}

// numberEvents assigns each event its sequence in its tree and its global position.
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

// insertEvents writes all rows with one statement.
func insertEvents(ctx context.Context, tx *sql.Tx, events []ledger.Event) error {
	var values []any
	var q strings.Builder
	for i := range events {
		names, args, err := eventColumns(&events[i]).written()
		if err != nil {
			return err
		}
		if i == 0 {
			q.WriteString(insertSQL("run_events", names))
		} else {
			q.WriteString(", (" + parameters(len(values)+1, len(args)) + ")")
		}
		values = append(values, args...)
	}
	_, err := tx.ExecContext(ctx, q.String(), values...)
	return err
}

func eventColumns(e *ledger.Event) columns {
	return columns{
		{"id", &e.ID},
		{"position", &e.Position},
		{"sequence", &e.Sequence},
		{"tree_id", &e.Tree},
		{"run_id", &e.RunID},
		{"agent_path", nullable(&e.AgentPath)},
		{"kind", &e.Kind},
		{"payload", jsonCol{&e.Payload}},
		{"created_at", timeCol{&e.CreatedAt}},
	}
}

// ListEvents lists the events of a run's tree.
func (s events) ListEvents(ctx context.Context, owner, runID string, after int64, limit int) ([]ledger.Event, error) {
	tree, err := s.treeOf(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s.db, "list events", eventColumns, from("run_events").where("tree_id = ?", tree).where("sequence > ?", after).orderBy("sequence").first(limit))
}

// EventsAfter lists events by their global position.
func (s events) EventsAfter(ctx context.Context, owner, runID string, after int64, limit int) ([]ledger.Event, error) {
	q := owned("run_events JOIN (SELECT id AS tree, owner, deleted_at FROM agent_runs) r ON r.tree = tree_id", owner).
		and("deleted_at IS NULL").where("position > ?", after).orderBy("position")
	if runID != "" {
		tree, err := s.treeOf(ctx, owner, runID)
		if err != nil {
			return nil, err
		}
		q.where("tree_id = ?", tree).orderBy("sequence") // the same order, with an index
	}
	return readAll(ctx, s.db, "list events", eventColumns, q.first(limit))
}

// LastPosition returns the position of the newest event.
func (s events) LastPosition(ctx context.Context) (last int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT value FROM sequences WHERE name = 'run_events'`).Scan(&last)
	return last, s.failure("read the position of the newest event", err)
}

// treeOf returns the tree of a run.
func (s *db) treeOf(ctx context.Context, owner, runID string) (string, error) {
	return read(ctx, s, "read run "+runID, only("tree_id"), owned("agent_runs", owner).where("id = ?", runID).and("deleted_at IS NULL"))
}
