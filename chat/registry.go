package chat

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"atelier/internal/patience"
	"atelier/media"
	"atelier/media/wire"
)

// Config configures a [Registry].
type Config struct {
	// Profiles is the catalogue of chat models; required.
	Profiles *Profiles
	// Keys are the credentials by provider key. For ollama, the credential is the address of the host.
	Keys map[string]string
	// AnyOpenAI means that openai is another service with the same protocol, whose models can have any name.
	AnyOpenAI bool
	// Default is the model that the operator chose (ATELIER_CHAT_MODEL); empty means the default model of the first
	// provider with a key.
	Default string
	// Own are models that the program made. They need no key.
	Own []Model
	// Offline is the model for the case that no provider has a key; required.
	Offline Model
	// Open opens the models of providers that are not in Openers; required. Openers is keyed by provider key.
	Open    Opener
	Openers map[string]Opener
	// Retry is the policy for retrying refused calls.
	Retry RetryPolicy
	// Now is the clock that determines which models are alive; nil means time.Now.
	Now func() time.Time
}

// Opener opens the model of a profile. Models are opened at their first use, and again if many others were used since.
type Opener func(ctx context.Context, f Profile) (Model, error)

// Registry opens chat models by name. It is safe for concurrent use.
type Registry struct {
	cfg  Config
	own  []Model
	mu   sync.Mutex // guards open
	open map[string]Model
}

// Choice is the chosen model, and why it is not the requested one.
type Choice struct {
	Model Model
	// Asked is the requested name that is not available; empty if the first preference is available.
	Asked string
	// Reason says why it is not available, for people; empty for the first preference.
	Reason string
	// Changes report a successor, or how an unlisted model is treated.
	Changes []Change
	// Warnings report that a model will be shut down soon.
	Warnings []string
}

// NewRegistry checks the configuration and creates a Registry.
func NewRegistry(cfg Config) (*Registry, error) {
	if cfg.Profiles == nil || cfg.Offline == nil || cfg.Open == nil {
		return nil, media.Errorf(media.CodeInternal, "chat registry: Profiles, Offline and Open are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock
	}
	r := &Registry{cfg: cfg, open: map[string]Model{}}
	for i, m := range cfg.Own {
		if m == nil || m.Profile().Provider == "" || m.Profile().ID == "" {
			return nil, media.Errorf(media.CodeInvalid, "chat model %d of the program is nil, or its profile lacks Provider or ID", i+1)
		}
		r.own = append(r.own, r.retrying(m))
	}
	return r, nil
}

// Ready returns nil if a provider can be used. Otherwise, it returns an error with code missing_key that names the
// variable to set.
func (r *Registry) Ready(p Provider) error { return p.Ready(r.cfg.Keys) }

// Own returns the profiles of the program's models.
func (r *Registry) Own() (out []Profile) {
	for _, m := range r.own {
		out = append(out, m.Profile())
	}
	return out
}

// Profiles returns the catalogue.
func (r *Registry) Profiles() *Profiles { return r.cfg.Profiles }

// Named opens the model that a person named, or its successor. The error has code missing_key for a missing key,
// not_found for an unknown name, and unsupported for a model that was shut down without a successor.
func (r *Registry) Named(ctx context.Context, name string) (Model, error) {
	c, err := r.named(ctx, name)
	return c.Model, err
}

func (r *Registry) named(ctx context.Context, name string) (Choice, error) {
	if p := r.cfg.Offline.Profile(); strings.EqualFold(name, "offline") || same(p, name) {
		return Choice{Model: r.cfg.Offline}, nil
	}
	for _, m := range r.own {
		if p := m.Profile(); same(p, name) || strings.EqualFold(p.Provider+"/"+p.ID, name) {
			return Choice{Model: m}, nil
		}
	}
	found := r.cfg.Profiles.Find(name)
	// Another service may have models of any name, but none is named like a media item.
	if len(found) == 0 && r.cfg.AnyOpenAI && wire.NameMedia(name) == name {
		p, _ := r.cfg.Profiles.Provider("openai")
		found = []Profile{r.cfg.Profiles.complete(r.cfg.Profiles.custom(p, name))}
	}
	if len(found) == 0 {
		return Choice{}, media.Errorf(media.CodeNotFound, "there is no chat model %q: write PROVIDER/MODEL (openai/gpt-5.4), or see `atelier models list --chat`", media.ErrorText(name))
	}
	var failed error // the first one
	for _, f := range found {
		p, _ := r.cfg.Profiles.Provider(f.Provider)
		if err := r.Ready(p); err != nil {
			failed = cmp.Or[error](failed, media.Errorf(media.CodeMissingKey, "chat model %s: %w", f.Name, err))
			continue
		}
		next, changes, warnings, err := r.cfg.Profiles.resolveAlive(media.ErrorText(name), f, r.cfg.Now())
		if err != nil { // another provider may still have the model
			failed = cmp.Or(failed, err)
			continue
		}
		m, err := r.opened(ctx, next)
		return Choice{Model: m, Changes: changes, Warnings: warnings}, err
	}
	return Choice{}, failed
}

// Choose opens the operator's default, else the first preferred model that has a key, else the first model of the
// program, else the default model of the first provider with a key, else the offline model. Only for the operator's
// default is a missing key an error.
func (r *Registry) Choose(ctx context.Context, prefer []string) (Choice, error) {
	if r.cfg.Default != "" {
		c, err := r.named(ctx, r.cfg.Default)
		if err != nil {
			err = media.Errorf(media.CodeOf(err), "ATELIER_CHAT_MODEL or --model: %w", err)
		}
		return c, err
	}
	requested, reason := "", ""
	for _, name := range prefer {
		c, err := r.named(ctx, name)
		if err == nil {
			c.Asked, c.Reason = requested, reason
			return c, nil
		}
		if requested == "" {
			requested, reason = name, err.Error()
		}
	}
	if len(r.own) > 0 {
		return Choice{Model: r.own[0], Asked: requested, Reason: reason}, nil
	}
	for _, p := range r.cfg.Profiles.Providers() {
		if r.Ready(p) != nil {
			continue
		}
		c, err := r.named(ctx, p.Key+"/"+p.DefaultModel)
		c.Asked, c.Reason = requested, reason
		return c, err
	}
	return Choice{Model: r.cfg.Offline, Asked: requested, Reason: reason}, nil
}

// maxOpen is the maximum number of open models: callers can also name models that are not listed.
const maxOpen = 1000

func (r *Registry) opened(ctx context.Context, f Profile) (Model, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := f.Provider + "/" + f.ID
	if m, ok := r.open[key]; ok {
		return m, nil
	}
	open, ok := r.cfg.Openers[f.Provider]
	if !ok {
		open = r.cfg.Open
	}
	m, err := open(ctx, f)
	if err != nil {
		return nil, err
	}
	if len(r.open) == maxOpen {
		clear(r.open) // which also forgets the waits that providers asked for
	}
	m = r.retrying(m)
	r.open[key] = m
	return m, nil
}

// retrying returns a model whose refused calls are retried.
func (r *Registry) retrying(m Model) Model {
	return retrying{Model: m, policy: r.cfg.Retry.withDefaults(), waits: &patience.Waits{}}
}
