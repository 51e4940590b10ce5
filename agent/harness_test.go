package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/journal"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

func newStore(tb testing.TB) *wire.Codec {
	tb.Helper()
	return codecOn(tb, memblob.New())
}

func codecOn(tb testing.TB, driver blob.Driver) *wire.Codec {
	tb.Helper()
	return wiretest.NewCodecOn(tb, driver)
}

// recorder keeps the recorded items.
type recorder struct {
	mu    sync.Mutex // guards items
	items []media.Output
}

func (r *recorder) Record(_ context.Context, o media.Output) (media.Output, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.ID = fmt.Sprintf("media-%d", len(r.items)+1)
	r.items = append(r.items, o)
	return o, nil
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items)
}

// billedRefusal is an answer that was refused and still billed.
type billedRefusal struct {
	resp chat.Response
	err  error
}

// streamedAnswer is an answer in pieces of a few bytes; after, if not nil, ends it.
type streamedAnswer struct {
	text  string
	after func() error
}

// script is a chat model with answers by agent, in order; functions see the request.
type script struct {
	mu       sync.Mutex // guards the fields below
	answers  map[string][]any
	received []chat.Request
	profile  chat.Profile
	choice   chat.Choice // what is reported about the choice
	before   func()      // called before every answer; nil does nothing
}

func (s *script) Profile() chat.Profile {
	if s.profile.ID == "" {
		return chat.Profile{ID: "script-1", Name: "Script", Provider: "test", Pricing: chat.Pricing{ReportsCost: true}} // its answers report their cost
	}
	return s.profile
}

func (s *script) Choose(context.Context, []string) (chat.Choice, error) {
	c := s.choice
	c.Model = s
	return c, nil
}

func (s *script) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	if s.before != nil && ctx.Err() == nil {
		s.before()
	}
	if err := ctx.Err(); err != nil { // the caller may have given up meanwhile
		return chat.Response{}, err
	}
	slug := slugOf(r.System)
	s.mu.Lock()
	s.received = append(s.received, r)
	list := s.answers[slug]
	if len(list) == 0 {
		s.mu.Unlock()
		return chat.Response{}, media.Errorf(media.CodeInternal, "the script of %q is at its end", slug)
	}
	next := list[0]
	if len(list) > 1 {
		s.answers[slug] = list[1:]
	}
	s.mu.Unlock()
	resp := chat.Response{Model: "script-1", Usage: chat.Usage{InputTokens: 10, OutputTokens: 5}, FinishReason: "stop"}
	switch t := next.(type) {
	case string:
		resp.Text = t
	case error:
		return chat.Response{}, t
	case func(chat.Request) string:
		resp.Text = t(r)
	case streamedAnswer:
		for rest := t.text; rest != "" && r.OnText != nil; {
			n := min(3, len(rest))
			r.OnText(rest[:n])
			rest = rest[n:]
		}
		if t.after != nil {
			return chat.Response{}, t.after()
		}
		resp.Text = t.text
	case chat.Response:
		return t, nil
	case billedRefusal:
		return t.resp, t.err
	default:
		panic(fmt.Sprintf("script holds a %T", t))
	}
	cost := "0.001"
	resp.CostUSD = &cost
	return resp, nil
}

func (s *script) allRequests() []chat.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]chat.Request(nil), s.received...)
}

func slugOf(system string) string {
	_, rest, _ := strings.Cut(system, "## Callable\n```json\n{\"agent\":\"")
	slug, _, _ := strings.Cut(rest, `"`)
	return slug
}

// recordingObserver is an observer that keeps everything.
type recordingObserver struct {
	mu      sync.Mutex // guards the fields below
	runs    []agent.RunRecord
	steps   []agent.StepRecord
	prompts []agent.PromptRecord
	events  []agent.Event
	err     error
	open    []string // model calls that earlier processes began and did not finish
}

func (w *recordingObserver) OpenPrompts(context.Context, string, string) ([]string, error) {
	return w.open, nil
}

func (w *recordingObserver) Emitted(context.Context, string, string) (func(agent.Event) bool, error) {
	return func(agent.Event) bool { return false }, nil
}

func (w *recordingObserver) StatusOf(context.Context, string, string) agent.Status { return "" }

func (w *recordingObserver) SaveRun(_ context.Context, r agent.RunRecord) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, r)
	return w.err
}

func (w *recordingObserver) SaveStep(_ context.Context, s agent.StepRecord) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
	return w.err
}

func (w *recordingObserver) SavePrompt(_ context.Context, p agent.PromptRecord) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prompts = append(w.prompts, p)
	return w.err
}

func (w *recordingObserver) Emit(_ context.Context, e agent.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *recordingObserver) types() []agent.EventType {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []agent.EventType
	for _, e := range w.events {
		out = append(out, e.Type)
	}
	return out
}

// testEnv is a runner with all of its environment in memory.
type testEnv struct {
	store    *wire.Codec
	recorder *recorder
	script   *script
	watcher  *recordingObserver
	actions  *action.Registry
	runner   *agent.Runner
}

type setup struct {
	agents  map[string]string // YAML by slug; a prompt is added
	answers map[string][]any
	actions []action.Action
	gos     map[string]agent.GoAgent
	sources map[string]agent.Source
	now     func() time.Time // nil is a clock that stands still
	journal journal.Journal
	guard   agent.Guardrail
}

func build(tb testing.TB, s setup) *testEnv {
	tb.Helper()
	return buildOn(tb, memblob.New(), s)
}

func buildOn(tb testing.TB, driver blob.Driver, s setup) *testEnv {
	tb.Helper()
	w := &testEnv{store: codecOn(tb, driver), recorder: &recorder{}, script: &script{answers: s.answers}, watcher: &recordingObserver{}}
	var err error
	w.actions, err = action.NewRegistry(action.Config{Store: w.store, Recorder: w.recorder})
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.actions.Register(append([]action.Action{paint()}, s.actions...)...); err != nil {
		tb.Fatal(err)
	}
	if s.now == nil {
		s.now = func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }
	}
	defs, err := definition.Load(definitions(s.agents))
	if err != nil {
		tb.Fatal(err)
	}
	var n int
	var mu sync.Mutex
	w.runner, err = agent.NewRunner(agent.Config{
		Definitions: defs, GoAgents: s.gos, Actions: w.actions, Models: w.script, Codec: w.store,
		Recorder: w.recorder, Observer: w.watcher, Sources: s.sources,
		Now: s.now, Journal: s.journal, Guardrail: s.guard,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("id-%03d", n)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func definitions(agents map[string]string) fstest.MapFS {
	f := fstest.MapFS{}
	for slug, yaml := range agents {
		f[slug+".yaml"] = &fstest.MapFile{Data: []byte("slug: " + slug + "\nname: " + title(slug) + "\ndescription: Tests.\n" + yaml)}
		f[slug+".md"] = &fstest.MapFile{Data: []byte("You are " + slug + ".")}
	}
	return f
}

func title(slug string) string {
	words := strings.Split(slug, "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

func (w *testEnv) run(tb testing.TB, message string) (*agent.Result, error) {
	tb.Helper()
	return w.runner.Run(tb.Context(), agent.Request{Agent: "painter", Message: message})
}

// picture draws a small PNG whose bytes depend on n.
func picture(n int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 4, 4))
	img.Set(0, 0, color.RGBA{R: uint8(n), G: uint8(n >> 8), A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func refOf(n int) string { return string(media.RefOf(media.ModalityImage, media.DigestOf(picture(n)))) }

// paint returns an action that makes picture Number; a negative number fails.
func paint() action.Action {
	return action.Action{
		Name: "Paint", Description: "Paints.",
		Params: []action.Param{
			{Name: "Number", Direction: action.Input, ValueType: action.Scalar, Type: "integer", Required: true},
			{Name: "Images", Direction: action.Output, ValueType: action.Binary, Format: action.FormatBytes, IsArray: true},
		},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			if c.Int("Number") < 0 {
				return action.Result{}, media.Errorf(media.CodeModerated, "this picture was refused")
			}
			return action.Result{Message: "Painted.", Outputs: map[string]any{"Images": [][]byte{picture(c.Int("Number"))}}}, nil
		},
	}
}

// painter is the definition of the agent in most tests.
const painter = "actions: [Paint]\n"

func paintStep(numbers ...int) string {
	var calls []string
	for _, n := range numbers {
		calls = append(calls, fmt.Sprintf(`{"name":"Paint","params":{"Number":%d}}`, n))
	}
	return `{"reasoning":"paint","actions":[` + strings.Join(calls, ",") + `]}`
}

func refs(items []media.Output) []string {
	out := []string{}
	for _, o := range items {
		out = append(out, string(o.Ref))
	}
	return out
}

// lastMessage returns the last message of a request.
func lastMessage(r chat.Request) string { return r.Messages[len(r.Messages)-1].Text() }
