package durable

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
)

// abandonedError is the cause with which work stops here without an end: its database was lost, or another process has
// adopted it. Nothing is finished and nothing is reported, as if the process had died.
type abandonedError struct {
	why     error
	adopted bool
}

func (a *abandonedError) Error() string {
	if a.adopted {
		return a.why.Error()
	}
	return "the database was lost: " + a.why.Error()
}

// The grace periods of calls in progress that cannot be repeated: without the engine's database, and after another
// process has adopted the work.
const (
	lostGrace    = time.Minute
	adoptedGrace = 3 * time.Second
)

// Unwrap returns journal.ErrHandedOver with a grace period.
func (a *abandonedError) Unwrap() error {
	if a.adopted {
		return journal.HandOver(adoptedGrace)
	}
	return journal.HandOver(lostGrace)
}

// Abandoned returns why the work under ctx was abandoned, or nil if it was not. If another process has adopted it, the
// error names the process; otherwise a database was lost.
func Abandoned(ctx context.Context) (adopted bool, why error) {
	if a, ok := errors.AsType[*abandonedError](context.Cause(ctx)); ok {
		return a.adopted, a.why
	}
	return false, nil
}

// stopAdopted ends work that another process has adopted.
func (e *Engine) stopAdopted(id string, reason error) {
	e.flows.stop(&abandonedError{reason, true}, id)
	e.flows.settle(id)
}

// StopIfAdopted checks whether another process has adopted work of this engine. If so, it cancels the context of the
// work, see [Abandoned].
func (e *Engine) StopIfAdopted(ctx context.Context, id string) {
	if err := e.cfg.Leases.Check(context.WithoutCancel(ctx), ledger.LeaseRun, id); media.CodeOf(err) == media.CodeConflict {
		e.stopAdopted(id, err)
	}
}

// heldElsewhere reports whether another process holds the work, which then ends here. While this is unknown, it waits.
//
//nolint:contextcheck,nolintlint // called on behalf of the engine
func (f *flow) heldElsewhere() bool {
	for {
		err := f.e.cfg.Leases.Check(f.dctx, ledger.LeaseRun, f.id)
		switch {
		case err == nil:
			return false
		case media.CodeOf(err) == media.CodeConflict:
			f.e.stopAdopted(f.id, err)
			return true
		}
		if (journal.Memory{}).Sleep(f.dctx, firstPause) != nil {
			return true
		}
	}
}

// ErrGone means that the file of a database was removed. Work does not wait for such a database, because it does not
// come back.
var ErrGone = errors.New("its file was removed")

// healthTimeout bounds one check of the databases.
const healthTimeout = 2 * time.Second

// Healthy reports whether the engine's database is available and the check [Config.Healthy] succeeds. The error has
// code media.CodeUnavailable, or is that of the check.
func (e *Engine) Healthy(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, healthTimeout)
	defer stop()
	if e.pool != nil {
		if err := e.pool.Ping(ctx); err != nil {
			return serverFailure("reach the durable engine's database", err)
		}
	} else if now, err := os.Stat(e.cfg.Path); err != nil || !os.SameFile(now, e.file) { // SQLite continues to write to a removed file
		return media.Errorf(media.CodeUnavailable, "the durable engine's database %s: %w: restore it", e.cfg.Path, ErrGone)
	}
	if e.cfg.Healthy == nil {
		return nil
	}
	return e.cfg.Healthy(ctx)
}

// checkHealth abandons all work when a database has been lost for at least the engine's patience.
func (e *Engine) checkHealth() {
	err := e.Healthy(e.root)
	if err == nil || e.root.Err() != nil {
		e.lostSince = time.Time{}
		return
	}
	if e.lostSince.IsZero() {
		e.lostSince = time.Now() //nolint:forbidigo // the time that passes in this process
	}
	if time.Since(e.lostSince) < e.cfg.Patience && !errors.Is(err, ErrGone) {
		return
	}
	e.flows.stop(&abandonedError{why: err}, e.flows.ids()...)
}

// The pauses between attempts to restart work double from the first to the last.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
)

// awaitRestart reports whether work that lost its database is restarted here: once the database is readable and
// writable, and the results of earlier steps are saved. Otherwise the work is left for adoption.
func (e *Engine) awaitRestart(f *flow) bool {
	if adopted, why := Abandoned(f.ctx); why == nil || adopted || !e.cfg.Adopts {
		return false
	}
	for {
		f.pause = min(max(firstPause, 2*f.pause), lastPause)
		if (journal.Memory{}).Sleep(f.dctx, f.pause) != nil {
			return false
		}
		if e.Healthy(f.dctx) != nil {
			continue
		}
		if row, err := e.status(f.id); err == nil && (row == nil || e.mark(f.dctx, *row, "left") == nil) { // it is writable, too
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
	return err == nil && row != nil && row.Status == dbos.WorkflowStatusPending && !f.heldElsewhere()
}

// callLimit bounds database calls that are not repeated during an outage.
const callLimit = 10 * time.Second

// bounded returns a context of the engine for one call: without a limit, the engine would retry forever.
func (e *Engine) bounded() (dbos.Context, context.CancelFunc) {
	return dbos.WithTimeout(e.root, callLimit)
}
