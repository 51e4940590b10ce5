package main

import (
	"atelier/agent"
	"atelier/media"
	"atelier/run"
)

type runsRetryCmd struct {
	ID         string `arg:"" name:"run" help:"The run's id: see atelier runs list --status failed."`
	LostImages string `enum:",drop,stop" default:"" help:"Other than for the run before: when the bytes of a picture went away, drop it, or stop."`
	againFlags
}

// Run tries a run again.
func (c *runsRetryCmd) Run(w *world) error {
	return c.follow(w, func(_ *app, s *run.Service) (*run.Run, error) {
		return s.Retry(w.ctx, owner, c.ID, run.Again{LostImages: agent.LostImages(c.LostImages)})
	})
}

type runsForkCmd struct {
	ID         string  `arg:"" name:"run" help:"The run's id."`
	From       string  `help:"The first step that is done anew: see atelier runs show RUN --steps." placeholder:"STEP"`
	Message    *string `help:"What the agent shall do instead." placeholder:"TEXT"`
	LostImages string  `enum:",drop,stop" default:"" help:"Other than for the run before: when the bytes of a picture went away, drop it, or stop."`
	againFlags
}

// Run begins a fork.
func (c *runsForkCmd) Run(w *world) error {
	if c.From == "" {
		return media.Errorf(media.CodeInvalid, "--from is missing: name the first step that is done anew, see atelier runs show %s --steps", c.ID)
	}
	f := run.Fork{From: c.From, Again: run.Again{LostImages: agent.LostImages(c.LostImages)}}
	if c.Message != nil {
		if f.Message = *c.Message; f.Message == "" {
			return media.Errorf(media.CodeInvalid, "--message is empty: say what the agent shall do instead, or leave it out")
		}
	}
	return c.follow(w, func(_ *app, s *run.Service) (*run.Run, error) { return s.Fork(w.ctx, owner, c.ID, f) })
}
