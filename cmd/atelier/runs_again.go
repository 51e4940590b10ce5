package main

import (
	"encoding/json"
	"errors"

	"atelier/agent/vision"
	"atelier/internal/setting"
	"atelier/media"
	"atelier/run"
)

type runsRetryCmd struct {
	ID         string `arg:"" name:"run" help:"The run's id, the start of its id, or last: see atelier runs list --status failed."`
	LostImages string `enum:",drop,stop" default:"" help:"What to do if the bytes of a picture have disappeared: drop or stop. The default is the run's own setting."`
	limitFlags
	againFlags
}

func (c *runsRetryCmd) Run(w *world) error {
	again, err := c.limits()
	if err != nil {
		return err
	}
	again.LostImages = vision.LostImages(c.LostImages)
	return c.follow(w, c.ID, func(_ *app, s *run.Service, id string) (*run.Run, error) {
		return s.Retry(w.ctx, owner, id, again)
	})
}

type runsForkCmd struct {
	ID            string   `arg:"" name:"run" help:"The run's id, the start of its id, or last."`
	From          string   `help:"The first step to execute again; see atelier runs show RUN --steps." placeholder:"STEP"`
	Message       *string  `help:"A new task for the agent." placeholder:"TEXT"`
	Image         []string `sep:"none" help:"A picture that replaces those of the message: a file, the id of a stored item, or a ref of the run. Repeat the flag for more." placeholder:"FILE|ID|REF"`
	ImageDetail   string   `enum:"auto,low,high" default:"auto" help:"The detail at which the model sees the pictures, if it supports a choice: auto, low or high."`
	LenientImages bool     `help:"Omit pictures that the chat model does not accept and print a warning, instead of an error."`
	Input         string   `help:"Input for the agent in addition to the message: a JSON object." placeholder:"JSON"`
	Model         string   `help:"Another chat model; offline selects the offline model." placeholder:"NAME"`
	ImageModel    string   `help:"Another image model for agents to prefer." placeholder:"NAME"`
	LostImages    string   `enum:",drop,stop" default:"" help:"What to do if the bytes of a picture have disappeared: drop or stop. The default is the run's own setting."`
	limitFlags
	againFlags
}

func (c *runsForkCmd) Run(w *world) error {
	f, err := c.fork()
	if err != nil {
		return err
	}
	return c.follow(w, c.ID, func(a *app, s *run.Service, id string) (*run.Run, error) {
		if f.Images, err = images(w.ctx, a, c.Image, c.ImageDetail); err != nil {
			return nil, err
		}
		if err := a.CheckModels(w.ctx, c.Model, c.ImageModel); err != nil {
			return nil, err
		}
		if c.ImageModel != "" {
			f.ImageModels = []string{c.ImageModel}
		}
		if c.Model != "" {
			f.Setting = setting.WithChatModel(c.Model)
		}
		return s.Fork(w.ctx, owner, id, f)
	})
}

// fork builds the fork from the flags that need no lookup.
func (c *runsForkCmd) fork() (f run.Fork, err error) {
	if c.From == "" {
		return f, media.Errorf(media.CodeInvalid, "--from is missing: name the first step to execute again, see atelier runs show %s --steps", c.ID)
	}
	f = run.Fork{From: c.From, LenientImages: c.LenientImages}
	if f.ContinueOptions, err = c.limits(); err != nil {
		return f, err
	}
	f.LostImages = vision.LostImages(c.LostImages)
	if c.Message != nil {
		if f.Message = *c.Message; f.Message == "" {
			return f, media.Errorf(media.CodeInvalid, "--message is empty: give the new task, or omit it")
		}
	}
	if c.Input != "" {
		err := json.Unmarshal([]byte(c.Input), &f.Input)
		if err == nil && f.Input == nil {
			err = errors.New("it is null")
		}
		if err != nil {
			return f, media.Errorf(media.CodeInvalid, "--input is not a JSON object: %w", err)
		}
	}
	return f, nil
}
