package main

import (
	"cmp"
	"context"
	"encoding/json"

	"atelier"
	"atelier/agent"
	"atelier/media"
	"atelier/run"
	"atelier/run/workflows"
)

// againFlags are the flags of commands that continue a run.
type againFlags struct {
	DB   string `help:"The database of the run. Required if its URL contains a password, which is not stored." placeholder:"URL"`
	Out  string `help:"Write report.html and media/ into this folder." placeholder:"DIR"`
	Open bool   `help:"Open the report in the browser."`
}

// beginRun starts or continues a run. Id is that of the run that the command line names.
type beginRun func(a *app, runs *run.Service, id string) (*run.Run, error)

// follow continues a run and reports its result.
func (c *againFlags) follow(w *world, id string, begin beginRun) error {
	if c.Out != "" {
		if err := makeFolder(c.Out); err != nil {
			return err
		}
	}
	return w.follow(appConfig{sources: atelier.Sources{Database: c.DB}, adopt: true}, id, begin, (&runCmd{Out: c.Out, Open: c.Open}).report)
}

// follow starts or continues a run, shows its progress until it ends, and then its result. Ctrl-C cancels the run.
func (w *world) follow(c appConfig, id string, begin beginRun, show func(w *world, a *app, res *agent.Result, runErr error) error) error {
	p := newProgress(w)
	c.events = p.generation
	return w.withRuns(c, id, func(a *app, runs *run.Service, id string) error {
		stop := p.follow(a.Observer())
		defer stop()
		r, err := begin(a, runs, id)
		if err != nil {
			return err
		}
		defer context.AfterFunc(w.ctx, r.Cancel)()
		res, runErr := r.Wait(context.WithoutCancel(w.ctx))
		stop()
		p.clear()
		if res == nil {
			return cmp.Or(runErr, error(media.Errorf(media.CodeInternal, "run %s gave no result: see atelier runs show %[1]s", r.ID)))
		}
		return show(w, a, res, runErr)
	})
}

type resumeCmd struct {
	ID            string   `arg:"" name:"run" help:"The run's id, the start of its id, or last: see atelier runs list --status paused, or --status running."`
	Text          *string  `arg:"" optional:"" name:"text" help:"The answer as plain text, if the question has one field. Without an answer, the command shows the question."`
	Approve       bool     `help:"Answer yes."`
	Deny          bool     `help:"Answer no."`
	Answer        string   `help:"The answer as JSON that matches the question's form, or a file that contains it." placeholder:"JSON|@FILE"`
	Question      string   `help:"The id of the question to answer. The default is the oldest open one." placeholder:"ID"`
	Note          string   `help:"A note for the model, in addition to the answer." placeholder:"TEXT"`
	Image         []string `sep:"none" help:"A picture to attach to the answer: a file, the id of a stored item, or a ref of the run. Repeat the flag for more." placeholder:"FILE|ID|REF"`
	ImageDetail   string   `enum:"auto,low,high" default:"auto" help:"The detail at which the model sees the pictures, if it supports a choice: auto, low or high."`
	LenientImages bool     `help:"Omit pictures that the chat model does not accept and print a warning, instead of an error."`
	ReplaceImages bool     `help:"No longer show earlier pictures to the model."`
	limitFlags
	againFlags
}

// Run continues a run: with the answer that it waits for or, if its process is dead, from its last finished step.
func (c *resumeCmd) Run(w *world) error {
	var value json.RawMessage
	if c.Answer != "" {
		text, err := jsonArgument("--answer", c.Answer, ": atelier resume "+c.ID+" shows the form and an example; give plain text without --answer")
		if err != nil {
			return err
		}
		value = text
	}
	if err := c.check(value != nil); err != nil {
		return err
	}
	limits, err := c.limits()
	if err != nil {
		return err
	}
	return c.follow(w, c.ID, func(a *app, s *run.Service, id string) (*run.Run, error) {
		c.ID = id
		if value == nil && !c.plain() {
			return c.resume(w, s, limits)
		}
		if value, err = c.answerFor(w.ctx, s, value); err != nil {
			return nil, err
		}
		reply := &agent.Reply{Question: c.Question, Value: value, Note: c.Note, ReplaceImages: c.ReplaceImages, LenientImages: c.LenientImages}
		if reply.Images, err = images(w.ctx, a, c.Image, c.ImageDetail); err != nil {
			return nil, err
		}
		return s.ResumeWith(w.ctx, owner, c.ID, reply, limits)
	})
}

// resume continues a run that waits for no answer, or shows the questions of one that does.
func (c *resumeCmd) resume(w *world, s *run.Service, limits run.ContinueOptions) (*run.Run, error) {
	open, err := s.Questions(w.ctx, owner, c.ID)
	if err != nil {
		return nil, err
	}
	if len(open) == 0 {
		return s.ResumeWith(w.ctx, owner, c.ID, nil, limits)
	}
	if limits != (run.ContinueOptions{}) {
		return nil, media.Errorf(media.CodeInvalid, "run %s waits for an answer: give the limits together with the answer (atelier resume %[1]s shows the question)", c.ID)
	}
	if w.json {
		return nil, cmp.Or[error](w.printJSON(map[string]any{"run_id": c.ID, "status": agent.StatusPaused, "pending": open}), reportedError{exitPaused})
	}
	w.ask(c.ID, open)
	return nil, reportedError{exitPaused}
}

// plain reports whether the answer is not JSON.
func (c *resumeCmd) plain() bool { return c.Approve || c.Deny || c.Text != nil }

// check rejects flags that cannot be combined.
func (c *resumeCmd) check(asJSON bool) error {
	given := 0
	for _, is := range []bool{asJSON, c.Approve, c.Deny, c.Text != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return media.Errorf(media.CodeInvalid, "give only one answer: text, --approve, --deny or --answer")
	case given == 0 && (c.Question != "" || c.Note != "" || len(c.Image) > 0 || c.ReplaceImages || c.LenientImages):
		return media.Errorf(media.CodeInvalid, "--question, --note and the picture flags require an answer: give text, --approve, --deny, or --answer with JSON")
	}
	return nil
}

// answerFor finds the question to answer, and converts an answer that is not JSON into the question's form.
func (c *resumeCmd) answerFor(ctx context.Context, s *run.Service, value json.RawMessage) (json.RawMessage, error) {
	open, err := s.Questions(ctx, owner, c.ID)
	if err != nil || len(open) == 0 {
		return json.RawMessage("null"), err // the service reports that the run waits for nothing
	}
	q, err := openQuestion(open, c.Question)
	if err != nil {
		return nil, err
	}
	if c.Question != "" || c.plain() {
		c.Question = q.ID
	}
	switch {
	case q.Schema == nil: // it is not open
		return json.RawMessage("null"), nil
	case c.plain() && q.AgentPath == workflows.AgentName:
		return nil, media.Errorf(media.CodeInvalid, "run %s is a workflow that waits at an interaction: answer with %s", c.ID, workflowAnswerCommand(c.ID))
	case c.Approve:
		return yesOrNo(q, true)
	case c.Deny:
		return yesOrNo(q, false)
	case c.Text != nil:
		return answerFromText(q, *c.Text)
	}
	return value, nil
}
