package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"atelier"
	"atelier/agent"
	"atelier/agent/report"
	"atelier/generate"
	"atelier/internal/disk"
	"atelier/internal/shipped"
	"atelier/media"
	"atelier/run"
)

type chatCmd struct {
	Agent        string `arg:"" optional:"" default:"sage" help:"Slug or display name. The default is sage."`
	Conversation string `help:"Continue a conversation: its id, the start of its id, or last. The default is new." placeholder:"ID|last|new"`
	Out          string `help:"Write pictures and reports into this folder, as /out does." placeholder:"DIR"`
	Files        string `help:"A folder that the agent may read." placeholder:"DIR"`
	KB           string `name:"kb" help:"A folder of documents to index, which the agent may search." placeholder:"DIR"`
	DB           string `name:"db" help:"A database that the agent may query, read-only: postgres://… or an SQLite file." placeholder:"URL"`
	Agents       string `help:"A folder of agent definitions. They are added to the shipped ones and replace those of the same name." placeholder:"DIR"`
	Model        string `help:"The chat model; offline selects the offline model." placeholder:"NAME"`
	ImageModel   string `help:"The image model that agents prefer." placeholder:"NAME"`
	limitFlags
}

func (*chatCmd) Help() string {
	return "Each line is a message. /image FILE attaches a picture to the next message, /out DIR writes pictures and reports to a folder, /help lists the commands, " +
		"/quit or the end of input ends the chat. Ctrl-C stops the answer but not the chat. Limits apply to each message. " +
		"If standard input is not a terminal, there are no prompts, a failing command ends the chat, and the exit code is that of the last message."
}

// chatSession is a chat in progress.
type chatSession struct {
	*chatCmd
	w        *world // Ctrl-C does not cancel its context
	app      *app
	runs     *run.Service
	progress *progress
	lines    <-chan string
	// interrupts receives Ctrl-C.
	interrupts chan os.Signal
	// images are attached to the next message; last is the previous answer.
	images      []agent.Image
	imageModels []string
	last        *agent.Result
	// noted holds the notes already printed: a substitute would be noted with every answer.
	noted map[string]bool
	// code is the exit code of the last message; finished means that no further message is read.
	code     int
	finished bool
}

func (c *chatCmd) Run(outer *world) error {
	if outer.json {
		return media.Errorf(media.CodeInvalid, "chat does not support --json: use atelier run AGENT MESSAGE --conversation new --json")
	}
	if _, err := c.limits(); err != nil {
		return err
	}
	defs, err := shipped.Definitions(c.Agents)
	if err != nil {
		return err
	}
	who, err := defs.Find(c.Agent)
	if err != nil {
		return err
	}
	w := *outer
	var quit func()
	w.ctx, quit = signal.NotifyContext(context.WithoutCancel(outer.ctx), terminations()...)
	defer quit()
	t := &chatSession{chatCmd: c, w: &w, progress: newProgress(&w), interrupts: make(chan os.Signal, 1), noted: map[string]bool{}}
	signal.Notify(t.interrupts, os.Interrupt)
	defer signal.Stop(t.interrupts)
	sources := atelier.Sources{Files: c.Files, Knowledge: c.KB, Database: c.DB, Agents: c.Agents, ChatModel: c.Model, ImageModel: c.ImageModel}
	return w.withApp(appConfig{events: t.progress.generation, sources: sources}, func(a *app) error {
		if err := t.begin(a); err != nil {
			return err
		}
		if t.runs, err = a.Runs(w.ctx); err != nil {
			return err
		}
		t.lines = readLines(w.ctx, w.stdin)
		if w.interactive {
			w.note("%s. /help lists the commands; /quit or Ctrl-D ends the chat.", who.Name)
		}
		return t.readMessages()
	})
}

// begin validates the models and the conversation that the flags name, and creates the folder.
func (t *chatSession) begin(a *app) error {
	t.app = a
	if err := a.CheckModels(t.w.ctx, t.Model, t.ImageModel); err != nil {
		return err
	}
	if t.ImageModel != "" {
		t.imageModels = []string{t.ImageModel}
	}
	if t.Out != "" {
		if err := makeFolder(t.Out); err != nil {
			return err
		}
	}
	if t.Conversation == "new" {
		t.Conversation = ""
	} else if t.Conversation != "" {
		head, err := a.stores().conversation(t.w.ctx, t.Conversation)
		if err != nil {
			return err
		}
		t.Conversation = head.ID
	}
	return nil
}

func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return disk.Error("make the folder "+dir, err)
	}
	return nil
}

// readMessages reads messages until the end.
func (t *chatSession) readMessages() error {
	for {
		message, err := t.next("> ")
		switch {
		case errors.Is(err, io.EOF):
			return t.leave()
		case errors.Is(err, errStopped) && t.w.interactive:
			t.w.note("/quit or Ctrl-D ends the chat")
			continue
		case err != nil, message == "": // after Ctrl-C in a script, the next call returns io.EOF
			continue
		}
		t.sendMessage(message)
	}
}

func (t *chatSession) leave() error {
	if t.Conversation != "" {
		agent := ""
		if t.Agent != "sage" {
			agent = quoted(t.Agent) + " "
		}
		t.w.note("conversation %s: continue with atelier chat %s--conversation %[1]s", t.Conversation, agent)
	}
	if t.code != exitOK && !t.w.interactive {
		return reportedError{t.code}
	}
	return nil
}

// errStopped means Ctrl-C while no answer is in progress.
var errStopped = errors.New("stopped")

// next returns the next line that is not a command. The error is io.EOF at the end, or errStopped.
func (t *chatSession) next(prompt string) (string, error) {
	for {
		if t.w.interactive {
			_, _ = io.WriteString(t.w.stderr, prompt) // a write error cannot be reported
		}
		line, more := "", false
		if t.finished {
			return "", io.EOF
		}
		select {
		case line, more = <-t.lines:
		case <-t.interrupts:
			t.code, t.finished = exitInterrupted, !t.w.interactive
			return "", errStopped
		case <-t.w.ctx.Done():
		}
		if !more {
			return "", io.EOF
		}
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "//"); ok {
			return "/" + rest, nil
		}
		if !strings.HasPrefix(line, "/") {
			return line, nil
		}
		if err := t.command(line); errors.Is(err, io.EOF) {
			t.finished = true // also at a question
		} else if err != nil {
			t.code = t.w.explain(err)
			t.finished = !t.w.interactive // later lines of a script depend on it
		}
	}
}

func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() { // a read from a terminal cannot be interrupted: it lasts until the process exits
		defer close(lines)
		r := bufio.NewReader(cmp.Or[io.Reader](in, strings.NewReader("")))
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// chatCommands is what /help prints.
const chatCommands = `/image FILE  attach a picture to the next message: a file, the id of a stored item, or a ref of the conversation
/out DIR     write the pictures and reports of the last answer and of later ones into a folder
/help        list the commands
/quit        end the chat
To send a message that begins with a slash, type two slashes.`

// command executes a line that begins with a slash; io.EOF ends the chat.
func (t *chatSession) command(line string) error {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.Trim(strings.TrimSpace(rest), `"'`)
	switch {
	case name == "/quit", name == "/exit":
		return io.EOF
	case name == "/help":
		t.w.line("%s", chatCommands)
		return nil
	case name == "/image" && rest != "":
		image, err := images(t.w.ctx, t.app, []string{rest}, "auto")
		if err == nil {
			t.images = append(t.images, image...)
			t.w.note("%s is attached to the next message", rest)
		}
		return err
	case name == "/out" && rest != "":
		return t.writeTo(rest)
	case name == "/image", name == "/out":
		return media.Errorf(media.CodeInvalid, "%s requires a name: see /help", name)
	}
	return media.Errorf(media.CodeInvalid, "unknown command %s: see /help, or begin with // to send it as a message", short(name, 40))
}

// writeTo writes the last answer and all later ones into a folder.
func (t *chatSession) writeTo(dir string) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	t.Out = dir
	if t.last == nil {
		t.w.note("pictures and reports will be written into %s", dir)
		return nil
	}
	ans, err := t.export(t.last)
	t.w.printAnswer(answer{Outputs: append(ans.Outputs, ans.AlsoMade...), Warnings: ans.Warnings, Report: ans.Report})
	return err
}

// export writes the files of an answer, and drops the warnings that were shown before.
func (t *chatSession) export(res *agent.Result) (answer, error) {
	ans, err := t.app.export(context.WithoutCancel(t.w.ctx), res, t.folder(res), false)
	ans.Warnings = slices.DeleteFunc(slices.Clone(ans.Warnings), t.shownBefore)
	return ans, err
}

// folder returns the folder for the files of an answer; empty if none is set. No report is overwritten.
func (t *chatSession) folder(res *agent.Result) string {
	dir := t.Out
	for n := 2; dir != "" && report.Has(res.Payload); n++ {
		if _, err := os.Stat(filepath.Join(dir, "report.html")); err != nil {
			break
		}
		dir = filepath.Join(t.Out, "report-"+itoa(n))
	}
	return dir
}

// sendMessage sends a message, asks the questions that come before the answer, and shows the answer.
func (t *chatSession) sendMessage(message string) {
	limits, _ := t.limits() // Run has checked them
	req := agent.Request{
		Agent: t.Agent, Message: message, Owner: owner, Images: t.images, ImageModels: t.imageModels, Conversation: cmp.Or(t.Conversation, "new"),
	}
	limits.Apply(&req)
	t.progress.restart()
	stop := t.progress.follow(t.app.Observer())
	r, err := t.runs.Start(t.w.ctx, req)
	if err != nil {
		stop()
		t.code = t.w.explain(err)
		return
	}
	t.Conversation, t.images = r.Conversation, nil
	for r != nil {
		res, err := t.wait(r)
		stop()
		t.progress.clear()
		t.show(res, err)
		if r = nil; res != nil && res.Status == agent.StatusPaused && len(res.Pending) > 0 {
			r = t.answer(res.RunID, res.Pending[0])
			stop = t.progress.follow(t.app.Observer())
		}
	}
	stop()
}

// wait waits for a run to end. Ctrl-C cancels the run; a second Ctrl-C ends the process.
func (t *chatSession) wait(r *run.Run) (*agent.Result, error) {
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-t.interrupts:
			signal.Stop(t.interrupts)
			r.Cancel()
		case <-t.w.ctx.Done():
			r.Cancel()
		case <-over:
		}
	})
	res, err := r.Wait(context.WithoutCancel(t.w.ctx))
	close(over)
	watch.Wait()
	signal.Notify(t.interrupts, os.Interrupt)
	return res, err
}

// show prints the result of a message.
func (t *chatSession) show(res *agent.Result, runErr error) {
	if res == nil {
		t.code = t.w.explain(runErr)
		return
	}
	t.last, t.code = res, exitOK
	ans, err := t.export(res)
	ans.Dispositions = slices.DeleteFunc(slices.Clone(ans.Dispositions), func(d generate.Disposition) bool { return t.shownBefore(outcomeText(d)) })
	t.w.printAnswer(ans)
	if err = errors.Join(err, t.w.ending(res, runErr)); err != nil {
		t.code = t.w.explain(err)
	}
}

// shownBefore reports whether a note was shown before, and marks it as shown.
func (t *chatSession) shownBefore(note string) bool {
	before := t.noted[note]
	t.noted[note] = true
	return before
}

// answer asks a question and resumes the run with the answer; nil leaves the question open.
func (t *chatSession) answer(id string, q agent.Question) *run.Run {
	t.w.question(q)
	for {
		line, err := t.next("answer (leave empty to answer later)> ")
		if err != nil || line == "" {
			t.w.note("the question is still open; to answer it: atelier resume %s", id)
			return nil
		}
		value := json.RawMessage(line)
		if !strings.HasPrefix(line, "{") || !json.Valid(value) {
			value, err = answerFromText(q, line)
		}
		if err == nil {
			var r *run.Run
			r, err = t.runs.Resume(t.w.ctx, owner, id, &agent.Reply{Question: q.ID, Value: value, Images: t.images})
			if err == nil {
				t.images = nil
				return r
			}
		}
		t.code = t.w.explain(err)
		if errors.Is(err, run.ErrInProgress) || media.CodeOf(err) == media.CodeConflict {
			return nil // someone else answered
		}
	}
}
