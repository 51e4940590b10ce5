package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atelier/media"
)

// registerUpload registers the upload operation.
func (m mediaResource) registerUpload(rt *routes) {
	one := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}, "label": {Type: huma.TypeString}}, Required: []string{"file"}}
	link := rt.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Link](), true, "Link")
	stored := rt.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Media](), true, "Media")
	rt.stream(huma.Operation{
		Method: http.MethodPost, Path: "/api/media", Summary: "Store media", Tags: []string{"media"},
		Description: "A file in the field file of a multipart form, after an optional field label; or a file's URL, as JSON.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: one}, "application/json": {Schema: link}}},
		Responses:   map[string]*huma.Response{"201": {Description: "The file is stored.", Content: map[string]*huma.MediaType{"application/json": {Schema: stored}}}},
	}, m.upload)
}

// Link is the URL of content to store.
type Link struct {
	URL string `json:"url" maxLength:"4096" doc:"A public http or https address."`
}

// upload stores the file of a form as a stream, or the content of a URL.
func (m mediaResource) upload(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > m.maxUpload {
		w.Header().Set("Connection", "close") // the rest is not read
		return m.tooLarge()
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var stored Media
	switch {
	case err == nil && kind == "multipart/form-data" && params["boundary"] != "":
		stored, err = m.form(w, r, params["boundary"])
	case err == nil && kind == "application/json":
		stored, err = m.link(w, r)
	default:
		return newProblem(http.StatusUnsupportedMediaType, media.CodeUnsupported, "give the file as the field file of a multipart form, or {\"url\": …} as application/json")
	}
	if err != nil {
		w.Header().Set("Connection", "close")
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Location", "/api/media/"+stored.ID)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(stored) // the client may have disconnected
	return nil
}

func (m mediaResource) link(w http.ResponseWriter, r *http.Request) (Media, error) {
	var in Link
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		if _, big := errors.AsType[*http.MaxBytesError](err); big {
			return Media{}, tooLarge(maxBody)
		}
		return Media{}, media.Errorf(media.CodeInvalid, "the body is not {\"url\": …}: %s", media.ErrorText(err.Error()))
	}
	if in.URL == "" || len(in.URL) > 4096 {
		return Media{}, media.Errorf(media.CodeInvalid, "url is missing or too long: give a public http or https address")
	}
	return m.media.FetchMedia(r.Context(), in.URL)
}

// maxLabel is the maximum length of the label of an upload, in bytes.
const maxLabel = 2000

// form reads a form up to its file. It stores nothing if the form is incomplete.
func (m mediaResource) form(w http.ResponseWriter, r *http.Request, boundary string) (Media, error) {
	parts := multipart.NewReader(http.MaxBytesReader(w, r.Body, m.maxUpload), boundary)
	var u Upload
	for range 10 {
		p, err := parts.NextPart()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it has no field file")
			}
			return Media{}, m.formError(err)
		}
		switch p.FormName() {
		case "label":
			b, err := io.ReadAll(io.LimitReader(p, maxLabel+1))
			if err != nil {
				return Media{}, m.formError(err)
			}
			if len(b) > maxLabel {
				return Media{}, media.Errorf(media.CodeInvalid, "the label has more than %d bytes", maxLabel)
			}
			u.Label = strings.ToValidUTF8(string(b), "")
		case "file":
			u.FileName, u.MIMEType = baseName(p.FileName()), p.Header.Get("Content-Type")
			src := &formReader{src: p}
			stored, err := m.media.StoreMedia(r.Context(), src, u)
			if src.err != nil {
				err = m.formError(src.err)
			}
			return stored, err
		}
	}
	return Media{}, m.formError(errors.New("none of its first ten fields is named file"))
}

// formReader remembers why reading a form failed.
type formReader struct {
	src io.Reader
	err error
}

func (f *formReader) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

func (m mediaResource) formError(err error) error {
	if _, big := errors.AsType[*http.MaxBytesError](err); big {
		return m.tooLarge()
	}
	return media.Errorf(media.CodeInvalid, "the form cannot be read: %s", media.ErrorText(err.Error()))
}

func (m mediaResource) tooLarge() error {
	return media.Errorf(media.CodeTooLarge, "the file is larger than the %.4g MiB that this server accepts: choose a smaller one", float64(m.maxUpload)/(1<<20))
}

func tooLarge(limit int64) error {
	return media.Errorf(media.CodeTooLarge, "the request has more than %d bytes", limit)
}

// baseName returns the last element of a file name that a browser sends, including Windows paths.
func baseName(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	if r := []rune(name); len(r) > 200 {
		name = string(r[len(r)-200:])
	}
	return name
}
