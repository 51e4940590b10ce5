package chat

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	// The limits of its vision models, where a model has none of its own.
	ImageLimits `yaml:",inline"`
	// JSONMode says that the provider takes response_format json_object.
	JSONMode bool `json:"json_mode" yaml:"json_mode"`
}

// Profiles is the catalogue of chat models: an embedded one, overridden by data.
// It is immutable and safe for concurrent use.
type Profiles struct {
	providers []Provider
	families  []family
	models    []Profile
}

// family is what all models of one kind share, wherever they are hosted.
type family struct {
	// provider narrows it to one; empty means all.
	provider string
	// match are parts of ids, lower case; one of them must be in a model's id.
	match []string
	// fields are laid over a profile.
	fields *yaml.Node
}

// profileFile is the YAML form of an override.
type profileFile struct {
	Providers []Provider  `yaml:"providers"`
	Families  []yaml.Node `yaml:"families"`
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
		for n := range f.Families {
			if err := p.addFamily(&f.Families[n]); err != nil {
				return nil, err
			}
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

// catwalkProviders is the embedded catalogue (charm.land/catwalk), which is parsed once.
var catwalkProviders = sync.OnceValue(embedded.GetAll)

// addCatwalk takes the models of the providers that we know from the embedded
// catalogue.
func (p *Profiles) addCatwalk() {
	for _, cp := range catwalkProviders() {
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
		f.ImageLimits = prov.ImageLimits
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
	if m.SupportsVision {
		m.ImageLimits = m.over(prov.ImageLimits)
	}
	return nil
}

// addFamily reads a family and lays it over the models that are known by now.
func (p *Profiles) addFamily(n *yaml.Node) error {
	var key struct {
		Provider string   `yaml:"provider"`
		Match    []string `yaml:"match"`
		Profile  Profile  `yaml:"profile"`
	}
	var raw struct {
		Profile yaml.Node `yaml:"profile"`
	}
	if err := errors.Join(n.Decode(&key), n.Decode(&raw)); err != nil {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: %w", n.Line, err)
	}
	if len(key.Match) == 0 || raw.Profile.Kind != yaml.MappingNode {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: a family needs match (parts of model ids) and profile", n.Line)
	}
	f := family{provider: key.Provider, fields: &raw.Profile}
	for _, m := range key.Match {
		f.match = append(f.match, strings.ToLower(m))
	}
	p.families = append(p.families, f)
	for i := range p.models {
		p.lay(f, &p.models[i])
	}
	return nil
}

// lay puts what a family says over a profile that belongs to it.
func (p *Profiles) lay(f family, m *Profile) {
	id := strings.ToLower(m.ID)
	if f.provider != "" && f.provider != m.Provider || !slices.ContainsFunc(f.match, func(part string) bool { return strings.Contains(id, part) }) {
		return
	}
	own := *m
	if f.fields.Decode(&own) != nil { // it was decoded when it was read
		return
	}
	own.ID, own.Provider = m.ID, m.Provider
	if prov, ok := p.Provider(m.Provider); ok && own.SupportsVision {
		own.ImageLimits = own.over(prov.ImageLimits)
	}
	*m = own
}

// custom is the profile of a model that no catalogue knows: text only, unless it is of
// a known family.
func (p *Profiles) custom(prov Provider, id string) Profile {
	m := Profile{ID: id, Name: id, Provider: prov.Key, StructuredOutput: prov.JSONMode}
	for _, f := range p.families {
		p.lay(f, &m)
	}
	return m
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
