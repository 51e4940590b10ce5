package chat_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/blob"
	"atelier/blob/memblob"
	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/offline"
	"atelier/media"
	"atelier/wire"
)

// said is a transport that answers what it is told.
type said struct {
	status int
	kind   string
	body   string
	calls  int
}

func (s *said) RoundTrip(r *http.Request) (*http.Response, error) {
	s.calls++
	return &http.Response{
		StatusCode: s.status, Header: http.Header{"Content-Type": {s.kind}}, Body: io.NopCloser(strings.NewReader(s.body)), Request: r,
	}, nil
}

// fuzzKey is repeated in answers.
const fuzzKey = "sk-Fuzz/Key+of=tests"

// fuzzed opens a model of each protocol over one transport.
func fuzzed(f *testing.F, by http.RoundTripper) []chat.Model {
	f.Helper()
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		f.Fatal(err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)}}})
	if err != nil {
		f.Fatal(err)
	}
	profiles, err := chat.LoadProfiles(strings.NewReader("models:\n  - {provider: openai, id: seeing}\n  - {provider: openai, id: painting, image_output: true}\n"))
	if err != nil {
		f.Fatal(err)
	}
	var now time.Time
	later := func() time.Time { // a wait that an answer asks for is over when the next one comes
		now = now.Add(24 * time.Hour)
		return now
	}
	cfg := chat.Config{
		Profiles: profiles, Offline: offline.Model{}, Codec: codec, Base: by, BaseURLs: map[string]string{"openai": "https://x.example/v1"},
		Keys:    map[string]string{"openai": fuzzKey, "anthropic": fuzzKey, "gemini": fuzzKey, "openrouter": fuzzKey, "bedrock": fuzzKey, "ollama": "localhost"},
		Openers: map[string]chat.Opener{"bedrock": bedrock.Opener(bedrock.Config{Region: "us-east-1", AccessKeyID: "AKID", SecretAccessKey: fuzzKey, Codec: codec, Base: by})},
		Retry:   chat.RetryPolicy{Tries: 1, First: time.Nanosecond, Longest: time.Nanosecond, Now: later},
	}
	var models []chat.Model
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if strings.HasPrefix(name, "ollama") { // it has no key
			continue
		}
		r, err := chat.NewRegistry(cfg) // each with waits of its own
		if err != nil {
			f.Fatal(err)
		}
		m, err := r.Named(f.Context(), services[name].model)
		if err != nil {
			continue // a name of other profiles
		}
		models = append(models, m)
	}
	if len(models) < 8 {
		f.Fatalf("%d models", len(models))
	}
	return models
}

// FuzzAnswer: no answer of a chat provider breaks the reader of its protocol, and none makes an error
// without a code, or one that holds media or the key, or is long. An input is put to all models, because to
// look at the coverage of so much code takes longer than they do.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"{}","images":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{}"}]},{"type":"image_generation_call","result":"iVBORw0KGgo="}],"usage":{}}`,
		`{"type":"message","content":[{"type":"text","text":"{}"}],"stop_reason":"refusal","usage":{"input_tokens":1}}`,
		`{"candidates":[{"content":{"parts":[{"text":"{}"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"finishReason":"STOP"}],"usageMetadata":{}}`,
		`{"output":{"message":{"role":"assistant","content":[{"text":"{}"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}`,
		`{"error":{"message":"Incorrect API key: ` + fuzzKey + `","code":"invalid_api_key","status":"X","details":[{"retryDelay":"1s"}]}}`,
		`{"message":"x","detail":[{"loc":[],"msg":"y"}]}`, "\n\n{\"error\":{\"code\":400}}", "<html>", "null", "[]", `{"choices":[]}`, `{"choices":[null]}`, `{"candidates":[{}]}`, `{"output":[null]}`, `{"content":[null]}`,
	} {
		for _, status := range []uint16{200, 400, 429, 500} {
			f.Add(status, "application/json", body)
		}
		f.Add(uint16(200), "text/event-stream", "data: "+body+"\n\n")
	}
	answer := &said{}
	models := fuzzed(f, answer)
	f.Fuzz(func(t *testing.T, status uint16, kind, body string) {
		*answer = said{status: 200 + int(status)%400, kind: kind, body: body}
		for _, m := range models {
			answer.calls = 0
			res, err := m.Generate(scoped(t), hello())
			if answer.calls != 1 {
				t.Errorf("%s was asked %d times: %v", m.Profile(), answer.calls, err)
			}
			if err == nil {
				if strings.Contains(res.Text, fuzzKey) {
					t.Errorf("%s: the answer holds the key: %s", m.Profile(), res.Text)
				}
				continue
			}
			text := err.Error()
			if media.CodeOf(err) == media.CodeInternal || strings.Contains(text, fuzzKey) || len(text) > 2000 || media.ErrorText(text) != text {
				t.Errorf("%s: %s: %.3000q", m.Profile(), media.CodeOf(err), text)
			}
		}
	})
}
