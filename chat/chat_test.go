package chat_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/chat"
	"atelier/chat/chattest"
	"atelier/chat/fantasy"
	"atelier/chat/offline"
	"atelier/media"
	"atelier/media/wire"
)

// config holds what a registry and the models of its providers need.
type config struct {
	chat.Config

	BaseURLs map[string]string
	Codec    *wire.Codec
	Base     http.RoundTripper
	Timeout  time.Duration
}

// registry opens the configured models through their SDKs.
func (c config) registry() (*chat.Registry, error) {
	s, err := c.service()
	if err != nil {
		return nil, err
	}
	c.Open, c.AnyOpenAI = s.Open, c.BaseURLs["openai"] != ""
	return chat.NewRegistry(c.Config)
}

// service returns the client that calls the providers.
func (c config) service() (*fantasy.Service, error) {
	return fantasy.New(fantasy.Config{
		Profiles: c.Profiles, Keys: c.Keys, BaseURLs: c.BaseURLs, Codec: c.Codec, Base: c.Base, Timeout: c.Timeout, Now: c.Now,
	})
}

func newRegistry(t *testing.T, change func(*config)) *chat.Registry {
	t.Helper()
	profiles, err := chat.LoadProfiles(strings.NewReader("models:\n  - {provider: openai, id: seeing, name: Seeing, supports_vision: true, input_usd: \"2\", output_usd: \"8\"}\n  - {provider: openai, id: blind, name: Blind}\n"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config{
		Config: chat.Config{
			Profiles: profiles, Offline: offline.Model{}, Keys: map[string]string{}, Retry: chat.RetryPolicy{First: time.Millisecond},
		},
		Codec: wiretest.NewCodec(t), BaseURLs: map[string]string{},
	}
	if change != nil {
		change(&cfg)
	}
	r, err := cfg.registry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestConformance runs the suite over the OpenAI-compatible protocol as three providers speak it.
func TestConformance(t *testing.T) {
	t.Parallel()
	for provider, path := range map[string]string{"openai": "/v1", "openrouter": "", "ollama": ""} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			chattest.Run(t, func(t *testing.T) chattest.Subject {
				t.Helper()
				sim := &chattest.Simulator{}
				server := httptest.NewServer(sim)
				t.Cleanup(server.Close)
				s := chattest.Subject{Service: sim}
				r := newRegistry(t, func(c *config) {
					c.Keys[provider], c.BaseURLs[provider] = "sk-test", server.URL+path
					s.Codec = c.Codec
				})
				s.Model, s.Blind = named(t, r, visionModel(provider)), named(t, r, provider+"/blind")
				return s
			})
		})
	}
}

func visionModel(provider string) string {
	return map[string]string{"openai": "openai/seeing", "openrouter": "openrouter/meta-llama/llama-4-maverick", "ollama": "ollama/llama4"}[provider]
}

func named(t *testing.T, r *chat.Registry, name string) chat.Model {
	t.Helper()
	m, err := r.Named(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestChoosing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys    map[string]string
		def     string
		prefer  []string
		want    string
		asked   string
		code    media.Code
		message string
	}{
		"no key":                      {want: "offline"},
		"google before OpenAI":        {keys: map[string]string{"openai": "k", "gemini": "k"}, want: "gemini"},
		"a preference with its key":   {keys: map[string]string{"openai": "k", "gemini": "k"}, prefer: []string{"openai/gpt-5.4"}, want: "openai"},
		"a preference without":        {keys: map[string]string{"openai": "k"}, prefer: []string{"Llama 4 Maverick"}, want: "openai", asked: "Llama 4 Maverick"},
		"the operator's":              {keys: map[string]string{"openai": "k", "gemini": "k"}, def: "openai/gpt-5.4", prefer: []string{"gemini/gemini-3.1-pro-preview"}, want: "openai"},
		"the operator's, no key":      {def: "openai/gpt-5.4", code: media.CodeMissingKey, message: "OPENAI_API_KEY"},
		"the operator's, unknown":     {def: "gpt-99", code: media.CodeNotFound, message: "PROVIDER/MODEL"},
		"the operator forces offline": {keys: map[string]string{"openai": "k"}, def: "offline", want: "offline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t, func(cfg *config) { cfg.Keys, cfg.Default = c.keys, c.def })
			got, err := r.Choose(t.Context(), c.prefer)
			if media.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.message) {
				t.Fatalf("got error %v, want code %q", err, c.code)
			}
			if err == nil && (got.Model.Profile().Provider != c.want || got.Asked != c.asked || (c.asked != "") != (got.Reason != "")) {
				t.Errorf("got %v, asked %q, reason %q", got.Model.Profile(), got.Asked, got.Reason)
			}
		})
	}
}

func TestProfilesSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Models()); n < 50 {
		t.Errorf("only %d models", n)
	}
	for _, q := range p.Providers() {
		if found := p.Find(q.Key + "/" + q.DefaultModel); len(found) != 1 {
			t.Errorf("%s: default model %s: %v", q.Key, q.DefaultModel, found)
		}
	}
	if m := p.Find("Llama 4 Maverick"); len(m) == 0 || !m[0].SupportsVision || m[0].MaxImages != 5 {
		t.Errorf("Llama 4 Maverick: %+v", m)
	}
	for _, m := range p.Models() {
		if m.SupportsVision && (m.MaxImages == 0 || m.MaxImageBytes == 0 || len(m.MediaTypes) == 0) {
			t.Errorf("%s has vision without limits", m)
		}
	}
}

func TestBadProfilesAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"models:\n  - {provider: nobody, id: x}\n", "models:\n  - {provider: openai}\n", "modles: []\n", "models: [1]\n", "models:\n  - {provider: openai, id: x, max_images: many}\n",
	} {
		if _, err := chat.LoadProfiles(strings.NewReader(bad)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestCostIsExact(t *testing.T) {
	t.Parallel()
	p := chat.Profile{Pricing: chat.Pricing{Rate: chat.Rate{InputUSD: "0.15", OutputUSD: "0.60"}}}
	if got := p.Cost(chat.Usage{InputTokens: 1001, OutputTokens: 7}, time.Time{}); got == nil || *got != "0.00015435" {
		t.Errorf("got %v", got)
	}
	p = chat.Profile{Pricing: chat.Pricing{Rate: chat.Rate{InputUSD: "0.0123456789", OutputUSD: "1"}}}
	if got := p.Cost(chat.Usage{InputTokens: 1}, time.Time{}); got == nil || *got != "0.0000000123456789" {
		t.Errorf("got %v", *got)
	}
	if got := (chat.Profile{Pricing: chat.Pricing{Rate: chat.Rate{InputUSD: "1"}}}).Cost(chat.Usage{}, time.Time{}); got != nil {
		t.Errorf("half a price list returns %s", *got)
	}
	if got := (chat.Profile{Offline: true}).Cost(chat.Usage{InputTokens: 5}, time.Time{}); got == nil || *got != "0" {
		t.Errorf("offline costs %v", got)
	}
}

func TestRetryGivesUpOnLongWaits(t *testing.T) {
	t.Parallel()
	sim := &chattest.Simulator{}
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	waits := 0
	r := newRegistry(t, func(c *config) {
		c.Keys["openai"], c.BaseURLs["openai"] = "sk-test", server.URL+"/v1"
		c.Retry = chat.RetryPolicy{MaxDelay: time.Millisecond, Sleep: func(context.Context, time.Duration) error { waits++; return nil }}
	})
	sim.Fail(chattest.FaultRateLimit)
	_, err := named(t, r, "openai/seeing").Generate(t.Context(), chat.Request{Messages: []chat.Message{chat.Text(chat.RoleUser, "x")}})
	if media.CodeOf(err) != media.CodeRateLimited || waits != 0 {
		t.Errorf("waited %d times, got %v", waits, err)
	}
}
