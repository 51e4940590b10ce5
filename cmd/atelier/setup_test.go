package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"atelier/chat"
	"atelier/chat/chattest"
	"atelier/chat/offline"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/generatetest/openaisim"
)

// asBinary makes the test binary run as atelier, for tests that need processes of their own: signals, kills, several at
// once.
const asBinary = "ATELIER_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if phase := os.Getenv(crashPhaseVariable); phase != "" {
		os.Exit(runUntilPhase(phase, os.Args[1], os.Args[2]))
	}
	if os.Getenv(asBinary) != "" {
		main() // exits
	}
	code := runTests(m)
	removeBinaries()
	os.Exit(code)
}

// testEnv is a data folder and an environment in which commands run.
type testEnv struct {
	t    *testing.T
	dir  string // for files of the test itself
	data string
	env  map[string]string
	// stdin is the standard input of commands; nil means none.
	stdin io.Reader
}

// newTestEnv returns an environment without any key.
func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	return &testEnv{t: t, dir: dir, data: data, env: map[string]string{"ATELIER_DATA": data, "ATELIER_DATABASE_URL": newDatabase(t, data)}}
}

// removeData removes the data folder and the tables, as before the first command.
func (p *testEnv) removeData() {
	p.t.Helper()
	p.env["ATELIER_DATABASE_URL"] = emptyDatabase(p.t)
	if err := os.RemoveAll(p.data); err != nil {
		p.t.Fatal(err)
	}
}

// outcome is the result of one command line.
type outcome struct {
	args           []string
	code           int
	stdout, stderr string
}

// atelier runs a command in this process and waits for it.
func (p *testEnv) atelier(args ...string) outcome {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	w := &world{ctx: p.t.Context(), stdin: p.stdin, stdout: &stdout, stderr: &stderr, env: p.getenv}
	g := p.grammar()
	defer grammars.Put(g)
	return outcome{args, g.execute(w, args), stdout.String(), stderr.String()}
}

// grammars are reused: building one takes ten milliseconds, and the tests run thousands of commands.
var grammars sync.Pool

// grammar returns a grammar that is new or reset.
func (p *testEnv) grammar() *grammar {
	p.t.Helper()
	g, ok := grammars.Get().(*grammar)
	if !ok {
		g, err := newGrammar()
		if err != nil {
			p.t.Fatal(err)
		}
		return g
	}
	g.cli, g.exited = commandLine{}, -1
	err := kong.Visit(g.parser.Model, func(n kong.Visitable, next kong.Next) error {
		switch n := n.(type) {
		case *kong.Flag:
			n.Set = false
		case *kong.Value:
			n.Set = false
		}
		return next(nil)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return g
}

// getenv returns a variable of the environment of commands in this process.
func (p *testEnv) getenv(name string) string { return p.env[name] }

// must runs a command that must succeed.
func (p *testEnv) must(args ...string) outcome {
	p.t.Helper()
	o := p.atelier(args...)
	if o.code != exitOK {
		p.t.Fatalf("atelier %s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o
}

// read decodes the JSON that a successful command prints.
func read[T any](p *testEnv, args ...string) T {
	p.t.Helper()
	return decode[T](p.t, p.must(args...))
}

func decode[T any](t *testing.T, o outcome) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil {
		t.Fatalf("atelier %s printed no JSON: %v\n%.500s", strings.Join(o.args, " "), err, o.stdout)
	}
	return v
}

// write creates a file of the test and returns its path.
func (p *testEnv) write(name, content string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// folder creates a folder of small real files for research and returns its path.
func (p *testEnv) folder() string {
	p.t.Helper()
	p.write("files/sales.csv", "year,north,south\n2021,10,20\n2022,15,25\n2023,30,28\n2024,42,30\n")
	p.write("files/notes.md", "# Sales\n\nThe north doubled its sales in 2023 because a new shop opened in Kiel. The south grew more slowly than it had planned.\n")
	return filepath.Join(p.dir, "files")
}

// mediaList is the part of the output of media list that tests read.
type mediaList struct {
	Items []struct {
		ID     string `json:"id"`
		Ref    string `json:"ref"`
		Digest string `json:"digest"`
		Size   int64  `json:"size_bytes"`
		Type   string `json:"mime_type"`
		Tree   string `json:"tree"`
	} `json:"items"`
	Next string `json:"next"`
}

// mediaList returns the media of this environment.
func (p *testEnv) mediaList(args ...string) mediaList {
	p.t.Helper()
	return read[mediaList](p, append([]string{"media", "list", "--json"}, args...)...)
}

// process is a command in its own process.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
}

// output is what a process has printed so far.
type output struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start starts a command in its own process.
func (p *testEnv) start(args ...string) *process {
	p.t.Helper()
	return p.startWith([]string{asBinary + "=1"}, args...)
}

// startWith starts the test binary in its own process with more variables in its environment.
func (p *testEnv) startWith(env []string, args ...string) *process {
	p.t.Helper()
	s := &process{t: p.t, cmd: exec.CommandContext(p.t.Context(), binary(p.t), args...)}
	s.cmd.Dir = p.dir
	s.cmd.Env = append(env, "HOME="+p.dir, "TMPDIR="+os.TempDir(), "GOCOVERDIR="+p.dir, "GOGC=400") // short lives, small heaps
	for k, v := range p.env {
		s.cmd.Env = append(s.cmd.Env, k+"="+v)
	}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = p.stdin, &s.stdout, &s.stderr
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// wait returns the outcome; a process killed by a signal has code -1.
func (s *process) wait() outcome {
	s.t.Helper()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return outcome{s.cmd.Args[1:], s.cmd.ProcessState.ExitCode(), s.stdout.String(), s.stderr.String()}
}

// eventually polls with growing pauses until ok returns true; it fails the test after a time that only a hang takes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	pause := 5 * time.Millisecond
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
		pause = min(pause*3/2, 100*time.Millisecond)
	}
}

// waitFor waits until done is closed, at most two minutes.
func waitFor(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("timed out: %s", what)
	}
}

// providers are simulators of OpenAI (images and chat) and Google (images) on one loopback server. They keep the whole
// body of every request.
type providers struct {
	images *openaisim.Simulator
	gemini *geminisim.Simulator
	chat   *chattest.Simulator
	// answer, if set, answers image requests instead of the simulators, unless it returns false.
	answer func(w http.ResponseWriter, body string) bool

	mu     sync.Mutex // guards bodies
	bodies []string
}

// serve starts the simulators. The offline model answers as the chat model until a test sets chat.Answer.
func serve(t *testing.T) (*providers, string) {
	t.Helper()
	images := openaisim.New(openaisim.Config{})
	p := &providers{
		images: images, gemini: geminisim.New(geminisim.Config{}),
		chat: &chattest.Simulator{Key: images.Key(), Answer: offlineAnswers(t)},
	}
	srv := httptest.NewServer(http.HandlerFunc(p.handle))
	t.Cleanup(func() {
		srv.CloseClientConnections() // a killed process may still be answered
		srv.Close()
	})
	return p, srv.URL
}

func (p *providers) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, string(body))
	p.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		p.chat.ServeHTTP(w, r)
	case p.answer != nil && p.answer(w, string(body)):
	case strings.HasPrefix(r.URL.Path, "/v1beta/"):
		p.gemini.ServeHTTP(w, r)
	default:
		p.images.ServeHTTP(w, r)
	}
}

// received returns the bodies of all requests so far.
func (p *providers) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.bodies...)
}

// withOpenAI sets a key for OpenAI: images and chat.
func (p *testEnv) withOpenAI(s *providers, url string) {
	p.env["OPENAI_API_KEY"], p.env["OPENAI_BASE_URL"] = s.images.Key(), url+"/v1"
}

// withGemini sets a key for Google and leaves chat to the offline model.
func (p *testEnv) withGemini(s *providers, url string) {
	p.env["GEMINI_API_KEY"], p.env["GEMINI_BASE_URL"] = s.gemini.Key(), url
	p.env["ATELIER_CHAT_MODEL"] = "offline"
}

// connected returns an environment whose keys belong to simulators.
func connected(t *testing.T) (*testEnv, *providers) {
	t.Helper()
	p := newTestEnv(t)
	s, url := serve(t)
	p.withOpenAI(s, url)
	return p, s
}

// offlineAnswers lets the offline model answer requests to the chat simulator.
func offlineAnswers(t *testing.T) func(chattest.Request) string {
	t.Helper()
	return func(r chattest.Request) string {
		req := chat.Request{System: r.System()}
		for _, m := range r.Messages {
			if m.Role != "system" {
				req.Messages = append(req.Messages, chat.Text(chat.Role(m.Role), m.Text))
			}
		}
		res, err := offline.Model{}.Generate(context.Background(), req)
		if err != nil {
			t.Errorf("answer by rules: %v", err)
		}
		return res.Text
	}
}

// answersInOrder answers the calls of one agent with texts in order; the last one is repeated.
func answersInOrder(texts ...string) func(chattest.Request) string {
	var mu sync.Mutex
	next := 0
	return func(chattest.Request) string {
		mu.Lock()
		defer mu.Unlock()
		text := texts[min(next, len(texts)-1)]
		next++
		return text
	}
}

// step returns a step as the JSON that a model writes.
func step(t *testing.T, fields map[string]any) string {
	t.Helper()
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// done returns a last step.
func done(t *testing.T, message string) string {
	t.Helper()
	return step(t, map[string]any{"reasoning": "finished", "message": message, "done": true})
}

// act returns a step that requests actions, given as pairs of name and params.
func act(t *testing.T, pairs ...any) string {
	t.Helper()
	var acts []any
	for i := 0; i+1 < len(pairs); i += 2 {
		acts = append(acts, map[string]any{"name": pairs[i], "params": pairs[i+1]})
	}
	return step(t, map[string]any{"reasoning": "work", "actions": acts, "done": false})
}

// mustRead returns a whole file.
func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// refuseSecond refuses the picture whose prompt says "the second fox".
func refuseSecond(w http.ResponseWriter, body string) bool {
	if !strings.Contains(body, "the second fox") {
		return false
	}
	sendJSON(w, http.StatusBadRequest, `{"error":{"message":"Your request was rejected by the safety system.","type":"image_generation_user_error","param":null,"code":"moderation_blocked"}}`)
	return true
}
