package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// Reserve reserves an amount in every limit, all or none.
func (s budgets) Reserve(ctx context.Context, act string, amount ledger.Amount, limits []ledger.Limit) error {
	const what = "reserve"
	if err := need(what, "id", act); err != nil {
		return err
	}
	if amount.Money < 0 || amount.Tokens < 0 || amount.Images < 0 {
		return media.Errorf(media.CodeInvalid, "reserve: the amount is negative")
	}
	if err := s.refundOrphaned(ctx); err != nil {
		return s.failure(what, err)
	}
	names := make([]string, len(limits))
	for i, l := range limits {
		names[i] = l.Name
	}
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lockBudgets(ctx, tx, act, names); err != nil {
			return err
		}
		for _, l := range limits {
			if err := s.reserve(ctx, tx, act, amount.Of(l.Unit), l); err != nil {
				return err
			}
		}
		return nil
	})
}

// lockBudgets locks an act's reservations, then the budgets by name.
func (s budgets) lockBudgets(ctx context.Context, tx *sql.Tx, act string, budgets []string) error {
	locks := []string{"operation " + act}
	for _, b := range slices.Sorted(slices.Values(budgets)) {
		locks = append(locks, "budget "+b)
	}
	return s.lock(ctx, tx, locks...)
}

func (s budgets) reserve(ctx context.Context, tx *sql.Tx, act string, amount int64, l ledger.Limit) error {
	now := s.stampNow()
	if _, err := tx.ExecContext(ctx, `INSERT INTO budgets (name, unit, created_at, updated_at) VALUES ($1, $2, $3, $3)
		ON CONFLICT (name) DO NOTHING`, l.Name, string(cmp.Or(l.Unit, ledger.UnitMoney)), now); err != nil {
		return err
	}
	n, err := exec(ctx, tx, `INSERT INTO budget_reservations (operation_id, budget, reserved, created_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT (operation_id, budget) DO NOTHING`, act, l.Name, amount, now)
	if err != nil || n == 0 {
		return err
	}
	var spent, reserved int64
	if err := tx.QueryRowContext(ctx, `UPDATE budgets SET reserved = reserved + $1, updated_at = $2 WHERE name = $3
		RETURNING spent, reserved`, amount, now, l.Name).Scan(&spent, &reserved); err != nil {
		return err
	}
	return l.CheckRemaining(amount, spent, reserved-amount)
}

// beginTime is the maximum time between a reservation and the start of its act.
const beginTime = time.Minute

// refundOrphaned refunds the reservations of acts that never started, and of operations that have ended and were not
// resumed: a process died in between, and no process can settle them. The id of a substitute model's act starts with
// the operation's id, a UUID. Each refund is its own commit.
func (s budgets) refundOrphaned(ctx context.Context) error {
	acts, err := all(ctx, s.read, only("DISTINCT operation_id"), from("budget_reservations").
		where("created_at < ?", stampText(s.cfg.Now().Add(-beginTime))).
		and(`NOT EXISTS (SELECT 1 FROM operations WHERE operations.id = substr(budget_reservations.operation_id, 1, 36) AND operations.finished_at IS NULL)`).
		and(`NOT EXISTS (SELECT 1 FROM prompt_runs WHERE prompt_runs.id = budget_reservations.operation_id)`))
	if err != nil {
		return err
	}
	for _, act := range acts {
		if err := s.Settle(ctx, act, ledger.Amount{}); err != nil {
			return err
		}
	}
	return nil
}

// Settle ends the act's reservations and counts the spent amount.
func (s budgets) Settle(ctx context.Context, act string, spent ledger.Amount) error {
	const what = "settle"
	// Most acts have no budget and need no transaction.
	names, err := s.reservations(ctx, s.read, act)
	if err != nil || len(names) == 0 {
		return s.failure(what, err)
	}
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lockBudgets(ctx, tx, act, nil); err != nil {
			return err
		}
		names, err := s.reservations(ctx, tx, act)
		if err != nil {
			return err
		}
		if err := s.lockBudgets(ctx, tx, act, names); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE budgets SET
			spent = spent + CASE unit WHEN 'tokens' THEN CAST($1 AS BIGINT) WHEN 'images' THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END,
			reserved = reserved - (SELECT r.reserved FROM budget_reservations r WHERE r.operation_id = $4 AND r.budget = budgets.name),
			updated_at = $5
			WHERE name IN (SELECT budget FROM budget_reservations WHERE operation_id = $4)`,
			spent.Tokens, spent.Images, int64(spent.Money), act, s.stampNow())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM budget_reservations WHERE operation_id = $1`, act)
		return err
	})
}

// reservations returns the names of the budgets with a reservation for an act.
func (s budgets) reservations(ctx context.Context, db querier, act string) ([]string, error) {
	return all(ctx, db, only("budget"), from("budget_reservations").where("operation_id = ?", act))
}

// Budget returns the spent and reserved amounts.
func (s budgets) Budget(ctx context.Context, name string) (ledger.Balance, error) {
	b := ledger.Balance{Name: name}
	err := s.read.QueryRowContext(ctx, `SELECT unit, spent, reserved FROM budgets WHERE name = $1`, name).Scan(&b.Unit, &b.Spent, &b.Reserved)
	return b, s.failure("read budget", optional(err))
}
