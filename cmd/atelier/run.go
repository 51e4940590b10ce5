package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"atelier"
	"atelier/action"
	"atelier/agent"
	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/agent/vision"
	"atelier/chat/offline"
	"atelier/generate"
	"atelier/generate/plan"
	"atelier/internal/disk"
	"atelier/ledger"
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
		ans.Error = ledger.JSON(res.Error)
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

// viewsOf returns the JSON form of items and their files in the folder dir.
func viewsOf(items []media.Output, dir string, files map[media.Ref]report.File) []outputView {
	out := []outputView{}
	for _, o := range items {
		var file savedFile
		if f, ok := files[o.Ref]; ok {
			file = savedFile{filepath.Join(dir, filepath.FromSlash(f.Path)), f.Marking}
		}
		out = append(out, viewOf(o, file))
	}
	return out
}

// readable returns the message with each placeholder replaced by the item's name.
func readable(res *agent.Result) string {
	return media.ResolveString(withoutInvented(res.Message), func(r media.Ref) string {
		if o, ok := res.Find(r); ok {
			return named(o.Label, r)
		}
		return "[missing " + string(r.Modality()) + "]"
	})
}

// withoutInvented replaces the placeholders in the text of a model that contain no ref.
func withoutInvented(text string) string {
	for _, bad := range media.BadRefs(text) {
		text = strings.Replace(text, "${media:"+bad+"}", "[missing media]", 1)
	}
	return text
}

// named formats an item within a text for people.
func named(label string, r media.Ref) string {
	return "[" + strings.TrimSpace(label+" "+string(r)) + "]"
}

// printRun prints the answer of a run with what it used and what it waits for.
func (w *world) printRun(ans answer) error {
	return w.print(ans, func() {
		w.printAnswer(ans)
		if n := len(ans.AlsoMade); n > 0 {
			w.note("also made: %s; see atelier media list --run %s", plural(n, "item"), ans.RunID)
		}
		w.note("%s %s: %s, %s, %s, cost %s", ans.RunID, ans.Status, plural(ans.Usage.ModelCalls, "model call"), plural(ans.Usage.Images, "image"),
			duration(ans.Usage.WorkedMS), costText(ledger.Cost(ans.Cost)))
		if ans.Conversation != "" {
			w.note("conversation %s: continue with --conversation %[1]s", ans.Conversation)
		}
		w.ask(ans.RunID, ans.Pending)
	})
}

// printAnswer prints an answer: its text, its outputs, its dispositions, its warnings and its report.
func (w *world) printAnswer(ans answer) {
	if ans.Message != "" {
		w.line("%s", ans.Message)
	}
	for _, o := range ans.Outputs {
		w.line("  %s  %-13s %s", o.Ref, o.MIMEType, o.where())
	}
	for _, o := range append(slices.Clone(ans.Outputs), ans.AlsoMade...) {
		if note := (savedFile{o.Path, o.Marking}).note(); note != "" {
			w.note("%s", note)
		}
	}
	for _, d := range withoutWarning(ans.Dispositions) {
		if !offlineChat(d) {
			w.note("%s", outcomeText(d))
		}
	}
	warnings := ans.Warnings
	ofPictures := func(warning string) bool { return warning == plan.OfflineWarning(offline.Model{}.Profile().Name) }
	if slices.ContainsFunc(ans.Dispositions, offlineChat) && !slices.ContainsFunc(warnings, ofPictures) { // mention the offline model once
		warnings = append(slices.Clone(warnings), offline.Model{}.Profile().Name+" answered because no chat model has an API key; atelier doctor shows which key to set")
	}
	w.warnings(warnings)
	if ans.Report != "" {
		w.line("report: %s", ans.Report)
	}
}

// costText formats the cost of a run and the part of it that providers reported; the rest is estimated.
func costText(c ledger.Cost) string {
	var of string
	total := estimateText(c.EstimatedUSD)
	switch {
	case c.EstimatedUSD == nil:
		return amount(nil)
	case ledger.PicoOf(c.EstimatedUSD) == 0:
	case ledger.PicoOf(c.ReportedUSD) == 0:
		of = " (estimated)"
	case *c.ReportedUSD == *c.EstimatedUSD:
		total, of = amount(c.EstimatedUSD), " (reported)"
	default:
		of = " (" + amount(c.ReportedUSD) + " reported, the rest estimated)"
	}
	if !c.Complete {
		return "at least " + strings.TrimPrefix(total, "about ") + of
	}
	return total + of
}

// withoutWarning returns the dispositions that no warning mentions.
func withoutWarning(all []generate.Disposition) []generate.Disposition {
	return slices.DeleteFunc(slices.Clone(all), func(d generate.Disposition) bool { return d.Setting == agent.ImageModelSetting })
}

// offlineChat reports whether the offline model substituted for a chat model that an agent prefers.
func offlineChat(d generate.Disposition) bool {
	return d.Setting == "chat_model" && d.Outcome == generate.OutcomeSubstituted && d.Applied == offline.Model{}.Profile().Name
}

// outcomeText describes a disposition.
func outcomeText(d generate.Disposition) string {
	used := ""
	if d.Applied != "" {
		used = fmt.Sprintf(", applied %q", d.Applied)
	}
	return fmt.Sprintf("%s %s: requested %q%s: %s", d.Setting, d.Outcome, d.Asked, used, d.Reason)
}

// ending converts a run's status into an error with its exit code.
func (w *world) ending(res *agent.Result, runErr error) error {
	switch res.Status {
	case agent.StatusSucceeded:
		return nil
	case agent.StatusPaused:
		return reportedError{exitPaused}
	case agent.StatusCancelled:
		w.note("interrupted; what was made is kept: atelier media list --run %s", res.RunID)
		w.note("continue with: atelier runs retry %s", res.RunID)
		return reportedError{exitInterrupted}
	default:
	}
	if runErr == nil && res.Error != nil {
		runErr = media.Errorf(res.Error.Code, "%s", res.Error.Message)
	}
	if media.CodeOf(runErr) == media.CodeTooLarge { // the size of user input is checked before a run begins
		w.note("atelier: %s", w.failure(runErr.Error()))
		return reportedError{exitProvider}
	}
	return runErr
}

// openInBrowser opens a file with the system's program for it, if there is one.
func openInBrowser(ctx context.Context, w *world, path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	if err := exec.CommandContext(ctx, name, args...).Start(); err != nil { //nolint:gosec // a fixed program and a path that this package built
		w.note("open %s in a browser", path)
	}
}

// toolContext parses the flags --tool-context; a later value overrides an earlier one of the same name.
func toolContext(flags []string) (action.ToolContext, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	all := action.ToolContext{}
	for i, flag := range flags {
		if file, ok := strings.CutPrefix(flag, "@"); ok {
			b, err := os.ReadFile(file) //nolint:gosec // the user names the file
			if err != nil {
				return nil, media.Errorf(media.CodeInvalid, "--tool-context: %w", err)
			}
			var values map[string]json.RawMessage
			if json.Unmarshal(b, &values) != nil || values == nil {
				return nil, media.Errorf(media.CodeInvalid, "--tool-context: %s does not contain a JSON object: write {\"name\": value, …}", file)
			}
			for name, v := range values {
				all[name] = v
			}
			continue
		}
		name, text, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, media.Errorf(media.CodeInvalid, "--tool-context number %d is neither NAME=TEXT nor @FILE", i+1)
		}
		all[name] = ledger.JSON(text)
	}
	return all, all.Check()
}
