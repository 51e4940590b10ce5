package definition

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

	"atelier/agent/internal/plain"
	"atelier/agent/internal/schemas"
)

// maxSchema is the maximum size of a payload schema in bytes of JSON; the schema is part of the prompt.
const maxSchema = 32 << 10

// payloadSchema reads the JSON Schema of an agent's payload, written as YAML.
func (r *reader) payloadSchema(d *Agent, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "payload_schema: want a JSON Schema here, such as {type: object, required: [title]}")
		return
	}
	before := len(r.problems)
	value := r.json(n)
	if len(r.problems) > before {
		return
	}
	if len(plain.JSON(value)) > maxSchema {
		r.fail(n, "payload_schema: has %d bytes as JSON: at most %d, because it is part of the prompt", len(plain.JSON(value)), maxSchema)
		return
	}
	schema, err := schemas.Compile(value)
	if err != nil {
		at, reason := schemaFault(n, err)
		r.fail(at, "payload_schema: %s", reason)
		return
	}
	if t := schema.Types; t != nil && !t.IsEmpty() && !slices.Contains(t.ToStrings(), "object") {
		r.fail(n, "payload_schema: a payload is always an object: set type to object")
		return
	}
	d.PayloadSchema, d.schema = plain.JSON(value), schema
}

// json converts YAML to the corresponding JSON value. A key that is not a scalar or is given twice is a problem. A scalar
// that is not a boolean, a finite number or null is text.
func (r *reader) json(n *yaml.Node) any {
	switch n.Kind {
	default: // a scalar, see below: aliases were refused earlier
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := object[key.Value]; twice || key.Kind != yaml.ScalarNode {
				r.fail(key, "payload_schema: %q is not a key, or is given twice", plain.Clip(key.Value, 60))
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
	return n.Value // anything else, including dates, is text
}

// schemaFault returns the node of a schema to which its error refers, and the reason.
func schemaFault(n *yaml.Node, err error) (*yaml.Node, string) {
	var outer *jsonschema.SchemaValidationError
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return n, schemas.Problem(err)
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
	return n, "is not a JSON Schema: " + strings.TrimPrefix(schemas.Problem(v), "- ")
}

// child returns the value under a key or at an index.
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

// PayloadMismatch describes where a payload does not match PayloadSchema; empty if it matches.
func (d *Agent) PayloadMismatch(payload map[string]any) string {
	if d.schema == nil {
		return ""
	}
	if payload == nil {
		payload = map[string]any{}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain.JSON(payload)))
	if err == nil {
		err = schemas.Validate(d.schema, value)
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimPrefix(schemas.Problem(err), "- "), "at ''", "at the top")
}
