package sqlstore

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// SaveRunState saves the state of a run whose part has ended.
func (s runStates) SaveRunState(ctx context.Context, st ledger.RunState) error {
	const what = "save run state"
	if err := need(what, "run id", st.RunID, "owner", st.Owner, "status", string(st.Status)); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("run_id", st.RunID)
	v.set("owner", st.Owner)
	v.set("number", st.Number)
	v.set("setting", raw(st.Setting))
	waiting(&v, st, now)
	v.set("created_at", now)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := v.upsertWhere(ctx, tx, "run_states", "run_id", "run_states.number < excluded.number AND run_states.owner = excluded.owner")
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			return media.Errorf(media.CodeConflict, "the state of run %s was already saved", st.RunID)
		}
		return s.moveRun(ctx, tx, st, now)
	})
}

// waiting sets the columns that change; an empty state and empty times leave what there is.
func waiting(v *values, st ledger.RunState, now string) {
	v.set("status", string(st.Status))
	v.set("pending", raw(st.Pending))
	if len(st.State) > 0 {
		v.set("state", raw(st.State))
	}
	if !st.AskedAt.IsZero() {
		v.set("asked_at", stamp(st.AskedAt))
	}
	if !st.AnsweredAt.IsZero() {
		v.set("answered_at", stamp(st.AnsweredAt))
	}
	v.set("updated_at", now)
}

// moveRun brings the run's row to the status of its state.
func (s runStates) moveRun(ctx context.Context, tx *sql.Tx, st ledger.RunState, now string) error {
	status := ledger.StatusRunning
	switch st.Status {
	case ledger.WaitPaused:
		status = ledger.StatusPaused
	case ledger.WaitAnswered:
	case ledger.WaitOver:
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE agent_runs SET status = $1, finished_at = NULL, updated_at = $2
		WHERE owner = $3 AND id = $4`, string(status), now, st.Owner, st.RunID)
	return err
}

// ChangeRunState writes over a state that is as the caller knows it.
func (s runStates) ChangeRunState(ctx context.Context, from ledger.WaitStatus, st ledger.RunState) error {
	if err := needOwner(st.Owner); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	waiting(&v, st, now)
	return s.advance(ctx, "change run state", func(ctx context.Context, tx *sql.Tx) error {
		q := v.updateSQL("run_states")
		n := len(v.args)
		where := " WHERE owner = $" + strconv.Itoa(n+1) + " AND run_id = $" + strconv.Itoa(n+2) +
			" AND number = $" + strconv.Itoa(n+3) + " AND status = $" + strconv.Itoa(n+4)
		res, err := tx.ExecContext(ctx, q+where, append(v.args[:n:n], st.Owner, st.RunID, st.Number, string(from))...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			if err != nil {
				return err
			}
			return s.moveRun(ctx, tx, st, now)
		}
		return s.stale(ctx, tx, st)
	})
}

// stale says why a state was not as its caller knew it.
func (s runStates) stale(ctx context.Context, tx *sql.Tx, st ledger.RunState) error {
	have, err := scanRunState(tx.QueryRowContext(ctx, `SELECT `+runStateColumns+`, NULL FROM run_states WHERE owner = $1 AND run_id = $2`, st.Owner, st.RunID))
	if err != nil {
		return s.failure("read the state of run "+st.RunID, err)
	}
	return media.Errorf(media.CodeConflict, "the state of run %s has changed: it is %s, after %d parts", st.RunID, have.Status, have.Number)
}

const runStateColumns = `run_id, owner, number, status, pending, setting, asked_at, answered_at, created_at, updated_at`

// scanRunState reads the columns, with the state behind them.
func scanRunState(from row) (ledger.RunState, error) {
	var st ledger.RunState
	err := from.Scan(&st.RunID, &st.Owner, &st.Number, &st.Status, jsonCol{&st.Pending}, jsonCol{&st.Setting},
		timeCol{&st.AskedAt}, timeCol{&st.AnsweredAt}, timeCol{&st.CreatedAt}, timeCol{&st.UpdatedAt}, jsonCol{&st.State})
	return st, err
}

// RunState reads one.
func (s runStates) RunState(ctx context.Context, owner, runID string) (ledger.RunState, error) {
	if err := needOwner(owner); err != nil {
		return ledger.RunState{}, err
	}
	st, err := scanRunState(s.read.QueryRowContext(ctx, `SELECT `+runStateColumns+`, state FROM run_states WHERE owner = $1 AND run_id = $2`, owner, runID))
	return st, s.failure("read the state of run "+runID, err)
}

// ListRunStates lists the states in one status.
func (s runStates) ListRunStates(ctx context.Context, owner string, status ledger.WaitStatus, p ledger.Page) (ledger.List[ledger.RunState], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.RunState]{}, err
	}
	sel := selectFrom(runStateColumns+", NULL", "run_states", "owner = ?", owner)
	sel.where("status = ?", string(status))
	list, err := page(ctx, s.read, sel, p, order[ledger.RunState]{
		key: "run_id", descending: true, scan: scanRunState, next: func(st ledger.RunState) string { return st.RunID },
	})
	return list, s.failure("list run states", err)
}

// ListAnswered lists what was answered before a time.
func (s runStates) ListAnswered(ctx context.Context, before time.Time, limit int) ([]ledger.RunState, error) {
	sel := selectFrom(runStateColumns+", NULL", "run_states", "status = ?", string(ledger.WaitAnswered))
	sel.where("answered_at < ?", stampText(before))
	sel.text.WriteString(" ORDER BY answered_at, run_id LIMIT " + strconv.Itoa(ledger.Page{Limit: limit}.Bound()))
	list, err := collect(ctx, s.read, sel, scanRunState)
	return list, s.failure("list answered runs", err)
}
