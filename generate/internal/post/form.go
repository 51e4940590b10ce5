package post

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"atelier/media"
)

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
