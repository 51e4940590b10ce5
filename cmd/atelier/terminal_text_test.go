package main

import (
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// hostile is text with which a model, a provider or a file may try to control a terminal.
const hostile = "red\x1b[31m\x1b]0;title\x07 back\rward\b \u202egnp.exe\u2066 \u009b2J \x7f end"

// TestVisible: each character that controls a terminal is shown as an escape, and nothing else changes.
func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, Grüße, 狐 👩‍🚀\n\ttab":   "plain, Grüße, 狐 👩‍🚀\n\ttab",
		"a\r\nb":                       "a\nb",
		"\x1b[31mred\x07":              `\x1b[31mred\x07`,
		"\u202eabc\u2069\u200f":        `\u202eabc\u2069\u200f`,
		"\u009b2J\x7f\u2028\xff\ufffd": `\u009b2J\x7f\u2028\xff` + "\ufffd",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	if got := cell("a\nRUN\tsucceeded"); got != `a\nRUN\tsucceeded` {
		t.Errorf("a cell is %q", got)
	}
}

// checkEscaped checks that a command printed no control character and, if all is set, that it showed the hostile text.
func (o outcome) checkEscaped(t *testing.T, all bool) {
	t.Helper()
	text := o.stdout + o.stderr
	for _, r := range text {
		if isControl(r) {
			t.Errorf("atelier %.80q prints %q:\n%q", o.args, r, text)
			break
		}
	}
	if all && !strings.Contains(text, `\x1b[31m`) {
		t.Errorf("atelier %.80q does not show what there is:\n%q", o.args, text)
	}
}

// TestNothingSteersTheTerminal: text from people, models, providers and files is escaped before it reaches a terminal:
// tasks, answers, questions, prompts, labels, names, definitions and errors.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.chat.Answer = func(r chattest.Request) string {
		switch {
		case strings.Contains(r.Messages[len(r.Messages)-1].Text, "ask me"):
			return step(t, map[string]any{"reasoning": hostile, "ask": map[string]any{
				"question": "Which? " + hostile, "schema": map[string]any{"type": "object", "properties": map[string]any{hostile: map[string]any{"type": "string", "description": hostile}}},
			}, "done": false})
		case turnOf(r) == 0:
			return act(t, "Generate Image", map[string]any{"Prompt": "a fox " + hostile, "Size": "256x256"})
		}
		return step(t, map[string]any{"reasoning": "finished", "message": "Here.\n" + hostile, "promote": refsIn(r), "done": true})
	}
	own := filepath.Join(s.dir, "own")
	s.write("own/hostile.yaml", "slug: hostile\nname: \"H \\e[31m\\u202E\"\ndescription: \"D \\e[31m\\u202E\"\n")
	s.write("own/hostile.md", hostile)
	s.atelier("run", "boss", "paint "+hostile, "--agents", own, "--conversation", "new").checkEscaped(t, true)
	run := s.onlyRun().ID
	talk := read[ledger.List[ledger.Conversation]](s.testEnv, "conversations", "list", "--json").Items[0].ID
	op := read[ledger.List[ledger.Operation]](s.testEnv, "operations", "list", "--json").Items[0].ID
	item := s.mediaList().Items[0].ID
	s.atelier("run", "boss", "ask me", "--agents", own).checkEscaped(t, true)
	paused := read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--status", "paused", "--json").Items[0].ID
	for _, args := range [][]string{
		{"runs", "list"},
		{"runs", "list", "--all"},
		{"runs", "show", run},
		{"runs", "show", hostile},
		{"runs", "list", "--status", hostile},
		{"runs", "list", "--status", "paused"},
		{"resume", paused},
		{"runs", "show", paused},
		{"conversations", "list"},
		{"conversations", "show", talk},
		{"operations", "list"},
		{"operations", "show", op},
		{"generate", hostile, "-m", hostile},
		{"models", "show", hostile},
		{"media", "get", hostile},
		{"agents", "list", "--agents", own},
		{"agents", "show", "hostile", "--agents", own},
		{"run", hostile, "x"},
		{"run", "boss", "x", "--files", hostile},
		{hostile},
		{"runs", "list", "--" + hostile},
	} {
		s.atelier(args...).checkEscaped(t, true)
	}
	for _, args := range [][]string{
		{"runs", "events", run},
		{"runs", "show", run, "--steps"},
		{"media", "list"},
		{"media", "show", item},
		{"doctor"},
		{"generate", hostile, "-m", "offline", "--size", "64x64", "-o", os.DevNull},
		{"generate", hostile, "-m", "offline", "-m", "FLUX.2 Pro", "--dry-run"},
	} {
		s.atelier(args...).checkEscaped(t, false)
	}
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"no ` + `\u001b[31m\u202e\u009b` + `","type":"invalid_request_error"}}`))
	}))
	t.Cleanup(broken.Close)
	s.env["OPENAI_BASE_URL"] = broken.URL + "/v1"
	s.atelier("run", "boss", "paint", "--agents", own).checkEscaped(t, true)
	s.atelier("runs", "show", read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json").Items[0].ID).checkEscaped(t, true)
}

// TestNoLogSteersTheTerminal: log lines of slog and of libraries are escaped like all output for people.
func TestNoLogSteersTheTerminal(t *testing.T) { //nolint:paralleltest // The logger is the process's.
	was := log.Writer()
	t.Cleanup(func() { log.SetOutput(was) })
	var b strings.Builder
	logTo(&b)
	slog.Warn("a warning "+hostile, slog.String("error", hostile))
	log.Print("of a library ", hostile)
	if text := b.String(); strings.ContainsFunc(text, isControl) || strings.Count(text, "\n") != 2 || !strings.Contains(text, `of a library red\x1b[31m`) {
		t.Errorf("it is\n%q", text)
	}
}

// TestOneWayToTheTerminal: commands print only through line, note, table, progress and the logger. The exceptions are
// JSON, the bytes of -o - and --help.
func TestOneWayToTheTerminal(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`\bw\.std(out|err)\b|\bos\.Std(out|err)\b|\bfmt\.Print|\bprintln\(`)
	if !strings.Contains(mustRead(t, "main.go"), "\tlogTo(os.Stderr)\n") {
		t.Error("main leaves the logger as it is")
	}
	allowed := regexp.MustCompile(`table\(w\.stdout, |json\.NewEncoder\(w\.stdout\)|p\.bytes, p\.stdout = w\.stdout, w\.stderr|out: w\.stderr, on:|g\.parser\.Stdout, g\.parser\.Stderr = |io\.WriteString\(t\.w\.stderr, prompt\)|io\.WriteString\(w\.stdout, text|logTo\(os\.Stderr\)|logJSONTo\(w\.stderr\)|stdout: os\.Stdout, stderr: os\.Stderr|int\(os\.Stderr\.Fd\(\)\)|fmt\.Fprintln\(w\.std(out|err), visible\(`)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for i, line := range strings.Split(mustRead(t, name), "\n") {
			if direct.MatchString(line) && !allowed.MatchString(line) {
				t.Errorf("%s:%d writes by itself: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}
