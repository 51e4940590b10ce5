package chat

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"github.com/openai/openai-go/v3/option"

	"atelier/journal"
	"atelier/media"
	"atelier/wire"
)

// mediaFields are the places where chat providers put media into an answer;
// detection by signature finds the rest.
var mediaFields = wire.Fields{Media: []string{
	"inlineData.data", "audio.data", "source.data", "images.image_url.url", "result@image_generation_call",
}}

// defaultTimeout bounds one call where the configuration does not.
const defaultTimeout = 10 * time.Minute

// dial builds the two faces of one model: free text, and JSON where the provider
// enforces it.
func (r *Registry) dial(ctx context.Context, f Profile) (*model, error) {
	client := &http.Client{Transport: r.cfg.Codec.Transport(r.cfg.Base, mediaFields)}
	switch {
	case f.ImageOutput && f.Provider == "gemini":
		client.Transport = rewriting{client.Transport, askGemini}
	case f.ImageOutput && f.Provider == "openai":
		client.Transport = rewriting{client.Transport, askResponses}
	}
	m := &model{profile: f, codec: r.cfg.Codec, relay: journal.RelayOf(r.cfg.Base), timeout: cmp.Or(r.cfg.Timeout, defaultTimeout), now: r.cfg.Now}
	m.provider, _ = r.cfg.Profiles.Provider(f.Provider)
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
		return compatible(orDefault(base, "https://openrouter.ai")+"/api/v1", key, client, sdk)
	case "ollama":
		return compatible(hostURL(orDefault(base, key))+"/v1", "ollama", client, sdk)
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
