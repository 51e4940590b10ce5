package chat_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/offline"
	"atelier/media"
)

// fixedTransport is a transport that returns a preset answer.
type fixedTransport struct {
	status int
	kind   string
	body   string
	calls  int
}

func (s *fixedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s.calls++
	return &http.Response{
		StatusCode: s.status, Header: http.Header{"Content-Type": {s.kind}}, Body: io.NopCloser(strings.NewReader(s.body)), Request: r,
	}, nil
}

// fuzzKey is the key that answers echo.
const fuzzKey = "sk-Fuzz/Key+of=tests"

// fuzzedConfig configures all protocols over one transport.
func fuzzedConfig(f *testing.F, by http.RoundTripper) config {
	f.Helper()
	codec := wiretest.NewCodec(f)
	profiles, err := chat.LoadProfiles(strings.NewReader("models:\n  - {provider: openai, id: seeing}\n  - {provider: openai, id: painting, image_output: true}\n"))
	if err != nil {
		f.Fatal(err)
	}
	var now time.Time
	later := func() time.Time { // a wait that one answer requests has elapsed when the next call is made
		now = now.Add(24 * time.Hour)
		return now
	}
	return config{Codec: codec, Base: by, BaseURLs: map[string]string{"openai": "https://x.example/v1"}, Config: chat.Config{
		Profiles: profiles, Offline: offline.Model{},
		Keys:    map[string]string{"openai": fuzzKey, "anthropic": fuzzKey, "gemini": fuzzKey, "openrouter": fuzzKey, "bedrock": fuzzKey, "ollama": "localhost"},
		Openers: map[string]chat.Opener{"bedrock": bedrock.Opener(bedrock.Config{Region: "us-east-1", AccessKeyID: "AKID", SecretAccessKey: fuzzKey, Codec: codec, Base: by})},
		Retry:   chat.RetryPolicy{MaxAttempts: 1, First: time.Nanosecond, MaxDelay: time.Nanosecond, Now: later},
	}}
}

// fuzzed opens one model per protocol over one transport.
func fuzzed(f *testing.F, by http.RoundTripper) []chat.Model {
	f.Helper()
	cfg := fuzzedConfig(f, by)
	var models []chat.Model
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if strings.HasPrefix(name, "ollama") { // has no key
			continue
		}
		r, err := cfg.registry() // each model gets its own waits
		if err != nil {
			f.Fatal(err)
		}
		m, err := r.Named(f.Context(), services[name].model)
		if err != nil {
			continue // a model of other profiles
		}
		models = append(models, m)
	}
	if len(models) < 8 {
		f.Fatalf("%d models", len(models))
	}
	return models
}

// FuzzAnswer: no answer of a chat provider, whole or streamed, breaks the reader of its protocol. No error lacks a
// code, contains media or the key, or is long. Every input is given to all models, because measuring the coverage of so
// much code takes longer than running them.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"{}","images":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{}"}]},{"type":"image_generation_call","result":"iVBORw0KGgo="}],"usage":{}}`,
		`{"type":"message","content":[{"type":"text","text":"{}"}],"stop_reason":"refusal","usage":{"input_tokens":1}}`,
		`{"candidates":[{"content":{"parts":[{"text":"{}"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"finishReason":"STOP"}],"usageMetadata":{}}`,
		`{"output":{"message":{"role":"assistant","content":[{"text":"{}"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}`,
		`{"error":{"message":"Incorrect API key: ` + fuzzKey + `","code":"invalid_api_key","status":"X","details":[{"retryDelay":"1s"}]}}`,
		`{"message":"x","detail":[{"loc":[],"msg":"y"}]}`, "\n\n{\"error\":{\"code\":400}}", "<html>", "null", "[]", `{"choices":[{"index":0,"delta":{"content":"not requested"}}]}`, `{"choices":[]}`, `{"choices":[null]}`, `{"candidates":[{}]}`, `{"output":[null]}`, `{"content":[null]}`,
	} {
		for _, status := range []uint16{0, 200, 229, 300} { // 200, 400, 429, 500
			f.Add(status, "application/json", body)
		}
		f.Add(uint16(0), "text/event-stream", "data: "+body+"\n\n") // status 200
	}
	answer := &fixedTransport{}
	models := fuzzed(f, answer)
	f.Fuzz(func(t *testing.T, status uint16, kind, body string) {
		*answer = fixedTransport{status: 200 + int(status)%400, kind: kind, body: body}
		for _, m := range models {
			for _, streams := range []bool{false, true} {
				var shown strings.Builder
				r := textRequest()
				if streams {
					r.OnText = func(text string) { shown.WriteString(text) }
				}
				answer.calls = 0
				res, err := m.Generate(scoped(t), r)
				if answer.calls != 1 {
					t.Errorf("%s was asked %d times: %v", m.Profile(), answer.calls, err)
				}
				if text := res.Text + "\n" + shown.String(); strings.Contains(text, fuzzKey) {
					t.Errorf("%s: the answer contains the key: %s", m.Profile(), text)
				}
				checkError(t, m.Profile().String(), err)
			}
		}
	})
}

// checkError fails if an error has no code, contains media or the key, reports a panic, or is long.
func checkError(t *testing.T, of string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	if media.CodeOf(err) == media.CodeInternal || strings.Contains(text, fuzzKey) || strings.Contains(text, "nil pointer") || len(text) > 2000 || media.ErrorText(text) != text {
		t.Errorf("%s: %s: %.3000q", of, media.CodeOf(err), text)
	}
}

// FuzzList: no model list breaks its reader or the comparison with the profiles.
func FuzzList(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"id":"gpt-9","shutdown_date":"2027-03-04"},{"id":"x","shutdown_date":1,"capabilities":{"image_input":{"supported":true}}}],"has_more":true,"last_id":"x"}`,
		`{"models":[{"name":"models/gemini-9","supportedGenerationMethods":["generateContent"],"inputTokenLimit":9},{"name":"l:1b","capabilities":["vision"]}],"nextPageToken":"p"}`,
		`{"data":[{"id":"a/b","context_length":-1,"architecture":{"input_modalities":["image"]}},null]}`, `{"error":"` + fuzzKey + `"}`, "[]", "null", "<html>",
	} {
		f.Add(uint16(0), body)
		f.Add(uint16(200), body)
	}
	answer := &fixedTransport{kind: "application/json"}
	cfg := fuzzedConfig(f, answer)
	r, err := cfg.service()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		answer.status, answer.body = 200+int(status)%400, body
		for _, provider := range []string{"openai", "anthropic", "gemini", "openrouter"} {
			listed, err := r.List(t.Context(), provider)
			checkError(t, provider, err)
			cfg.Profiles.Compare(provider, listed, time.Unix(0, 0))
		}
	})
}
