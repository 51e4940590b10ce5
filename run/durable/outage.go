package durable

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/journal"
	"atelier/media"
)

// lost is the cause with which work is left because its database is: nothing is
// finished and nothing is told, as when its process goes.
type lost struct{ why error }

func (l *lost) Error() string { return "the database was lost: " + l.why.Error() }

// Unwrap makes it journal.ErrLeft, with time for calls that cannot be asked for again.
func (l *lost) Unwrap() error { return journal.Leave(lostGrace) }

// lostGrace is how long such a call may go on without the engine's database.
const lostGrace = time.Minute

// Lost tells why the work under ctx was left, where that is the loss of a database; nil
// otherwise.
func Lost(ctx context.Context) error {
	var l *lost
	if errors.As(context.Cause(ctx), &l) {
		return l.why
	}
	return nil
}

// ErrGone tells that the file of a database is not there any more. It does not come back
// by itself, so nobody waits for it.
var ErrGone = errors.New("its file is gone")

// lookLimit bounds one look at the databases.
const lookLimit = 2 * time.Second

// Healthy reports whether the engine's database and what [Config.Healthy] looks at can be
// used now. The error has code media.CodeUnavailable, or what the look gave.
func (e *Engine) Healthy(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, lookLimit)
	defer stop()
	if err := e.present(ctx); err != nil {
		return err
	}
	if e.cfg.Healthy == nil {
		return nil
	}
	return e.cfg.Healthy(ctx)
}

// present looks at the engine's own database. SQLite goes on writing into a file that
// was removed.
func (e *Engine) present(ctx context.Context) error {
	if e.pool != nil {
		if err := e.pool.Ping(ctx); err != nil {
			return serverFailure("reach the durable engine's database", err)
		}
		return nil
	}
	now, err := os.Stat(e.cfg.Path)
	if err == nil && os.SameFile(now, e.file) {
		return nil
	}
	return media.Errorf(media.CodeUnavailable, "the durable engine's database %s: %w: put it back", e.cfg.Path, ErrGone)
}

// look leaves all work when a database is away for longer than the engine's patience.
func (e *Engine) look() {
	err := e.Healthy(e.root)
	if err == nil || e.root.Err() != nil {
		e.away = time.Time{}
		return
	}
	now := e.cfg.Now()
	if e.away.IsZero() {
		e.away = now
		e.cfg.Logger.WarnContext(e.root, "database lost", slog.String("error", media.ErrorText(err.Error())))
	}
	if now.Sub(e.away) < e.cfg.Patience && !errors.Is(err, ErrGone) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.flows {
		f.stop(&lost{why: err})
	}
}

// The pauses between attempts to begin again double from the first to the last.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
)

// again reports whether work that lost its database begins again here: when the database
// can be read and written, and what earlier steps still had to save is saved. Otherwise
// the work is left to whoever takes it over.
func (e *Engine) again(f *flow) bool {
	if Lost(f.ctx) == nil || !e.cfg.TakesOver {
		return false
	}
	for {
		f.pause = min(max(firstPause, 2*f.pause), lastPause)
		if (journal.Memory{}).Sleep(f.dctx, f.pause) != nil {
			return false
		}
		if e.Healthy(f.dctx) == nil && e.left(f.id) == nil {
			break
		}
	}
	saved := make(chan struct{})
	go func() {
		f.saving.Wait()
		close(saved)
	}()
	select {
	case <-saved:
	case <-f.dctx.Done():
		return false
	}
	row, err := e.status(f.id)
	return err == nil && row != nil && row.Status == dbos.WorkflowStatusPending && row.ExecutorID == e.root.GetExecutorID()
}

// left writes that work was left, which shows that the database can be written.
func (e *Engine) left(id string) error {
	row, err := e.status(id)
	if err != nil || row == nil {
		return err
	}
	return e.note(*row, "left", true)
}

// callLimit bounds the calls of the database that nobody waits through an outage for.
const callLimit = 10 * time.Second

// bounded is the engine for one call: without a limit it would try for ever.
func (e *Engine) bounded() (dbos.Context, context.CancelFunc) {
	return dbos.WithTimeout(e.root, callLimit)
}
