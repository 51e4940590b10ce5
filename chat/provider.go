package chat

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"github.com/openai/openai-go/v3/option"

	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/wire"
)

// mediaFields are the places where chat providers put media into an answer;
// detection by signature finds the rest.
var mediaFields = wire.Fields{Media: []string{
	"inlineData.data", "audio.data", "source.data", "images.image_url.url", "result@image_generation_call",
}, Deltas: wire.AudioDeltas()}

// defaultTimeout bounds one call where the configuration does not.
const defaultTimeout = 10 * time.Minute

// dial builds the two faces of one model: free text, and JSON where the provider
// enforces it.
func (r *Registry) dial(ctx context.Context, f Profile) (*model, error) {
	m := &model{profile: f, codec: r.cfg.Codec, timeout: cmp.Or(r.cfg.Timeout, defaultTimeout), now: r.cfg.Now}
	m.provider, _ = r.cfg.Profiles.Provider(f.Provider)
	m.secrets = r.secrets(f.Provider)
	client := r.client(m)
	text, err := r.provider(f, client, false)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open chat model %s: %w", f.Name, err)
	}
	if m.text, err = text.LanguageModel(ctx, f.ID); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open chat model %s: %w", f.Name, err)
	}
	m.json = m.text
	if !f.StructuredOutput || f.ImageOutput { // a picture is no JSON
		return m, nil
	}
	forced, err := r.provider(f, client, true)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open chat model %s: %w", f.Name, err)
	}
	if m.json, err = forced.LanguageModel(ctx, f.ID); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open chat model %s: %w", f.Name, err)
	}
	return m, nil
}

// secrets are the credentials of a provider that must not be repeated.
func (r *Registry) secrets(provider string) safehttp.Secrets {
	if provider == "ollama" { // its key is an address
		return safehttp.Secrets{}
	}
	return safehttp.NewSecrets(r.cfg.Keys[provider])
}

// client makes the HTTP client of a model.
func (r *Registry) client(m *model) *http.Client {
	f := m.profile
	client := NewClient(safehttp.Provider{
		Name: m.provider.Name, Secrets: m.secrets, Origin: r.origin(f.Provider), Base: r.cfg.Base, MaxAnswer: r.cfg.Codec.MaxAnswer(), Setting: wire.MaxAnswerSetting,
		Wrap: func(base http.RoundTripper) http.RoundTripper {
			base = r.cfg.Codec.Transport(typed{base}, mediaFields)
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

// origin is where the API of a provider is.
func (r *Registry) origin(provider string) string {
	base := r.cfg.BaseURLs[provider]
	switch provider {
	case "gemini":
		return cmp.Or(base, "https://generativelanguage.googleapis.com")
	case "anthropic":
		return cmp.Or(base, "https://api.anthropic.com")
	case "openai":
		return cmp.Or(base, "https://api.openai.com")
	case "openrouter":
		return orDefault(base, publicOpenRouter)
	case "ollama":
		return hostURL(orDefault(base, r.cfg.Keys[provider]))
	}
	return base
}

const publicOpenRouter = "https://openrouter.ai"

// NewClient makes the HTTP client under a chat SDK. What an SDK would take for an answer
// though it is none, a redirect, is an error. An answer that is not read to its end because
// of a limit may have been billed: its error is [ErrUnsettled].
func NewClient(p safehttp.Provider) *http.Client {
	c := safehttp.NewProvider(p)
	c.Transport = settled{c.Transport, p.Name}
	return c
}

// settled refuses answers that lead elsewhere, and tells what may be billed.
type settled struct {
	next http.RoundTripper
	name string
}

// RoundTrip implements http.RoundTripper.
func (t settled) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	switch {
	case err != nil || res.StatusCode >= http.StatusBadRequest:
		return res, err
	case res.StatusCode < http.StatusMultipleChoices:
		res.Body = billed{res.Body}
		return res, nil
	}
	e := media.Errorf(media.CodeBadResponse, "%s answered with a redirect (status %d), which is not followed: check its base URL", t.name, res.StatusCode)
	return nil, errors.Join(e, res.Body.Close())
}

// billed is the body of a successful answer.
type billed struct{ io.ReadCloser }

// Read implements [io.Reader].
func (b billed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if limit, ok := errors.AsType[*media.Error](err); ok {
		e := *limit
		e.Message, e.Retryable, e.Cause = e.Message+"; it may have been billed", false, errors.Join(ErrUnsettled, limit)
		return n, &e
	}
	return n, err
}

func (r *Registry) provider(f Profile, client *http.Client, json bool) (fantasy.Provider, error) {
	key, base := r.cfg.Keys[f.Provider], r.cfg.BaseURLs[f.Provider]
	var sdk []option.RequestOption
	if json {
		// Every OpenAI-compatible service takes json_object; strict schemas cannot
		// express free-form action parameters.
		sdk = append(sdk, option.WithJSONSet("response_format", map[string]string{"type": "json_object"}))
	}
	switch f.Provider {
	case "gemini":
		o := []google.Option{google.WithGeminiAPIKey(key), google.WithHTTPClient(client)}
		if base != "" {
			o = append(o, google.WithBaseURL(base))
		}
		return google.New(o...)
	case "anthropic":
		o := []anthropic.Option{anthropic.WithAPIKey(key), anthropic.WithHTTPClient(client)}
		if base != "" {
			o = append(o, anthropic.WithBaseURL(base))
		}
		return anthropic.New(o...)
	case "openai":
		if f.ImageOutput {
			return paintingOpenAI(base, key, client)
		}
		if base == "" {
			return openai.New(openai.WithAPIKey(key), openai.WithHTTPClient(client), openai.WithSDKOptions(sdk...))
		}
		return compatible(base, key, client, sdk)
	case "openrouter":
		if f.ImageOutput {
			sdk = append(sdk, option.WithJSONSet("modalities", []string{"image", "text"}))
		}
		return compatible(r.origin(f.Provider)+"/api/v1", key, client, sdk)
	case "ollama":
		return compatible(r.origin(f.Provider)+"/v1", "ollama", client, sdk)
	}
	return nil, media.Errorf(media.CodeUnsupported, "no chat provider is called %q", f.Provider)
}

func compatible(base, key string, client *http.Client, sdk []option.RequestOption) (fantasy.Provider, error) {
	return openaicompat.New(openaicompat.WithBaseURL(base), openaicompat.WithAPIKey(key),
		openaicompat.WithHTTPClient(client), openaicompat.WithSDKOptions(sdk...))
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return strings.TrimRight(s, "/")
}

// hostURL accepts the forms of OLLAMA_HOST: host, host:port or a whole URL.
func hostURL(h string) string {
	if strings.Contains(h, "://") {
		return strings.TrimRight(h, "/")
	}
	if !strings.Contains(h, ":") {
		h += ":11434"
	}
	return "http://" + h
}
