package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"atelier"
	"atelier/agent"
	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/agent/vision"
	"atelier/generate"
	"atelier/internal/disk"
	"atelier/media"
	"atelier/run"
)

type runCmd struct {
	Agent         string   `arg:"" help:"Slug or display name: research-agent, sage."`
	Message       string   `arg:"" help:"The task of the agent."`
	Files         string   `help:"A folder that the agent may read." placeholder:"DIR"`
	KB            string   `name:"kb" help:"A folder of documents to index, which the agent may search." placeholder:"DIR"`
	DB            string   `name:"db" help:"A database that the agent may query, read-only: postgres://… or an SQLite file." placeholder:"URL"`
	Out           string   `help:"Write report.html and media/ into this folder." placeholder:"DIR"`
	Agents        string   `help:"A folder of agent definitions. They are added to the shipped ones and replace those of the same name." placeholder:"DIR"`
	Model         string   `help:"The chat model; offline selects the offline model." placeholder:"NAME"`
	ImageModel    string   `help:"The image model that agents prefer." placeholder:"NAME"`
	Image         []string `sep:"none" help:"A picture for the agent: a file, the id of a stored item, or a ref of the conversation. Repeat the flag for more." placeholder:"FILE|ID|REF"`
	ImageDetail   string   `enum:"auto,low,high" default:"auto" help:"The detail at which the model sees the pictures, if it supports a choice: auto, low or high."`
	LenientImages bool     `help:"Omit pictures that the chat model does not accept and print a warning, instead of an error."`
	LostImages    string   `enum:"drop,stop" default:"drop" help:"What to do if the bytes of a picture disappear during the run: drop the picture with a warning, or stop."`
	ToolContext   []string `sep:"none" help:"A value for actions that no model sees: NAME=TEXT, or @FILE.json for an object of values, which hides them from other users of the machine. Repeat the flag for more." placeholder:"NAME=TEXT|@FILE"`
	Open          bool     `help:"Open the report in the browser."`
	JSON          bool     `help:"Print one JSON object."`
	limitFlags

	// Conversation is nil if the flag is not given.
	Conversation *string `help:"Continue a conversation: its id, the start of its id, or last; new starts one. The agent receives its messages and can use its pictures." placeholder:"ID|last|new"`
}

// answer is what run --json prints.
type answer struct {
	RunID   string       `json:"run_id"`
	Status  agent.Status `json:"status"`
	Message string       `json:"message"`
	// Payload is the structured result, with the names of files with --out, otherwise with placeholders.
	Payload  json.RawMessage `json:"payload,omitempty"`
	Report   string          `json:"report"`
	Outputs  []outputView    `json:"outputs"`
	AlsoMade []outputView    `json:"also_made"`
	Warnings []string        `json:"warnings"`
	// Unsupported are the numbers of the report that no query and no source contains.
	Unsupported []report.Doubt  `json:"unsupported"`
	Turns       int             `json:"turns"`
	Usage       agent.Usage     `json:"usage"`
	Cost        agent.Cost      `json:"cost"`
	Error       json.RawMessage `json:"error,omitempty"`
	// Dispositions list the model requests that could not be met.
	Dispositions []generate.Disposition `json:"dispositions"`
	// InputImages are the pictures of the message.
	InputImages []vision.InputImage `json:"input_images"`
	// Conversation is the id of the conversation, if there is one.
	Conversation string `json:"conversation_id,omitempty"`
	// Pending is what a paused run waits for; resume answers it.
	Pending []agent.Question `json:"pending,omitempty"`
}

func (c *runCmd) Run(w *world) error {
	if strings.TrimSpace(c.Message) == "" {
		return media.Errorf(media.CodeInvalid, "the message is empty: give %s a task", c.Agent)
	}
	if c.Conversation != nil && strings.TrimSpace(*c.Conversation) == "" {
		return media.Errorf(media.CodeInvalid, "--conversation is empty: give the id of a conversation (see `atelier conversations list`), or new")
	}
	limits, err := c.limits()
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := makeFolder(c.Out); err != nil {
			return err
		}
	}
	sources := atelier.Sources{Files: c.Files, Knowledge: c.KB, Database: c.DB, Agents: c.Agents, ChatModel: c.Model, ImageModel: c.ImageModel}
	return w.follow(appConfig{sources: sources}, "", func(a *app, runs *run.Service, _ string) (*run.Run, error) {
		// Check before the run that the model that the user named exists and has an API key.
		if err := a.CheckModels(w.ctx, c.Model, ""); err != nil {
			return nil, err
		}
		req, err := c.request(w.ctx, a, limits)
		if err != nil {
			return nil, err
		}
		return runs.Start(w.ctx, req)
	}, c.report)
}

func (c *runCmd) request(ctx context.Context, a *app, limits run.ContinueOptions) (req agent.Request, err error) {
	limits.Apply(&req)
	req.Agent, req.Message, req.Owner, req.LenientImages = c.Agent, c.Message, owner, c.LenientImages
	req.LostImages = vision.LostImages(c.LostImages)
	if req.ToolContext, err = toolContext(c.ToolContext); err != nil {
		return req, err
	}
	if req.Images, err = images(ctx, a, c.Image, c.ImageDetail); err != nil {
		return req, err
	}
	if c.Conversation != nil {
		req.Conversation = *c.Conversation
		if req.Conversation != "new" {
			req.Conversation, err = a.stores().conversationID(ctx, req.Conversation)
		}
	}
	if err != nil {
		return req, err
	}
	if c.ImageModel != "" {
		req.ImageModels = []string{c.ImageModel}
	}
	return req, a.CheckModels(ctx, "", c.ImageModel)
}

// report exports and prints the result of a run.
func (c *runCmd) report(w *world, a *app, res *agent.Result, runErr error) error {
	// A cancelled run still shows what it made.
	ctx := context.WithoutCancel(w.ctx)
	ans, unsaved := a.export(ctx, res, c.Out, false)
	if err := w.printRun(ans); err != nil {
		return err
	}
	if unsaved != nil {
		w.note("what was made is kept: atelier media list --run %s", res.RunID)
		return errors.Join(unsaved, runErr)
	}
	if c.Open && ans.Report != "" {
		openInBrowser(ctx, w, ans.Report)
	}
	return w.ending(res, runErr)
}

// export writes the report and the media into the folder out, unless it is empty, and returns the answer, which lacks
// only the paths of files that could not be written. If anyReport is set, the message of a run without a report is
// written as a page.
func (a *app) export(ctx context.Context, res *agent.Result, out string, anyReport bool) (answer, error) {
	ans := answer{
		RunID: res.RunID, Conversation: res.Conversation, Status: res.Status, Message: readable(res), Turns: res.Turns, Usage: res.Usage, Cost: res.Cost,
		Warnings: orEmpty(res.Warnings), Dispositions: orEmpty(res.Dispositions), InputImages: orEmpty(res.InputImages),
		Pending: res.Pending, Unsupported: []report.Doubt{},
	}
	if res.Error != nil {
		b, err := json.Marshal(res.Error)
		if err != nil {
			return ans, media.Errorf(media.CodeInternal, "write the error: %w", err)
		}
		ans.Error = b
	}
	if report.Has(res.Payload) {
		doubts, err := report.Unsupported(report.FromResult(res))
		if err != nil {
			return ans, err
		}
		ans.Unsupported = orEmpty(doubts)
	}
	mode := resolve.ModeKeep
	if out != "" {
		mode = resolve.ModeFile
	}
	var payload bytes.Buffer
	err := resolve.Payload(ctx, &payload, res.Payload, resolve.Options{Mode: mode, Find: res.Find})
	if err != nil {
		return ans, err
	}
	if len(res.Payload) > 0 {
		ans.Payload = payload.Bytes()
	}
	files := map[media.Ref]report.File{}
	var unsaved error
	if out != "" {
		all := append(append([]media.Output{}, res.Outputs...), res.AlsoMade...)
		if files, err = report.Files(ctx, out, all, a.Codec); err != nil {
			unsaved = disk.Error("write the media", err)
		}
		for _, o := range all {
			if f, ok := files[o.Ref]; ok && foreignSVG(o) {
				ans.Warnings = append(ans.Warnings, rawSVG(filepath.Join(out, f.Path)))
			}
		}
		if report.Has(res.Payload) || anyReport {
			name := filepath.Join(out, "report.html")
			err := disk.Write(name, func(w io.Writer) error {
				b := bufio.NewWriterSize(w, 64<<10)
				return cmp.Or(report.Write(ctx, b, report.FromResult(res), resolve.Options{Mode: resolve.ModeDataURI, Find: res.Find, Codec: a.Codec}), b.Flush())
			})
			if unsaved = errors.Join(unsaved, err); err == nil {
				ans.Report = name
			}
		}
	}
	ans.Outputs, ans.AlsoMade = viewsOf(res.Outputs, out, files), viewsOf(res.AlsoMade, out, files)
	return ans, unsaved
}
