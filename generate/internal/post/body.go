package post

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
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

// Names are what a provider calls the settings of a task; those without a name are not
// sent by [Body.Settings].
type Names struct {
	Prompt, NegativePrompt string
	// Size is one field of "WIDTHxHEIGHT", Width and Height are two.
	Size, Width, Height       string
	AspectRatio, Tier         string
	Quality, Style            string
	Background, Moderation    string
	Seed                      string
	OutputFormat, Compression string
	Voice, Speed              string
}

// Settings adds the settings that the task has, each to the field of its name.
func (b Body) Settings(t driver.Task, n Names) {
	size := ""
	if t.Width > 0 && t.Height > 0 {
		size = fmt.Sprintf("%dx%d", t.Width, t.Height)
	}
	for name, value := range map[string]any{
		n.Prompt: t.Prompt, n.NegativePrompt: t.NegativePrompt, n.Size: size, n.Width: t.Width, n.Height: t.Height,
		n.AspectRatio: t.AspectRatio, n.Tier: t.Tier, n.Quality: t.Quality, n.Style: t.Style, n.Background: t.Background,
		n.Moderation: t.Moderation, n.Seed: t.Seed, n.OutputFormat: t.OutputFormat, n.Compression: t.Compression,
		n.Voice: t.Voice, n.Speed: t.Speed,
	} {
		if name != "" {
			b.Set(name, value)
		}
	}
}

// Form is a body in multipart/form-data, see [Client.Form].
type Form struct{ parts []formPart }

type formPart struct {
	name, text string
	// file and kind are set for media.
	file, kind string
}

// fields adds the fields of a body in the order of their names; texts as they are, all else
// as JSON.
func (f *Form) fields(b Body) error {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		text, ok := b[name].(string)
		if !ok {
			raw, err := json.Marshal(b[name])
			if err != nil {
				return media.Errorf(media.CodeInvalid, "option %s cannot be written: %w", name, err)
			}
			text = string(raw)
		}
		f.parts = append(f.parts, formPart{name: name, text: text})
	}
	return nil
}

// file adds a media file, named by the plain marker of its blob. The lowering
// transport puts the bytes in its place.
func (f *Form) file(p File, marker string) {
	_, ending, _ := strings.Cut(p.Blob.MIMEType, "/")
	f.parts = append(f.parts, formPart{name: p.Name, text: marker, file: fmt.Sprintf("picture-%d.%s", len(f.parts)+1, ending), kind: p.Blob.MIMEType})
}

// encode writes the form and tells its type with the boundary.
func (f *Form) encode(to string) (*bytes.Buffer, string, error) {
	buf := &bytes.Buffer{}
	w := multipart.NewWriter(buf)
	for _, p := range f.parts {
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q`, p.name)}}
		if p.kind != "" {
			h.Set("Content-Disposition", fmt.Sprintf(`form-data; name=%q; filename=%q`, p.name, p.file))
			h.Set("Content-Type", p.kind)
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = part.Write([]byte(p.text))
		}
		if err != nil {
			return nil, "", media.Errorf(media.CodeInternal, "write the form for %s: %w", to, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", media.Errorf(media.CodeInternal, "write the form for %s: %w", to, err)
	}
	return buf, w.FormDataContentType(), nil
}
