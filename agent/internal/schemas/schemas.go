// Package schemas compiles the JSON Schemas in definitions and questions. It may import media.
package schemas

import (
	"bytes"
	"errors"
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
	if err != nil {
		return nil, err
	}
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
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
