package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/chat/chattest"
)

// secretOf returns the key of a provider in these tests; it contains characters that encoders escape.
func secretOf(provider string) string { return provider + "/Secret+Key0f=" + provider + "9z" }

// spellings returns the forms in which a provider may repeat a key.
func spellings(key string) []string {
	std := base64.StdEncoding
	return []string{
		key, "Bearer " + key, std.EncodeToString([]byte(key)), std.EncodeToString([]byte("Bearer " + key)), std.EncodeToString([]byte("me:" + key)),
		base64.URLEncoding.EncodeToString([]byte(key)), url.QueryEscape(key), url.PathEscape(key),
	}
}

// secretServices maps each provider to its variables and the model that reaches it.
var secretServices = map[string]struct{ key, base, model string }{
	"openai":      {"OPENAI_API_KEY", "OPENAI_BASE_URL", "GPT Image 2"},
	"gemini":      {"GEMINI_API_KEY", "GEMINI_BASE_URL", "Nano Banana Pro"},
	"bfl":         {"BFL_API_KEY", "BFL_BASE_URL", "FLUX.2 Pro"},
	"leonardo":    {"LEONARDO_API_KEY", "LEONARDO_BASE_URL", "Leonardo Phoenix 1.0"},
	"openrouter":  {"OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "Nano Banana Pro (OpenRouter)"},
	"xai":         {"XAI_API_KEY", "XAI_BASE_URL", "Grok Imagine 2.0"},
	"midjourney":  {"MIDJOURNEY_API_SECRET", "MIDJOURNEY_PROXY_URL", "Midjourney"},
	"chat/openai": {"OPENAI_API_KEY", "OPENAI_BASE_URL", "openai/gpt-5.4"}, "chat/gemini": {"GEMINI_API_KEY", "GEMINI_BASE_URL", "gemini/gemini-3.1-pro-preview"},
	"chat/anthropic": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "anthropic/claude-sonnet-4-6"}, "chat/openrouter": {"OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "openrouter/meta-llama/llama-4-maverick"},
	"chat/bedrock": {"AWS_SESSION_TOKEN", "BEDROCK_BASE_URL", "bedrock/amazon.nova-pro-v1:0"},
}

// keyEcho answers every request with a text that repeats the key: in a page, in providers' error envelopes with any
// status, or in a valid answer.
func keyEcho(provider, how, key string) http.HandlerFunc {
	said := strings.Join(spellings(key), " and ")
	step, _ := json.Marshal(map[string]any{"message": "Your key is " + said, "payload": map[string]string{"report_markdown": "# Key\n\n" + said}, "done": true})
	sim := &chattest.Simulator{Answer: func(chattest.Request) string { return string(step) }}
	return func(w http.ResponseWriter, r *http.Request) {
		if how == "answer" && r.Method == http.MethodPost && !strings.Contains(r.URL.Path, "list") {
			sim.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the client may see no answer
		w.Header().Set("X-Amzn-Errortype", said)
		w.Header().Set("Www-Authenticate", said)
		asksForTasks := r.Method == http.MethodGet || strings.Contains(r.URL.Path, "list") // keeps a search short
		if how == "page" && !asksForTasks {
			w.Header().Set("Content-Type", "text/x-"+url.PathEscape(key))
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "<html>"+said) // the client may be gone
			return
		}
		status := map[string]int{"refused": 400, "no key": 401, "success": 200}[how]
		if asksForTasks {
			status = http.StatusUnauthorized
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		var reason any = map[string]any{"message": said, "code": said, "type": said, "status": said, "details": said}
		var code any = 4
		if provider == "leonardo" || provider == "xai" {
			reason, code = said, said
		}
		_ = json.NewEncoder(w).Encode(map[string]any{ // the client may be gone
			"error": reason, "detail": said, "message": said, "errors": []string{said},
			"code": code, "description": said, "status": "Failed", "failReason": said, "object": "error",
		})
	}
}

// TestKeysAreNowhere: no sink contains the key that a provider repeats, whatever the provider, the form of the key, and
// the kind of answer.
func TestKeysAreNowhere(t *testing.T) {
	t.Parallel()
	for provider := range secretServices {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			p, key, all := newTestEnv(t), secretOf(strings.TrimPrefix(provider, "chat/")), sinks{}
			var asked atomic.Int32
			for _, how := range []string{"refused", "no key", "success", "page", "answer"} {
				answer := keyEcho(provider, how, key)
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(fmt.Sprint(r.Header), key) {
						asked.Add(1)
					}
					answer(w, r)
				}))
				t.Cleanup(srv.Close)
				before := asked.Load()
				all.add(p.callProvider(provider, srv.URL))
				if !testing.Short() || how == "answer" {
					all.add(p.callProvider(provider, srv.URL, "--json"))
				}
				if asked.Load() == before {
					t.Errorf("%s: the provider was not asked with its key", how)
				}
			}
			for _, o := range read[mediaIDs](p, "operations", "list", "--json").Items {
				all.add(p.must("operations", "show", o.ID, "--json"))
			}
			all.gather(p)
			if seen := fmt.Sprintf("%s", all); !strings.Contains(seen, "[key]") {
				t.Error("no sink contains the provider's message")
			}
			for name, sink := range all {
				for _, form := range spellings(key) {
					if form = strings.TrimRight(form, "="); strings.Contains(withoutEscapes(sink), form) {
						at := strings.Index(withoutEscapes(sink), form)
						t.Errorf("%s contains the key as %s: %.200s", name, form, withoutEscapes(sink)[max(at-100, 0):])
					}
				}
			}
		})
	}
}

// callProvider runs a command that calls a provider whose API is at that address.
func (p *testEnv) callProvider(provider, address string, args ...string) outcome {
	p.t.Helper()
	c := secretServices[provider]
	p.env[c.key], p.env[c.base], p.env["AWS_REGION"] = secretOf(strings.TrimPrefix(provider, "chat/")), address, "eu-west-1"
	p.env["AWS_ACCESS_KEY_ID"], p.env["AWS_SECRET_ACCESS_KEY"] = "AKIDEXAMPLE", "secret-that-signs"
	if c.base == "OPENAI_BASE_URL" {
		p.env[c.base] += "/v1"
	}
	if strings.HasPrefix(provider, "chat/") {
		p.env["ATELIER_CHAT_MODEL"] = c.model
		return p.runBriefly(append([]string{"run", "sage", "What is my key?", "--conversation", "new"}, args...)...)
	}
	return p.runBriefly(append([]string{"generate", "a key", "-m", c.model}, args...)...)
}

// runBriefly runs a command and cancels it after 5 seconds: a driver may look long for a lost call.
func (p *testEnv) runBriefly(args ...string) outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := execute(&world{ctx: ctx, stdout: &stdout, stderr: &stderr, env: p.getenv}, args)
	return outcome{args, code, stdout.String(), stderr.String()}
}

// mediaIDs are the ids of a list.
type mediaIDs struct {
	Items []struct {
		ID string `json:"id"`
	} `json:"items"`
}

// withoutEscapes undoes JSON escapes that could hide a key.
func withoutEscapes(sink []byte) string {
	return strings.NewReplacer(`\/`, "/", `\u002b`, "+", `\u003d`, "=").Replace(string(sink))
}
