package main

import (
	"context"
	"errors"
	"time"

	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// cancelWait is how long a cancelled run of another process may take to end.
const cancelWait = 30 * time.Second

type runsCancelCmd struct {
	ID   string `arg:"" help:"The run's id, the start of its id, or last."`
	JSON bool   `help:"Print JSON."`
}

// Run cancels a run and waits until it has ended.
func (c *runsCancelCmd) Run(w *world) error {
	err := c.end(w, appConfig{adopt: true}, func(a *app, _ *run.Service, id string) error { return a.Cancel(w.ctx, owner, id) })
	if media.CodeOf(err) == media.CodeCorrupt { // the engine's database is damaged, but the ledger still has the run
		err = c.end(w, appConfig{withoutEngine: true}, func(_ *app, s *run.Service, id string) error { return s.EndLost(w.ctx, owner, id) })
	}
	return err
}

func (c *runsCancelCmd) end(w *world, config appConfig, end func(a *app, runs *run.Service, id string) error) error {
	return w.withRuns(config, c.ID, func(a *app, runs *run.Service, id string) error {
		if err := end(a, runs, id); err != nil {
			return err
		}
		ctx, stop := context.WithTimeout(w.ctx, cancelWait)
		defer stop()
		r, err := ended(ctx, a, id)
		if err != nil {
			return err
		}
		return w.print(map[string]any{"run_id": r.ID, "status": r.Status}, func() { w.line("%s  %s", r.ID, r.Status) })
	})
}

// ended waits until the run has ended.
func ended(ctx context.Context, a *app, id string) (ledger.Run, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := a.Ledger.Run(ctx, owner, id)
		if err != nil && ctx.Err() == nil || !r.FinishedAt.IsZero() {
			return r, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			err = media.Errorf(media.CodeOf(ctx.Err()), "run %s was asked to stop, and its process has not ended it yet: see atelier runs show %[1]s", id)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = errors.Join(err, reportedError{exitRunning})
			}
			return r, err
		}
	}
}
