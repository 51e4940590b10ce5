package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"atelier/generate"
)

// onTerminal runs a command whose standard error is a terminal.
func (p *testEnv) onTerminal(args ...string) outcome {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	w := &world{ctx: p.t.Context(), stdout: &stdout, stderr: &stderr, terminal: true, env: func(k string) string { return p.env[k] }}
	code := execute(w, args)
	return outcome{args, code, stdout.String(), stderr.String()}
}

// TestProgress: a terminal shows progress; a pipe does not, and neither does --json.
func TestProgress(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	paint := act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Model": "GPT Image 2"})
	s.chat.Answer = answersInOrder(paint, done(t, "Here."), paint, done(t, "Here."), paint, done(t, "Here."))
	run := []string{"run", "sage", "Draw a fox, 128x128."}
	seen := p.onTerminal(run...)
	for _, want := range []string{"thinking", "Generate Image", "made img-", "\r"} {
		if seen.code != exitOK || !strings.Contains(seen.stderr, want) {
			t.Errorf("exit %d, and nothing contains %q:\n%q", seen.code, want, seen.stderr)
		}
	}
	if strings.Contains(seen.stdout, "\r") || strings.Contains(seen.stdout, "thinking") {
		t.Errorf("progress is in the answer: %q", seen.stdout)
	}
	if o := p.must(run...); strings.Contains(o.stderr, "\r") || strings.Contains(o.stderr, "thinking") {
		t.Errorf("a pipe gets progress: %q", o.stderr)
	}
	if o := p.onTerminal(append(run, "--json")...); o.stderr != "" || decode[answer](t, o).Status != "succeeded" {
		t.Errorf("with --json standard error has %q", o.stderr)
	}
	picture := p.onTerminal("generate", "a fox", "-m", "GPT Image 2", "-n", "2")
	for _, want := range []string{"requesting 2 pictures from GPT Image 2", "picture 2: succeeded"} {
		if !strings.Contains(picture.stderr, want) {
			t.Errorf("nothing contains %q:\n%q", want, picture.stderr)
		}
	}
}

// TestMessagesAreSeenWhileTheyAreWritten: a terminal shows the answer as it grows, and the answer is printed once.
func TestMessagesAreSeenWhileTheyAreWritten(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	const message = "Foxes are small dogs of the woods."
	s.chat.Answer = answersInOrder(done(t, message))
	s.chat.Between = func() { time.Sleep(50 * time.Millisecond) }
	seen := p.onTerminal("run", "sage", "What is a fox?")
	if seen.code != exitOK || strings.Count(seen.stdout, message) != 1 {
		t.Fatalf("exit %d\n%s", seen.code, seen.stdout)
	}
	for _, want := range []string{"Foxes", "Foxes are small", "Foxes are small dogs of the"} {
		if !strings.Contains(seen.stderr, want) {
			t.Errorf("nothing shows %q:\n%q", want, seen.stderr)
		}
	}
	if events := p.must("runs", "events", "last").stdout; strings.Count(events, "message-delta") != 1 {
		t.Errorf("parts of the message are in the record:\n%s", events)
	}
}

// TestUnknownProgress: a provider that reports no progress shows no percentage; one that is repeated shows why.
func TestUnknownProgress(t *testing.T) {
	t.Parallel()
	var seen bytes.Buffer
	p := newProgress(&world{stderr: &seen, terminal: true})
	for _, row := range []struct {
		event generate.Event
		want  string
	}{
		{generate.Event{Kind: generate.EventProgress, Model: "FLUX.2 Pro", Progress: -1}, "FLUX.2 Pro: in progress"},
		{generate.Event{Kind: generate.EventProgress, Model: "FLUX.2 Pro", Progress: 0.4}, "FLUX.2 Pro 40 %"},
		{generate.Event{Kind: generate.EventRetry, Model: "FLUX.2 Pro", Wait: 2 * time.Second, Error: &generate.SlotError{Message: "overloaded"}, Progress: -1}, "FLUX.2 Pro: retrying in 2s: overloaded"},
	} {
		seen.Reset()
		p.generation(t.Context(), row.event)
		if !strings.Contains(seen.String(), row.want) || strings.Contains(seen.String(), "-100") {
			t.Errorf("%s: %q", row.want, seen.String())
		}
	}
}

// slowTerminal is a terminal that is slower than a run.
type slowTerminal struct{ shared *output }

func (s slowTerminal) Write(b []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.shared.Write(b)
}

// TestProgressEndsBeforeTheAnswer: no progress follows the answer of a run that is continued.
func TestProgressEndsBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("run", "sage", "Draw a lighthouse, 128x128.")
	var all output
	w := &world{ctx: t.Context(), stdout: &all, stderr: slowTerminal{&all}, terminal: true, env: p.getenv}
	if code := execute(w, []string{"runs", "fork", "last", "--from", "turn-1-model"}); code != exitOK {
		t.Fatalf("exit %d\n%s", code, all.String())
	}
	before, after, found := strings.Cut(all.String(), "atelier media get ")
	if !found || !strings.Contains(before, "thinking") || strings.Contains(after, "\r") || strings.Contains(after, "made img-") {
		t.Errorf("before the answer\n%q\nand after\n%q", before, after)
	}
}
