// Package fantasy opens the chat models of OpenAI, Google, Anthropic, OpenRouter and Ollama with the SDKs of
// charm.land/fantasy. The transport below each SDK streams media into requests and lifts media out of answers (package
// wire). It also reads what the SDK drops from an answer: errors in any envelope, refusals, usage and cost.
package fantasy

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"github.com/openai/openai-go/v3/option"

	"atelier/chat"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// Config configures a [Service].
type Config struct {
	// Profiles is the catalogue of chat models; required.
	Profiles *chat.Profiles
	// Keys are the credentials by provider key. For ollama, the credential is the address of the host.
	Keys map[string]string
	// BaseURLs replaces the address of a provider, by its key; empty means the public service. The address of openai
	// includes /v1; the others are origins.
	BaseURLs map[string]string
	// Codec lifts and lowers media below the SDKs; required.
	Codec *wire.Codec
	// Base is the transport below the codec; nil means guarded connections, which reach public addresses and a
	// provider's own origin.
	Base http.RoundTripper
	// Timeout limits one call, including the answer; 0 means 10 minutes.
	Timeout time.Duration
	// Now is the clock that determines which prices apply; nil means time.Now.
	Now func() time.Time
}

// Service opens the models of the providers and lists them. It is safe for concurrent use.
type Service struct{ cfg Config }

// New checks the configuration and creates a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Profiles == nil || cfg.Codec == nil {
		return nil, media.Errorf(media.CodeInternal, "chat models: Profiles and Codec are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Minute)
	return &Service{cfg: cfg}, nil
}

// mediaFields are the fields in which chat providers place media in an answer. Detection by signature finds all other
// media. A piece of a streamed text is never an item, whatever its first characters: the whole text is checked.
var mediaFields = wire.Fields{
	Media:  []string{"inlineData.data", "audio.data", "source.data", "images.image_url.url", "result@image_generation_call"},
	Deltas: wire.AudioDeltas(), Never: []string{"delta.content", "delta.text", "parts.text"},
}

// Open opens the model of a profile; it is a [chat.Opener]. The error has code media.CodeInvalid for another provider
// or an invalid address.
func (s *Service) Open(ctx context.Context, f chat.Profile) (chat.Model, error) {
	m := &model{profile: f, codec: s.cfg.Codec, timeout: s.cfg.Timeout, now: s.cfg.Now, secrets: s.secrets(f.Provider)}
	m.provider, _ = s.cfg.Profiles.Provider(f.Provider)
	p, err := s.provider(f, s.client(m))
	if err == nil {
		m.sdk, err = p.LanguageModel(ctx, f.ID)
	}
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open chat model %s: %w", f.Name, err)
	}
	return m, nil
}

// secrets returns the credentials of a provider that must not be repeated.
func (s *Service) secrets(provider string) safehttp.Secrets {
	if provider == "ollama" { // its credential is an address
		return safehttp.Secrets{}
	}
	return safehttp.NewSecrets(s.cfg.Keys[provider])
}

func (s *Service) client(m *model) *http.Client {
	f := m.profile
	client := chat.NewClient(safehttp.Provider{
		Name: m.provider.Name, Secrets: m.secrets, Origin: s.origin(f.Provider), Base: s.cfg.Base, MaxAnswer: s.cfg.Codec.MaxAnswer(), Setting: wire.MaxAnswerSetting,
		Wrap: func(base http.RoundTripper) http.RoundTripper {
			base = s.cfg.Codec.Transport(base, mediaFields)
			switch {
			case f.ImageOutput && f.Provider == "gemini":
				return rewriting{base, askGemini}
			case f.ImageOutput && f.Provider == "openai":
				return rewriting{base, askResponses}
			}
			return base
		},
	})
	client.Transport = reading{client.Transport, m}
	return client
}

// apis are the public origins of providers, and the versions that paths begin with and people copy into base URLs.
var apis = map[string]struct{ origin, version string }{
	"gemini":     {"https://generativelanguage.googleapis.com", "/v1beta"},
	"anthropic":  {"https://api.anthropic.com", "/v1"},
	"openai":     {"https://api.openai.com/v1", ""}, // its base URL includes the version
	"openrouter": {"https://openrouter.ai", "/api/v1"},
	"ollama":     {"", "/v1"},
}

// origin returns the origin of a provider's API.
func (s *Service) origin(provider string) string {
	base := cmp.Or(s.cfg.BaseURLs[provider], apis[provider].origin)
	if provider == "ollama" { // host, host:port, :port or a URL, like OLLAMA_HOST
		if base = cmp.Or(base, s.cfg.Keys[provider]); !strings.Contains(base, "://") {
			name, port, err := net.SplitHostPort(base)
			if err != nil { // there is no port
				name, port = strings.Trim(base, "[]"), "11434"
			}
			base = "http://" + net.JoinHostPort(cmp.Or(name, "127.0.0.1"), port)
		}
	}
	return strings.TrimSuffix(strings.TrimRight(base, "/"), apis[provider].version)
}

// address returns the address of a provider's API with its version.
func (s *Service) address(provider string) string { return s.origin(provider) + apis[provider].version }

func (s *Service) provider(f chat.Profile, client *http.Client) (fantasy.Provider, error) {
	key, base := s.cfg.Keys[f.Provider], s.address(f.Provider)
	switch f.Provider {
	case "gemini":
		return google.New(google.WithGeminiAPIKey(key), google.WithHTTPClient(client), google.WithBaseURL(s.origin(f.Provider)))
	case "anthropic":
		return anthropic.New(anthropic.WithAPIKey(key), anthropic.WithHTTPClient(client), anthropic.WithBaseURL(s.origin(f.Provider)))
	case "openai":
		if f.ImageOutput {
			// Only the Responses API has the image tool.
			return openai.New(openai.WithAPIKey(key), openai.WithBaseURL(base), openai.WithHTTPClient(client), openai.WithUseResponsesAPI(),
				openai.WithResponsesAPIFunc(func(string) bool { return true }),
				openai.WithSDKOptions(option.WithJSONSet("tools", []map[string]string{{"type": "image_generation"}})))
		}
	case "openrouter":
	case "ollama":
		key = "ollama" // its own is the address
	default:
		return nil, media.Errorf(media.CodeUnsupported, "there is no chat provider %q", f.Provider)
	}
	return openaicompat.New(openaicompat.WithBaseURL(base), openaicompat.WithAPIKey(key), openaicompat.WithHTTPClient(client))
}
