package sim

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // decodes pictures
	_ "image/jpeg" // decodes pictures
	_ "image/png"  // decodes pictures
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	_ "golang.org/x/image/webp" // decodes pictures

	"atelier/media"
)

// Route is one documented endpoint of a provider.
type Route struct {
	// Path is a regular expression for the whole path. The method is POST.
	Path string
	// Schema is the file and the definition that the body must match: "api.json#/$defs/generation". A form body is
	// validated as an object of its fields: a string for each field, a list of files for each file field.
	Schema string
	// Form reports whether the body is multipart/form-data; otherwise it is JSON.
	Form bool
}

// Contract is a provider's documented interface. It is safe for concurrent use.
type Contract struct {
	// Files contains the schemas, in JSON Schema draft 2020-12.
	Files fs.FS
	// Routes are tried in order.
	Routes []Route
	// Key is the name of the header with the credential.
	Key string

	mu       sync.Mutex // guards compiled
	compiled map[string]*jsonschema.Schema
}

// Check returns an error if a captured call violates the contract. The error names places but contains no media.
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

// CheckJSON returns an error if a JSON body violates a schema, for services with one protocol at many paths.
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

// loader loads schemas from the files of a contract.
type loader struct{ files fs.FS }

// Load loads one schema.
func (l loader) Load(url string) (any, error) {
	f, err := l.files.Open("schema/" + url[len("contract:///"):])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return jsonschema.UnmarshalJSON(f)
}

// body returns the body of a call in the form that schemas describe.
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

// form reads fields and files. For a file it returns the type and size and, for a picture, the
// format and dimensions found in its bytes.
func form(parts *multipart.Reader) (map[string]any, error) {
	all := map[string]any{}
	for {
		p, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart returns it unwrapped.
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the body is not a form: %w", err)
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
