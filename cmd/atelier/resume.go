package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"

	"atelier"
	"atelier/agent"
	"atelier/media"
	"atelier/run"
)

// againFlags are those of commands that go on with a run.
type againFlags struct {
	DB   string `help:"The database of the run, if its address holds a password: that is not kept." placeholder:"URL"`
	Out  string `help:"Write report.html and media/ into this folder." placeholder:"DIR"`
	Open bool   `help:"Open the report in the browser."`
	JSON bool   `help:"Print one JSON object."`
}

// follow lets a run begin and shows it to its end.
func (c *againFlags) follow(w *world, begin func(*app, *run.Service) (*run.Run, error)) error {
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o750); err != nil {
			return atelier.DiskError("make the folder for the report", err)
		}
	}
	p := newProgress(w, c.JSON)
	return w.withApp(appConfig{events: p.generation, sources: atelier.Sources{Database: c.DB}, takeOver: true}, func(a *app) error {
		runs, err := a.Runs(w.ctx)
		if err != nil {
			return err
		}
		stop := p.follow(a.Observer())
		defer stop()
		r, err := begin(a, runs)
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

type resumeCmd struct {
	ID            string   `arg:"" name:"run" help:"The run's id: see atelier runs list --status paused, or --status running."`
	Answer        string   `help:"The answer that a paused run waits for: JSON that fits the question's form, or a file with it. Without it the question is shown." placeholder:"JSON|@FILE"`
	Question      string   `help:"The question that is answered, if several are open; otherwise the oldest." placeholder:"ID"`
	Note          string   `help:"A word beside the answer, for the model." placeholder:"TEXT"`
	Image         []string `sep:"none" help:"A picture that comes with the answer: a file, the id of a stored item, or a ref of the run. Repeat it for more." placeholder:"FILE|ID|REF"`
	ImageDetail   string   `enum:"auto,low,high" default:"auto" help:"How closely the model looks at the pictures, where it can choose: auto, low or high."`
	LenientImages bool     `help:"Leave pictures out, with a warning, that the chat model does not take; otherwise they are an error."`
	ReplaceImages bool     `help:"Take the pictures that came before out of the model's sight."`
	limitFlags
	againFlags
}

// Run goes on with a run: with the answer that it waits for, from its last finished
// step where its process has ended, or with other limits where it was stopped.
func (c *resumeCmd) Run(w *world) error {
	value, err := c.value()
	if err != nil {
		return err
	}
	limits, err := c.limits()
	if err != nil {
		return err
	}
	return c.follow(w, func(a *app, s *run.Service) (*run.Run, error) {
		if value == nil {
			return c.goOn(w, s, limits)
		}
		reply := &agent.Reply{Question: c.Question, Value: value, Note: c.Note, ReplaceImages: c.ReplaceImages, LenientImages: c.LenientImages}
		var err error
		if reply.Images, err = images(w.ctx, a, c.Image, c.ImageDetail); err != nil {
			return nil, err
		}
		return s.ResumeWith(w.ctx, owner, c.ID, reply, limits)
	})
}

// goOn goes on with a run that nobody has to answer, or shows what one waits for.
func (c *resumeCmd) goOn(w *world, s *run.Service, limits run.Again) (*run.Run, error) {
	open, err := s.Questions(w.ctx, owner, c.ID)
	if err != nil {
		return nil, err
	}
	if len(open) == 0 {
		return s.ResumeWith(w.ctx, owner, c.ID, nil, limits)
	}
	if limits != (run.Again{}) {
		return nil, media.Errorf(media.CodeInvalid, "run %s waits for an answer: the limits go with --answer (atelier resume %[1]s shows the question)", c.ID)
	}
	if c.JSON {
		if err := w.printJSON(map[string]any{"run_id": c.ID, "status": agent.StatusPaused, "pending": open}); err != nil {
			return nil, err
		}
		return nil, quiet{exitPaused}
	}
	w.ask(c.ID, open)
	return nil, quiet{exitPaused}
}

// maxAnswer is how large a file with an answer may be, in bytes.
const maxAnswer = 64 << 10

// value reads the answer; nil without one.
func (c *resumeCmd) value() (json.RawMessage, error) {
	if c.Answer == "" {
		if c.Question != "" || c.Note != "" || len(c.Image) > 0 || c.ReplaceImages || c.LenientImages {
			return nil, media.Errorf(media.CodeInvalid, "--question, --note and the flags of pictures go with --answer: give the answer as JSON")
		}
		return nil, nil
	}
	text := []byte(c.Answer)
	if name, ok := strings.CutPrefix(c.Answer, "@"); ok {
		info, err := os.Stat(name)
		if err == nil && info.Size() > maxAnswer {
			return nil, media.Errorf(media.CodeTooLarge, "--answer %s has %s: at most %s; give pictures with --image", c.Answer, size(info.Size()), size(maxAnswer))
		}
		if text, err = os.ReadFile(name); err != nil { //nolint:gosec // the person names it
			return nil, media.Errorf(media.CodeInvalid, "read the answer: %w", err)
		}
	}
	if text = bytes.TrimSpace(text); !json.Valid(text) {
		return nil, media.Errorf(media.CodeInvalid, "--answer is no JSON: %s shows the form and an example", "atelier resume "+c.ID)
	}
	return text, nil
}
