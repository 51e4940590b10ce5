package ordered

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"atelier/media"
)

var yamlPlace = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// ReadYAML reads one YAML document with the positions of its parts. It rejects what JSON does not have: aliases, keys
// that are lists or objects, infinite numbers. Dates and the keys of other types become text.
func ReadYAML(b []byte) (Document, error) {
	if err := checkText(b); err != nil {
		return Document{}, err
	}
	var doc, next yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(b)))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return Document{}, invalidText(Position{1, 1}, "the file is empty")
	}
	if err != nil {
		at := Position{1, 1}
		if m := yamlPlace.FindStringSubmatch(err.Error()); len(m) > 1 && m[1] != "" {
			at.Line, _ = strconv.Atoi(m[1])
		}
		return Document{}, invalidText(at, "this is not valid YAML: "+yamlPlace.ReplaceAllString(err.Error(), ""))
	}
	if !errors.Is(dec.Decode(&next), io.EOF) {
		return Document{}, invalidText(Position{max(next.Line, 1), max(next.Column, 1)}, "more text follows the document: put each workflow in its own file")
	}
	d := Document{at: map[string]Position{}}
	d.Value, err = d.node("", doc.Content[0], 0)
	return d, err
}

func invalidText(at Position, message string) error {
	return media.Errorf(media.CodeInvalid, "%w", &TextError{At: at, Message: message})
}

func (d Document) node(pointer string, n *yaml.Node, depth int) (any, error) {
	at := Position{n.Line, n.Column}
	if _, ok := d.at[pointer]; !ok {
		d.at[pointer] = at
	}
	switch {
	case depth > MaxDepth:
		return nil, invalidText(at, "values are nested too deeply: the limit is 256 levels")
	case n.Kind == yaml.MappingNode:
		return d.mapping(pointer, n, depth)
	case n.Kind == yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			v, err := d.node(Join(pointer, strconv.Itoa(i)), e, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case n.Kind == yaml.ScalarNode:
		return yamlScalar(n)
	}
	return nil, invalidText(at, "aliases (*name) are not supported: repeat the value")
}

func (d Document) mapping(pointer string, n *yaml.Node, depth int) (any, error) {
	o := &Object{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := Position{key.Line, key.Column}
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, invalidText(at, "a key must be a string")
		case key.Value == "<<":
			return nil, invalidText(at, "merge keys (<<) are not supported: repeat the values")
		}
		if reason := refuseKey(o, key.Value); reason != "" {
			return nil, invalidText(at, reason)
		}
		under := Join(pointer, key.Value)
		d.at[under] = at
		v, err := d.node(under, n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		o.Set(key.Value, v)
	}
	return o, nil
}

func yamlScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil //nolint:nilnil // the null of JSON
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b, nil
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		var f float64
		if n.Decode(&f) != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, invalidText(Position{n.Line, n.Column}, "this is not a JSON number")
		}
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), nil
	}
	return n.Value, nil
}
