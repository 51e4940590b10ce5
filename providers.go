package atelier

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/fantasy"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
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

// maxAddition is the maximum size of a file of additions, in bytes.
const maxAddition = 16 << 20

// loadWithAdditions loads the shipped rows and the operator's additions: the file at path, or each .yaml or .yml file
// in that folder. Errors name the variable.
func loadWithAdditions[T any](variable, path string, load func(...io.Reader) (*T, error)) (*T, error) {
	if path == "" {
		return load()
	}
	files := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		files = nil
		for _, e := range entries {
			if ext := strings.ToLower(filepath.Ext(e.Name())); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	var readers []io.Reader
	for _, name := range files {
		var b []byte
		info, err := os.Stat(name)
		switch {
		case err != nil:
		case !info.Mode().IsRegular() || info.Size() > maxAddition:
			err = media.Errorf(media.CodeInvalid, "%s is not a file of at most 16 MiB", name)
		default:
			b, err = os.ReadFile(name) //nolint:gosec // the operator chose the file
		}
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "%s: %w: name a YAML file or a folder of them", variable, err)
		}
		readers = append(readers, bytes.NewReader(b))
	}
	own, err := load(readers...)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read %s (%s): %w", variable, path, err)
	}
	return own, nil
}

// chatService creates the client of the chat model providers.
func (a *Atelier) chatService(profiles *chat.Profiles) (*fantasy.Service, error) {
	return fantasy.New(fantasy.Config{Profiles: profiles, Keys: a.Config.Keys, BaseURLs: a.Config.BaseURLs, Codec: a.Codec})
}

// ListChatModels requests a provider's list of chat models. The request is free. The error has code
// media.CodeUnsupported for a provider whose list cannot be read, media.CodeMissingKey, or the code of the failed call.
func (a *Atelier) ListChatModels(ctx context.Context, provider string) ([]chat.Listed, error) {
	s, err := a.chatService(a.Chat.Profiles())
	if err != nil {
		return nil, err
	}
	return s.List(ctx, provider)
}

// painter tells the offline chat model which words the offline painter can draw. If another model makes the pictures,
// every word is accepted.
type painter struct {
	offlineimage.Painter
	gateway *gateway.Gateway
	model   string // chosen by a person; empty for the default
}

// UnknownWords returns the words of a prompt that are not drawn.
func (p painter) UnknownWords(prompt string) []string {
	if p.isSelected() {
		return p.Painter.UnknownWords(prompt)
	}
	return nil
}

// UnknownChanges returns the words of an edit that are not applied.
func (p painter) UnknownChanges(change string) []string {
	if p.isSelected() {
		return p.Painter.UnknownChanges(change)
	}
	return nil
}

// isSelected reports whether the offline painter makes the pictures.
func (p painter) isSelected() bool {
	r := generate.Request{Prompt: "x"}
	if p.model != "" {
		r.Prefer = []string{p.model}
	}
	plan, err := p.gateway.Plan(context.Background(), r)
	return err == nil && plan.Model.Provider == offlineimage.Provider
}
