package atelier

import (
	"context"
	"os"
	"path/filepath"

	"atelier/media"
	"atelier/run/durable"
)

// Engine opens the durable engine where the ledger is: in the same database, or in a
// file beside it. The locks are in the data folder either way. The caller closes it; runs
// open one by themselves.
func (a *Atelier) Engine(ctx context.Context, takesOver bool) (*durable.Engine, error) {
	healthy, err := a.ledgerHealth()
	if err != nil {
		return nil, err
	}
	return durable.Open(ctx, durable.Config{
		Path: filepath.Join(a.Config.Dir, "engine.db"), DatabaseURL: a.Config.DatabaseURL,
		Locks: filepath.Join(a.Config.Dir, "executors"), TakesOver: takesOver,
		Limit: a.Config.RunsAtOnce, Patience: max(a.Config.DatabaseWait, 0), Healthy: healthy,
	})
}

// ledgerHealth looks whether the ledger can be read. SQLite goes on with a file that
// was removed, so the file is looked for.
func (a *Atelier) ledgerHealth() (func(context.Context) error, error) {
	look := func(ctx context.Context) error {
		_, err := a.Ledger.Version(ctx)
		return err
	}
	if a.Config.DatabaseURL != "" {
		return look, nil
	}
	path := a.Config.LedgerFile()
	opened, err := os.Stat(path)
	if err != nil {
		return nil, DiskError("find the ledger", err)
	}
	return func(ctx context.Context) error {
		if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) {
			return media.Errorf(media.CodeUnavailable, "the ledger %s: %w: put it back", path, durable.ErrGone)
		}
		return look(ctx)
	}, nil
}
