// Package generations adopts generations without a living process: those outside of runs, and tasks that runs did not
// wait for.
//
// Errors are those of the ledger and the gateway. It may import run, run/lease, generate, ledger and media.
package generations

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/lease"
)

const (
	// maxPause is the longest pause between checks of a task whose wait has elapsed: links to results expire after
	// ten minutes or more.
	maxPause = 5 * time.Minute
	// lookedAfter is the age from which an operation is not checked again after an unsuccessful check.
	lookedAfter = 24 * time.Hour
)

// Config configures a [Kind]. All fields are required.
type Config struct {
	Gateway *gateway.Gateway
	Ledger  ledger.Store
	Leases  *lease.Keeper
	// AtOnce is the maximum number of concurrent generations.
	AtOnce int
	// Go runs work in the background; its provider waits for the work to end.
	Go func(work func())
}

// Kind adopts generations. It is safe for concurrent use.
type Kind struct {
	cfg   Config
	slots chan struct{} // one for each running generation
	// looks maps the id of an adopted operation to the time of its next check; zero while the operation is in progress,
	// and for one that is not retried.
	looks sync.Map
}

var _ run.Kind = (*Kind)(nil)

// New returns the Kind of a process.
func New(c Config) *Kind {
	return &Kind{cfg: c, slots: make(chan struct{}, c.AtOnce)}
}

// Adopt adopts the operations of all owners that have no living process, and returns their number.
func (k *Kind) Adopt(ctx context.Context) (n int, err error) {
	open, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		return k.cfg.Ledger.ListOpenOperations(ctx, p)
	})
	if err != nil || len(open) == 0 {
		return 0, err
	}
	living, err := k.cfg.Leases.LiveLeases(ctx, ledger.LeaseGeneration)
	if err != nil {
		return 0, err
	}
	for _, op := range open {
		if _, lives := living[op.ID]; lives {
			continue
		}
		taken, err := k.take(ctx, op)
		if err != nil {
			return n, err
		}
		if taken {
			n++
		}
	}
	return n, nil
}

type afterRun struct{}

// AfterRun reports whether ctx belongs to a generation whose run has ended or is paused. Nothing is added to the log of
// such a run.
func AfterRun(ctx context.Context) bool { return ctx.Value(afterRun{}) != nil }

// take adopts an operation that is due. One that was already waited for is checked once.
func (k *Kind) take(ctx context.Context, op ledger.Operation) (bool, error) {
	looked, waited := k.looks.Load(op.ID)
	if next, _ := looked.(time.Time); waited && (next.IsZero() || time.Now().Before(next)) { //nolint:forbidigo // the time that passes in this process
		return false, nil
	}
	if op.RunID != "" {
		if abandoned, err := k.abandoned(ctx, op); err != nil || !abandoned {
			return false, err
		}
		ctx = context.WithValue(ctx, afterRun{}, true)
	}
	k.looks.Store(op.ID, time.Time{})
	k.cfg.Go(func() {
		select {
		case k.slots <- struct{}{}:
			defer func() { <-k.slots }()
			k.resume(ctx, op, waited)
		case <-ctx.Done():
		}
	})
	return true, nil
}

// abandoned reports whether a run that has ended or is paused did not wait for the task of an operation. The results of
// such a task are fetched before their links expire. A cancelled run needs no results.
func (k *Kind) abandoned(ctx context.Context, op ledger.Operation) (bool, error) {
	if op.Status != string(generate.StatusRunning) {
		return false, nil
	}
	r, err := k.cfg.Ledger.Run(ctx, op.Owner, op.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return false, nil
	}
	return r.Status == ledger.StatusSucceeded || r.Status == ledger.StatusFailed || r.Status == ledger.StatusPaused, err
}

// resume waits for an operation, or checks one that was already waited for.
func (k *Kind) resume(ctx context.Context, op ledger.Operation, waited bool) {
	resume := k.cfg.Gateway.Resume
	if waited {
		resume = k.cfg.Gateway.PollOnce
	}
	res, err := resume(media.WithScope(ctx, media.Scope{Owner: op.Owner}), op.ID)
	elsewhere := waited && media.CodeOf(err) == media.CodeConflict // another caller waits for it
	if err != nil && !elsewhere && ctx.Err() == nil {
		slog.WarnContext(ctx, "generation not adopted", slog.String("operation", op.ID), slog.String("error", media.ErrorText(err.Error())))
	}
	now := time.Now() //nolint:forbidigo // the time that passes in this process
	switch {
	case elsewhere, err == nil && res.Status == generate.StatusRunning:
		if now.Sub(op.CreatedAt) < lookedAfter {
			k.looks.Store(op.ID, now.Add(k.pause(op)))
		}
	case err == nil || media.Retryable(err):
		// A finished operation may be retried and abandoned again, and the database may have been unavailable. An
		// operation that lacks a key is not retried.
		k.looks.Delete(op.ID)
	}
}

// pause returns the pause between checks of an operation whose wait has elapsed: as long as that wait.
func (k *Kind) pause(op ledger.Operation) time.Duration {
	m, err := k.cfg.Gateway.Lookup(op.Provider + "/" + op.APIModel)
	if err != nil {
		return maxPause
	}
	return min(time.Duration(cmp.Or(m.WaitSeconds, int(maxPause.Seconds())))*time.Second, maxPause)
}
