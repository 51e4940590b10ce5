// Package fantasy opens the chat models of OpenAI, Google, Anthropic, OpenRouter and Ollama with the
// SDKs of charm.land/fantasy. The transport under each SDK streams media into requests and lifts them
// out of answers (package wire), and reads what an answer says of itself that the SDK drops: errors in
// any envelope, refusals, usage and cost.
package fantasy

import (
	"cmp"
	"net/http"
	"time"

	"atelier/chat"
	"atelier/media"
	"atelier/media/wire"
)

// Config tells a [Service] how to reach the providers.
type Config struct {
	// Profiles is the catalogue; required.
	Profiles *chat.Profiles
	// Keys are the credentials by provider key. For ollama it is the host's address.
	Keys map[string]string
	// BaseURLs moves a provider, by its key; empty means the public service.
	// openai's includes /v1; the others are origins.
	BaseURLs map[string]string
	// Codec lifts and lowers media under the SDKs; required.
	Codec *wire.Codec
	// Base is the transport under it; nil means guarded connections, which reach public addresses
	// and a provider's own origin.
	Base http.RoundTripper
	// Timeout bounds one call, answer included; 0 means 10 minutes.
	Timeout time.Duration
	// Now is the clock by which prices hold; nil means time.Now.
	Now func() time.Time
}

// Service opens and lists the models of the providers. It is safe for concurrent use.
type Service struct{ cfg Config }

// New checks the configuration.
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
