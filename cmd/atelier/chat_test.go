package main

import (
	"bytes"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// runChat runs the chat command of the binary with lines as its standard input.
func (p *testEnv) runChat(lines []string, args ...string) outcome {
	p.t.Helper()
	with := *p
	with.stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	return with.start(append([]string{"chat"}, args...)...).wait()
}

// TestChat: several lines form one conversation; pictures are attached and written; there are no prompts without a
// terminal.
func TestChat(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	given, out := p.picture("my sea.png", 40, 30, color.NRGBA{B: 200, A: 255}), filepath.Join(p.dir, "out")
	o := p.runChat([]string{"Draw a lighthouse, 128x128", "", "/out " + out, "Make it bluer", "/help", `/image "` + given + `"`, "//what is this?"})
	talks := read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json").Items
	if o.code != exitOK || len(talks) != 1 || talks[0].Messages != 6 {
		t.Fatalf("exit %d, %+v\n%s%s", o.code, talks, o.stdout, o.stderr)
	}
	if strings.Contains(o.stdout+o.stderr, "> ") || !strings.Contains(o.stdout, "/quit") || !strings.Contains(o.stderr, "continue with atelier chat --conversation "+talks[0].ID) {
		t.Errorf("printed\n%s\n%s", o.stdout, o.stderr)
	}
	if n := strings.Count(o.stderr, "used because no provider is ready"); n > 2 { // one per action
		t.Errorf("a substitute is reported %d times", n)
	}
	files, err := filepath.Glob(filepath.Join(out, "media", "*.png"))
	if err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
	shown := p.must("conversations", "show", "last").stdout
	if !strings.Contains(shown, "my sea.png") || !strings.Contains(shown, "/what is this?") {
		t.Errorf("shown\n%s", shown)
	}
	o = p.runChat([]string{"hello", "/quit", "unread"}, "--conversation", talks[0].ID[:20])
	if again := read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json").Items; o.code != exitOK || len(again) != 1 || again[0].Messages != 8 {
		t.Errorf("exit %d, %+v\n%s", o.code, again, o.stderr)
	}
}

// TestChatRefuses: unusable flags are refused before the first message; in a script, a failing command ends the chat.
func TestChatRefuses(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for says, args := range map[string][]string{
		"there is no agent":   {"nobody"},
		"no conversation":     {"--conversation", "nosuch"},
		"must be more than 0": {"--max-turns=-1"},
		"OPENAI_API_KEY":      {"--model", "openai/gpt-5.4"},
		"is not a folder":     {"--agents", "nowhere"},
		"there is no model":   {"--image-model", "nosuch"},
	} {
		p.runChat([]string{"hello"}, args...).checkRefused(t, exitInput, says)
	}
	for says, line := range map[string]string{"neither a file": "/image nowhere.png", "unknown command /draw": "/draw", "requires a name": "/out"} {
		p.runChat([]string{line, "hello"}).checkRefused(t, exitInput, says)
	}
	if n := len(read[ledger.List[ledger.Run]](p, "runs", "list", "--json").Items); n != 0 {
		t.Errorf("%d runs", n)
	}
}

// TestChatWritesReports: each report has its own file.
func TestChatWritesReports(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	out := filepath.Join(p.dir, "out")
	o := p.runChat([]string{"How did the north do?", "And the south?"}, "research-agent", "--files", p.folder(), "--out", out)
	first, second := mustRead(t, filepath.Join(out, "report.html")), mustRead(t, filepath.Join(out, "report-2", "report.html"))
	if o.code != exitOK || first == second || !strings.Contains(o.stdout, "report-2") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestChatAsksInPlace: the next line answers a run's question; after a line that does not fit, the question is
// repeated; an unanswered question stays open.
func TestChatAsksInPlace(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	flags := []string{"boss", "--agents", filepath.Join(s.dir, "own")}
	o := s.runChat([]string{"paint", "green", "red"}, flags...)
	if o.code != exitOK || !strings.Contains(o.stdout, "Which colour?") || !strings.Contains(o.stderr, "none of the choices") || !strings.Contains(o.stdout, "Here they are.") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if got := s.submitted(t); got["a red boat"] != 1 {
		t.Errorf("painted %v", got)
	}
	o = s.runChat([]string{"paint again", ""}, flags...)
	_, typed, said := strings.Cut(o.stderr, "to answer it: atelier ")
	if o.code != exitPaused || !said {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	typed, _, _ = strings.Cut(typed, "\n")
	if o := s.start(append(strings.Fields(typed), "blue")...).wait(); o.code != exitOK {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

// TestChatApproves: yes and no suffice to answer an approval.
func TestChatApproves(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.chat.Answer = func(r chattest.Request) string {
		if turnOf(r)%2 == 1 {
			return done(t, "That is all.")
		}
		return act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Size": "256x256"})
	}
	o := s.runChat([]string{"paint", "no"}, "boss", "--agents", filepath.Join(s.dir, "own"), "--approve-over", "0.001")
	if got := s.submitted(t); o.code != exitOK || got["a fox"] != 0 || !strings.Contains(o.stdout, "price:") {
		t.Fatalf("exit %d, painted %v\n%s%s", o.code, got, o.stdout, o.stderr)
	}
	o = s.runChat([]string{"paint", "yes"}, "boss", "--agents", filepath.Join(s.dir, "own"), "--approve-over", "0.001")
	if got := s.submitted(t); o.code != exitOK || got["a fox"] != 1 {
		t.Errorf("exit %d, painted %v\n%s%s", o.code, got, o.stdout, o.stderr)
	}
}

// TestCtrlCStopsTheAnswerNotTheChat: Ctrl-C keeps what was made; the next message is answered, and the stopped answer
// can be continued.
func TestCtrlCStopsTheAnswerNotTheChat(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(threePictures(t), done(t, "Still here."))
	p.env["ATELIER_CHAT_MODEL"], p.env["ATELIER_IMAGE_MODEL"] = "openai/gpt-5.4", "GPT Image 2"
	slowAfter(s)
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = in
	proc := p.start("chat")
	say := func(line string) {
		if _, err := io.WriteString(typing, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	say("draw three pictures")
	eventually(t, "the first picture", func() bool { return len(p.mediaList().Items) >= 1 })
	if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the answer", func() bool { return strings.Contains(proc.stderr.String(), "continue with: atelier runs retry") })
	say("are you there?")
	eventually(t, "the next answer", func() bool { return strings.Contains(proc.stdout.String(), "Still here.") })
	if err := typing.Close(); err != nil {
		t.Fatal(err)
	}
	if o := proc.wait(); o.code != exitOK {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	list := read[ledger.List[ledger.Run]](p, "runs", "list", "--json").Items
	if len(list) != 2 || list[0].Status != ledger.StatusSucceeded || list[1].Status != ledger.StatusCancelled {
		t.Errorf("%+v", list)
	}
}

// TestChatPromptsAPerson: a terminal shows prompts, and a mistake does not end the chat.
func TestChatPromptsAPerson(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	var stdout, stderr bytes.Buffer
	w := &world{
		ctx: t.Context(), stdin: strings.NewReader("/draw\nhello\n"), stdout: &stdout, stderr: &stderr, env: p.getenv, terminal: true, interactive: true,
	}
	if code := execute(w, []string{"chat"}); code != exitOK || strings.Count(stderr.String(), "> ") < 3 || !strings.Contains(stderr.String(), "Sage. /help") || !strings.Contains(stdout.String(), "offline model") {
		t.Errorf("exit %d\n%s%s", code, stdout.String(), stderr.String())
	}
	if !strings.Contains(stderr.String(), "thinking") {
		t.Errorf("no progress: %s", stderr.String())
	}
}

// TestQuitAtAQuestion: /quit ends the chat also while a question waits for its answer; the question stays open.
func TestQuitAtAQuestion(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	o := s.runChat([]string{"paint", "/quit", "paint again"}, "boss", "--agents", filepath.Join(s.dir, "own"))
	if runs := read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json").Items; o.code != exitPaused || len(runs) != 1 || !strings.Contains(o.stderr, "the question is still open") {
		t.Errorf("exit %d, %d runs\n%s%s", o.code, len(runs), o.stdout, o.stderr)
	}
}

// TestChatReportsBothFailures: if the files of a failed answer cannot be written, both errors are shown.
func TestChatReportsBothFailures(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Model": "Atelier Offline", "Size": "64x64"}), "I am tired.")
	out := filepath.Dir(p.write("out/media", "a file in place of the folder"))
	o := p.runChat([]string{"draw"}, "--out", out)
	if o.code == exitOK || !strings.Contains(o.stderr, "out/media") || !strings.Contains(o.stderr, "JSON") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestNewChat: new starts a conversation, as in atelier run, and as shells complete it.
func TestNewChat(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	o := p.runChat([]string{"hello"}, "--conversation", "new")
	if talks := read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json").Items; o.code != exitOK || len(talks) != 1 {
		t.Errorf("exit %d, %d conversations\n%s%s", o.code, len(talks), o.stdout, o.stderr)
	}
	p.runChat([]string{"/image nowhere.png"}).checkRefused(t, exitInput, "atelier: nowhere.png is neither a file")
}

// TestCtrlCAtAQuestionOfAScript: without a terminal, Ctrl-C at a question ends the chat like Ctrl-C between messages.
func TestCtrlCAtAQuestionOfAScript(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = in
	proc := s.start("chat", "boss", "--agents", filepath.Join(s.dir, "own"))
	s.stdin = nil
	if _, err := io.WriteString(typing, "paint\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the question", func() bool { return strings.Contains(proc.stdout.String(), "required") })
	if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the note", func() bool { return strings.Contains(proc.stderr.String(), "the question is still open") })
	_, _ = io.WriteString(typing, "paint again\n") // the chat may have ended
	if err := typing.Close(); err != nil {
		t.Error(err)
	}
	o := proc.wait()
	if runs := read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json").Items; o.code != exitInterrupted || len(runs) != 1 {
		t.Errorf("exit %d, %d runs\n%s%s", o.code, len(runs), o.stdout, o.stderr)
	}
}
