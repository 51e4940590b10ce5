package main

import (
	"encoding/json"
	"errors"

	"atelier"
	"atelier/agent"
	"atelier/media"
	"atelier/run"
)

type runsRetryCmd struct {
	ID         string `arg:"" name:"run" help:"The run's id, its beginning, or last: see atelier runs list --status failed."`
	LostImages string `enum:",drop,stop" default:"" help:"Other than for the run before: when the bytes of a picture went away, drop it, or stop."`
	limitFlags
	againFlags
}

// Run tries a run again.
func (c *runsRetryCmd) Run(w *world) error {
	again, err := c.limits()
	if err != nil {
		return err
	}
	again.LostImages = agent.LostImages(c.LostImages)
	return c.follow(w, func(a *app, s *run.Service) (*run.Run, error) {
		id, err := a.stores().runID(w.ctx, c.ID)
		if err != nil {
			return nil, err
		}
		return s.Retry(w.ctx, owner, id, again)
	})
}

type runsForkCmd struct {
	ID            string   `arg:"" name:"run" help:"The run's id, its beginning, or last."`
	From          string   `help:"The first step that is done anew: see atelier runs show RUN --steps." placeholder:"STEP"`
	Message       *string  `help:"What the agent shall do instead." placeholder:"TEXT"`
	Image         []string `sep:"none" help:"A picture that the agent shall see instead of those that came with the message: a file, the id of a stored item, or the ref of one of the run. Repeat it for more." placeholder:"FILE|ID|REF"`
	ImageDetail   string   `enum:"auto,low,high" default:"auto" help:"How closely the model looks at the pictures, where it can choose: auto, low or high."`
	LenientImages bool     `help:"Leave pictures out, with a warning, that the chat model does not take; otherwise they are an error."`
	Input         string   `help:"JSON that the agent is given beside the message, as an object." placeholder:"JSON"`
	Model         string   `help:"The chat model instead; offline forces the offline model." placeholder:"NAME"`
	ImageModel    string   `help:"The image model that agents shall prefer instead." placeholder:"NAME"`
	LostImages    string   `enum:",drop,stop" default:"" help:"Other than for the run before: when the bytes of a picture went away, drop it, or stop."`
	limitFlags
	againFlags
}

// Run begins a fork.
func (c *runsForkCmd) Run(w *world) error {
	f, err := c.fork()
	if err != nil {
		return err
	}
	return c.follow(w, func(a *app, s *run.Service) (*run.Run, error) {
		id, err := a.stores().runID(w.ctx, c.ID)
		if err != nil {
			return nil, err
		}
		if f.Images, err = images(w.ctx, a, c.Image, c.ImageDetail); err != nil {
			return nil, err
		}
		if c.ImageModel != "" {
			if f.ImageModels, err = a.imageModel(w.ctx, c.ImageModel); err != nil {
				return nil, err
			}
		}
		if c.Model != "" {
			if _, err := a.Chat.Named(w.ctx, c.Model); err != nil {
				return nil, err
			}
			f.Setting = atelier.WithChatModel(c.Model)
		}
		return s.Fork(w.ctx, owner, id, f)
	})
}

// fork reads what the flags say by themselves.
func (c *runsForkCmd) fork() (f run.Fork, err error) {
	if c.From == "" {
		return f, media.Errorf(media.CodeInvalid, "--from is missing: name the first step that is done anew, see atelier runs show %s --steps", c.ID)
	}
	f = run.Fork{From: c.From, LenientImages: c.LenientImages}
	if f.Again, err = c.limits(); err != nil {
		return f, err
	}
	f.LostImages = agent.LostImages(c.LostImages)
	if c.Message != nil {
		if f.Message = *c.Message; f.Message == "" {
			return f, media.Errorf(media.CodeInvalid, "--message is empty: say what the agent shall do instead, or leave it out")
		}
	}
	if c.Input != "" {
		err := json.Unmarshal([]byte(c.Input), &f.Input)
		if err == nil && f.Input == nil {
			err = errors.New("it is null")
		}
		if err != nil {
			return f, media.Errorf(media.CodeInvalid, "--input is no JSON object: %w", err)
		}
	}
	return f, nil
}
