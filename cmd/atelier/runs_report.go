package main

import (
	"os"

	"atelier/internal/disk"
	"atelier/run"
)

type runsReportCmd struct {
	ID   string `arg:"" name:"run" help:"The run's id, the start of its id, or last."`
	Out  string `help:"The folder for report.html and media/." placeholder:"DIR" required:""`
	Open bool   `help:"Open the report in the browser."`
	JSON bool   `help:"Print one JSON object, as run does."`
}

// Run writes the report of a run from what is on record.
func (c *runsReportCmd) Run(w *world) error {
	return w.withRecords(func(a *app, s *run.Service) error {
		id, err := a.stores().runID(w.ctx, c.ID)
		if err != nil {
			return err
		}
		res, err := s.Result(w.ctx, owner, id)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(c.Out, 0o750); err != nil {
			return disk.Error("make the folder "+c.Out+" for the report", err)
		}
		shown := &runCmd{Out: c.Out, JSON: c.JSON, anyReport: true}
		ans, unsaved := shown.export(w.ctx, a, res)
		if err := shown.print(w, res, ans); err != nil {
			return err
		}
		if unsaved == nil && c.Open {
			openInBrowser(w.ctx, w, ans.Report)
		}
		return unsaved
	})
}

// withRecords opens a service that reads what became of runs.
func (w *world) withRecords(fn func(*app, *run.Service) error) error {
	return w.withApp(appConfig{}, func(a *app) error {
		runs, err := a.Runs(w.ctx)
		if err != nil {
			return err
		}
		return fn(a, runs)
	})
}
