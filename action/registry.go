package action

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"atelier/media"
	"atelier/wire"
)

// Store keeps media bytes and finds them in texts; *wire.Codec is one.
type Store interface {
	// Store reads r to its end, sniffs and limits it, and gives the stored blob.
	// declaredMIME decides only for types without a signature. An item over a limit
	// is [media.CodeTooLarge] and leaves nothing behind.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
	// Open reads a stored blob; the caller closes it.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
	// LiftString stores the media inside a text and puts tokens in its place.
	LiftString(ctx context.Context, s string, o wire.ValueOptions) (string, []wire.Lifted)
}

// Config is what a [Registry] needs.
type Config struct {
	// Store keeps the bytes of action outputs; required.
	Store Store
	// Recorder records each stored item before anything else sees it; nil records nothing.
	Recorder media.Recorder
	// Fetch gets outputs that are known by address only; nil fails such items with
	// [media.CodeUnsupported].
	Fetch Fetcher
	// Threshold is the length in characters from which base64 without a media
	// signature is taken for media in undeclared values; 0 means [DefaultThreshold].
	Threshold int
	// MaxItems is how many media items one run may hold; 0 means [DefaultMaxItems].
	MaxItems int
}

// Limits that [Config] defaults to.
const (
	DefaultThreshold = 10_000
	DefaultMaxItems  = 500
)

func (c Config) withDefaults() (Config, error) {
	if c.Store == nil {
		return c, media.Errorf(media.CodeInvalid, "action.Config.Store is missing: give the wire codec")
	}
	if c.Threshold < 0 || c.MaxItems < 0 {
		return c, media.Errorf(media.CodeInvalid, "action.Config.Threshold and MaxItems must not be negative")
	}
	c.Threshold = cmp.Or(c.Threshold, DefaultThreshold)
	c.MaxItems = cmp.Or(c.MaxItems, DefaultMaxItems)
	return c, nil
}

// Registry holds the actions of a program by name and invokes them. Names are
// looked up without regard to case. It is safe for concurrent use.
type Registry struct {
	interceptor *Interceptor
	mu          sync.RWMutex      // guards actions
	actions     map[string]Action // by lower-case name
}

// NewRegistry makes an empty registry. The error has code [media.CodeInvalid].
func NewRegistry(cfg Config) (*Registry, error) {
	i, err := NewInterceptor(cfg)
	if err != nil {
		return nil, err
	}
	return &Registry{interceptor: i, actions: map[string]Action{}}, nil
}

// Interceptor is what the registry passes every result through.
func (r *Registry) Interceptor() *Interceptor { return r.interceptor }

// Register adds actions. A second action of one name, one without a name or
// without Run, and parameters that make no sense are [media.CodeInvalid]; then
// nothing is added.
func (r *Registry) Register(actions ...Action) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := maps.Clone(r.actions)
	for _, a := range actions {
		a = a.withDefaults()
		if err := a.validate(); err != nil {
			return err
		}
		key := nameKey(a.Name)
		if _, twice := next[key]; twice {
			return media.Errorf(media.CodeInvalid, "action %q is registered twice: give one of them another name", a.Name)
		}
		next[key] = a
	}
	r.actions = next
	return nil
}

// Lookup finds an action by name. The error has code [media.CodeNotFound] and
// lists the names there are.
func (r *Registry) Lookup(name string) (Action, error) {
	r.mu.RLock()
	a, ok := r.actions[nameKey(name)]
	r.mu.RUnlock()
	if ok {
		return a, nil
	}
	return Action{}, unknownAction(name, r.Names())
}

// Names lists the registered names in alphabetical order.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, 0, len(r.actions))
	for _, a := range r.actions {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

func unknownAction(name string, names []string) *media.Error {
	e := media.Errorf(media.CodeNotFound, "unknown action %q: use one of %s", clip(name, 80), strings.Join(names, ", "))
	e.Valid, e.Retryable = names, true
	return e
}

// nameKey is what action and parameter names are compared by: lower case, without
// the spaces, dashes and underscores that models put in or leave out.
func nameKey(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '-' || c == '_' {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

// withDefaults fills in what most parameters are: scalar inputs.
func (a Action) withDefaults() Action {
	a.Params = slices.Clone(a.Params)
	for i := range a.Params {
		p := &a.Params[i]
		p.Direction, p.ValueType = cmp.Or(p.Direction, Input), cmp.Or(p.ValueType, Scalar)
	}
	return a
}

// validate checks what the author of an action wrote.
func (a Action) validate() error {
	if strings.TrimSpace(a.Name) == "" || a.Run == nil {
		return media.Errorf(media.CodeInvalid, "action %q needs a name and a Run function", a.Name)
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
	switch p.Direction {
	case Input, Output, Both:
	default:
		return media.Errorf(media.CodeInvalid, "parameter %q: direction %q is not Input, Output or Both", p.Name, p.Direction)
	}
	switch p.ValueType {
	case Scalar, SimpleObject, Binary, Other, "":
	default:
		return media.Errorf(media.CodeInvalid, "parameter %q: value type %q is not Scalar, Simple Object, Binary or Other", p.Name, p.ValueType)
	}
	switch p.Format {
	case "", FormatMediaOutput, FormatBase64String, FormatDataURL, FormatBytes, FormatReader:
	default:
		return media.Errorf(media.CodeInvalid, "parameter %q: binary output format %q is unknown", p.Name, p.Format)
	}
	switch p.Type {
	case "", "string", "integer", "number", "boolean", "object", "any":
	default:
		return media.Errorf(media.CodeInvalid, "parameter %q: type %q is not string, integer, number, boolean, object or any", p.Name, p.Type)
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
