// Package schemas compiles the JSON Schemas in definitions and questions. It may import media.
package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/agent/internal/plain"
	"atelier/media"
)

// Compile compiles a self-contained schema: nothing is fetched.
func Compile(value any) (*jsonschema.Schema, error) {
	const name = "atelier:///payload"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain.JSON(value)))
	if err == nil {
		err = checkNumbers(doc)
	}
	if err != nil {
		return nil, err
	}
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// Validate checks a decoded value, whose numbers are json.Number or float64.
func Validate(s *jsonschema.Schema, value any) error {
	if err := checkNumbers(value); err != nil {
		return err
	}
	return s.Validate(value)
}

// maxExponent is the maximum exponent of a number, positive or negative.
const maxExponent = 1000

// checkNumbers refuses numbers with exponents beyond maxExponent: the validator panics when it compares very large ones.
func checkNumbers(value any) error {
	var parts iter.Seq[any]
	switch v := value.(type) {
	case json.Number:
		i := strings.IndexAny(string(v), "eE")
		if i < 0 {
			return nil
		}
		if n, err := strconv.Atoi(string(v[i+1:])); err != nil || max(n, -n) > maxExponent {
			return media.Errorf(media.CodeInvalid, "the number %.40s is out of range", v)
		}
		return nil
	case map[string]any:
		parts = maps.Values(v)
	case []any:
		parts = slices.Values(v)
	default:
		return nil
	}
	for part := range parts {
		if err := checkNumbers(part); err != nil {
			return err
		}
	}
	return nil
}

// noLoader prevents schemas from loading files and addresses.
type noLoader struct{}

// Load returns an error.
func (noLoader) Load(url string) (any, error) {
	return nil, media.Errorf(media.CodeInvalid, "%s is not read: put what $ref names under $defs", url)
}

// Problem formats the validator's findings as one line.
func Problem(err error) string {
	var v *jsonschema.ValidationError
	text := err.Error()
	if errors.As(err, &v) {
		lines := strings.Split(text, "\n")
		text = strings.Join(lines[min(1, len(lines)-1):], ";")
	}
	return plain.Clip(media.ErrorText(strings.Join(strings.Fields(text), " ")), 600)
}
