package main

import (
	"context"
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
	err := w.withRuns(appConfig{adopt: true}, func(a *app, runs *run.Service) (err error) {
		if c.ID, err = a.stores().runID(w.ctx, c.ID); err != nil {
			return err
		}
		return c.end(w, a, runs.End)
	})
	if media.CodeOf(err) != media.CodeCorrupt {
		return err
	}
	// The engine's database is damaged, but the ledger still has the run.
	return w.withApp(appConfig{withoutEngine: true}, func(a *app) (err error) {
		if c.ID, err = a.stores().runID(w.ctx, c.ID); err != nil {
			return err
		}
		runs, err := a.Runs(w.ctx)
		if err != nil {
			return err
		}
		return c.end(w, a, runs.EndLost)
	})
}

func (c *runsCancelCmd) end(w *world, a *app, end func(ctx context.Context, owner, id string) error) error {
	if err := end(w.ctx, owner, c.ID); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(w.ctx, cancelWait)
	defer stop()
	r, err := c.ended(ctx, a)
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(map[string]any{"run_id": r.ID, "status": r.Status})
	}
	w.line("%s  %s", r.ID, r.Status)
	return nil
}

// ended waits until the run has ended.
func (c *runsCancelCmd) ended(ctx context.Context, a *app) (ledger.Run, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := a.Ledger.Run(ctx, owner, c.ID)
		if err != nil || !r.FinishedAt.IsZero() {
			return r, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return r, media.Errorf(media.CodeDeadline, "run %s was asked to stop and is still running: see atelier runs show %[1]s", r.ID)
		}
	}
}
