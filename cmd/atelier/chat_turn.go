package main

import (
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

	"atelier/agent"
	"atelier/agent/report"
	"atelier/generate"
	"atelier/media"
	"atelier/run"
)

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
