package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"atelier/media"
	"atelier/run/durable"
)

// engine opens the durable engine where the ledger is: in the same database, or in a
// file beside it. The locks are in the data folder either way.
func (a *app) engine(ctx context.Context, takesOver bool) (*durable.Engine, error) {
	healthy, err := a.ledgerHealth()
	if err != nil {
		return nil, err
	}
	return durable.Open(ctx, durable.Config{
		Path: filepath.Join(a.settings.data, "engine.db"), DatabaseURL: a.settings.database,
		Locks: filepath.Join(a.settings.data, "executors"), TakesOver: takesOver,
		Limit: a.settings.runsAtOnce, Patience: a.settings.patience, Healthy: healthy,
	})
}

// ledgerHealth looks whether the ledger can be read. SQLite goes on with a file that
// was removed, so the file is looked for.
func (a *app) ledgerHealth() (func(context.Context) error, error) {
	look := func(ctx context.Context) error {
		_, err := a.ledger.Version(ctx)
		return err
	}
	if a.settings.database != "" {
		return look, nil
	}
	path := a.settings.ledgerFile()
	opened, err := os.Stat(path)
	if err != nil {
		return nil, diskError("find the ledger", err)
	}
	return func(ctx context.Context) error {
		if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) {
			return media.Errorf(media.CodeUnavailable, "the ledger %s: %w: put it back", path, durable.ErrGone)
		}
		return look(ctx)
	}, nil
}

// ledgerFile is where the ledger is if no database is named.
func (s settings) ledgerFile() string { return filepath.Join(s.data, "atelier.db") }

// The defaults of how runs go on.
const (
	defaultRunsAtOnce = 8
	defaultPatience   = 30 * time.Second
)

// readEndurance reads how runs go on.
func (s *settings) readEndurance() error {
	s.runsAtOnce, s.patience = defaultRunsAtOnce, defaultPatience
	if v := strings.TrimSpace(s.env("ATELIER_RUNS_AT_ONCE")); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 1000 {
			return media.Errorf(media.CodeInvalid, "ATELIER_RUNS_AT_ONCE is %q: use a number from 1 to 1000", v)
		}
		s.runsAtOnce = n
	}
	if v := strings.TrimSpace(s.env("ATELIER_MIN_FREE_MIB")); v != "" {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil || n < 0 {
			return media.Errorf(media.CodeInvalid, "ATELIER_MIN_FREE_MIB is %q: use a number of mebibytes, or 0", v)
		}
		if s.minFree = n << 20; n == 0 {
			s.minFree = -1
		}
	}
	if v := strings.TrimSpace(s.env("ATELIER_DATABASE_WAIT")); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return media.Errorf(media.CodeInvalid, "ATELIER_DATABASE_WAIT is %q: use a time such as 30s or 2m", v)
		}
		s.patience = d
	}
	return nil
}
