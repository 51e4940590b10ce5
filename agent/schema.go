package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"atelier/media"
)

// maxSchema is how many bytes of JSON a payload schema may have: it stands in the prompt.
const maxSchema = 32 << 10

// payloadSchema reads the JSON Schema of an agent's payload, written as YAML.
func (r *reader) payloadSchema(d *Definition, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "payload_schema: want a JSON Schema here, such as {type: object, required: [title]}")
		return
	}
	before := len(r.problems)
	value := r.json(n)
	if len(r.problems) > before {
		return
	}
	if len(plain(value)) > maxSchema {
		r.fail(n, "payload_schema: has %d bytes as JSON: at most %d, because it stands in the prompt", len(plain(value)), maxSchema)
		return
	}
	schema, err := compileSchema(value)
	if err != nil {
		at, why := schemaFault(n, err)
		r.fail(at, "payload_schema: %s", why)
		return
	}
	if t := schema.Types; t != nil && !t.IsEmpty() && !slices.Contains(t.ToStrings(), "object") {
		r.fail(n, "payload_schema: a payload is always an object: let type be object")
		return
	}
	d.PayloadSchema, d.schema = plain(value), schema
}

// json turns YAML into the JSON value that it stands for. What JSON does not have is a problem.
func (r *reader) json(n *yaml.Node) any {
	switch n.Kind {
	default: // aliases are refused before
		return scalar(n)
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := object[key.Value]; twice || key.Kind != yaml.ScalarNode {
				r.fail(key, "payload_schema: %q is no key, or stands twice", clip(key.Value, 60))
				continue
			}
			object[key.Value] = r.json(n.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, e := range n.Content {
			list = append(list, r.json(e))
		}
		return list
	}
}

// scalar reads booleans, finite numbers and null; all else is text, dates as well.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	return n.Value
}

// compileSchema compiles a schema that stands alone: nothing is fetched.
func compileSchema(value any) (*jsonschema.Schema, error) {
	const name = "urn:atelier:payload"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain(value)))
	if err != nil {
		return nil, err
	}
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// noLoader keeps schemas from reading files and addresses.
type noLoader struct{}

// Load refuses.
func (noLoader) Load(url string) (any, error) {
	return nil, media.Errorf(media.CodeInvalid, "%s is not read: put what $ref names under $defs", url)
}

// schemaFault finds the node of a schema that its error speaks of, and says why.
func schemaFault(n *yaml.Node, err error) (*yaml.Node, string) {
	var outer *jsonschema.SchemaValidationError
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return n, schemaProblem(err)
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	for _, step := range v.InstanceLocation {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n, "is no JSON Schema: " + strings.TrimPrefix(schemaProblem(v), "- ")
}

// child finds the value under a key or at an index.
func child(n *yaml.Node, step string) *yaml.Node {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i+1]
		}
	}
	return nil
}

// schemaSection tells the model what its payload must look like.
func (d *Definition) schemaSection() string {
	if d.PayloadSchema == nil {
		return ""
	}
	return "\n\n## Payload\nWhen you answer with `done`, the whole `payload` must fit this JSON Schema:\n```json\n" + string(d.PayloadSchema) + "\n```"
}

// unfitPayload says where the payload does not fit the definition's schema, nil if it does.
func (r *run) unfitPayload() error {
	if r.spec.def.schema == nil {
		return nil
	}
	payload := r.payload
	if payload == nil {
		payload = map[string]any{}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain(payload)))
	if err == nil {
		err = r.spec.def.schema.Validate(value)
	}
	if err != nil {
		why := strings.ReplaceAll(strings.TrimPrefix(schemaProblem(err), "- "), "at ''", "at the top")
		return badStep("the payload does not fit payload_schema: %s", why)
	}
	return nil
}
