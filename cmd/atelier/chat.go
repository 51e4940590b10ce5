package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"

	"atelier"
	"atelier/agent"
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
	JSON         bool   `hidden:""`
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
