package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// A lease that would last longer than maxLease from now is ignored: a clock was wrong. Leases that expired longer
// ago than expiredLeaseTTL are removed.
const (
	maxLease        = time.Minute
	expiredLeaseTTL = 24 * time.Hour
)

// leaseColumns returns the columns of a lease; the last one reports whether it is live.
func (s *db) leaseColumns(l *ledger.Lease) columns {
	return columns{
		{"kind", &l.Kind},
		{"work", &l.Work},
		{"holder", &l.Holder},
		{"generation", &l.Generation},
		{"host", nullable(&l.Host)},
		{"machine", nullable(&l.Machine)},
		{"pid", &l.PID},
		{"started_at", timeCol{&l.StartedAt}},
		{"expires_at", timeCol{&l.ExpiresAt}},
		{"CASE WHEN " + s.expired() + " THEN 0 ELSE 1 END", &l.Live},
	}
}

// expired returns the condition under which any process may acquire a lease.
func (s *db) expired() string {
	return `(leases.expires_at <= ` + s.dialect.Clock(0) + ` OR leases.expires_at > ` + s.dialect.Clock(maxLease) + `)`
}

// AcquireLease makes a process the holder.
func (s leases) AcquireLease(ctx context.Context, l, gone ledger.Lease) (ledger.Lease, error) {
	const what = "acquire lease"
	if err := need(what, "kind", string(l.Kind), "work", l.Work, "holder", l.Holder); err != nil {
		return l, err
	}
	now, end := s.dialect.Clock(0), s.dialect.Clock(ledger.LeaseTime)
	err := s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		var got ledger.Lease
		c := s.leaseColumns(&got)
		err := tx.QueryRowContext(ctx, `INSERT INTO leases (kind, work, holder, generation, host, machine, pid, started_at, expires_at)
			VALUES ($1, $2, $3, 1, $4, $5, $6, `+now+`, `+end+`)
			ON CONFLICT (kind, work) DO UPDATE SET holder = excluded.holder, host = excluded.host, machine = excluded.machine,
			pid = excluded.pid, expires_at = excluded.expires_at,
			generation = CASE WHEN leases.holder = excluded.holder THEN leases.generation ELSE leases.generation + 1 END,
			started_at = CASE WHEN leases.holder = excluded.holder THEN leases.started_at ELSE excluded.started_at END
			WHERE leases.holder = excluded.holder OR leases.holder = $7 AND leases.generation = $8 OR `+s.expired()+`
			RETURNING `+c.names(),
			string(l.Kind), l.Work, l.Holder, orNull(l.Host), orNull(l.Machine), l.PID, gone.Holder, gone.Generation).Scan(c.targets()...)
		if errors.Is(err, sql.ErrNoRows) {
			return s.held(ctx, tx, l)
		}
		if err == nil {
			l = got
		}
		return err
	})
	return l, err
}

// RenewLeases renews all leases of a holder.
func (s leases) RenewLeases(ctx context.Context, holder string) (n int, err error) {
	err = s.commit(ctx, "renew leases", func(ctx context.Context, tx *sql.Tx) error {
		rows, err := exec(ctx, tx, `UPDATE leases SET expires_at = `+s.dialect.Clock(ledger.LeaseTime)+` WHERE holder = $1`, holder)
		n = int(rows)
		return err
	})
	return n, err
}

// ReleaseLeases releases leases.
func (s leases) ReleaseLeases(ctx context.Context, holder string, kind ledger.LeaseKind, works ...string) error {
	return s.commit(ctx, "release leases", func(ctx context.Context, tx *sql.Tx) error {
		for _, w := range works {
			if _, err := tx.ExecContext(ctx, `DELETE FROM leases WHERE kind = $1 AND work = $2 AND holder = $3`, string(kind), w, holder); err != nil {
				return err
			}
		}
		return nil
	})
}

// Leases returns leases.
func (s leases) Leases(ctx context.Context, kind ledger.LeaseKind, works ...string) ([]ledger.Lease, error) {
	sel := from("leases").where("kind = ?", string(kind)).orderBy("work")
	if len(works) > 0 {
		sel.whereIn("work", works)
	}
	return readAll(ctx, s.db, "read leases", s.leaseColumns, sel)
}

// HasLease reports whether a lease is still held.
func (s leases) HasLease(ctx context.Context, l ledger.Lease) (bool, error) {
	ok, err := hasLease(ctx, s.read, l, "")
	return ok, s.failure("read lease", err)
}

// hasLease reports whether a row with this holder and generation exists; lock ends the query.
func hasLease(ctx context.Context, db querier, l ledger.Lease, lock string) (bool, error) {
	var one int
	err := db.QueryRowContext(ctx, `SELECT 1 FROM leases WHERE kind = $1 AND work = $2 AND holder = $3 AND generation = $4`+lock, string(l.Kind), l.Work, l.Holder, l.Generation).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// SweepLeases removes old leases.
func (s leases) SweepLeases(ctx context.Context) error {
	return s.execute(ledger.Relaxed(ctx), "sweep leases", `DELETE FROM leases WHERE expires_at <= `+s.dialect.Clock(-expiredLeaseTTL))
}

// advance is commit for a save that advances a run or an operation. If the context has a lease, the lease is compared
// in the same transaction, and cannot change until the transaction ends.
func (s *db) advance(ctx context.Context, what string, fn func(context.Context, *sql.Tx) error) error {
	l := ledger.LeaseOf(ctx)
	if l.Work == "" {
		return s.commit(ctx, what, fn)
	}
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		ok, err := hasLease(ctx, tx, l, s.dialect.Share())
		if err != nil {
			return err
		}
		if !ok {
			return s.held(ctx, tx, l)
		}
		return fn(ctx, tx)
	})
}

// held returns an error that names the process that holds the work of a lease.
func (s *db) held(ctx context.Context, tx *sql.Tx, l ledger.Lease) error {
	by, err := one(ctx, tx, s.leaseColumns, from("leases").where("kind = ?", string(l.Kind)).where("work = ?", l.Work))
	if errors.Is(err, sql.ErrNoRows) {
		return media.Errorf(media.CodeConflict, "another process has worked on %s %s in the meantime", l.Kind, l.Work)
	}
	if err != nil {
		return err
	}
	return media.Errorf(media.CodeConflict, "%s has been working on %s %s since %s: wait for it", by.Process(), l.Kind, l.Work, by.StartedAt.Format("2006-01-02 15:04:05 UTC"))
}
