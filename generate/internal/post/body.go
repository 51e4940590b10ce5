package post

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"reflect"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// Body is a JSON request body.
type Body map[string]any

// Set sets a field. An empty string, a zero number, a nil pointer and an empty body are settings that the task leaves
// open: they are omitted, so that the provider's defaults apply.
func (b Body) Set(name string, value any) {
	if inner, ok := value.(Body); ok && len(inner) == 0 {
		return
	}
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		b[name] = reflect.Indirect(v).Interface()
	}
}

// HandledByDriver is the field name of options that a driver writes itself.
const HandledByDriver = "-"

// Options sets the options of a task, each in the field that fields gives it, or else in the one of the same name. The
// error is for options that the model's row does not list, and for fields that are already set.
func (b Body) Options(t driver.Task, fields map[string]string) error {
	for name, value := range t.Options {
		field := cmp.Or(fields[name], name)
		if b[field] != nil {
			return media.Errorf(media.CodeInvalid, "option %s.%s cannot be set: leave it out", t.Model.Provider, name)
		}
		if field != HandledByDriver {
			b[field] = value
		}
	}
	return t.CheckOptions()
}

// AnyOption sets the options of a task, each in the field of the same name. The error is for fields that options cannot
// set, because the Gateway plans them.
func (b Body) AnyOption(t driver.Task, planned []string) error {
	for name, value := range t.Options {
		if slices.Contains(planned, name) {
			return media.Errorf(media.CodeInvalid, "option %s.%s cannot be set: leave it out", t.Model.Provider, name)
		}
		b[name] = value
	}
	return nil
}

// Reach is what a provider's protocol supports in one call, whatever the model.
type Reach struct {
	// N is the maximum number of results of a call, Inputs the maximum number of input pictures; 0 means that the
	// model's row decides.
	N, Inputs int
	// Methods are those besides generate; Mask reports whether an edit may have one.
	Methods []generate.Method
	Mask    bool
}

// Reaches returns nil if a call can carry the task. Errors: media.CodeUnsupported, and media.CodeInvalid if a picture
// is missing.
func (c *Client) Reaches(t driver.Task, r Reach) error {
	drawn := t.Method == "" || t.Method == generate.MethodGenerate
	switch {
	case r.N > 0 && t.N > r.N:
		return media.Errorf(media.CodeUnsupported, "%s returns %d per call, not %d: make several calls", c.Name, r.N, t.N)
	case !drawn && !slices.Contains(r.Methods, t.Method):
		return media.Errorf(media.CodeUnsupported, "%s has no %s of this: use another method or model", c.Name, t.Method)
	case !drawn && len(t.Inputs) == 0:
		return media.Errorf(media.CodeInvalid, "%s needs an input picture: name one", t.Method)
	case r.Inputs > 0 && len(t.Inputs) > r.Inputs:
		return media.Errorf(media.CodeUnsupported, "%s takes %d input pictures, not %d: use fewer", t.Model.Name, r.Inputs, len(t.Inputs))
	case t.Mask != nil && !r.Mask:
		return media.Errorf(media.CodeUnsupported, "%s takes no mask here: say in the prompt what to change, or use another model", c.Name)
	}
	for _, in := range t.Inputs {
		if types := t.Model.InputTypes; len(types) > 0 && !slices.Contains(types, in.MIMEType) {
			return media.Errorf(media.CodeUnsupported, "%s takes no %s: send %s", t.Model.Name, in.MIMEType, strings.Join(types, ", "))
		}
	}
	return nil
}

// Names are a provider's names for the settings of a task; [Body.Settings] omits settings without a name.
type Names struct {
	Prompt, NegativePrompt string
	// Size is one field with "WIDTHxHEIGHT", Width and Height are two fields.
	Size, Width, Height       string
	AspectRatio, Tier         string
	Quality, Style            string
	Background, Moderation    string
	Seed                      string
	OutputFormat, Compression string
	Voice, Speed              string
}

// Settings sets the task's settings, each in the field of its name.
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

// Form is a multipart/form-data body, see [Client.Form].
type Form struct {
	body bytes.Buffer
	kind string // the content type with the boundary
}

// File is a stored picture in a field of a form.
type File struct {
	Name string
	Blob media.Blob
}

// Form encodes fields in the order of their names, strings as they are and other values as JSON, followed by pictures,
// whose bytes the transport streams in place of markers.
func (c *Client) Form(ctx context.Context, fields Body, files ...File) (*Form, error) {
	f := &Form{}
	w := multipart.NewWriter(&f.body)
	f.kind = w.FormDataContentType()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, ok := fields[name].(string)
		if !ok {
			raw, err := json.Marshal(fields[name])
			if err != nil {
				return nil, media.Errorf(media.CodeInvalid, "option %s cannot be written: %w", name, err)
			}
			text = string(raw)
		}
		f.add(w, text, textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q`, name)}})
	}
	for i, p := range files {
		_, ending, _ := strings.Cut(p.Blob.MIMEType, "/")
		f.add(w, c.config.Codec.Marker(media.ScopeOf(ctx).Tree, p.Blob, wire.VariantStd), textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename="picture-%d.%s"`, p.Name, len(fields)+i+1, ending)},
			"Content-Type":        {p.Blob.MIMEType},
		})
	}
	_ = w.Close() // writes to a buffer do not fail
	return f, nil
}

func (f *Form) add(w *multipart.Writer, text string, h textproto.MIMEHeader) {
	if part, err := w.CreatePart(h); err == nil { // writes to a buffer do not fail
		_, _ = io.WriteString(part, text)
	}
}
