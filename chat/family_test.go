package chat_test

import (
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/chat"
	"atelier/media"
)

// day parses a date in the format of the profiles.
func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

// TestFamiliesDecideAboutPictures: a new id of a known family receives pictures, unless a row denies them.
func TestFamiliesDecideAboutPictures(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range strings.Fields(`anthropic/claude-opus-7 anthropic/claude-saga-6-20270301 bedrock/us.anthropic.claude-opus-6-20270101-v1:0 bedrock/global.amazon.nova-pro-v2:0
		openai/gpt-6.2-nova openai/gpt-7 openai/gpt-10-mini openai/gpt-4o-2024-08-06 openai/o1 openai/o3-2025-04-16 openai/o4-mini-high openrouter/openai/gpt-6.1-sol:batch
		gemini/models/gemini-5-pro-preview gemini/gemini-4-argon openrouter/google/gemma-4-31b-it:free ollama/gemma3:27b openai/grok-4.7 openai/grok-5 openai/grok-build-1
		openai/mistral-large-2512 openai/mistral-medium-latest openai/mistral-small-2603 openai/pixtral-12b-2409 openai/ministral-8b-2512 openai/labs-devstral-small-2512
		openai/qwen3-vl-plus openai/qwen3.5-plus openai/qwen3.7-plus openai/qwen3.8-max openai/qvq-max ollama/qwen2.5vl:7b openai/deepseek-flash openai/deepseek-v4.1-pro
		openai/meta-llama/llama-4-scout-17b-16e-instruct bedrock/us.meta.llama4-scout-17b-instruct-v1:0 ollama/llama3.2-vision:11b openai/mistral-large-4`) {
		if f := p.Find(id); len(f) != 1 || !f[0].SupportsVision || f[0].MaxImages == 0 || f[0].Assumed == "" && strings.HasSuffix(id, "-7") {
			t.Errorf("%s is shown no pictures: %+v", id, f)
		}
	}
	for _, id := range strings.Fields(`openai/gpt-3.5-turbo openai/gpt-4 openai/o1-mini openai/o1-preview openai/o3-mini openai/gpt-oss-120b openai/grok-2-1212 openai/grok-3-mini openai/grok-code-fast
		openai/codestral-2508 openai/devstral-medium-2507 openai/magistral-medium-2509 openai/ministral-8b-2410 openai/open-mixtral-8x22b openai/mistral-large-2411 openai/mistral-small-2501
		openai/qwen-max openai/qwen-plus openai/qwen3-32b openai/qwen3.6-max-preview openai/qwen3.7-max openai/qwq-32b openai/deepseek-v4-pro openai/deepseek-chat openai/deepseek-reasoner
		ollama/llama3.1:8b openai/llama-3.3-70b-versatile ollama/gemma3:1b bedrock/amazon.nova-micro-v1:0 bedrock/amazon.titan-text-premier-v1:0 openai/command-a-03-2025 gemini/gemini-embedding-2 openai/some-text-model`) {
		if f := p.Find(id); len(f) != 1 || f[0].SupportsVision {
			t.Errorf("%s is shown pictures: %+v", id, f)
		}
	}
}

// TestUnlistedModels: a model that no row names is treated as its closest match, and a note says so.
func TestUnlistedModels(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, func(c *config) {
		c.Keys["anthropic"], c.Keys["openai"], c.Keys["openrouter"] = "k", "k", "k"
		c.Now = func() time.Time { return day("2026-11-22") }
	})
	for _, c := range []struct {
		id, applied string
		context     int64
		input, say  string
	}{
		{"anthropic/claude-opus-7", "a model of the family Claude", 1_000_000, "", "its price is unknown"},
		{"anthropic/claude-opus-5-5-20261001", "Claude Opus 5.5", 1_000_000, "4", "it has the same price"},
		{"openai/gpt-6.1-terra-2026-10-26", "GPT-6.1 Terra", 1_050_000, "1", "it has the same price"},
		{"openrouter/anthropic/claude-opus-9", "a model of the family Claude", 1_000_000, "", "it reports its cost"},
		{"openai/gpt-8-sol", "a model of the family GPT", 1_050_000, "", "its price is unknown"},
	} {
		r2 := newRegistry(t, func(cfg *config) {
			cfg.Keys, cfg.Now = map[string]string{"anthropic": "k", "openai": "k", "openrouter": "k"}, func() time.Time { return day("2026-11-22") }
			cfg.Default = c.id
		})
		got, err := r2.Choose(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := got.Model.Profile()
		if len(got.Changes) != 1 || got.Changes[0].Applied != c.applied || got.Changes[0].Asked != c.id || !strings.Contains(got.Changes[0].Reason, c.say) || p.ContextTokens != c.context || p.InputUSD != c.input {
			t.Errorf("%s: %+v, context %d, %q", c.id, got.Changes, p.ContextTokens, p.InputUSD)
		}
	}
	if c, err := r.Choose(t.Context(), []string{"openai/gpt-6.1-sol"}); err != nil || len(c.Changes) != 0 {
		t.Errorf("a listed model: %+v, %v", c.Changes, err)
	}
}

// TestRetiredChatModels: a model that was shut down is replaced by its successor, or reported as an error; the shutdown
// of a live model is announced.
func TestRetiredChatModels(t *testing.T) {
	t.Parallel()
	choose := func(model, today string) (chat.Choice, error) {
		return newRegistry(t, func(c *config) {
			c.Keys["anthropic"], c.Keys["openai"], c.Keys["gemini"] = "k", "k", "k"
			c.Default, c.Now = model, func() time.Time { return day(today) }
			var err error
			if c.Profiles, err = chat.LoadProfiles(strings.NewReader("models:\n  - {provider: openai, id: alone, name: Alone, life: {shut_down: 2026-01-02}}\n")); err != nil {
				t.Fatal(err)
			}
		}).Choose(t.Context(), nil)
	}
	for model, next := range map[string]string{
		"anthropic/claude-opus-4-1-20250805": "claude-opus-5-5", "anthropic/claude-3-7-sonnet-20250219": "claude-sonnet-5-5", "openai/o4-mini": "gpt-6-luna",
		"gemini/gemini-3-pro-preview": "gemini-3.1-pro-preview", "gemini/gemini-3.1-flash-image": "gemini-nano-banana-2.1", "gemini/gemini-2.0-flash": "gemini-3.1-flash-lite",
	} {
		c, err := choose(model, "2026-11-22")
		if err != nil || c.Model.Profile().ID != next || len(c.Changes) != 1 || !strings.Contains(c.Changes[0].Reason, "was shut down on ") || !strings.Contains(c.Changes[0].Reason, " replaces it") {
			t.Errorf("%s: %+v, %v", model, c, err)
		}
	}
	c, err := choose("anthropic/claude-sonnet-4-5-20250929", "2026-11-22")
	if err != nil || len(c.Warnings) != 1 || !strings.HasSuffix(c.Warnings[0], "will be shut down on 2026-11-30; after that Claude Sonnet 5.5 replaces it") {
		t.Errorf("warned of %q, %v", c.Warnings, err)
	}
	if c, err = choose("anthropic/claude-sonnet-4-5-20250929", "2026-11-30"); err != nil || c.Model.Profile().ID != "claude-sonnet-5-5" {
		t.Errorf("on the day: %+v, %v", c, err)
	}
	if _, err := choose("openai/alone", "2026-11-22"); media.CodeOf(err) != media.CodeUnsupported || err.Error() != "ATELIER_CHAT_MODEL or --model: Alone was shut down on 2026-01-02 and has no successor: choose another model (atelier models list --chat)" {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{
		"models:\n  - {provider: openai, id: a, life: {replaced_by: nobody}}\n",
		"models:\n  - {provider: openai, id: b}\n  - {provider: openai, id: a, life: {replaced_by: b}}\n  - {provider: openai, id: b, life: {replaced_by: a}}\n",
	} {
		if _, err := chat.LoadProfiles(strings.NewReader(bad)); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "replaced_by") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestPricesArePlausible checks every shipped price, because wrong prices of the embedded catalogue are overridden.
func TestPricesArePlausible(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	number := func(m chat.Profile, s string) *big.Rat {
		n, ok := new(big.Rat).SetString(s)
		if !ok || n.Sign() <= 0 {
			t.Errorf("%s/%s: %q is no price", m.Provider, m.ID, s)
			return big.NewRat(1, 1)
		}
		return n
	}
	priced := 0
	for _, m := range p.Models() {
		rates := []chat.Rate{m.Rate}
		for _, c := range m.Prices {
			rates = append(rates, c.Rate)
		}
		for _, r := range rates {
			if r.InputUSD == "" && r.OutputUSD == "" && r.CachedUSD == "" || m.Provider == "ollama" {
				continue // unknown, or a local model
			}
			priced++
			in, out := number(m, r.InputUSD), number(m, r.OutputUSD)
			if out.Cmp(new(big.Rat).Mul(in, big.NewRat(30, 1))) > 0 {
				t.Errorf("%s/%s: %s out is over thirty times %s in", m.Provider, m.ID, r.OutputUSD, r.InputUSD)
			}
			if r.CachedUSD != "" && number(m, r.CachedUSD).Cmp(in) > 0 {
				t.Errorf("%s/%s: %s cached is dearer than %s", m.Provider, m.ID, r.CachedUSD, r.InputUSD)
			}
		}
	}
	if priced < 150 {
		t.Errorf("only %d prices", priced)
	}
	for id, want := range map[string][3]string{
		"openai/gpt-5.4-mini": {"0.75", "4.50", "0.075"}, "openai/gpt-5.4": {"2.5", "15", "0.25"}, "openai/gpt-4.1": {"2", "8", "0.5"}, "openai/gpt-5.2": {"1.75", "14", "0.175"},
		"anthropic/claude-sonnet-4-6": {"3", "15", "0.3"}, "openai/o3": {"2", "8", "0.5"}, "gemini/gemini-3.1-pro-preview": {"2", "12", "0.2"},
	} {
		if m := p.Find(id)[0]; m.InputUSD != want[0] || m.OutputUSD != want[1] || m.CachedUSD != want[2] {
			t.Errorf("%s: %+v, want %v", id, m.Rate, want)
		}
	}
}

// TestPricesHaveConditions: prices depend on the date and on the length of the prompt; cached tokens and pictures have
// their own prices.
func TestPricesHaveConditions(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   string
		u    chat.Usage
		on   string
		want string
	}{
		{"gemini/gemini-4-argon", chat.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000}, "2026-11-30", "12"},
		{"gemini/gemini-4-argon", chat.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000}, "2026-12-01", "24"},
		{"anthropic/claude-haiku-5-5", chat.Usage{InputTokens: 100_000, OutputTokens: 1000}, "2026-11-22", "0.0105"},
		{"anthropic/claude-haiku-5-5", chat.Usage{InputTokens: 100_001, OutputTokens: 1000}, "2026-11-22", "0.0525005"},
		{"openai/gpt-6.1-sol", chat.Usage{InputTokens: 1000, CachedTokens: 900}, "2026-11-22", "0.00029"},
		{"gemini/gemini-3-pro-image", chat.Usage{InputTokens: 100, OutputTokens: 1220, ImageTokens: 1120}, "2026-11-22", "0.1358"},
		{"gemini/gemini-3.1-pro-preview", chat.Usage{InputTokens: 200_001}, "2026-11-22", "unknown"},
		{"openai/gpt-5.5-pro", chat.Usage{InputTokens: 272_000, OutputTokens: 1000}, "2026-11-22", "8.34"},
		{"openai/gpt-5.5-pro", chat.Usage{InputTokens: 300_000, OutputTokens: 1000}, "2026-11-22", "18.27"},
		{"ollama/llama4", chat.Usage{InputTokens: 200_001}, "2026-11-22", "0"},
	} {
		got := p.Find(c.id)[0].Cost(c.u, day(c.on))
		if c.want == "unknown" && got != nil || c.want != "unknown" && (got == nil || *got != c.want) {
			t.Errorf("%s %+v on %s: %v, want %s", c.id, c.u, c.on, got, c.want)
		}
	}
}

// TestProvidersList: the providers' model lists are read and compared with the profiles.
func TestProvidersList(t *testing.T) {
	t.Parallel()
	for provider, c := range map[string]struct {
		path, body string
		pages      map[string]string
		want       []string
		not        string // names no model with a difference
	}{
		"openai": {
			path: "/v1/models", body: `{"object":"list","data":[{"id":"gpt-6.1-sol","object":"model","shutdown_date":null},{"id":"gpt-5","shutdown_date":"2026-12-20"},{"id":"gpt-9-sol","context_length":"large"},{"id":"house-1"}]}`,
			want: []string{"gpt-5 end it is shut down on 2026-12-20", "gpt-9-sol new gpt-9-sol is not a listed model: it is treated as a model of the family GPT", "house-1 new its family is unknown", "gpt-6-luna gone"},
		},
		"anthropic": {
			path: "/v1/models", body: `{"data":[{"type":"model","id":"claude-opus-5-5","max_input_tokens":1000000,"capabilities":{"image_input":{"supported":true}}}],"has_more":true,"last_id":"claude-opus-5-5"}`,
			pages: map[string]string{"claude-opus-5-5": `{"data":[{"id":"claude-haiku-5-5","max_input_tokens":500000,"capabilities":{"image_input":{"supported":false}}}],"has_more":false}`},
			want:  []string{"claude-haiku-5-5 vision accepts pictures at the provider: false, here: true", "claude-haiku-5-5 context 500000 tokens at the provider, 1000000 here", "claude-fable-5-1 gone"},
		},
		"gemini": {
			path: "/v1beta/models", body: `{"models":[{"name":"models/gemini-4-argon","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"]},{"name":"models/gemini-embedding-2","supportedGenerationMethods":["embedContent"]},{"name":"models/gemini-5-neon","supportedGenerationMethods":["generateContent"]}]}`,
			want: []string{"gemini-5-neon new gemini-5-neon is not a listed model"},
		},
		"openrouter": {
			path: "/api/v1/models", body: `{"data":[{"id":"qwen/qwen9-text","architecture":{"input_modalities":["text"]},"context_length":99},{"id":"x/sees","architecture":{"input_modalities":["text","image"]}}]}`,
			want: []string{"qwen/qwen9-text vision accepts pictures at the provider: false, here: true", "x/sees vision accepts pictures at the provider: true, here: false"},
		},
		"ollama": {
			path: "/api/tags", body: `{"models":[{"name":"llama4:latest","capabilities":["completion","vision"]},{"name":"tiny:1b","capabilities":["completion"]}]}`,
			want: []string{"tiny:1b new its family is unknown"}, not: "llama4", // latest is the default tag
		},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path || provider != "ollama" && !strings.Contains(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key"), "sk-test") {
					t.Errorf("asked %s with %v", r.URL, r.Header)
				}
				body := c.body
				if page := r.URL.Query().Get("after_id"); page != "" {
					body = c.pages[page]
				}
				_, _ = w.Write([]byte(body)) // the client reads it
			}))
			t.Cleanup(server.Close)
			// People copy the version with the address; only that of OpenAI needs it.
			address := server.URL + map[string]string{"openai": "/v1", "anthropic": "/v1", "gemini": "/v1beta/", "openrouter": "/api/v1", "ollama": "/v1"}[provider]
			profiles, err := chat.LoadProfiles()
			if err != nil {
				t.Fatal(err)
			}
			service, err := config{
				Config: chat.Config{Profiles: profiles, Keys: map[string]string{provider: "sk-test"}}, Codec: wiretest.NewCodec(t), BaseURLs: map[string]string{provider: address},
			}.service()
			if err != nil {
				t.Fatal(err)
			}
			listed, err := service.List(t.Context(), provider)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range profiles.Compare(provider, listed, day("2026-11-22")) {
				got = append(got, f.Model+" "+string(f.Kind)+" "+f.Note)
			}
			if i := slices.IndexFunc(got, func(g string) bool { return c.not != "" && strings.HasPrefix(g, c.not) }); i >= 0 {
				t.Errorf("%q is no difference", got[i])
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
					t.Errorf("%q is not among %q", w, got)
				}
			}
		})
	}
}
