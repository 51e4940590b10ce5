package main

import "atelier/run"

type runsReportCmd struct {
	ID   string `arg:"" name:"run" help:"The run's id, the start of its id, or last."`
	Out  string `help:"The folder for report.html and media/." placeholder:"DIR" required:""`
	Open bool   `help:"Open the report in the browser."`
	JSON bool   `help:"Print one JSON object, as run does."`
}

// Run writes the report of a recorded run.
func (c *runsReportCmd) Run(w *world) error {
	return w.withRuns(appConfig{}, c.ID, func(a *app, s *run.Service, id string) error {
		res, err := s.Result(w.ctx, owner, id)
		if err != nil {
			return err
		}
		if err := makeFolder(c.Out); err != nil {
			return err
		}
		ans, unsaved := a.export(w.ctx, res, c.Out, true)
		if err := w.printRun(ans); err != nil {
			return err
		}
		if unsaved == nil && c.Open {
			openInBrowser(w.ctx, w, ans.Report)
		}
		return unsaved
	})
}
