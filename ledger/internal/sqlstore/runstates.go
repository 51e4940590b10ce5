package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"atelier/ledger"
	"atelier/media"
)

func runStateColumns(st *ledger.RunState) columns {
	return columns{
		{"run_id", &st.RunID},
		{"owner", &st.Owner},
		{"number", &st.Number},
		{"status", &st.Status},
		{"pending", jsonCol{&st.Pending}},
		{"state", jsonCol{&st.State}},
		{"setting", jsonCol{&st.Setting}},
		{"asked_at", timeCol{&st.AskedAt}},
		{"answered_at", timeCol{&st.AnsweredAt}},
		{"created_at", timeCol{&st.CreatedAt}},
		{"updated_at", timeCol{&st.UpdatedAt}},
	}
}

// listedStateColumns omits the state, which may be long.
func listedStateColumns(st *ledger.RunState) columns { return runStateColumns(st).without("state") }

// changedStateColumns returns the columns to write; an empty state and empty times are not written.
func changedStateColumns(st *ledger.RunState) columns {
	return runStateColumns(st).withoutNull("state", "asked_at", "answered_at")
}

// SaveRunState saves the state of a run whose part has ended.
func (s runStates) SaveRunState(ctx context.Context, st ledger.RunState) error {
	const what = "save run state"
	if err := need(what, "run id", st.RunID, "owner", st.Owner, "status", string(st.Status)); err != nil {
		return err
	}
	s.stamp(&st.CreatedAt, &st.UpdatedAt)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := changedStateColumns(&st).upsert(ctx, tx, "run_states", "run_id", "run_states.number < excluded.number AND run_states.owner = excluded.owner")
		if err != nil {
			return err
		}
		if n == 0 {
			return media.Errorf(media.CodeConflict, "the state of run %s was already saved", st.RunID)
		}
		return moveRun(ctx, tx, st)
	})
}

// moveRun sets the status of the run's row according to its state.
func moveRun(ctx context.Context, tx *sql.Tx, st ledger.RunState) error {
	status := ledger.StatusRunning
	switch st.Status {
	case ledger.WaitPaused:
		status = ledger.StatusPaused
	case ledger.WaitAnswered:
	case ledger.WaitFinished:
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE agent_runs SET status = $1, finished_at = NULL, updated_at = $2
		WHERE owner = $3 AND id = $4`, string(status), stampText(st.UpdatedAt), st.Owner, st.RunID)
	return err
}

// ChangeRunState overwrites a state that has the expected number and status.
func (s runStates) ChangeRunState(ctx context.Context, from ledger.WaitStatus, st ledger.RunState) error {
	if err := needOwner(st.Owner); err != nil {
		return err
	}
	st.UpdatedAt = s.cfg.Now()
	changes := changedStateColumns(&st).without("run_id", "owner", "number", "setting", "created_at")
	return s.advance(ctx, "change run state", func(ctx context.Context, tx *sql.Tx) error {
		n, err := changes.update(ctx, tx, "run_states", "owner = ? AND run_id = ? AND number = ? AND status = ?", st.Owner, st.RunID, st.Number, string(from))
		if err != nil {
			return err
		}
		if n > 0 {
			return moveRun(ctx, tx, st)
		}
		have, err := one(ctx, tx, listedStateColumns, owned("run_states", st.Owner).where("run_id = ?", st.RunID))
		if err != nil {
			return s.failure("read the state of run "+st.RunID, err)
		}
		return media.Errorf(media.CodeConflict, "the state of run %s has changed: it is %s, after %d parts", st.RunID, have.Status, have.Number)
	})
}

// RunState returns the state of a run.
func (s runStates) RunState(ctx context.Context, owner, runID string) (ledger.RunState, error) {
	return read(ctx, s.db, "read the state of run "+runID, runStateColumns, owned("run_states", owner).where("run_id = ?", runID))
}

// ListAnswered lists the states that were answered before a time.
func (s runStates) ListAnswered(ctx context.Context, before time.Time) ([]ledger.RunState, error) {
	return readAll(ctx, s.db, "list answered runs", listedStateColumns,
		from("run_states").where("status = ?", string(ledger.WaitAnswered)).where("answered_at < ?", stampText(before)).orderBy("answered_at, run_id"))
}
