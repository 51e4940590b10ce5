package chattest

import (
	"bytes"
	"embed"
	"fmt"
	"image"
	_ "image/gif"  // pictures come so
	_ "image/jpeg" // pictures come so
	_ "image/png"  // pictures come so
	"net/http"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/media"
)

// documented holds what services document of their request bodies, by dialect.
//
//go:embed schema/*.json
var documented embed.FS

// contract checks requests against what their service documents. Its zero value is
// ready, and safe for concurrent use.
type contract struct {
	mu       sync.Mutex // guards compiled
	compiled map[Dialect]*jsonschema.Schema
}

// check tells where a body departs from the schema of its dialect. The error names
// places and no media.
func (k *contract) check(d Dialect, raw []byte) error {
	schema, err := k.schema(d)
	if err != nil {
		return err
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if err := schema.Validate(body); err != nil {
		return fmt.Errorf("the body departs from the documented one: %s", media.ErrorText(err.Error()))
	}
	return nil
}

func (k *contract) schema(d Dialect) (*jsonschema.Schema, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.compiled[d]; s != nil {
		return s, nil
	}
	name := "schema/" + string(d) + ".json"
	f, err := documented.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", name, err)
	}
	if k.compiled == nil {
		k.compiled = map[Dialect]*jsonschema.Schema{}
	}
	k.compiled[d] = s
	return s, nil
}

// consistent tells what services find out about messages that a schema does not say: a
// picture whose bytes are of another type than is said, or roles that do not take turns.
func consistent(d Dialect, messages []Message) error {
	last := ""
	for i, m := range messages {
		if d == DialectBedrock && m.Role == last {
			return fmt.Errorf("messages.%d: roles must alternate, and %s comes twice", i, m.Role)
		}
		last = m.Role
		for _, p := range m.Images {
			if p.found != "application/octet-stream" && p.found != p.MIMEType {
				return fmt.Errorf("messages.%d: the image was said to be %s, but is %s", i, p.MIMEType, p.found)
			}
		}
	}
	return nil
}

// look reads what the bytes of a picture are.
func look(b []byte) (kind string, width, height int) {
	kind = http.DetectContentType(b)
	if c, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		width, height = c.Width, c.Height
	}
	return kind, width, height
}
