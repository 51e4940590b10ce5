package post

import (
	"reflect"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// Body is a request in JSON.
type Body map[string]any

// Set adds a field. An empty text, a zero number, a nil pointer and a body without fields
// are settings that the task leaves open: they are left out, so that the provider's
// defaults hold.
func (b Body) Set(name string, value any) {
	if inner, ok := value.(Body); ok && len(inner) == 0 {
		return
	}
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		b[name] = reflect.Indirect(v).Interface()
	}
}

// Elsewhere is the field of options that a driver writes itself.
const Elsewhere = "-"

// Options adds the options of a task, each to its field. The error is for options that have
// none.
func (b Body) Options(t driver.Task, fields map[string]string) error {
	for name, value := range t.Options {
		switch field := fields[name]; field {
		case "":
			return media.Errorf(media.CodeInvalid, "option %s.%s is unknown: leave it out", t.Model.Provider, name)
		case Elsewhere:
		default:
			b[field] = value
		}
	}
	return nil
}

// AnyOption adds the options of a task, each to the field of its name. The error is for
// fields that options may not set, because the Gateway plans them.
func (b Body) AnyOption(t driver.Task, planned []string) error {
	for name, value := range t.Options {
		if slices.Contains(planned, name) {
			return media.Errorf(media.CodeInvalid, "option %s.%s cannot be set: leave it out", t.Model.Provider, name)
		}
		b[name] = value
	}
	return nil
}

// Reach is what a provider's protocol can carry in one call, whatever the model.
type Reach struct {
	// N is how many results a call gives at the most, Inputs how many pictures it takes;
	// 0 means as many as the model's row says.
	N, Inputs int
	// Methods are those beside generating; Mask reports whether an edit can have one.
	Methods []generate.Method
	Mask    bool
}

// Reaches is nil if a call can carry the task. Errors: media.CodeUnsupported, and
// media.CodeInvalid where a picture is missing.
func (p *Provider) Reaches(t driver.Task, r Reach) error {
	drawn := t.Method == "" || t.Method == generate.MethodGenerate
	switch {
	case r.N > 0 && t.N > r.N:
		return media.Errorf(media.CodeUnsupported, "%s gives %d a call, not %d: make several calls", p.Name, r.N, t.N)
	case !drawn && !slices.Contains(r.Methods, t.Method):
		return media.Errorf(media.CodeUnsupported, "%s has no %s of this: use another method or model", p.Name, t.Method)
	case !drawn && len(t.Inputs) == 0:
		return media.Errorf(media.CodeInvalid, "%s needs an input picture: name one", t.Method)
	case r.Inputs > 0 && len(t.Inputs) > r.Inputs:
		return media.Errorf(media.CodeUnsupported, "%s takes %d input pictures, not %d: use fewer", t.Model.Name, r.Inputs, len(t.Inputs))
	case t.Mask != nil && !r.Mask:
		return media.Errorf(media.CodeUnsupported, "%s takes no mask here: say in the prompt what to change, or use another model", p.Name)
	}
	for _, in := range t.Inputs {
		if types := t.Model.InputTypes; len(types) > 0 && !slices.Contains(types, in.MIMEType) {
			return media.Errorf(media.CodeUnsupported, "%s takes no %s: send %s", t.Model.Name, in.MIMEType, strings.Join(types, ", "))
		}
	}
	return nil
}
