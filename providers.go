package atelier

import (
	"cmp"

	"atelier/chat/bedrock"
	"atelier/generate/driver"
	"atelier/generate/provider/bfl"
	"atelier/generate/provider/gemini"
	"atelier/generate/provider/leonardo"
	"atelier/generate/provider/midjourney"
	offlineimage "atelier/generate/provider/offline"
	"atelier/generate/provider/openai"
	"atelier/generate/provider/openrouter"
	"atelier/media"
	"atelier/media/wire"
)

// Provider is a service with chat models or media generation.
type Provider struct {
	// Name is the key of the provider in Config.Keys and Config.BaseURLs.
	Name string
	// KeyVariables are the environment variables of the credential, in order of precedence. BaseVariable is the
	// variable that replaces the provider's address; empty if there is none.
	KeyVariables []string
	BaseVariable string

	// driver creates the generator; nil for a provider that has only chat models.
	driver func(c Config, s driverSettings) (driver.Driver, error)
}

// driverSettings holds the settings of one driver.
type driverSettings struct {
	key, base string
	// notify is the secret that signs webhook calls; empty for no webhook.
	notify string
	codec  *wire.Codec
}

// Providers lists the supported services, without the offline models and the endpoints of a catalogue.
func Providers() []Provider {
	return []Provider{
		{Name: "gemini", KeyVariables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, BaseVariable: "GEMINI_BASE_URL", driver: func(_ Config, s driverSettings) (driver.Driver, error) {
			return gemini.New(gemini.Config{APIKey: s.key, BaseURL: s.base, Codec: s.codec})
		}},
		{Name: "openai", KeyVariables: []string{"OPENAI_API_KEY"}, BaseVariable: "OPENAI_BASE_URL", driver: func(_ Config, s driverSettings) (driver.Driver, error) {
			return openai.New(openai.Config{APIKey: s.key, BaseURL: s.base, Codec: s.codec})
		}},
		{Name: "bfl", KeyVariables: []string{"BFL_API_KEY"}, BaseVariable: "BFL_BASE_URL", driver: func(_ Config, s driverSettings) (driver.Driver, error) {
			return bfl.New(bfl.Config{APIKey: s.key, BaseURL: s.base, NotifySecret: s.notify, Codec: s.codec})
		}},
		{Name: "leonardo", KeyVariables: []string{"LEONARDO_API_KEY"}, BaseVariable: "LEONARDO_BASE_URL", driver: func(c Config, s driverSettings) (driver.Driver, error) {
			return leonardo.New(leonardo.Config{APIKey: s.key, BaseURL: s.base, WebhookKey: c.LeonardoWebhookKey, Codec: s.codec})
		}},
		{Name: "openrouter", KeyVariables: []string{"OPENROUTER_API_KEY"}, BaseVariable: "OPENROUTER_BASE_URL", driver: func(_ Config, s driverSettings) (driver.Driver, error) {
			return openrouter.New(openrouter.Config{APIKey: s.key, BaseURL: s.base, Codec: s.codec})
		}},
		{Name: "midjourney", KeyVariables: []string{"MIDJOURNEY_API_SECRET"}, BaseVariable: "MIDJOURNEY_PROXY_URL", driver: func(_ Config, s driverSettings) (driver.Driver, error) {
			return midjourney.New(midjourney.Config{Secret: s.key, ProxyURL: s.base, Codec: s.codec})
		}},
		{Name: "anthropic", KeyVariables: []string{"ANTHROPIC_API_KEY"}, BaseVariable: "ANTHROPIC_BASE_URL"},
		{Name: "xai", KeyVariables: []string{"XAI_API_KEY"}, BaseVariable: "XAI_BASE_URL"},
		{Name: "ollama", KeyVariables: []string{"OLLAMA_HOST"}},
		{Name: "bedrock", KeyVariables: []string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"}, BaseVariable: "BEDROCK_BASE_URL"},
	}
}

// drivers creates all generators, with or without a key: the shipped ones, the offline painter, the endpoints of the
// catalogue, and those of the configuration.
func (a *Atelier) drivers() ([]driver.Driver, error) {
	var all []driver.Driver
	variables := map[string]string{}
	for _, p := range Providers() {
		variables[p.Name] = p.BaseVariable
		if p.driver == nil {
			continue
		}
		d, err := p.driver(a.Config, driverSettings{key: a.Config.Keys[p.Name], base: a.Config.BaseURLs[p.Name], notify: a.hookSecret(p.Name), codec: a.Codec})
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	painter, err := offlineimage.New(offlineimage.Config{Store: a.Codec})
	if err != nil {
		return nil, err
	}
	all = append(all, painter)
	for _, e := range a.Catalogue.Endpoints() {
		e.BaseVariable, e.BaseURL = variables[e.Provider], cmp.Or(a.Config.BaseURLs[e.Provider], e.BaseURL)
		d, err := openai.New(openai.Config{APIKey: cmp.Or(a.Config.Keys[e.Provider], a.Config.Getenv(e.KeyVariable)), Endpoint: &e, Codec: a.Codec})
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	for i, create := range a.Config.Drivers {
		if create == nil {
			return nil, media.Errorf(media.CodeInvalid, "atelier.Config.Drivers[%d] is nil: give a function that creates a driver", i)
		}
		d, err := create(a.Codec)
		if err != nil {
			return nil, err
		}
		if d == nil {
			return nil, media.Errorf(media.CodeInvalid, "atelier.Config.Drivers[%d] created no driver: return one, or an error", i)
		}
		all = append(all, d)
	}
	return all, nil
}

// bedrock reads the AWS environment variables.
func (a *Atelier) bedrock() bedrock.Config {
	env := a.Config.Getenv
	return bedrock.Config{
		Region:      cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
		BearerToken: env("AWS_BEARER_TOKEN_BEDROCK"), AccessKeyID: env("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN"),
		BaseURL: a.Config.BaseURLs["bedrock"], Codec: a.Codec,
	}
}
