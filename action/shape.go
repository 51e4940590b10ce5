package action

import (
	"context"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atelier/media"
	"atelier/media/wire"
)

// Names that common APIs use for the parts of a media item, compared as by [nameKey].
var (
	dataKeys  = []string{"data", "base64", "b64json", "bytes", "dataurl", "datauri", "content", "blob", "imagebase64", "image", "reader"}
	urlKeys   = []string{"url", "imageurl", "uri", "href", "downloadurl"}
	typeKeys  = []string{"mimetype", "contenttype", "mediatype"}
	refKeys   = []string{"refid", "ref", "placeholder"}
	labelKeys = []string{"label", "title"}
	noteKeys  = []string{"description", "alt", "alttext"}
	fileKeys  = []string{"filename", "file"}
)

// fits reports whether a value at a depth, or each element of a list, has its declared format.
func fits(format BinaryFormat, v any, depth int) bool {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && r.Type().Elem().Kind() != reflect.Uint8 {
		for i := range r.Len() {
			if depth == maxDepth || !fits(format, r.Index(i).Interface(), depth+1) {
				return false
			}
		}
		return true
	}
	text, _ := v.(string)
	ok := false
	switch format {
	case FormatMediaOutput:
		switch t := v.(type) {
		case media.Output, *media.Output:
			return true
		case map[string]any:
			_, ok = itemOf(t, true)
		}
	case FormatBytes:
		_, ok = v.([]byte)
	case FormatReader:
		_, ok = v.(io.Reader)
	case FormatBase64String:
		ok = wire.Encoded(text)
	case FormatDataURL:
		ok = strings.HasPrefix(text, "data:") && strings.Contains(text, ",")
	}
	return ok
}

// minBlind is the length, in characters, from which base64 without a signature counts as media if a media type
// accompanies it.
const minBlind = 64

// shape is a media item written as a map.
type shape struct {
	data      any
	url, ref  string
	digest    string
	meta      media.Meta
	remainder map[string]any // keys that do not describe the item
}

// itemOf reads a map as a media item. An undeclared map is an item only if it has data and names a media type.
func itemOf(m map[string]any, declared bool) (shape, bool) {
	s := shape{remainder: map[string]any{}}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !s.take(nameKey(k), m[k], declared) {
			s.remainder[k] = m[k]
		}
	}
	if text, ok := s.remainder["data"].(string); ok && declared && s.data == nil && s.url == "" && s.ref == "" && text != "" {
		s.data = text // not base64: an item with an error, never text
		delete(s.remainder, "data")
	}
	if s.data != nil {
		kind := strings.ToLower(s.meta.MIMEType)
		top, _, _ := strings.Cut(kind, "/")
		return s, declared || top == "image" || top == "audio" || top == "video" || kind == "application/pdf"
	}
	return s, declared && (s.digest != "" || s.url != "" || s.ref != "")
}

// take stores a known part in its field. It reports whether the key is known.
func (s *shape) take(key string, v any, declared bool) bool {
	text, _ := v.(string)
	switch {
	case slices.Contains(dataKeys, key) && s.data == nil && holdsData(v, declared):
		s.data = v
	case slices.Contains(urlKeys, key) && text != "":
		s.url = text
	case slices.Contains(refKeys, key) && text != "":
		s.ref = text
	case key == "digest" && strings.HasPrefix(text, "sha256-"):
		s.digest = text
	case slices.Contains(typeKeys, key) && text != "":
		s.meta.MIMEType = text
	case slices.Contains(labelKeys, key) && text != "":
		s.meta.Label = text
	case slices.Contains(noteKeys, key) && text != "":
		s.meta.Description = text
	case slices.Contains(fileKeys, key) && text != "":
		s.meta.FileName = text
	case key == "metadata":
		m, ok := v.(map[string]any)
		s.meta.Metadata = m
		return ok
	case slices.Contains([]string{"modality", "width", "height", "sizebytes", "createdat", "origin"}, key):
		// Facts are read from the bytes, never from the map.
	default:
		return false
	}
	return true
}

// holdsData reports whether v can contain media: bytes, a reader, base64, a data URL, or text that is a picture (SVG).
// Undeclared base64 without a signature needs minBlind characters, because almost every short word decodes.
func holdsData(v any, declared bool) bool {
	switch t := v.(type) {
	case []byte:
		return len(t) > 0
	case io.Reader:
		return true
	case string:
		return strings.HasPrefix(t, "data:") || wire.Signed(t) || (declared || len(t) >= minBlind) && wire.Encoded(t) || written(t)
	}
	return false
}

// object walks a map, or stores it as one media item.
func (p *pass) object(ctx context.Context, m map[string]any, n nested) (safe any) {
	defer p.guard(&safe)
	if _, ok := m["0"]; ok { // possibly a typed array that JavaScript wrote as JSON
		if b, ok := byteList(len(m), n.declared, func(i int) any { return m[strconv.Itoa(i)] }); ok {
			return p.keepBytes(ctx, b)
		}
	}
	s, ok := itemOf(m, n.declared)
	if !ok {
		out := make(map[string]any, len(m))
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out[p.lift(ctx, k)] = p.field(ctx, k, m[k], n.declared, n)
		}
		return out
	}
	s.meta.Metadata = p.metadata(ctx, s.meta.Metadata)
	view, _ := p.item(p.shaped(ctx, s)).(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(s.remainder)) {
		if _, taken := view[k]; !taken {
			view[p.lift(ctx, k)] = p.field(ctx, k, s.remainder[k], false, n)
		}
	}
	return view
}

// field walks a field of a map. It returns data that a provider signed or encrypted, and embeddings, unchanged.
func (p *pass) field(ctx context.Context, key string, v any, declared bool, n nested) any {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if wire.NeverField(key) && !slices.ContainsFunc(list, func(v any) bool { _, text := v.(string); return !text }) {
		return v
	}
	return p.walk(ctx, v, nested{declared: declared, depth: n.depth + 1})
}

// shaped stores or finds the item that a map describes.
func (p *pass) shaped(ctx context.Context, s shape) (media.Output, error) {
	switch d := s.data.(type) {
	case []byte:
		return p.keep(ctx, strings.NewReader(string(d)), s.meta)
	case io.Reader:
		if c, ok := d.(io.Closer); ok {
			defer func() { _ = c.Close() }() // its content is already stored or refused
		}
		return p.keep(ctx, d, s.meta)
	case string:
		return p.text(ctx, d, s.meta)
	}
	switch {
	case s.digest != "":
		d, err := media.ParseDigest(s.digest)
		if err != nil {
			return media.Output{}, err
		}
		for _, o := range p.to.Media.All() {
			if o.Digest == d {
				return o, nil
			}
		}
		// A map can come from outside, so a digest alone grants no access.
		return media.Output{}, media.Errorf(media.CodeForbidden, "the item %s is not part of this run: return it as media.Output from Go, or as data", clip(s.digest, 24))
	case strings.HasPrefix(s.url, "data:"):
		return p.dataURL(ctx, s.url, s.meta)
	case s.ref != "":
		return p.to.Media.Find(s.ref)
	}
	return p.fetch(ctx, s.url, s.meta)
}
