package chat

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
	"go.yaml.in/yaml/v3"

	"atelier/media"
)

//go:embed profiles.yaml
var shippedProfiles string

// Provider holds what all models of one provider have in common.
type Provider struct {
	// Key identifies the provider: gemini, openai, anthropic, openrouter, ollama, bedrock.
	Key  string `json:"key" yaml:"key"`
	Name string `json:"name" yaml:"name"`
	// Variables are the environment variables that can hold the credential, in order of precedence. BaseVariable is the
	// variable that replaces the base URL.
	Variables    []string `json:"variables" yaml:"variables"`
	BaseVariable string   `json:"base_variable" yaml:"base_variable"`
	DefaultModel string   `json:"default_model" yaml:"default_model"`
	// ImageLimits applies to vision models without limits of their own.
	ImageLimits `yaml:",inline"`
	// JSONMode means that the provider accepts response_format json_object.
	JSONMode bool `json:"json_mode" yaml:"json_mode"`
}

// Ready returns nil if there is a credential for the provider. Otherwise, it returns an error with code missing_key
// that names the variable to set.
func (p Provider) Ready(keys map[string]string) error {
	if keys[p.Key] != "" {
		return nil
	}
	needs := "a key"
	if slices.Contains(p.Variables, p.BaseVariable) {
		needs = "an address"
	}
	return media.Errorf(media.CodeMissingKey, "%s requires %s: set %s", p.Name, needs, strings.Join(p.Variables, " or "))
}

// Profiles is the catalogue of chat models: the embedded catalogue and its overrides. It is immutable and safe for
// concurrent use.
type Profiles struct {
	providers []Provider
	families  []family
	models    []Profile
	// baseIDs maps model ids to ids without the additions of hosts and dates.
	baseIDs map[string]string
}

// family holds what all models of one family have in common, wherever they are hosted.
type family struct {
	// name is the name of a known family; empty for a mere rule.
	name string
	// provider restricts the family to one provider; empty means all.
	provider string
	// match are lower-case patterns of model ids. One of them must match.
	match []string
	// fields override the profile of a model, unlisted that of an unlisted model; nil for none.
	fields, unlisted *yaml.Node
}

// profileFile is the YAML form of an override: typed to check its fields, and as nodes to apply only those it has.
type profileFile[P, F, M any] struct {
	Providers []P `yaml:"providers"`
	Families  []F `yaml:"families"`
	Models    []M `yaml:"models"`
}

// familyFile is the YAML form of a family.
type familyFile[M any] struct {
	Name     string   `yaml:"name"`
	Provider string   `yaml:"provider"`
	Match    []string `yaml:"match"`
	Profile  M        `yaml:"profile"`
	Unlisted M        `yaml:"unlisted"`
}

// LoadProfiles loads the embedded catalogue, then the shipped overrides, then those of the user. Later values override
// earlier ones field by field. The error has code invalid and says what is wrong.
func LoadProfiles(overrides ...io.Reader) (*Profiles, error) {
	base, err := shipped()
	if err != nil {
		return nil, err
	}
	p := &Profiles{
		providers: slices.Clone(base.providers), models: slices.Clone(base.models),
		families: slices.Clone(base.families), baseIDs: maps.Clone(base.baseIDs),
	}
	for _, r := range overrides {
		if err := p.read(r, false); err != nil {
			return nil, err
		}
	}
	for _, m := range p.models { // every chain of successors ends at a listed model
		seen := []string{m.ID}
		for at := m; at.Life.ReplacedBy != ""; {
			next, ok := p.listed(at.Provider, at.Life.ReplacedBy)
			switch {
			case !ok:
				return p, media.Errorf(media.CodeInvalid, "chat profiles, model %s/%s, life.replaced_by: there is no model %q of this provider", at.Provider, at.ID, at.Life.ReplacedBy)
			case slices.Contains(seen, next.ID):
				return p, media.Errorf(media.CodeInvalid, "chat profiles, model %s/%s, life.replaced_by: the successors form a cycle", m.Provider, m.ID)
			}
			seen, at = append(seen, next.ID), next
		}
	}
	return p, nil
}

// shipped loads the profiles without the user's overrides, once.
var shipped = sync.OnceValues(func() (*Profiles, error) {
	p := &Profiles{baseIDs: map[string]string{}}
	return p, p.read(strings.NewReader(shippedProfiles), true)
})

// read applies a file to the profiles. The catalogue is added after the file's providers.
func (p *Profiles) read(r io.Reader, catalogue bool) error {
	b, err := io.ReadAll(r)
	var typed profileFile[Provider, familyFile[Profile], Profile]
	var f profileFile[yaml.Node, yaml.Node, yaml.Node]
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err = cmp.Or(err, d.Decode(&typed), yaml.Unmarshal(b, &f)); err != nil && !errors.Is(err, io.EOF) {
		return media.Errorf(media.CodeInvalid, "read chat profiles: %w", err)
	}
	for n, q := range typed.Providers {
		i := p.rank(q.Key)
		if i < 0 {
			i, p.providers = len(p.providers), append(p.providers, q)
		}
		if err := f.Providers[n].Decode(&p.providers[i]); err != nil {
			return media.Errorf(media.CodeInvalid, "chat profiles, line %d: %w", f.Providers[n].Line, err)
		}
	}
	if catalogue {
		p.addCatwalk()
	}
	for n := range f.Families {
		if err := p.addFamily(&f.Families[n]); err != nil {
			return err
		}
	}
	for n := range f.Models {
		if err := p.overrideModel(&f.Models[n], typed.Models[n]); err != nil {
			return err
		}
	}
	return nil
}

// addCatwalk adds the models of known providers from the embedded catalogue (charm.land/catwalk).
func (p *Profiles) addCatwalk() {
	for _, cp := range embedded.GetAll() {
		prov, ok := p.Provider(string(cp.ID))
		if !ok {
			continue
		}
		for _, m := range cp.Models {
			p.models = append(p.models, Profile{
				ID: m.ID, Name: m.Name, Provider: prov.Key,
				ContextTokens: m.ContextWindow, MaxOutputTokens: m.DefaultMaxTokens,
				SupportsVision: m.SupportsImages, StructuredOutput: prov.JSONMode,
				Pricing:       Pricing{Rate: Rate{InputUSD: usd(m.CostPer1MIn), OutputUSD: usd(m.CostPer1MOut), CachedUSD: cachedUSD(m)}},
				NoTemperature: m.CanReason && prov.Key == "openai",
			})
			p.baseIDs[m.ID] = baseID(m.ID)
		}
	}
}

// usd converts a catalogue price to decimal text. A missing price is unknown, not zero.
func usd(v float64) string {
	if v <= 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}

// cachedUSD returns the price of tokens that are read from the cache. The catalogue has it in either of two fields. The
// other field may hold the price of cache writes, which is higher than that of the prompt.
func cachedUSD(m catwalk.Model) string {
	least := 0.0
	for _, v := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		if v > 0 && v <= m.CostPer1MIn && (least == 0 || v < least) {
			least = v
		}
	}
	return usd(least)
}

// overrideModel applies the fields of a node, which key holds as well, to a model.
func (p *Profiles) overrideModel(n *yaml.Node, key Profile) error {
	prov, ok := p.Provider(key.Provider)
	if !ok || key.ID == "" {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: a model requires an id and a known provider, not %q", n.Line, key.Provider)
	}
	i := slices.IndexFunc(p.models, func(m Profile) bool { return m.Provider == key.Provider && m.ID == key.ID })
	if i < 0 {
		i, p.models = len(p.models), append(p.models, p.custom(prov, key.ID))
		p.baseIDs[key.ID] = baseID(key.ID)
	}
	if err := n.Decode(&p.models[i]); err != nil {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: %w", n.Line, err)
	}
	p.models[i].Assumed = ""
	return nil
}

// addFamily reads a family and applies it to the models that are known so far.
func (p *Profiles) addFamily(n *yaml.Node) error {
	var key familyFile[yaml.Node]
	if err := n.Decode(&key); err != nil {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: %w", n.Line, err)
	}
	f := family{name: key.Name, provider: key.Provider}
	if !key.Profile.IsZero() {
		f.fields = &key.Profile
	}
	if !key.Unlisted.IsZero() {
		f.unlisted = &key.Unlisted
	}
	if len(key.Match) == 0 || f.fields == nil && f.unlisted == nil {
		return media.Errorf(media.CodeInvalid, "chat profiles, line %d: a family requires match (patterns of model ids) and profile or unlisted", n.Line)
	}
	for _, m := range key.Match {
		m = strings.ToLower(m)
		if _, err := path.Match(m, ""); err != nil {
			return media.Errorf(media.CodeInvalid, "chat profiles, line %d: match %q is not a pattern: %w", n.Line, m, err)
		}
		f.match = append(f.match, m)
	}
	p.families = append(p.families, f)
	for i := range p.models {
		if m := p.models[i]; f.has(m, p.baseIDs[m.ID]) {
			lay(f.fields, &p.models[i])
		}
	}
	return nil
}

// has reports whether a model belongs to the family.
func (f family) has(m Profile, base string) bool {
	if f.provider != "" && f.provider != m.Provider {
		return false
	}
	whole := strings.ToLower(m.ID)
	return slices.ContainsFunc(f.match, func(pattern string) bool {
		literal := pattern
		if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
			literal = pattern[:i]
		}
		matches := func(id string) bool {
			ok, _ := path.Match(pattern, id) // patterns were checked when they were loaded
			return ok
		}
		return strings.HasPrefix(whole, literal) && matches(whole) || strings.HasPrefix(base, literal) && matches(base)
	})
}

// lay applies fields of a family to the profile of a model.
func lay(fields *yaml.Node, m *Profile) {
	own := *m
	if fields != nil && fields.Decode(&own) == nil { // it was decoded when it was loaded
		own.ID, own.Provider = m.ID, m.Provider
		*m = own
	}
}

var (
	// idBefore matches what hosts put before an id: a vendor with a slash, or regions and vendors with dots.
	idBefore = regexp.MustCompile(`^(.*/|([a-z-]+\.)+)`)
	// idBehind matches what follows an id: tags, dates, versions of hosts, stages.
	idBehind = regexp.MustCompile(`(:.*|[-@]20\d\d-?\d\d-?\d\d|-v[12]|-latest|-preview)$`)
)

// baseID returns an id without the additions of hosts and dates.
func baseID(id string) string {
	id = strings.ToLower(id)
	for _, trim := range []*regexp.Regexp{idBefore, idBehind} {
		for short := trim.ReplaceAllString(id, ""); short != "" && short != id; short = trim.ReplaceAllString(id, "") {
			id = short
		}
	}
	return id
}

// complete returns a profile with the provider's limits for pictures, as far as the model has none of its own.
func (p *Profiles) complete(m Profile) Profile {
	if q, ok := p.Provider(m.Provider); ok && m.SupportsVision {
		m.ImageLimits = m.over(q.ImageLimits)
	}
	return m
}

// custom returns the profile of an unlisted model: that of a listed model whose id differs only in date and stage, else
// that of its families. Without a family, the model accepts only text.
func (p *Profiles) custom(prov Provider, id string) Profile {
	base := baseID(id)
	for _, m := range p.models {
		if m.Provider == prov.Key && p.baseIDs[m.ID] == base {
			m.Assumed, m.ID, m.Name = m.Name, id, id
			return m
		}
	}
	m := Profile{ID: id, Name: id, Provider: prov.Key, StructuredOutput: prov.JSONMode}
	for _, f := range p.families {
		if !f.has(m, base) {
			continue
		}
		if f.name != "" && m.Assumed == "" {
			m.Assumed = "a model of the family " + f.name
		}
		lay(f.unlisted, &m)
		lay(f.fields, &m)
	}
	return m
}

// listed returns the profile of a listed model by its id.
func (p *Profiles) listed(provider, id string) (Profile, bool) {
	i := slices.IndexFunc(p.models, func(m Profile) bool { return m.Provider == provider && m.ID == id })
	if i < 0 || id == "" {
		return Profile{}, false
	}
	return p.complete(p.models[i]), true
}

// Provider returns a provider by its key.
func (p *Profiles) Provider(key string) (Provider, bool) {
	if i := p.rank(key); i >= 0 {
		return p.providers[i], true
	}
	return Provider{}, false
}

// Providers returns the providers in their default order.
func (p *Profiles) Providers() []Provider { return slices.Clone(p.providers) }

// Models returns all profiles, grouped by provider.
func (p *Profiles) Models() []Profile {
	all := make([]Profile, 0, len(p.models))
	for _, m := range p.models {
		all = append(all, p.complete(m))
	}
	return all
}

// Find returns models by "provider/id", id or display name, ignoring case. If several providers serve a model, it
// returns all of them in the default order. It accepts a "provider/id" of a known provider even if the id is not
// listed.
func (p *Profiles) Find(name string) []Profile {
	if prov, id, ok := strings.Cut(name, "/"); ok {
		if q, known := p.Provider(strings.ToLower(prov)); known && id != "" {
			if i := slices.IndexFunc(p.models, func(m Profile) bool { return m.Provider == q.Key && same(m, id) }); i >= 0 {
				return []Profile{p.complete(p.models[i])}
			}
			return []Profile{p.complete(p.custom(q, id))}
		}
	}
	found := slices.DeleteFunc(p.Models(), func(m Profile) bool { return !same(m, name) })
	slices.SortStableFunc(found, func(a, b Profile) int { return p.rank(a.Provider) - p.rank(b.Provider) })
	return found
}

func same(m Profile, name string) bool {
	return strings.EqualFold(m.ID, name) || strings.EqualFold(m.Name, name)
}

func (p *Profiles) rank(key string) int {
	return slices.IndexFunc(p.providers, func(q Provider) bool { return q.Key == key })
}

// String returns the name of the model and its provider.
func (f Profile) String() string { return fmt.Sprintf("%s (%s)", f.Name, f.Provider) }

// Listed is a model as its provider lists it.
type Listed struct {
	ID string `json:"id"`
	// Vision reports whether the model accepts pictures; nil if the list does not say.
	Vision *bool `json:"vision,omitempty"`
	// ContextTokens is 0 and ShutDown is zero if the list does not say.
	ContextTokens int64     `json:"context_tokens,omitempty"`
	ShutDown      time.Time `json:"shut_down,omitzero"`
}

// FindingKind is the kind of a difference between a provider's list and the profiles.
type FindingKind string

// The values of [FindingKind].
const (
	FindingNew     FindingKind = "new"     // in the list, but not in the profiles
	FindingGone    FindingKind = "gone"    // alive in the profiles, but not in the list
	FindingVision  FindingKind = "vision"  // accepts pictures only in the list, or only in the profiles
	FindingContext FindingKind = "context" // different context size
	FindingEnd     FindingKind = "end"     // different shutdown date
)

// Finding is one difference.
type Finding struct {
	Model string      `json:"model"`
	Kind  FindingKind `json:"kind"`
	Note  string      `json:"note"`
}

// Compare returns the differences between a provider's list and the profiles at a time.
func (p *Profiles) Compare(provider string, listed []Listed, now time.Time) []Finding {
	var out []Finding
	add := func(id string, kind FindingKind, format string, args ...any) {
		out = append(out, Finding{Model: id, Kind: kind, Note: fmt.Sprintf(format, args...)})
	}
	prov, _ := p.Provider(provider)
	there := map[string]bool{}
	for _, l := range listed {
		there[l.ID] = true
		f, known := p.listed(provider, l.ID)
		if !known {
			if f = p.custom(prov, l.ID); f.Assumed != "" {
				add(l.ID, FindingNew, "%s", f.assumption())
			} else {
				add(l.ID, FindingNew, "its family is unknown: it is shown no pictures, and its price is unknown")
			}
		}
		if l.Vision != nil && *l.Vision != f.SupportsVision {
			add(l.ID, FindingVision, "accepts pictures at the provider: %t, here: %t", *l.Vision, f.SupportsVision)
		}
		if known && l.ContextTokens > 0 && f.ContextTokens > 0 && l.ContextTokens != f.ContextTokens {
			add(l.ID, FindingContext, "%d tokens at the provider, %d here", l.ContextTokens, f.ContextTokens)
		}
		if !l.ShutDown.IsZero() && !l.ShutDown.Equal(f.Life.ShutDown) {
			add(l.ID, FindingEnd, "it is shut down on %s", l.ShutDown.Format(time.DateOnly))
		}
	}
	for _, m := range p.models {
		if m.Provider == provider && m.Alive(now) && !there[m.ID] && len(listed) > 0 {
			add(m.ID, FindingGone, "the provider does not list it")
		}
	}
	return out
}
