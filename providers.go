package atelier

import (
	"cmp"
	"maps"
	"slices"
	"strings"

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
	driver func(driver.Config) (driver.Driver, error)
}

// creates returns the function that creates a generator, for [Provider].
func creates[D driver.Driver](create func(driver.Config) (D, error)) func(driver.Config) (driver.Driver, error) {
	return func(c driver.Config) (driver.Driver, error) { return create(c) }
}

// Providers lists the supported services, without the offline models and the endpoints of a catalogue.
func Providers() []Provider {
	return []Provider{
		{Name: "gemini", KeyVariables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, BaseVariable: "GEMINI_BASE_URL", driver: creates(gemini.New)},
		{Name: "openai", KeyVariables: []string{"OPENAI_API_KEY"}, BaseVariable: "OPENAI_BASE_URL", driver: creates(openai.New)},
		{Name: "bfl", KeyVariables: []string{"BFL_API_KEY"}, BaseVariable: "BFL_BASE_URL", driver: creates(bfl.New)},
		{Name: "leonardo", KeyVariables: []string{"LEONARDO_API_KEY"}, BaseVariable: "LEONARDO_BASE_URL", driver: creates(leonardo.New)},
		{Name: "openrouter", KeyVariables: []string{"OPENROUTER_API_KEY"}, BaseVariable: "OPENROUTER_BASE_URL", driver: creates(openrouter.New)},
		{Name: "midjourney", KeyVariables: []string{"MIDJOURNEY_API_SECRET"}, BaseVariable: "MIDJOURNEY_PROXY_URL", driver: creates(midjourney.New)},
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
		d, err := p.driver(driver.Config{APIKey: a.Config.Keys[p.Name], BaseURL: a.Config.BaseURLs[p.Name], NotifySecret: a.hookSecret(p.Name), Codec: a.Codec})
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
		e.BaseVariable = variables[e.Provider]
		key := cmp.Or(a.Config.Keys[e.Provider], a.Config.Getenv(e.KeyVariable))
		d, err := openai.NewCompatible(driver.Config{APIKey: key, BaseURL: a.Config.BaseURLs[e.Provider], Codec: a.Codec}, e)
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
	return all, a.Config.checkProviders(all)
}

// checkProviders returns an error for a key or an address of an unknown provider.
func (c Config) checkProviders(drivers []driver.Driver) error {
	known := map[string]bool{}
	for _, p := range Providers() {
		known[p.Name] = true
	}
	for _, d := range drivers {
		known[d.Provider()] = true
	}
	for field, names := range map[string]map[string]string{"Keys": c.Keys, "BaseURLs": c.BaseURLs} {
		for name := range names {
			if !known[name] {
				return media.Errorf(media.CodeInvalid, "atelier.Config.%s names the unknown provider %.40q: use %s", field, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
		}
	}
	return nil
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
