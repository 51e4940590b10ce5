package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// AppendEvents saves events. The counters are rows that the transaction locks, so
// sequence and position grow in commit order.
func (s *Store) AppendEvents(ctx context.Context, events []ledger.Event) ([]ledger.Event, error) {
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
		saved = saved[:0] // a transaction may be tried again
		for _, e := range all {
			var known int
			if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM run_events WHERE id = $1`, e.ID).Scan(&known); err != nil {
				return err
			}
			if known > 0 {
				continue
			}
			if err := appendEvent(ctx, tx, &e); err != nil {
				return err
			}
			saved = append(saved, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return saved, nil
}

func appendEvent(ctx context.Context, tx *sql.Tx, e *ledger.Event) error {
	err := tx.QueryRowContext(ctx, `UPDATE agent_runs SET last_sequence = last_sequence + 1
		WHERE id = $1 AND tree_id = $1 RETURNING last_sequence`, e.Tree).Scan(&e.Sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return media.Errorf(media.CodeNotFound, "save event: there is no root run %q", e.Tree)
	}
	if err != nil {
		return err
	}
	err = tx.QueryRowContext(ctx, `UPDATE sequences SET value = value + 1
		WHERE name = 'run_events' RETURNING value`).Scan(&e.Position)
	if err != nil {
		return err
	}
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
	return v.insert(ctx, tx, "run_events")
}

// ListEvents lists the events of a run's tree.
func (s *Store) ListEvents(ctx context.Context, owner, runID string, after int64, limit int) ([]ledger.Event, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	var tree string
	err := s.read.QueryRowContext(ctx, `SELECT tree_id FROM agent_runs
		WHERE owner = $1 AND id = $2 AND deleted_at IS NULL`, owner, runID).Scan(&tree)
	if err != nil {
		return nil, s.failure("read run "+runID, err)
	}
	sel := selectFrom("id, position, sequence, tree_id, run_id, agent_path, kind, payload, created_at", "run_events", "tree_id = ?", tree)
	sel.where("sequence > ?", after)
	sel.text.WriteString(" ORDER BY sequence LIMIT " + itoa(int64(ledger.Page{Limit: limit}.Bound())))
	events, err := collect(ctx, s.read, sel, func(from row) (e ledger.Event, err error) {
		err = from.Scan(&e.ID, &e.Position, &e.Sequence, &e.Tree, &e.RunID, str(&e.AgentPath), &e.Kind, jsonCol{&e.Payload}, timeCol{&e.CreatedAt})
		return e, err
	})
	return events, s.failure("list events", err)
}
