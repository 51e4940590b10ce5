// Package subaction implements the actions that a person can start from an interaction: action types such as
// media.midjourney.txt2img, the parameters of each action, and the Gateway request for a click. It calls no provider.
// Errors have code media.CodeNotFound for an unknown action, media.CodeUnsupported for what a provider cannot do, and
// media.CodeInvalid with JSON pointers for invalid parameters. The package may import media, generate and the packages
// of workflow that handle JSON.
package subaction

import (
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/media"
	"atelier/workflow/ordered"
)

// Offer describes what an action accepts.
type Offer struct {
	// Provider is the key of the provider that executes the action; empty if there is none.
	Provider string
	// Params is the JSON Schema of the parameters.
	Params *ordered.Object
}

// Call is one click on a sub-action.
type Call struct {
	// Key is the last key of the prompt's path. It may name the model.
	Key string
	// Prompt is the text that is sent to the provider.
	Prompt string
	// Params are the merged parameters, checked by [Check].
	Params *ordered.Object
}

// Plan is the request that a call results in.
type Plan struct {
	// Request does not contain the inputs.
	Request generate.Request
	// Images are the ids or refs of the input pictures, Mask that of the mask. The caller looks them up for the owner
	// of the run.
	Images []string
	Mask   string
}

// Handler implements the actions of one type.
type Handler interface {
	// Offer returns what the action accepts for a key. The error says why the action cannot be started.
	Offer(key string) (Offer, error)
	// Plan returns the request for a call. It does not call a provider.
	Plan(c Call) (Plan, error)
}

// Registry finds handlers by action type. It is safe for concurrent use.
type Registry struct {
	mu             sync.Mutex // guards the following
	customHandlers map[string]Handler
	day            string // day for which the offers are valid: models are released and shut down
	offers         map[string]Offer

	now       func() time.Time
	providers []string // in the order of the catalogue
	models    map[string][]catalog.Model
}

// New creates a registry with the actions media.PROVIDER.OPERATION for every provider in a catalogue.
func New(catalogue *catalog.Catalog, now func() time.Time) *Registry {
	r := &Registry{now: now, providers: catalogue.Providers(), models: map[string][]catalog.Model{}, customHandlers: map[string]Handler{}}
	for _, m := range catalogue.Models() {
		r.models[m.Provider] = append(r.models[m.Provider], m)
	}
	return r
}

// Register adds an action of the program. It takes precedence over the actions of the catalogue.
func (r *Registry) Register(actionType string, h Handler) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if actionType == "" || r.customHandlers[actionType] != nil {
		return media.Errorf(media.CodeConflict, "action %q is registered already, or has no name", actionType)
	}
	r.customHandlers[actionType] = h
	return nil
}

// operations lists the values of OPERATION in media.PROVIDER.OPERATION.
var operations = []string{"txt2img", "img2img", "edit", "variation", "upscale"}

// Offer returns what an action accepts for a key. Equal offers share their schema, which must not be modified.
func (r *Registry) Offer(actionType, key string) (Offer, error) {
	h, err := r.Find(actionType)
	if err != nil {
		return Offer{}, err
	}
	p, ok := h.(provided)
	if !ok {
		return h.Offer(key)
	}
	name := actionType
	if m, ok := p.named(key, false); ok {
		name += "\x00" + m.APIModel
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if day := r.now().UTC().Format(time.DateOnly); day != r.day {
		r.day, r.offers = day, map[string]Offer{}
	}
	if o, ok := r.offers[name]; ok {
		return o, nil
	}
	o, err := p.Offer(key)
	if err == nil {
		r.offers[name] = o
	}
	return o, err
}

// Find returns the handler of an action type.
func (r *Registry) Find(actionType string) (Handler, error) {
	r.mu.Lock()
	custom := r.customHandlers[actionType]
	r.mu.Unlock()
	if custom != nil {
		return custom, nil
	}
	rest, ok := strings.CutPrefix(actionType, "media.")
	dot := strings.LastIndexByte(rest, '.')
	if !ok || dot < 0 {
		return nil, media.Errorf(media.CodeNotFound, "action %s is unknown: write media.PROVIDER.OPERATION", media.ErrorText(actionType))
	}
	provider, operation := rest[:dot], rest[dot+1:]
	h := provided{provider: provider, operation: operation, now: r.now}
	switch {
	case r.models[provider] == nil:
		return nil, media.Errorf(media.CodeNotFound, "provider %s is unknown: the providers are %s", media.ErrorText(provider), strings.Join(r.providers, ", "))
	case !slices.Contains(operations, operation):
		return nil, media.Errorf(media.CodeNotFound, "operation %s is unknown: the operations are %s", media.ErrorText(operation), strings.Join(operations, ", "))
	}
	for i := range r.models[provider] {
		if m := &r.models[provider][i]; h.does(m) {
			h.models = append(h.models, m)
		}
	}
	if len(h.models) == 0 {
		return nil, media.Errorf(media.CodeUnsupported, "no model of %s supports %s", provider, operation)
	}
	return h, nil
}

// provided implements one operation with the models of one provider.
type provided struct {
	provider, operation string
	models              []*catalog.Model // the models that support the operation
	now                 func() time.Time
}

// does reports whether a model supports the operation for pictures.
func (p provided) does(m *catalog.Model) bool {
	if m.Modality != media.ModalityImage {
		return false
	}
	if p.operation == "upscale" {
		return slices.ContainsFunc(m.Acts, func(a catalog.Act) bool { return a.Name == p.operation })
	}
	return slices.Contains(m.Methods, p.method()) || slices.Contains(m.Emulates, p.method())
}

func (p provided) method() generate.Method {
	switch p.operation {
	case "txt2img":
		return generate.MethodGenerate
	case "variation":
		return generate.MethodVariation
	}
	return generate.MethodEdit
}

// named finds a model by catalogue id or alias or, for a parameter, by display name.
func (p provided) named(name string, display bool) (*catalog.Model, bool) {
	is := func(n string) bool { return strings.EqualFold(n, name) }
	for _, m := range p.models {
		if is(m.APIModel) || slices.ContainsFunc(m.Aliases, is) || display && is(m.Name) {
			return m, true
		}
	}
	return nil, false
}

// model returns the model that the key names, else the one that param names, else the first active model.
func (p provided) model(key, param string) (*catalog.Model, error) {
	if m, ok := p.named(key, false); ok {
		return m, nil
	}
	if param != "" {
		if m, ok := p.named(param, true); ok {
			return m, nil
		}
		return nil, media.Errorf(media.CodeInvalid, "%s has no model %s that supports %s", p.provider, media.ErrorText(param), p.operation)
	}
	for _, m := range p.models {
		if m.Alive(p.now()) {
			return m, nil
		}
	}
	return nil, media.Errorf(media.CodeUnsupported, "%s has no active model that supports %s", p.provider, p.operation)
}
