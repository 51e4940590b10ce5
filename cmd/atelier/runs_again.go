package main

import (
	"atelier/media"
	"atelier/run"
)

type runsRetryCmd struct {
	ID string `arg:"" name:"run" help:"The run's id: see atelier runs list --status failed."`
	againFlags
}

// Run tries a run again.
func (c *runsRetryCmd) Run(w *world) error {
	return c.follow(w, func(_ *app, s *run.Service) (*run.Run, error) { return s.Retry(w.ctx, owner, c.ID) })
}

type runsForkCmd struct {
	ID      string `arg:"" name:"run" help:"The run's id."`
	From    string `help:"The first step that is done anew: see atelier runs show RUN --steps." placeholder:"STEP"`
	Message string `help:"What the agent shall do instead." placeholder:"TEXT"`
	againFlags
}

// Run begins a fork.
func (c *runsForkCmd) Run(w *world) error {
	if c.From == "" {
		return media.Errorf(media.CodeInvalid, "--from is missing: name the first step that is done anew, see atelier runs show %s --steps", c.ID)
	}
	return c.follow(w, func(_ *app, s *run.Service) (*run.Run, error) {
		return s.Fork(w.ctx, owner, c.ID, run.Fork{From: c.From, Message: c.Message})
	})
}
