package sim

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // pictures come so
	_ "image/jpeg" // pictures come so
	_ "image/png"  // pictures come so
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	_ "golang.org/x/image/webp" // pictures come so

	"atelier/media"
)

// Route is one endpoint of a provider as it is documented.
type Route struct {
	// Path is a regular expression of the whole path. The method is POST.
	Path string
	// Schema is the file and the definition that the body must fit:
	// "api.json#/$defs/generation". Bodies of forms are checked as the object of their
	// fields: a text for each field, a list of files for each name of files.
	Schema string
	// Form says that the body is multipart/form-data; JSON otherwise.
	Form bool
}

// Contract is what a provider documents of its endpoints. It is safe for concurrent
// use.
type Contract struct {
	// Files holds the schemas, in the JSON Schema draft 2020-12.
	Files fs.FS
	// Routes are tried in order.
	Routes []Route
	// Key is the header that carries the credential.
	Key string

	mu       sync.Mutex // guards compiled
	compiled map[string]*jsonschema.Schema
}

// Check tells where a captured call departs from the contract. The error names places
// and no media.
func (k *Contract) Check(c Captured) error {
	i := slices.IndexFunc(k.Routes, func(r Route) bool {
		return c.Method == http.MethodPost && regexp.MustCompile("^(?:"+r.Path+")$").MatchString(c.Path)
	})
	if i < 0 {
		return fmt.Errorf("%s %s is not documented", c.Method, c.Path)
	}
	r := k.Routes[i]
	if c.Header.Get(k.Key) == "" {
		return fmt.Errorf("the header %s is missing", k.Key)
	}
	body, err := r.body(c)
	if err != nil {
		return err
	}
	return k.validate(r.Schema, body)
}

// CheckJSON tells where a JSON body departs from a schema, for services with one protocol at many paths.
func (k *Contract) CheckJSON(schema string, raw []byte) error {
	body, err := parseJSON(raw)
	if err != nil {
		return err
	}
	return k.validate(schema, body)
}

func parseJSON(raw []byte) (any, error) {
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	return body, nil
}

func (k *Contract) validate(name string, body any) error {
	schema, err := k.schema(name)
	if err != nil {
		return err
	}
	if err := schema.Validate(body); err != nil {
		return fmt.Errorf("body: %s", media.ErrorText(err.Error()))
	}
	return nil
}

// schema compiles a definition once.
func (k *Contract) schema(name string) (*jsonschema.Schema, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.compiled[name]; s != nil {
		return s, nil
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.AssertContent()
	c.UseLoader(loader{k.Files})
	s, err := c.Compile("contract:///" + name)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	if k.compiled == nil {
		k.compiled = map[string]*jsonschema.Schema{}
	}
	k.compiled[name] = s
	return s, nil
}

// loader reads schemas out of the files of a contract.
type loader struct{ files fs.FS }

// Load reads one.
func (l loader) Load(url string) (any, error) {
	f, err := l.files.Open("schema/" + url[len("contract:///"):])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return jsonschema.UnmarshalJSON(f)
}

// body reads the body of a call in the shape that schemas describe.
func (r Route) body(c Captured) (any, error) {
	kind, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	want := "application/json"
	if r.Form {
		want = "multipart/form-data"
	}
	if err != nil || kind != want {
		return nil, fmt.Errorf("the content type is %q, not %s", c.Header.Get("Content-Type"), want)
	}
	if r.Form {
		return form(multipart.NewReader(bytes.NewReader(c.Body), params["boundary"]))
	}
	return parseJSON(c.Body)
}

// form reads fields and files. Of a file it tells type, size and, of a picture, the
// format and pixels that its bytes have.
func form(parts *multipart.Reader) (map[string]any, error) {
	all := map[string]any{}
	for {
		p, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart gives it bare.
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the body is no form: %w", err)
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, fmt.Errorf("the body ends early: %w", err)
		}
		name := p.FormName()
		if p.FileName() == "" {
			if all[name] != nil {
				return nil, fmt.Errorf("the field %s comes twice", name)
			}
			all[name] = string(content)
			continue
		}
		file := map[string]any{"type": p.Header.Get("Content-Type"), "bytes": len(content)}
		if c, format, err := image.DecodeConfig(bytes.NewReader(content)); err == nil {
			file["format"], file["width"], file["height"] = format, c.Width, c.Height
		}
		files, _ := all[name].([]any)
		all[name] = append(files, file)
	}
}
