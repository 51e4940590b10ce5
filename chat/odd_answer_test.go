package chat_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/chat"
	"atelier/chat/chattest"
	"atelier/media"
)

// TestUncountedCallsAreNotFree: the price of an answer without usage is unknown, unless the model is free.
func TestUncountedCallsAreNotFree(t *testing.T) {
	t.Parallel()
	body := `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}]}`
	for model, want := range map[string]string{"openai/gpt-6.1-sol": "", "ollama/llama4": "0"} {
		path := "/v1"
		if model == "ollama/llama4" {
			path = ""
		}
		r, _ := connect(t, answering(t, 200, "application/json", body), model, path)
		got, err := ask(t, named(t, r, model))
		if err != nil || (got.CostUSD == nil) != (want == "") || want != "" && *got.CostUSD != want {
			t.Errorf("%s: %+v costs %v, %v", model, got.Usage, got.CostUSD, err)
		}
	}
	r, _ := connect(t, answering(t, 200, "application/json", `{"output":{"message":{"role":"assistant","content":[{"text":"hello"}]}},"stopReason":"end_turn"}`), "bedrock/meta.llama4-maverick-17b-instruct-v1:0", "")
	if got, err := ask(t, named(t, r, "bedrock/meta.llama4-maverick-17b-instruct-v1:0")); err != nil || got.CostUSD != nil {
		t.Errorf("bedrock: %+v, %v", got, err)
	}
}

// silentNetwork is a network that does not answer connection attempts.
type silentNetwork struct{}

func (silentNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	d := net.Dialer{Timeout: time.Nanosecond}
	_, err := d.DialContext(r.Context(), "tcp", "127.0.0.1:1")
	return nil, err
}

// TestNoConnectionIsNoDeadline: a connection attempt that times out is a provider that cannot be reached, and nothing
// was sent.
func TestNoConnectionIsNoDeadline(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		r := newRegistry(t, func(c *config) {
			c.Base = silentNetwork{}
			for key := range models {
				c.Keys[key], c.BaseURLs[key] = "sk-test", "http://chat.example/v1"
			}
		})
		if _, err := ask(t, named(t, r, model)); media.CodeOf(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "_BASE_URL") {
			t.Errorf("%s: %s: %v", model, media.CodeOf(err), err)
		}
	}
}

// TestErrorsThatAreNone: values that some services send if there is no error.
func TestErrorsThatAreNone(t *testing.T) {
	t.Parallel()
	const usage = `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`
	for _, none := range []string{`false`, `[]`, `0`, "{\n}", `""`, `null`} {
		body := strings.Replace(completed(`"content":"hello"`, usage), `{"id"`, `{"error":`+none+`,"id"`, 1)
		r, _ := connect(t, answering(t, 200, "application/json", body), "openai/seeing", "/v1")
		if got, err := ask(t, named(t, r, "openai/seeing")); err != nil || got.Text != "hello" {
			t.Errorf("%s: %q, %v", none, got.Text, err)
		}
	}
}

// TestOnePictureOfTwo: an answer keeps the pictures that were made if another one fails.
func TestOnePictureOfTwo(t *testing.T) {
	t.Parallel()
	picture := pngOf(t, noise(30, 20, 2))
	body := `{"id":"r","object":"response","created_at":1,"model":"m","status":"completed","output":[
		{"type":"image_generation_call","id":"ig_1","status":"completed","output_format":"png","result":"` + base64.StdEncoding.EncodeToString(picture) + `"},
		{"type":"image_generation_call","id":"ig_2","status":"failed","result":null,"error":{"code":"moderation_blocked","message":"It was rejected by our safety system."}}],
		"usage":{"input_tokens":40,"output_tokens":9,"total_tokens":49}}`
	r, _ := connect(t, answering(t, 200, "application/json", body), "openai/painting", "/v1")
	got, err := ask(t, named(t, r, "openai/painting"))
	if err != nil || len(got.Media) != 1 || got.Media[0].Digest != media.DigestOf(picture) || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "safety system") || got.Usage.OutputTokens != 9 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTextEndsLikeTheKeyBegins: the end of a streamed text is shown even if it may be the beginning of the key.
func TestTextEndsLikeTheKeyBegins(t *testing.T) {
	t.Parallel()
	events := ""
	for _, piece := range []string{"These are the desk", "s"} {
		events += `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"` + piece + `"},"finish_reason":null}]}` + "\n\n"
	}
	events += `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	r := newRegistry(t, func(c *config) {
		c.Keys["openai"], c.BaseURLs["openai"] = "sk-test-12345", sim.Serve(t, answering(t, 200, "text/event-stream", events))+"/v1"
	})
	shown := ""
	q := textRequest()
	q.OnText = func(s string) { shown += s }
	got, err := named(t, r, "openai/seeing").Generate(scoped(t), q)
	if err != nil || got.Text != "These are the desks" || shown != got.Text {
		t.Errorf("%q was shown of %q, %v", shown, got.Text, err)
	}
}

// TestBaseURLsWithASlash: the slash at the end of a base URL makes no difference.
func TestBaseURLsWithASlash(t *testing.T) {
	t.Parallel()
	for provider, model := range models {
		var path string
		address := sim.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path = r.URL.Path
			w.WriteHeader(http.StatusTeapot)
		}))
		r := newRegistry(t, func(c *config) { c.Keys[provider], c.BaseURLs[provider] = "sk-test", address+"/" })
		if _, err := ask(t, named(t, r, model)); err == nil || strings.Contains(path, "//") {
			t.Errorf("%s was asked at %s: %v", provider, path, err)
		}
	}
}

// TestGatewayTimeoutMayBeBilled: a proxy that waited for the answer in vain does not say whether the provider made it.
func TestGatewayTimeoutMayBeBilled(t *testing.T) {
	t.Parallel()
	for _, status := range []int{504, 524} {
		calls := 0
		r, _ := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			answering(t, status, "text/html", "<html>Timeout</html>").ServeHTTP(w, r)
		}), "openai/seeing", "/v1")
		_, err := ask(t, named(t, r, "openai/seeing"))
		if calls != 1 || media.Retryable(err) || !errors.Is(err, chat.ErrUnsettled) {
			t.Errorf("%d: %d calls, %v", status, calls, err)
		}
	}
}

// TestUsageWithNulls: a null at the end of a stream does not erase what was counted before.
func TestUsageWithNulls(t *testing.T) {
	t.Parallel()
	events := ""
	for _, e := range []string{
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":1000,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"cache_read_input_tokens":null,"output_tokens":7}}`,
		`{"type":"message_stop"}`,
	} {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		events += "event: " + kind + "\ndata: " + e + "\n\n"
	}
	r, _ := connect(t, answering(t, 200, "text/event-stream", events), "anthropic/claude-sonnet-4-6", "")
	q := textRequest()
	q.OnText = func(string) {}
	got, err := named(t, r, "anthropic/claude-sonnet-4-6").Generate(scoped(t), q)
	if want := (chat.Usage{InputTokens: 1010, OutputTokens: 7, CachedTokens: 1000}); err != nil || got.Usage != want || got.Text != "hello" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestListFailures: a failed list has the code of its cause.
func TestListFailures(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]media.Code{401: media.CodeUnauthorized, 403: media.CodeForbidden, 429: media.CodeRateLimited, 503: media.CodeUnavailable} {
		address := sim.Serve(t, answering(t, status, "application/json", `{"error":{"message":"No."}}`))
		var s interface {
			List(context.Context, string) ([]chat.Listed, error)
		}
		newRegistry(t, func(c *config) {
			c.Keys["openai"], c.BaseURLs["openai"] = "sk-test", address+"/v1"
			var err error
			if s, err = c.service(); err != nil {
				t.Fatal(err)
			}
		})
		if _, err := s.List(t.Context(), "openai"); media.CodeOf(err) != want {
			t.Errorf("%d: %s: %v", status, media.CodeOf(err), err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := s.List(ctx, "openai"); media.CodeOf(err) != media.CodeCancelled {
			t.Errorf("cancelled: %s: %v", media.CodeOf(err), err)
		}
	}
}

// TestBlankMessages: an empty answer in a conversation does not prevent the next call.
func TestBlankMessages(t *testing.T) {
	t.Parallel()
	for name, c := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := openModel(t, &chattest.Simulator{}, c.model, c.path, c.home)
			q := textRequest()
			q.Messages = append(q.Messages, chat.Text(chat.RoleAssistant, ""), chat.Text(chat.RoleUser, "Again."))
			if _, err := m.Generate(scoped(t), q); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoEventsInAStream: an answer that came at once is read although it is declared as a stream.
func TestNoEventsInAStream(t *testing.T) {
	t.Parallel()
	body := completed(`"content":"hello"`, `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`)
	r, _ := connect(t, answering(t, 200, "text/event-stream", body), "openai/seeing", "/v1")
	q := textRequest()
	q.OnText = func(string) {}
	if got, err := named(t, r, "openai/seeing").Generate(scoped(t), q); err != nil || got.Text != "hello" || got.Usage.OutputTokens != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEventsOfAnotherType: the text of a streamed answer is read whatever type the answer declares.
func TestEventsOfAnotherType(t *testing.T) {
	t.Parallel()
	for provider := range models {
		for _, kind := range []string{"text/plain; charset=utf-8", "Text/Event-Stream", "application/octet-stream", "text/event-stream;charset=UTF-8"} {
			service := &chattest.Simulator{Answer: func(chattest.Request) string { return "hello" }}
			address := sim.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				rec := httptest.NewRecorder()
				service.ServeHTTP(rec, r)
				w.Header().Set("Content-Type", kind)
				_, _ = w.Write(rec.Body.Bytes()) // the client reads it
			}))
			q, shown := textRequest(), ""
			q.OnText = func(s string) { shown += s }
			got, err := connectTo(t, provider, address).Generate(scoped(t), q)
			if err != nil || got.Text != "hello" || shown != "hello" || got.Usage.OutputTokens == 0 || got.FinishReason != "stop" {
				t.Errorf("%s %s: %+v, %q was shown, %v", provider, kind, got, shown, err)
			}
		}
	}
}

// TestForeignEnvironment: variables that the SDKs read change neither the address nor the headers of calls to services
// that they are not for.
func TestForeignEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "for-another-service")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Token: for-another-service")
	for _, name := range []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "http://elsewhere.example")
	}
	for name, c := range services {
		if strings.HasPrefix(name, "openai") || strings.HasPrefix(name, "groq") || strings.HasPrefix(name, "bedrock") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			key := ""
			m, _ := openModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for header, values := range r.Header {
					if strings.Contains(strings.Join(values, " "), "for-another-service") {
						t.Errorf("%s: %s", header, values)
					}
				}
				key = r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
				(&chattest.Simulator{}).ServeHTTP(w, r)
			}), c.model, c.path, c.home)
			if _, err := m.Generate(scoped(t), textRequest()); err != nil || key == "" {
				t.Errorf("key %q: %v", key, err)
			}
		})
	}
	for provider, model := range models { //nolint:paralleltest // it sets environment variables
		r := newRegistry(t, func(c *config) {
			c.Keys[provider] = "sk-test"
			c.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.Host, "elsewhere") {
					t.Errorf("%s was asked at %s", provider, r.URL)
				}
				return nil, io.ErrUnexpectedEOF
			})
		})
		_, _ = ask(t, named(t, r, model)) // there is no network
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
