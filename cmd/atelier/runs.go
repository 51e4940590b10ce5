package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier"

	"atelier/agent"
	"atelier/agent/vision"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

type runsCmd struct {
	List   runsListCmd   `cmd:"" help:"List runs, newest first."`
	Show   runsShowCmd   `cmd:"" help:"Show one run: steps, sub-agents, media, cost."`
	Events runsEventsCmd `cmd:"" help:"Print a run's events in order."`
	Report runsReportCmd `cmd:"" help:"Write the report of a run and its media into a folder, like run --out."`
	Cancel runsCancelCmd `cmd:"" help:"Cancel a run, in whichever process it is running. What it made is kept."`
	Retry  runsRetryCmd  `cmd:"" help:"Continue a failed or cancelled run from its last successful step. Nothing is paid for twice."`
	Fork   runsForkCmd   `cmd:"" help:"Start a new run that reuses another run's steps before a given one and executes the rest again."`
}

type runsListCmd struct {
	Status string `help:"Only runs with this status: running, succeeded, paused, failed or cancelled."`
	Agent  string `help:"Only runs of this agent."`
	All    bool   `help:"Include the runs of sub-agents."`
	pageFlags
}

func (c *runsListCmd) Run(w *world) error {
	known := []ledger.Status{ledger.StatusRunning, ledger.StatusSucceeded, ledger.StatusPaused, ledger.StatusFailed, ledger.StatusCancelled}
	if status := ledger.Status(c.Status); status != "" && !slices.Contains(known, status) {
		return media.Errorf(media.CodeInvalid, "--status %s: there are running, succeeded, paused, failed and cancelled runs", c.Status)
	}
	page, err := c.page()
	if err != nil {
		return err
	}
	return w.withStores(func(s *stores) error {
		list, err := s.Ledger.ListRuns(w.ctx, owner, ledger.RunQuery{Roots: !c.All, Status: ledger.Status(c.Status), Agent: c.Agent, Page: page})
		if err != nil {
			return err
		}
		if ledger.Status(c.Status) == ledger.StatusPaused {
			return c.paused(w, s, list)
		}
		return printPage(w, list, []string{"RUN", "AGENT", "STATUS", "IMAGES", "COST", "STARTED", "TASK"}, func(r ledger.Run) []string {
			return []string{
				r.ID, r.Agent, string(r.Status), strconv.FormatInt(r.Usage.Images, 10), costText(r.Cost),
				localTime(r.CreatedAt), short(r.Task, 60),
			}
		})
	})
}

// pausedView is a paused run with its open questions.
type pausedView struct {
	ledger.Run
	Pending []agent.Question `json:"pending"`
}

// paused lists runs that wait for a person.
func (c *runsListCmd) paused(w *world, s *stores, list ledger.List[ledger.Run]) error {
	views := ledger.List[pausedView]{Next: list.Next}
	for _, r := range list.Items {
		open, err := questionsOf(w, s, r)
		if err != nil {
			return err
		}
		views.Items = append(views.Items, pausedView{r, orEmpty(open)})
	}
	return printPage(w, views, []string{"RUN", "AGENT", "ASKED", "TASK", "QUESTION"}, func(r pausedView) []string {
		asks := ""
		if len(r.Pending) > 0 {
			asks = short(withRefs(r.Pending[0].Question), 80)
		}
		return []string{r.ID, r.Agent, localTime(r.UpdatedAt), short(r.Task, 40), asks}
	})
}

// questionsOf returns the open questions of a run's tree.
func questionsOf(w *world, s *stores, r ledger.Run) ([]agent.Question, error) {
	st, err := s.Ledger.RunState(w.ctx, owner, r.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return run.Questions(st)
}

type runsShowCmd struct {
	ID    string `arg:"" help:"The run's id, the start of its id, or last."`
	Steps bool   `help:"List the finished steps of the run, for runs fork."`
}

func (c *runsShowCmd) Run(w *world) error {
	if c.Steps {
		return c.steps(w)
	}
	return w.withStores(func(s *stores) (err error) {
		if c.ID, err = s.runID(w.ctx, c.ID); err != nil {
			return err
		}
		r, err := s.Ledger.Run(w.ctx, owner, c.ID)
		if err != nil {
			return err
		}
		steps, err := ledger.AllOf(w.ctx, s.Ledger.ListSteps, owner, c.ID)
		if err != nil {
			return err
		}
		tree, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Run], error) {
			return s.Ledger.ListRuns(w.ctx, owner, ledger.RunQuery{Tree: r.Tree, Page: p})
		})
		if err != nil {
			return err
		}
		made, err := ledger.AllOf(w.ctx, s.Ledger.ListPromptMedia, owner, c.ID)
		if err != nil {
			return err
		}
		pending, err := questionsOf(w, s, r)
		if err != nil {
			return err
		}
		if w.json {
			return w.printJSON(map[string]any{"run": r, "steps": orEmpty(steps), "tree": tree, "media": orEmpty(made), "pending": orEmpty(pending)})
		}
		w.line("%s  %s  %s", r.ID, r.Agent, r.Status)
		w.line("task:    %s", r.Task)
		w.line("answer:  %s", r.Message)
		if r.Failure.Message != "" {
			w.line("failure: %s: %s", r.Failure.Code, r.Failure.Message)
		}
		used, cost := usageText(r.Usage), costText(r.Cost)
		if r.Status == ledger.StatusRunning {
			used, cost = "known when the run pauses or ends", "known when the run pauses or ends"
		}
		w.line("used:    %s", used)
		if limits := limitsText(r.Limits); limits != "" {
			w.line("limits:  %s", limits)
		}
		w.line("cost:    %s", cost)
		if r.ForkedFrom != "" {
			w.line("forked:  from %s at %s", r.ForkedFrom, r.ForkedStep)
		}
		for _, i := range r.InputImages {
			w.line("input:   %s  %s  %s", i.Ref, i.MIMEType, cell(i.FileName))
		}
		for _, i := range r.VisionContext {
			w.line("in view: %s  %s", i.Ref, i.MIMEType)
		}
		for _, d := range withoutWarning(dispositions(r)) {
			w.line("%s", outcomeText(d))
		}
		for _, warning := range r.Warnings {
			w.line("warning: %s", warning)
		}
		for _, k := range tree {
			w.line("run %s  %s  %s", k.ID, k.AgentPath, k.Status)
		}
		for _, m := range made {
			w.line("media %s  %s  %s  %s", m.MediaID, m.MIMEType, size(m.SizeBytes), cell(m.Label))
		}
		w.ask(r.Tree, pending)
		return nil
	})
}

// steps lists the names of the run's steps.
func (c *runsShowCmd) steps(w *world) error {
	return w.withRuns(appConfig{}, c.ID, func(_ *app, runs *run.Service, id string) error {
		steps, err := runs.Steps(w.ctx, owner, id)
		if err != nil {
			return err
		}
		document := struct {
			Run string `json:"run_id"`
			ledger.List[run.Step]
		}{id, ledger.List[run.Step]{Items: orEmpty(steps)}}
		return w.print(document, func() {
			var rows [][]string
			for _, s := range steps {
				note := ""
				if s.Failed {
					note = "failed"
				}
				rows = append(rows, []string{s.Name, localTime(s.FinishedAt), note})
			}
			table(w.stdout, []string{"STEP", "FINISHED", ""}, rows)
		})
	})
}

// dispositions returns the dispositions of a run.
func dispositions(r ledger.Run) (list []generate.Disposition) {
	_ = json.Unmarshal(r.Dispositions, &list) // a row in another format has none to show
	return list
}

// usageText describes what a run used.
func usageText(u ledger.Usage) string {
	return strings.Join([]string{
		plural(int(u.Turns), "turn"), plural(int(u.ModelCalls), "model call"), plural(int(u.InputTokens+u.OutputTokens), "token"),
		plural(int(u.Images), "image"), "worked " + duration(u.WorkedMS),
	}, ", ")
}

// limitsText describes the limits that the caller of a run set; empty if there are none.
func limitsText(saved json.RawMessage) string {
	var l agent.Limits
	if json.Unmarshal(saved, &l) != nil {
		return ""
	}
	var out []string
	for _, part := range []struct {
		set  bool
		text string
	}{
		{l.Turns > 0, plural(l.Turns, "turn") + " per agent"},
		{l.Tokens > 0, plural(int(l.Tokens), "token")},
		{l.Images > 0, plural(int(l.Images), "image")},
		{l.TimeMS > 0, duration(l.TimeMS) + " of work"},
		{l.USD != "", "$" + l.USD},
		{l.LenientImages, "unsupported pictures omitted"},
	} {
		if part.set {
			out = append(out, part.text)
		}
	}
	return strings.Join(out, ", ")
}

type runsEventsCmd struct {
	ID    string `arg:"" help:"The run's id, the start of its id, or last."`
	After int64  `help:"Only events after this sequence number."`
	Limit int    `help:"The maximum number of events. The default is all." placeholder:"N"`
	JSONL bool   `name:"jsonl" help:"Print JSON lines: one object per line, as events are read. Errors go to standard error only."`
}

func (c *runsEventsCmd) Run(w *world) error {
	if w.json && c.JSONL {
		return media.Errorf(media.CodeInvalid, "--json and --jsonl cannot be used together: --json prints all events in one document")
	}
	if c.Limit < 0 {
		return media.Errorf(media.CodeInvalid, "--limit is %d: give at least 1, or omit it for all events", c.Limit)
	}
	return w.withStores(func(s *stores) error {
		id, err := s.runID(w.ctx, c.ID)
		if err != nil {
			return err
		}
		list := ledger.List[ledger.Event]{Items: []ledger.Event{}}
		last, more := c.After, false
		for n := 0; !more; {
			events, err := s.Ledger.ListEvents(w.ctx, owner, id, last, ledger.MaxLimit)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
			for _, e := range events {
				if more = c.Limit > 0 && n == c.Limit; more {
					break
				}
				switch {
				case w.json:
					list.Items = append(list.Items, e)
				case !c.JSONL:
					w.line("%4d  %s  %-18s %s", e.Sequence, localTime(e.CreatedAt), e.Kind, short(string(e.Payload), 120))
				default:
					if err := json.NewEncoder(w.stdout).Encode(e); err != nil {
						return err
					}
				}
				last = e.Sequence
				n++
			}
		}
		if more {
			list.Next = strconv.FormatInt(last, 10)
		}
		return w.print(list, func() { w.noteNext(list.Next) })
	})
}

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
	return c.follow(w, c.ID, func(a *app, _ *run.Service, id string) (*run.Run, error) {
		if f.Images, err = images(w.ctx, a, c.Image, c.ImageDetail); err != nil {
			return nil, err
		}
		return a.Fork(w.ctx, owner, id, atelier.Fork{Fork: f, ChatModel: c.Model, ImageModel: c.ImageModel})
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

// cancelWait is how long a cancelled run of another process may take to end.
const cancelWait = 30 * time.Second

type runsCancelCmd struct {
	ID string `arg:"" help:"The run's id, the start of its id, or last."`
}

// Run cancels a run and waits until it has ended.
func (c *runsCancelCmd) Run(w *world) error {
	err := c.end(w, appConfig{adopt: true}, func(a *app, _ *run.Service, id string) error { return a.Cancel(w.ctx, owner, id) })
	if media.CodeOf(err) == media.CodeCorrupt { // the engine's database is damaged, but the ledger still has the run
		err = c.end(w, appConfig{withoutEngine: true}, func(_ *app, s *run.Service, id string) error { return s.EndLost(w.ctx, owner, id) })
	}
	return err
}

func (c *runsCancelCmd) end(w *world, config appConfig, end func(a *app, runs *run.Service, id string) error) error {
	return w.withRuns(config, c.ID, func(a *app, runs *run.Service, id string) error {
		if err := end(a, runs, id); err != nil {
			return err
		}
		ctx, stop := context.WithTimeout(w.ctx, cancelWait)
		defer stop()
		r, err := ended(ctx, a, id)
		if err != nil {
			return err
		}
		return w.print(map[string]any{"run_id": r.ID, "status": r.Status}, func() { w.line("%s  %s", r.ID, r.Status) })
	})
}

// ended waits until the run has ended.
func ended(ctx context.Context, a *app, id string) (ledger.Run, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := a.Ledger.Run(ctx, owner, id)
		if err != nil && ctx.Err() == nil || !r.FinishedAt.IsZero() {
			return r, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			err = media.Errorf(media.CodeOf(ctx.Err()), "run %s was asked to stop, and its process has not ended it yet: see atelier runs show %[1]s", id)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = errors.Join(err, reportedError{exitRunning})
			}
			return r, err
		}
	}
}

type runsReportCmd struct {
	ID   string `arg:"" name:"run" help:"The run's id, the start of its id, or last."`
	Out  string `help:"The folder for report.html and media/." placeholder:"DIR" required:""`
	Open bool   `help:"Open the report in the browser."`
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
