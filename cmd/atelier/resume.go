package main

import (
	"context"
	"os"

	"atelier/generate"
	"atelier/media"
	"atelier/run"
)

type resumeCmd struct {
	ID   string `arg:"" name:"run" help:"The run's id: see atelier runs list --status running."`
	DB   string `help:"The database of the run, if its address holds a password: that is not kept." placeholder:"URL"`
	Out  string `help:"Write report.html and media/ into this folder." placeholder:"DIR"`
	Open bool   `help:"Open the report in the browser."`
	JSON bool   `help:"Print one JSON object."`
}

// Run goes on with a run from its last finished step.
func (c *resumeCmd) Run(w *world) error {
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o750); err != nil {
			return diskError("make the folder for the report", err)
		}
	}
	p := newProgress(w, c.JSON)
	var observer *run.Observer
	events := func(ctx context.Context, e generate.Event) {
		p.generation(ctx, e)
		if observer != nil {
			observer.Progress(ctx, e)
		}
	}
	return w.withApp(appConfig{events: events}, func(a *app) error {
		crew, err := a.crew(w.ctx, crewConfig{db: c.DB, durable: true, takesOver: true, events: events})
		if err != nil {
			return err
		}
		defer crew.close()
		observer = crew.observer
		stop := p.follow(crew.observer)
		defer stop()
		r, err := crew.service.Resume(w.ctx, owner, c.ID, nil)
		if err != nil {
			return err
		}
		defer context.AfterFunc(w.ctx, r.Cancel)()
		res, runErr := r.Wait(context.WithoutCancel(w.ctx))
		p.clear()
		if res == nil && runErr == nil {
			runErr = media.Errorf(media.CodeInternal, "run %s gave no result: see atelier runs show %[1]s", r.ID)
		}
		return (&runCmd{Out: c.Out, Open: c.Open, JSON: c.JSON}).report(w, a, res, runErr)
	})
}
