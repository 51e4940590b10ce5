package action

import (
	"bytes"
	"cmp"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/media"
	"atelier/media/probe"
	"atelier/media/wire"
)

// maxDepth is the maximum nesting of a value; lists that contain themselves end here.
const maxDepth = 64

// nested is the position of the walk in a value.
type nested struct {
	// declared is set inside a Binary output: signatures count at any size.
	declared bool
	// item is set while the value is a declared item or a list of them.
	item bool
	// format is the declared format of the value itself; "" means detection.
	format BinaryFormat
	depth  int
}

func (n nested) in() nested { n.depth++; return n }

// walk returns v as JSON types without media.
func (p *pass) walk(ctx context.Context, v any, n nested) any {
	if n.depth > maxDepth {
		return fmt.Sprintf("[nested deeper than %d levels]", maxDepth)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Map || r.Kind() == reflect.Pointer {
		here := [2]any{r.Type(), r.Pointer()}
		if p.open[here] {
			return fmt.Sprintf("[a %T that contains itself]", v)
		}
		p.open[here] = true
		defer delete(p.open, here)
	}
	switch t := v.(type) {
	case nil, bool, int, int64, json.Number:
		return t
	case float64:
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return nil // JSON cannot represent it
		}
		return t
	case string:
		return p.str(ctx, t, n)
	case json.RawMessage:
		return p.viaJSON(ctx, t, n)
	case []byte:
		return p.raw(ctx, t, n)
	case media.Output:
		return p.admitted(ctx, t)
	case *media.Output:
		if t == nil {
			return nil
		}
		return p.admitted(ctx, *t)
	case media.Digest:
		return t.String()
	case []any:
		return p.sequence(ctx, reflect.ValueOf(t), n)
	case map[string]any:
		return p.object(ctx, t, n)
	}
	return p.other(ctx, v, n)
}

// raw stores bytes as media. Undeclared bytes that are text are handled as text.
func (p *pass) raw(ctx context.Context, b []byte, n nested) any {
	if !n.declared && !probe.Media(b) && utf8.Valid(b) && printable(string(b)) {
		// Detect media in the text first. A long remainder becomes a document.
		safe := p.str(ctx, string(b), n)
		if text, ok := safe.(string); ok && len(text) >= p.to.Threshold {
			return p.item(p.keep(ctx, strings.NewReader(text), media.Meta{MIMEType: textType(text)}))
		}
		return safe
	}
	if n.declared && n.format == "" && wire.Signed(string(b)) {
		return p.str(ctx, string(b), n) // base64 text passed as bytes
	}
	return p.item(p.keep(ctx, bytes.NewReader(b), media.Meta{}))
}

// admitted admits an item: one with a digest as it is, one with an address after fetching it.
func (p *pass) admitted(ctx context.Context, o media.Output) any {
	m := media.Meta{
		Label: o.Label, Description: o.Description, FileName: o.FileName,
		MIMEType: o.MIMEType, Metadata: p.metadata(ctx, o.Metadata), Lineage: o.Lineage,
	}
	switch {
	case !o.Digest.IsZero():
		o.Metadata = m.Metadata
		return p.item(p.admit(ctx, o))
	case strings.HasPrefix(o.URL, "data:"):
		return p.item(p.dataURL(ctx, o.URL, m))
	case o.URL != "":
		return p.item(p.fetch(ctx, o.URL, m))
	case o.Ref != "":
		return p.item(p.to.Media.Find(string(o.Ref)))
	}
	return p.item(media.Output{}, media.Errorf(media.CodeInvalid, "a media item has neither bytes nor an address"))
}

// metadata removes media from m as from any other value.
func (p *pass) metadata(ctx context.Context, m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	safe, _ := p.walk(ctx, m, nested{depth: 1}).(map[string]any)
	return safe
}

// other handles Go types beyond those of JSON.
func (p *pass) other(ctx context.Context, v any, n nested) (safe any) {
	defer p.guard(&safe)
	switch t := v.(type) {
	case error:
		return p.message(ctx, t.Error())
	case io.Reader:
		if c, ok := t.(io.Closer); ok {
			defer func() { _ = c.Close() }() // its content is already stored or refused
		}
		return p.item(p.keep(ctx, t, media.Meta{}))
	case image.Image:
		var buf bytes.Buffer
		if err := png.Encode(&buf, t); err != nil {
			return p.item(media.Output{}, media.Errorf(media.CodeInvalid, "encode picture: %w", err))
		}
		return p.item(p.keep(ctx, &buf, media.Meta{MIMEType: "image/png"}))
	case json.Marshaler, encoding.TextMarshaler:
		return p.viaMarshal(ctx, v, n)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return nil
		}
		return p.walk(ctx, r.Elem().Interface(), n.in())
	case reflect.Slice, reflect.Array:
		return p.sequence(ctx, r, n)
	case reflect.Map:
		m := make(map[string]any, r.Len())
		for _, k := range r.MapKeys() {
			m[fmt.Sprint(k.Interface())] = r.MapIndex(k).Interface()
		}
		return p.object(ctx, m, n)
	case reflect.Struct:
		return p.structure(ctx, r, n)
	case reflect.String:
		return p.str(ctx, r.String(), n)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return fmt.Sprintf("[value of type %T]", v)
	default:
		return p.viaMarshal(ctx, v, n)
	}
}

// guard replaces a value whose own code panicked with an error: its readers, marshalers and errors belong to the
// action, and so do their bugs.
func (p *pass) guard(safe *any) {
	if cause := recover(); cause != nil {
		*safe = p.item(media.Output{}, media.Defect("a value of "+p.to.Source, cause))
	}
}

// printable reports whether s is valid UTF-8 without control characters other than newline, tab and carriage return.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(c rune) bool {
		return unicode.IsControl(c) && c != '\n' && c != '\t' && c != '\r'
	}) < 0
}

func (p *pass) sequence(ctx context.Context, r reflect.Value, n nested) any {
	if r.Kind() == reflect.Slice && r.IsNil() && r.Type() != reflect.TypeFor[[]any]() { // a nil []any is empty
		return nil
	}
	if r.Type().Elem() == reflect.TypeFor[byte]() { // not a type of its own, such as an enumeration
		b := make([]byte, r.Len())
		reflect.Copy(reflect.ValueOf(b), r)
		return p.raw(ctx, b, n)
	}
	if b, ok := byteList(r.Len(), n.declared, func(i int) any { return r.Index(i).Interface() }); ok {
		return p.keepBytes(ctx, b)
	}
	out := make([]any, r.Len())
	for i := range out {
		out[i] = p.walk(ctx, r.Index(i).Interface(), n.in())
	}
	return out
}

// structure walks the exported fields under their JSON names. Those of an embedded struct follow it in VisibleFields.
func (p *pass) structure(ctx context.Context, r reflect.Value, n nested) any {
	m := map[string]any{}
	for _, f := range reflect.VisibleFields(r.Type()) {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embeds := f.Anonymous && tag == "" && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Pointer)
		if !f.IsExported() || f.Tag.Get("json") == "-" || embeds {
			continue
		}
		field, err := r.FieldByIndexErr(f.Index)
		if err != nil || strings.Contains(options, "omit") && field.IsZero() {
			continue // an embedded nil pointer, or omitted by its author
		}
		m[cmp.Or(tag, f.Name)] = field.Interface()
	}
	if len(m) == 0 { // a struct without visible fields may be text, such as bytes.Buffer and strings.Builder
		ptr := reflect.New(r.Type())
		ptr.Elem().Set(r)
		if s, ok := ptr.Interface().(fmt.Stringer); ok {
			return p.str(ctx, s.String(), n)
		}
	}
	return p.object(ctx, m, n)
}

func (p *pass) viaMarshal(ctx context.Context, v any, n nested) any {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("[value of type %T]", v)
	}
	return p.viaJSON(ctx, b, n)
}

func (p *pass) viaJSON(ctx context.Context, b []byte, n nested) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return p.str(ctx, string(b), n)
	}
	return p.walk(ctx, v, n.in())
}
