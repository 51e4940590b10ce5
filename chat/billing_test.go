package chat_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/chat"
	"atelier/media"
)

// models names one model per wire protocol.
var models = map[string]string{
	"openai": "openai/seeing", "gemini": "gemini/gemini-3.1-pro-preview", "anthropic": "anthropic/claude-sonnet-4-6",
}

// connectTo connects a registry to the service at address.
func connectTo(t *testing.T, provider, address string) chat.Model {
	t.Helper()
	r := newRegistry(t, func(c *config) {
		c.Keys[provider], c.BaseURLs[provider] = "sk-test", address
		if provider == "openai" {
			c.BaseURLs[provider] += "/v1"
		}
	})
	return named(t, r, models[provider])
}

func ask(t *testing.T, m chat.Model) (chat.Response, error) {
	t.Helper()
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "local", Tree: "t"})
	return m.Generate(ctx, chat.Request{Messages: []chat.Message{chat.Text(chat.RoleUser, "x")}})
}

// TestNoCallIsPaidTwice: a call whose answer was lost may have been billed; a call that never reached the provider was
// not.
func TestNoCallIsPaidTwice(t *testing.T) {
	t.Parallel()
	half := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "5000")
		_, _ = io.WriteString(w, `{"id":"a","choices":[{"message":{"content":"par`) // the answer is truncated on purpose
	}
	for provider := range models {
		for name, answer := range map[string]func(http.ResponseWriter){
			"closed without an answer": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
			"half an answer":           half,
			"no JSON": func(w http.ResponseWriter) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"choices": tru`)
			},
		} {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				var calls atomic.Int32
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					_, _ = io.Copy(io.Discard, r.Body)
					answer(w)
				}))
				t.Cleanup(server.Close)
				_, err := ask(t, connectTo(t, provider, server.URL))
				if err == nil || !errors.Is(err, chat.ErrUnsettled) || media.Retryable(err) || calls.Load() != 1 {
					t.Errorf("%d calls, retryable %v, error %v", calls.Load(), media.Retryable(err), err)
				}
			})
		}
		t.Run(provider+" refused connection", func(t *testing.T) {
			t.Parallel()
			// Nothing listens on port 1. The port of a closed server may already belong to another test.
			_, err := ask(t, connectTo(t, provider, "http://127.0.0.1:1"))
			if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) || !strings.Contains(err.Error(), "BASE_URL") {
				t.Errorf("retryable %v, got %v", media.Retryable(err), err)
			}
		})
	}
}

// TestErrorInsideAStream: a part of an answer may have been billed, unless the answer says what it used.
func TestErrorInsideAStream(t *testing.T) {
	t.Parallel()
	const failed = `{"error":{"message":"upstream broke","code":502}}`
	for name, c := range map[string]struct {
		provider  string
		events    []string
		used      bool
		unsettled bool
	}{
		"after a part of the text": {"openai", []string{`{"id":"c","choices":[{"index":0,"delta":{"content":"Once upon"}}]}`, failed}, false, true},
		"before the text":          {"openai", []string{failed}, false, false},
		"with its usage": {"anthropic", []string{
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":40,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Once upon"}}`,
			`{"type":"error","error":{"type":"api_error","message":"upstream broke"}}`,
		}, true, false},
	} {
		server := httptest.NewServer(answering(t, 200, "text/event-stream", "data: "+strings.Join(c.events, "\n\ndata: ")+"\n\n"))
		t.Cleanup(server.Close)
		q := textRequest()
		q.OnText = func(string) {}
		got, err := connectTo(t, c.provider, server.URL).Generate(scoped(t), q)
		if err == nil || !strings.Contains(err.Error(), "upstream broke") || errors.Is(err, chat.ErrUnsettled) != c.unsettled ||
			strings.Contains(err.Error(), "may have been billed") != c.unsettled || c.unsettled && media.Retryable(err) || (got.Usage != chat.Usage{}) != c.used {
			t.Errorf("%s: %+v, retryable %t, %v", name, got.Usage, media.Retryable(err), err)
		}
	}
}

// TestThoughtsAreBilled: Gemini counts thoughts separately from the answer, and cached tokens as part of the prompt.
func TestThoughtsAreBilled(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"{}"}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":7,"thoughtsTokenCount":500,"totalTokenCount":607}}`)
	}))
	t.Cleanup(server.Close)
	got, err := ask(t, connectTo(t, "gemini", server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if want := (chat.Usage{InputTokens: 100, OutputTokens: 507, CachedTokens: 40}); got.Usage != want {
		t.Errorf("got %+v, want %+v", got.Usage, want)
	}
}

// TestAnswersHaveRoom: a report does not fit into the 4,096 tokens that the SDK requests.
func TestAnswersHaveRoom(t *testing.T) {
	t.Parallel()
	var asked struct {
		MaxTokens int64 `json:"max_tokens"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&asked) // a missing field fails below
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":5}}`)
	}))
	t.Cleanup(server.Close)
	got, err := ask(t, connectTo(t, "anthropic", server.URL))
	if err != nil || got.Usage.InputTokens != 8 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if asked.MaxTokens < 16_000 {
		t.Errorf("asked for %d tokens", asked.MaxTokens)
	}
}

// TestWithheldAnswer: an answer that a filter withheld is a refusal, which a retry cannot fix.
func TestWithheldAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"content_filter","message":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":3,"completion_tokens":0}}`)
	}))
	t.Cleanup(server.Close)
	if _, err := ask(t, connectTo(t, "openai", server.URL)); media.CodeOf(err) != media.CodeModerated || media.Retryable(err) {
		t.Errorf("got %v", err)
	}
}

// TestCallsEnd: a service that never answers does not block a run forever.
func TestCallsEnd(t *testing.T) {
	t.Parallel()
	// The bubble's clock advances only when the service has the request and waits, however busy the machine is.
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t, func(c *config) {
			c.Keys["openai"], c.BaseURLs["openai"], c.Timeout, c.Base = "sk-test", "http://chat.example/v1", 20*time.Millisecond, hangingService{}
		})
		_, err := ask(t, named(t, r, "openai/seeing"))
		if media.CodeOf(err) != media.CodeDeadline || media.Retryable(err) || !errors.Is(err, chat.ErrUnsettled) || !strings.Contains(err.Error(), "billed") {
			t.Errorf("got %v", err)
		}
	})
}

// hangingService is a service that accepts a request and never answers.
type hangingService struct{}

func (hangingService) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	return nil, r.Context().Err()
}
