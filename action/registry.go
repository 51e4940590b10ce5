package action

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"atelier/media"
	"atelier/media/wire"
)

// Config is the configuration of a [Registry].
type Config struct {
	// Store keeps the bytes of action outputs; required.
	Store *wire.Codec
	// Recorder records each stored item before anything else sees it; nil records nothing.
	Recorder media.Recorder
	// Fetch fetches outputs that have only an address; nil fails such items with [media.CodeUnsupported].
	Fetch Fetch
	// Threshold is the length in characters from which base64 without a media signature is media in
	// undeclared values; 0 means [DefaultThreshold].
	Threshold int
	// MaxItems is the maximum number of media items of a run; 0 means [DefaultMaxItems].
	MaxItems int
}

// Default limits of [Config].
const (
	DefaultThreshold = 10_000
	DefaultMaxItems  = 500
)

// Registry holds the actions of a program by name and invokes them. Names are case-insensitive. It is safe for
// concurrent use.
type Registry struct {
	interceptor *Interceptor
	mu          sync.RWMutex      // guards actions
	actions     map[string]Action // by nameKey
}

// NewRegistry creates an empty registry. The error has code [media.CodeInvalid].
func NewRegistry(cfg Config) (*Registry, error) {
	if cfg.Store == nil {
		return nil, media.Errorf(media.CodeInvalid, "action.Config.Store is missing: give the wire codec")
	}
	if cfg.Threshold < 0 || cfg.MaxItems < 0 {
		return nil, media.Errorf(media.CodeInvalid, "action.Config.Threshold and MaxItems must not be negative")
	}
	cfg.Threshold = cmp.Or(cfg.Threshold, DefaultThreshold)
	cfg.MaxItems = cmp.Or(cfg.MaxItems, DefaultMaxItems)
	return &Registry{interceptor: &Interceptor{cfg: cfg}}, nil
}

// Interceptor returns the interceptor of every result.
func (r *Registry) Interceptor() *Interceptor { return r.interceptor }

// Register adds actions. It returns [media.CodeInvalid] for a duplicate name, an action without a name or Run, and
// invalid parameters, and then adds nothing.
func (r *Registry) Register(actions ...Action) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[string]Action{}
	maps.Copy(next, r.actions)
	for _, a := range actions {
		a = a.withDefaults()
		if err := a.validate(); err != nil {
			return err
		}
		key := nameKey(a.Name)
		if _, twice := next[key]; twice {
			return media.Errorf(media.CodeInvalid, "action %q is registered twice: rename one of them", a.Name)
		}
		next[key] = a
	}
	r.actions = next
	return nil
}

// Lookup finds an action by name. The error has code [media.CodeNotFound] and lists the existing names.
func (r *Registry) Lookup(name string) (Action, error) {
	r.mu.RLock()
	a, ok := r.actions[nameKey(name)]
	r.mu.RUnlock()
	if ok {
		return a, nil
	}
	e := media.Errorf(media.CodeNotFound, "unknown action %q: use one of %s", clip(name, 80), strings.Join(r.Names(), ", "))
	e.Valid, e.Retryable = r.Names(), true
	return Action{}, e
}

// Has reports whether an action of that name is registered.
func (r *Registry) Has(name string) bool {
	_, err := r.Lookup(name)
	return err == nil
}

// Names lists the registered names in alphabetical order.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := []string{}
	for _, a := range r.actions {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// nameKey returns the form by which action and parameter names are compared: lower case, without the spaces, dashes and
// underscores that models add or omit.
func nameKey(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '-' || c == '_' {
			return -1
		}
		return unicode.ToLower(c)
	}, name)
}

// withDefaults sets the defaults of parameters: scalar inputs.
func (a Action) withDefaults() Action {
	a.Params = slices.Clone(a.Params)
	for i := range a.Params {
		p := &a.Params[i]
		p.Direction, p.ValueType = cmp.Or(p.Direction, Input), cmp.Or(p.ValueType, Scalar)
	}
	return a
}

// validate checks the definition of an action.
func (a Action) validate() error {
	if strings.TrimSpace(a.Name) == "" || a.Run == nil {
		return media.Errorf(media.CodeInvalid, "action %q requires a name and a Run function", a.Name)
	}
	seen := map[string]bool{}
	for _, p := range a.Params {
		if err := p.validate(); err != nil {
			return media.Errorf(media.CodeInvalid, "action %q: %w", a.Name, err)
		}
		key := string(p.Direction) + nameKey(p.Name)
		if seen[key] {
			return media.Errorf(media.CodeInvalid, "action %q: parameter %q is declared twice", a.Name, p.Name)
		}
		seen[key] = true
	}
	return nil
}

func (p Param) validate() error {
	for _, setting := range []struct {
		what, value string
		known       []string
	}{
		{"direction", string(p.Direction), []string{string(Input), string(Output), string(Both)}},
		{"value type", string(p.ValueType), []string{string(Scalar), string(SimpleObject), string(Binary), string(Other)}},
		{"binary output format", string(p.Format), []string{string(FormatMediaOutput), string(FormatBase64String), string(FormatDataURL), string(FormatBytes), string(FormatReader)}},
		{"type", p.Type, []string{"string", "integer", "number", "boolean", "object", "any"}},
	} {
		if setting.value != "" && !slices.Contains(setting.known, setting.value) {
			return media.Errorf(media.CodeInvalid, "parameter %q: %s %q is not one of %s", p.Name, setting.what, setting.value, strings.Join(setting.known, ", "))
		}
	}
	if p.Name == "" {
		return media.Errorf(media.CodeInvalid, "a parameter has no name")
	}
	if p.Default != nil {
		if _, _, err := p.bind(p.Default, &media.Set{}); err != nil {
			return media.Errorf(media.CodeInvalid, "the default of parameter %q %w", p.Name, err)
		}
	}
	return nil
}

// clip shortens text that is quoted in a message.
func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
