package chat_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/chat"
	"atelier/chat/chattest"
	"atelier/media"
	"atelier/media/wire"
)

// update rewrites testdata/captured.
var update = flag.Bool("update", false, "write testdata/captured")

// recordingService keeps the request bodies that a service received.
type recordingService struct {
	next http.Handler

	mu     sync.Mutex // guards bodies
	bodies [][]byte
}

func (s *recordingService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, b)
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(b))
	s.next.ServeHTTP(w, r)
}

// services lists the chat services and how they are called. home is the public host of a service that is called there.
var services = map[string]struct {
	model, path, home string
	dialect           chattest.Dialect
	// detail reports whether the protocol has a field for the level of image detail.
	detail bool
}{
	"openai":            {model: "openai/gpt-5.4", home: "api.openai.com", dialect: chattest.DialectOpenAI, detail: true},
	"openai-compatible": {model: "openai/seeing", path: "/v1", dialect: chattest.DialectOpenAI, detail: true},
	"openai-responses":  {model: "openai/painting", path: "/v1", dialect: chattest.DialectResponses, detail: true},
	"anthropic":         {model: "anthropic/claude-sonnet-4-6", dialect: chattest.DialectAnthropic},
	"gemini":            {model: "gemini/gemini-3.1-pro-preview", dialect: chattest.DialectGemini},
	"gemini-painting":   {model: "gemini/gemini-3-pro-image", dialect: chattest.DialectGemini},
	"bedrock":           {model: "bedrock/amazon.nova-pro-v1:0", dialect: chattest.DialectBedrock},
	"bedrock-maverick":  {model: "bedrock/meta.llama4-maverick-17b-instruct-v1:0", dialect: chattest.DialectBedrock},
	"openrouter":        {model: "openrouter/meta-llama/llama-4-maverick", dialect: chattest.DialectOpenAI, detail: true},
	"groq-maverick":     {model: "openai/meta-llama/llama-4-maverick-17b-128e-instruct", path: "/v1", dialect: chattest.DialectOpenAI, detail: true},
	"ollama":            {model: "ollama/llama4", dialect: chattest.DialectOpenAI},
}

// redirectTransport redirects calls to a public host to a simulator.
type redirectTransport struct {
	home string
	to   *url.URL
}

func (a redirectTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != a.home || r.URL.Scheme != "https" {
		return nil, &net.AddrError{Err: "asked elsewhere", Addr: r.URL.Host}
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = a.to.Scheme, a.to.Host
	return http.DefaultTransport.RoundTrip(r)
}

// openModel opens a model whose service is h.
func openModel(t *testing.T, h http.Handler, model, path, home string) (chat.Model, *wire.Codec) {
	t.Helper()
	if home == "" {
		r, codec := connect(t, h, model, path)
		return named(t, r, model), codec
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var codec *wire.Codec
	r := newRegistry(t, func(c *config) {
		provider, _, _ := strings.Cut(model, "/")
		c.Keys[provider], c.Base, codec = "sk-test", redirectTransport{home, to}, c.Codec
	})
	return named(t, r, model), codec
}

// conversation is an agent's request with pictures: two in the task, each after its ref, and one that an action made,
// in the message after its results.
func conversation(a, b, made media.Output) chat.Request {
	behind := func(o media.Output) chat.Part { return chat.Part{Text: "\n" + string(o.Ref) + ":"} }
	return chat.Request{System: "Answer in JSON.", Messages: []chat.Message{
		{Role: chat.RoleUser, Parts: []chat.Part{{Text: "What are these?"}, behind(a), {Media: &a}, behind(b), {Media: &b, Detail: "low"}}},
		chat.Text(chat.RoleAssistant, `{"actions":[{"name":"Generate Image"}]}`),
		{Role: chat.RoleUser, Parts: []chat.Part{{Text: "```json\n{\"results\":{}}\n```"}, behind(made), {Media: &made}}},
	}}
}

// TestEveryProviderGetsItsImageParts sends pictures to every service and compares what arrives with the documented
// schema, in the simulator, and with the captured requests in testdata (written by go test ./chat -run ImageParts
// -update).
func TestEveryProviderGetsItsImageParts(t *testing.T) {
	t.Parallel()
	for name, c := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := &chattest.Simulator{}
			rec := &recordingService{next: sim}
			m, codec := openModel(t, rec, c.model, c.path, c.home)
			a, b := store(t, codec, pngOf(t, noise(40, 30, 1))), store(t, codec, jpegOf(t, noise(200, 150, 2)))
			made := smaller(t, m, codec, store(t, codec, pngOf(t, noise(400, 300, 3))))
			if _, err := m.Generate(scoped(t), conversation(a, b, made)); err != nil {
				t.Fatal(err)
			}
			got := sim.Requests()[0]
			if got.Dialect != c.dialect || got.ContentLength != got.Bytes {
				t.Fatalf("the service received %s, %d of %d bytes", got.Dialect, got.Bytes, got.ContentLength)
			}
			compare(t, got, c.detail, []media.Output{a, b, made})
			golden(t, filepath.Join("testdata", "captured", name+".json"), redacted(t, rec.bodies[0]))
		})
	}
}

// smaller fits a picture into 20,000 bytes.
func smaller(t *testing.T, m chat.Model, codec *wire.Codec, o media.Output) media.Output {
	t.Helper()
	f, err := m.Profile().Fit(scoped(t), codec, o, chat.Room{Images: 3, MaxBytes: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if f.Reason == "" || f.Output.SizeBytes > 20_000 || f.Output.Width >= 400 {
		t.Fatalf("fitted to %s, %d × %d", f.Output, f.Output.Width, f.Output.Height)
	}
	return f.Output
}

// compare checks the order, bytes, types, sizes and detail of the received parts.
func compare(t *testing.T, got chattest.Request, detail bool, sent []media.Output) {
	t.Helper()
	var order []string
	for _, m := range got.Messages {
		for _, p := range m.Parts {
			if p.Image == nil {
				order = append(order, m.Role+": "+p.Text)
				continue
			}
			order = append(order, fmt.Sprintf("%s: <%s %d × %d, %d bytes, %.8s, %s>", m.Role, p.Image.MIMEType, p.Image.Width, p.Image.Height, p.Image.Size, p.Image.SHA256, strings.TrimPrefix(p.Image.Detail, "auto")))
		}
	}
	shown := func(o media.Output, d string) string {
		if !detail {
			d = ""
		}
		return fmt.Sprintf("user: <%s %d × %d, %d bytes, %.8s, %s>", o.MIMEType, o.Width, o.Height, o.SizeBytes, o.Digest.Hex(), d)
	}
	want := []string{
		"user: What are these?", "user: \n" + string(sent[0].Ref) + ":", shown(sent[0], ""), "user: \n" + string(sent[1].Ref) + ":", shown(sent[1], "low"),
		`assistant: {"actions":[{"name":"Generate Image"}]}`,
		"user: ```json\n{\"results\":{}}\n```", "user: \n" + string(sent[2].Ref) + ":", shown(sent[2], ""),
	}
	if got.System() != "Answer in JSON." {
		t.Errorf("the instruction arrived as %q", got.System())
	}
	if len(got.Messages) > 0 && got.Messages[0].Role == "system" {
		order = order[len(order)-len(want):]
	}
	if d := cmp.Diff(want, order); d != "" {
		t.Error(d)
	}
}

// encoded matches text that may be a picture in base64.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/]{60,}={0,2}`)

// redacted returns a readable body in which each picture is replaced by its type and size.
func redacted(t *testing.T, body []byte) []byte {
	t.Helper()
	body = encoded.ReplaceAllFunc(body, func(s []byte) []byte {
		raw, err := base64.StdEncoding.DecodeString(string(s))
		if err != nil {
			t.Errorf("%.40s is no base64", s)
			return s
		}
		c, format, err := image.DecodeConfig(bytes.NewReader(raw))
		if err != nil {
			t.Errorf("a picture arrived as %.40s: %v", s, err)
			return s
		}
		return fmt.Appendf(nil, "[%s %d x %d]", format, c.Width, c.Height)
	})
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	got = regexp.MustCompile(`img-[0-9a-z]{8}`).ReplaceAll(got, []byte("img-xxxxxxxx"))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

// TestServicesRefuseWhatTheyDoNotTake proves that the simulator can refuse.
func TestServicesRefuseWhatTheyDoNotTake(t *testing.T) {
	t.Parallel()
	data := base64.StdEncoding.EncodeToString(pngOf(t, noise(3, 3, 1)))
	url := "data:image/png;base64," + data
	for name, c := range map[string]struct{ path, body string }{
		"OpenAI: address without an object":  {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":"` + url + `"}]}]}`},
		"OpenAI: picture of the assistant":   {"/v1/chat/completions", `{"model":"m","messages":[{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]}]}`},
		"OpenAI: BMP":                        {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/bmp;base64,` + data + `"}}]}]}`},
		"OpenAI: PNG said to be JPEG":        {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + data + `"}}]}]}`},
		"OpenAI: detail":                     {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + url + `","detail":"huge"}}]}]}`},
		"Responses: address with an object":  {"/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":{"url":"` + url + `"}}]}]}`},
		"Anthropic: data URL":                {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + url + `"}}]}]}`},
		"Anthropic: no length of the answer": {"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`},
		"Anthropic: empty text":              {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`},
		"Gemini: GIF":                        {"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"` + data + `"}}]}]}`},
		"Gemini: snake case":                 {"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"` + data + `"}}]}]}`},
		"Bedrock: whole type":                {"/model/m/converse", `{"messages":[{"role":"user","content":[{"image":{"format":"image/png","source":{"bytes":"` + data + `"}}}]}]}`},
		"Bedrock: blank text":                {"/model/m/converse", `{"messages":[{"role":"user","content":[{"text":" "}]}]}`},
		"Bedrock: one role twice":            {"/model/m/converse", `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"user","content":[{"text":"b"}]}]}`},
		"Bedrock: 21 pictures":               {"/model/m/converse", `{"messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"image":{"format":"png","source":{"bytes":"`+data+`"}}},`, 21), ",") + `]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, c.path, strings.NewReader(c.body))
			(&chattest.Simulator{}).ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), data[:48]) {
				t.Errorf("answered %d: %s", w.Code, w.Body)
			}
		})
	}
}
