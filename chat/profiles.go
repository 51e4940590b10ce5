package chat

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
	"go.yaml.in/yaml/v3"

	"atelier/media"
)

//go:embed profiles.yaml
var shippedProfiles string

// Provider is what all models of one provider share.
type Provider struct {
	// Key names the provider: gemini, openai, anthropic, openrouter, ollama.
	Key  string `json:"key" yaml:"key"`
	Name string `json:"name" yaml:"name"`
	// Variables are the environment variables that can hold the credential, in
	// order; BaseVariable the one that moves the base URL.
	Variables    []string `json:"variables" yaml:"variables"`
	BaseVariable string   `json:"base_variable" yaml:"base_variable"`
	DefaultModel string   `json:"default_model" yaml:"default_model"`
	// MaxImages, MaxImageBytes and MediaTypes are the limits of its vision models.
	MaxImages     int      `json:"max_images" yaml:"max_images"`
	MaxImageBytes int64    `json:"max_image_bytes" yaml:"max_image_bytes"`
	MediaTypes    []string `json:"media_types" yaml:"media_types"`
	// JSONMode says that the provider takes response_format json_object.
	JSONMode bool `json:"json_mode" yaml:"json_mode"`
}

// Profiles is the catalogue of chat models: an embedded one, overridden by data.
// It is immutable and safe for concurrent use.
type Profiles struct {
	providers []Provider
	models    []Profile
}

// profileFile is the YAML form of an override.
type profileFile struct {
	Providers []Provider  `yaml:"providers"`
	Models    []yaml.Node `yaml:"models"`
}

// LoadProfiles reads the embedded catalogue, the shipped overrides and then the
// user's, later ones winning field by field. The error has code invalid and names
// what is wrong.
func LoadProfiles(overrides ...io.Reader) (*Profiles, error) {
	p := &Profiles{}
	readers := append([]io.Reader{strings.NewReader(shippedProfiles)}, overrides...)
	for i, r := range readers {
		var f profileFile
		d := yaml.NewDecoder(r)
		d.KnownFields(true)
		if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
			return nil, media.Errorf(media.CodeInvalid, "read chat profiles: %w", err)
		}
		p.mergeProviders(f.Providers)
		if i == 0 {
			p.addCatwalk()
		}
		for n := range f.Models {
			if err := p.overrideModel(&f.Models[n]); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func (p *Profiles) mergeProviders(more []Provider) {
	for _, q := range more {
		i := slices.IndexFunc(p.providers, func(have Provider) bool { return have.Key == q.Key })
		if i < 0 {
			p.providers = append(p.providers, q)
			continue
		}
		p.providers[i] = q
	}
}

// addCatwalk takes the models of the providers that we know from the embedded
// catalogue (charm.land/catwalk).
func (p *Profiles) addCatwalk() {
	for _, cp := range embedded.GetAll() {
		prov, ok := p.Provider(string(cp.ID))
		if !ok {
			continue
		}
		for _, m := range cp.Models {
			p.models = append(p.models, profileOf(prov, m))
		}
	}
}

func profileOf(prov Provider, m catwalk.Model) Profile {
	f := Profile{
		ID: m.ID, Name: m.Name, Provider: prov.Key,
		ContextTokens: m.ContextWindow, MaxOutputTokens: m.DefaultMaxTokens,
		SupportsVision: m.SupportsImages, StructuredOutput: prov.JSONMode,
		InputUSD: usd(m.CostPer1MIn), OutputUSD: usd(m.CostPer1MOut),
		NoTemperature: m.CanReason && prov.Key == "openai",
	}
	if m.SupportsImages {
		f.MaxImages, f.MaxImageBytes, f.MediaTypes = prov.MaxImages, prov.MaxImageBytes, prov.MediaTypes
	}
	return f
}

// usd turns a catalogue price into decimal text; an absent price is unknown, not zero.
func usd(v float64) string {
	if v <= 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func (p *Profiles) overrideModel(n *yaml.Node) error {
	var key Profile
	if err := n.Decode(&key); err != nil {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: %w", n.Line, err)
	}
	prov, ok := p.Provider(key.Provider)
	if !ok || key.ID == "" {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: a model needs an id and a known provider, not %q", n.Line, key.Provider)
	}
	i := slices.IndexFunc(p.models, func(m Profile) bool { return m.Provider == key.Provider && m.ID == key.ID })
	if i < 0 {
		p.models = append(p.models, p.custom(prov, key.ID))
		i = len(p.models) - 1
	}
	if err := n.Decode(&p.models[i]); err != nil {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: %w", n.Line, err)
	}
	m := &p.models[i]
	if m.SupportsVision && m.MaxImages == 0 {
		m.MaxImages = prov.MaxImages
	}
	if m.SupportsVision && m.MaxImageBytes == 0 {
		m.MaxImageBytes = prov.MaxImageBytes
	}
	if m.SupportsVision && len(m.MediaTypes) == 0 {
		m.MediaTypes = prov.MediaTypes
	}
	return nil
}

// custom is the profile of a model that no catalogue knows: text only.
func (p *Profiles) custom(prov Provider, id string) Profile {
	return Profile{ID: id, Name: id, Provider: prov.Key, StructuredOutput: prov.JSONMode}
}

// Provider finds a provider by key.
func (p *Profiles) Provider(key string) (Provider, bool) {
	i := slices.IndexFunc(p.providers, func(q Provider) bool { return q.Key == key })
	if i < 0 {
		return Provider{}, false
	}
	return p.providers[i], true
}

// Providers lists the providers in their default order.
func (p *Profiles) Providers() []Provider { return slices.Clone(p.providers) }

// Models lists all profiles, grouped by provider.
func (p *Profiles) Models() []Profile { return slices.Clone(p.models) }

// Find looks a model up by "provider/id", id or display name, in any case. Where
// several providers serve it, all are returned in the default order. A
// "provider/id" of a known provider is accepted even if no catalogue knows the id.
func (p *Profiles) Find(name string) []Profile {
	if prov, id, ok := strings.Cut(name, "/"); ok {
		if q, known := p.Provider(strings.ToLower(prov)); known && id != "" {
			if found := p.match(func(m Profile) bool { return m.Provider == q.Key && same(m, id) }); len(found) > 0 {
				return found[:1]
			}
			return []Profile{p.custom(q, id)}
		}
	}
	found := p.match(func(m Profile) bool { return same(m, name) })
	slices.SortStableFunc(found, func(a, b Profile) int { return p.rank(a.Provider) - p.rank(b.Provider) })
	return found
}

func same(m Profile, name string) bool {
	return strings.EqualFold(m.ID, name) || strings.EqualFold(m.Name, name)
}

func (p *Profiles) rank(key string) int {
	return slices.IndexFunc(p.providers, func(q Provider) bool { return q.Key == key })
}

func (p *Profiles) match(keep func(Profile) bool) []Profile {
	var out []Profile
	for _, m := range p.models {
		if keep(m) {
			out = append(out, m)
		}
	}
	return out
}

// String names the profile for people.
func (f Profile) String() string { return fmt.Sprintf("%s (%s)", f.Name, f.Provider) }
