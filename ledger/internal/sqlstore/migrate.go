package sqlstore

import (
	"context"
	"slices"
	"time"

	"github.com/pressly/goose/v3"

	"atelier/ledger/migrations"
	"atelier/media"
)

// migrateTries and migratePause limit how often processes that find an empty database at the same time start over.
const (
	migrateTries = 20
	migratePause = 20 * time.Millisecond
)

// migrate updates the database to this program's schema. Two processes that start concurrently both try; each migration
// is one transaction, so one of them succeeds and the other finds it done.
func (s *db) migrate(ctx context.Context) error {
	var last error
	for range migrateTries {
		v, made, err := s.schema(ctx)
		if err != nil {
			return err
		}
		if err := s.foreign(v, made); err != nil {
			return err
		}
		if v == migrations.Latest {
			return nil
		}
		last = s.dialect.Exclusively(ctx, s.write, func() error {
			p, err := goose.NewProvider(s.dialect.Goose(), s.write, migrations.Files, goose.WithLogger(goose.NopLogger()))
			if err == nil {
				_, err = p.Up(ctx)
			}
			return err
		})
		if last == nil {
			continue
		}
		if slices.Contains(permanent, media.CodeOf(s.failure("migrate ledger", last))) {
			break
		}
		select {
		case <-time.After(migratePause):
		case <-ctx.Done():
			return s.failure("migrate ledger", ctx.Err())
		}
	}
	return s.failure("migrate ledger", last)
}

// foreign returns the error for a schema that this program cannot migrate: one of a newer version, or one whose
// migrations have gaps, which only another program leaves.
func (s *db) foreign(version, made int64) error {
	switch {
	case version > migrations.Latest:
		return media.Errorf(media.CodeUnsupported,
			"open ledger: %s has schema version %d, this program knows %d: use a newer atelier, or %s; nothing was changed",
			s.cfg.Place, version, migrations.Latest, s.cfg.StartOverHint)
	case made < version:
		return media.Errorf(media.CodeUnsupported,
			"open ledger: %s was written by another version of atelier: its schema has version %d, but only %d of its %d parts: use the version of atelier that wrote it, or %s; nothing was changed",
			s.cfg.Place, version, made, version, s.cfg.StartOverHint)
	default:
		return nil
	}
}

// permanent are the codes of errors that another process which migrates concurrently does not cause.
var permanent = []media.Code{media.CodeDiskFull, media.CodeForbidden, media.CodeCorrupt, media.CodeNotFound, media.CodeInvalid} //nolint:gochecknoglobals // constant

// Version returns the schema version of the database; 0 for an empty one.
func (s *db) Version(ctx context.Context) (int64, error) {
	v, _, err := s.schema(ctx)
	return v, err
}

// schema returns the version of the database, and the number of its migrations.
func (s *db) schema(ctx context.Context) (version, made int64, err error) {
	var tables int
	err = s.write.QueryRowContext(ctx, s.dialect.CountTables(), "goose_db_version").Scan(&tables)
	if err != nil || tables == 0 {
		return 0, 0, s.failure("open ledger", err)
	}
	err = s.write.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0), COUNT(DISTINCT version_id) FROM goose_db_version
		WHERE version_id > 0`).Scan(&version, &made)
	return version, made, s.failure("read ledger version", err)
}
