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
	ID            string   `arg:"" name:"run" help:"The run's id, its beginning, or last: see atelier runs list --status paused, or --status running."`
	Text          *string  `arg:"" optional:"" name:"text" help:"The answer in plain words, where the question asks for one thing. Without an answer the question is shown."`
	Approve       bool     `help:"Answer yes."`
	Deny          bool     `help:"Answer no."`
	Answer        string   `help:"The answer as JSON that fits the question's form, or a file with it." placeholder:"JSON|@FILE"`
	Question      string   `help:"The question that is answered, if several are open; otherwise the oldest." placeholder:"ID"`
	Note          string   `help:"A word beside the answer, for the model." placeholder:"TEXT"`
	Image         []string `sep:"none" help:"A picture that comes with the answer: a file, the id of a stored item, or a ref of the run. Repeat it for more." placeholder:"FILE|ID|REF"`
	ImageDetail   string   `enum:"auto,low,high" default:"auto" help:"How closely the model looks at the pictures, where it can choose: auto, low or high."`
	LenientImages bool     `help:"Leave pictures out, with a warning, that the chat model does not take; otherwise they are an error."`
	ReplaceImages bool     `help:"Take the pictures that came before out of the model's sight."`
	limitFlags
	againFlags
}

// Run goes on with a run: with the answer that it waits for, or from its last finished
// step where its process has ended.
func (c *resumeCmd) Run(w *world) error {
	value, err := c.value()
	if err == nil {
		err = c.check(value != nil)
	}
	if err != nil {
		return err
	}
	limits, err := c.limits()
	if err != nil {
		return err
	}
	return c.follow(w, func(a *app, s *run.Service) (*run.Run, error) {
		var err error
		if c.ID, err = a.stores().runID(w.ctx, c.ID); err != nil {
			return nil, err
		}
		if value == nil && !c.plain() {
			return c.goOn(w, s, limits)
		}
		if value, err = c.fit(w.ctx, s, value); err != nil {
			return nil, err
		}
		reply := &agent.Reply{Question: c.Question, Value: value, Note: c.Note, ReplaceImages: c.ReplaceImages, LenientImages: c.LenientImages}
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
		return nil, media.Errorf(media.CodeInvalid, "run %s waits for an answer: the limits go with the answer (atelier resume %[1]s shows the question)", c.ID)
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

// plain reports whether the answer is no JSON.
func (c *resumeCmd) plain() bool { return c.Approve || c.Deny || c.Text != nil }

// check finds flags that do not go together.
func (c *resumeCmd) check(asJSON bool) error {
	given := 0
	for _, is := range []bool{asJSON, c.Approve, c.Deny, c.Text != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return media.Errorf(media.CodeInvalid, "several answers are given: choose one of words, --approve, --deny and --answer")
	case given == 0 && (c.Question != "" || c.Note != "" || len(c.Image) > 0 || c.ReplaceImages || c.LenientImages):
		return media.Errorf(media.CodeInvalid, "--question, --note and the flags of pictures go with an answer: give --approve, --deny, words, or --answer with JSON")
	}
	return nil
}

// fit finds the question that is answered, and makes an answer that is no JSON one of its form.
func (c *resumeCmd) fit(ctx context.Context, s *run.Service, value json.RawMessage) (json.RawMessage, error) {
	open, err := s.Questions(ctx, owner, c.ID)
	if err != nil || len(open) == 0 {
		return json.RawMessage("null"), err // that the run waits for nothing is the service's to say
	}
	q, err := asked(open, c.Question)
	if err != nil {
		return nil, err
	}
	if c.Question != "" || c.plain() {
		c.Question = q.ID
	}
	switch {
	case q.Schema == nil: // it is not open
		return json.RawMessage("null"), nil
	case c.Approve:
		return decided(q, true)
	case c.Deny:
		return decided(q, false)
	case c.Text != nil:
		return inWords(q, *c.Text)
	}
	return value, nil
}

// maxAnswer is how large a file with an answer may be, in bytes.
const maxAnswer = 64 << 10

// value reads the answer; nil without one.
func (c *resumeCmd) value() (json.RawMessage, error) {
	if c.Answer == "" {
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
		return nil, media.Errorf(media.CodeInvalid, "--answer is no JSON: %s shows the form and an example; plain words go without --answer", "atelier resume "+c.ID)
	}
	return text, nil
}
