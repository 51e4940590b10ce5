package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/record"
)

// progress shows work in progress on one line of a terminal, which it rewrites.
// Without a terminal it is silent. It is safe for concurrent use.
type progress struct {
	out     io.Writer
	on      bool
	started time.Time
	// noun names what is generated.
	noun string

	mu    sync.Mutex // guards shown and started
	shown int
	// message is the answer received so far.
	message string
}

func newProgress(w *world) *progress {
	return &progress{out: w.stderr, on: w.terminal && !w.json, noun: "picture", started: time.Now()} //nolint:forbidigo // the clock of the terminal
}

// restart resets the elapsed time.
func (p *progress) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = time.Now() //nolint:forbidigo // the clock of the terminal
}

// update replaces the line.
func (p *progress) update(format string, args ...any) {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := short(fmt.Sprintf("%3.0fs  ", time.Since(p.started).Seconds())+cell(fmt.Sprintf(format, args...)), 100)
	_, _ = fmt.Fprintf(p.out, "\r%-*s", p.shown, text)
	p.shown = len(text)
}

// printLine writes a line that is not replaced.
func (p *progress) printLine(format string, args ...any) {
	if !p.on {
		return
	}
	p.clear()
	_, _ = fmt.Fprintln(p.out, visible(fmt.Sprintf(format, args...)))
}

// clear removes the line.
func (p *progress) clear() {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, "\r%*s\r", p.shown, "")
	p.shown = 0
}

// generation shows the progress of an operation.
func (p *progress) generation(_ context.Context, e generate.Event) {
	switch e.Kind {
	case generate.EventStarted:
		p.update("requesting %[2]s from %[1]s", e.Model, plural(e.N, p.noun))
	case generate.EventPartial:
		if e.Shows > 1 {
			p.update("%s: preview %d of a grid of %d", e.Model, e.Sequence, e.Shows)
			return
		}
		p.update("%s: preview %d of %s %d", e.Model, e.Sequence, p.noun, e.Slot)
	case generate.EventSlot:
		p.update("%s %d: %s", p.noun, e.Slot, e.Status)
	case generate.EventRetry, generate.EventWait, generate.EventProgress, generate.EventFallback:
		p.update("%s", record.Note(e))
	case generate.EventFinished:
	}
}

// follow shows a run's events until stop is called.
func (p *progress) follow(o *record.Observer) (stop func()) {
	if !p.on {
		return func() {}
	}
	events, end := o.Subscribe("")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events {
			p.event(e)
		}
	}()
	return func() { end(); <-done }
}

// event shows one event of a run.
func (p *progress) event(e ledger.Event) {
	var d struct {
		Name, Agent, Message, Status, Text string
		Offset                             int
		Partial                            bool
		Output                             media.Output
	}
	// A payload in another format has nothing to show.
	_ = json.Unmarshal(e.Payload, &d)
	switch agent.EventType(e.Kind) {
	case agent.EventAgentStarted:
		p.update("%s works", d.Name)
	case agent.EventTurnStarted:
		p.update("thinking")
	case agent.EventMessageDelta:
		if !d.Partial {
			return // the complete message is printed
		}
		if d.Offset == 0 {
			p.message = ""
		}
		p.message += d.Text
		p.update("%s", lastOf(p.message, 80))
	case agent.EventMessageWithdrawn:
		p.update("thinking again")
	case agent.EventActionStarted:
		p.update("%s", d.Name)
	case agent.EventMediaStored:
		word := "made"
		if d.Output.Origin.Direction == "input" {
			word = "given"
		}
		p.printLine("  "+word+" %s  %s  %s", d.Output.Ref, d.Output.MIMEType, cell(d.Output.Label))
	case agent.EventWarning:
		p.printLine("  warning: %s", d.Message)
	default:
	}
}

// lastOf returns the end of a text on one line, at most most characters.
func lastOf(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return "…" + string(runes[len(runes)-most+1:])
	}
	return string(runes)
}
