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

// ReserveMoney holds an amount against every limit, all or none.
func (s *Store) ReserveMoney(ctx context.Context, operation string, amount ledger.Pico, limits []ledger.Limit) error {
	const what = "reserve money"
	if err := need(what, "operation id", operation); err != nil {
		return err
	}
	if amount < 0 {
		return media.Errorf(media.CodeInvalid, "reserve money: the amount is negative")
	}
	if err := s.giveBack(ctx); err != nil {
		return s.failure(what, err)
	}
	names := make([]string, len(limits))
	for i, l := range limits {
		names[i] = l.Name
	}
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lockMoney(ctx, tx, operation, names); err != nil {
			return err
		}
		for _, l := range limits {
			if err := s.reserve(ctx, tx, operation, amount, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// lockMoney holds an operation's reservations, then the budgets by name.
func (s *Store) lockMoney(ctx context.Context, tx *sql.Tx, operation string, budgets []string) error {
	locks := []string{"operation " + operation}
	for _, b := range slices.Sorted(slices.Values(budgets)) {
		locks = append(locks, "budget "+b)
	}
	return s.lock(ctx, tx, locks...)
}

func (s *Store) reserve(ctx context.Context, tx *sql.Tx, operation string, amount ledger.Pico, l ledger.Limit) error {
	now := s.stampNow()
	if _, err := tx.ExecContext(ctx, `INSERT INTO budgets (name, created_at, updated_at) VALUES ($1, $2, $2)
		ON CONFLICT (name) DO NOTHING`, l.Name, now); err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO budget_reservations (operation_id, budget, reserved, created_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT (operation_id, budget) DO NOTHING`, operation, l.Name, int64(amount), now)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	var spent, reserved ledger.Pico
	if err := tx.QueryRowContext(ctx, `UPDATE budgets SET reserved = reserved + $1, updated_at = $2 WHERE name = $3
		RETURNING spent, reserved`, int64(amount), now, l.Name).Scan(&spent, &reserved); err != nil {
		return err
	}
	left := l.Most - spent - (reserved - amount)
	if left < amount || left <= 0 {
		return media.Errorf(media.CodeOverBudget, "the budget %s has $%s left of $%s, and this needs $%s: raise it or ask for less",
			l.Name, max(left, 0).USD(), l.Most.USD(), amount.USD())
	}
	return nil
}

// beginTime is how long after its reservation an operation has begun.
const beginTime = time.Minute

// giveBack ends the reservations of operations that never began, or were never taken up
// again: a process died between the two, and nobody can settle them. Each is a commit of
// its own.
func (s *Store) giveBack(ctx context.Context) error {
	q := selectFrom("DISTINCT operation_id", "budget_reservations", `created_at < ?
		AND NOT EXISTS (SELECT 1 FROM operations WHERE operations.id = budget_reservations.operation_id AND operations.finished_at IS NULL)`, stampText(s.cfg.Now().Add(-beginTime)))
	forsaken, err := collect(ctx, s.read, q, scanName)
	if err != nil {
		return err
	}
	for _, operation := range forsaken {
		if err := s.SettleMoney(ctx, operation, 0); err != nil {
			return err
		}
	}
	return nil
}

// SettleMoney ends the operation's reservations and counts what was spent.
func (s *Store) SettleMoney(ctx context.Context, operation string, spent ledger.Pico) error {
	return s.commit(ctx, "settle money", func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lockMoney(ctx, tx, operation, nil); err != nil {
			return err
		}
		names, err := collect(ctx, tx, selectFrom("budget", "budget_reservations", "operation_id = ?", operation), scanName)
		if err != nil {
			return err
		}
		if err := s.lockMoney(ctx, tx, operation, names); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE budgets SET spent = spent + $1, updated_at = $2,
			reserved = reserved - (SELECT r.reserved FROM budget_reservations r WHERE r.operation_id = $3 AND r.budget = budgets.name)
			WHERE name IN (SELECT budget FROM budget_reservations WHERE operation_id = $3)`, int64(spent), s.stampNow(), operation)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM budget_reservations WHERE operation_id = $1`, operation)
		return err
	})
}

func scanName(from row) (name string, err error) {
	err = from.Scan(&name)
	return name, err
}

// Budget tells what is spent and reserved.
func (s *Store) Budget(ctx context.Context, name string) (spent, reserved ledger.Pico, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT spent, reserved FROM budgets WHERE name = $1`, name).Scan(&spent, &reserved)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	return spent, reserved, s.failure("read budget", err)
}
