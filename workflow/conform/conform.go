// Package conform checks workflow JSON against JSON Schemas (2020-12): the form of a schema
// itself, with limits that keep it small enough for a form, and values by it. Problems carry JSON
// pointers. It may import media, workflow/ordered and workflow/problem.
package conform

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Limits of schemas, with what $ref names counted at each place that names it.
const (
	// MaxDepth is how many schemas may lie in each other.
	MaxDepth = 32
	// MaxFields is how many schemas a document may hold.
	MaxFields = 1000
)

// Schema is a compiled JSON Schema; it is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	closed   []string // the names that the top level takes; nil if it is open
}

// Compile compiles a schema that stands alone: nothing is fetched. Too deep, too wide and
// circular schemas are refused.
func Compile(schema any) (*Schema, error) {
	if err := problem.Join(Shape(schema)...); err != nil {
		return nil, err
	}
	s, err := compile("atelier:///schema", schema)
	if err != nil {
		return nil, schemaError(err)
	}
	return s, nil
}

func compile(name string, schema any) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource(name, ordered.Plain(schema)); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	return &Schema{compiled: compiled}, err
}

// Close is the schema with every name refused at its top level that it does not list in
// properties, whatever it says itself.
func (s *Schema) Close() *Schema {
	return &Schema{compiled: s.compiled, closed: append([]string{}, slices.Sorted(maps.Keys(s.compiled.Properties))...)}
}

// Check lists what is wrong with a value, in the order of its pointers.
func (s *Schema) Check(v any) []problem.Problem {
	var found []problem.Problem
	unknown := map[string]bool{}
	if o, ok := v.(*ordered.Object); ok && s.closed != nil {
		for _, key := range o.Keys() {
			if !slices.Contains(s.closed, key) {
				p := problem.At(ordered.Join("", key), "%s is unknown: use %s", key, strings.Join(s.closed, ", "))
				found, unknown[p.Pointer] = append(found, p), true
			}
		}
	}
	err := s.compiled.Validate(ordered.Plain(v))
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		for _, p := range leaves(nil, invalid) {
			if !unknown[p.Pointer] { // what else is wrong with it does not matter
				found = append(found, p)
			}
		}
	} else if err != nil {
		found = append(found, problem.At("", "%s", err))
	}
	slices.SortStableFunc(found, func(a, b problem.Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.Compact(found)
}

// leaves turns the causes of a validation into problems.
func leaves(found []problem.Problem, e *jsonschema.ValidationError) []problem.Problem {
	pointer := ordered.Pointer(e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			found = append(found, problem.At(ordered.Join(pointer, name), "%s is unknown: remove it", name))
		}
		return found
	case *kind.PropertyNames:
		return append(found, problem.At(ordered.Join(pointer, k.Property), "%s is not allowed as a name", k.Property))
	case *kind.FalseSchema:
		return append(found, problem.At(pointer, "nothing is allowed here: remove it"))
	}
	if len(e.Causes) == 0 {
		return append(found, problem.At(pointer, "%s", words(e.ErrorKind)))
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return append(found, nearest(e)...)
	}
	for _, cause := range e.Causes {
		found = leaves(found, cause)
	}
	return found
}

// nearest returns the problems of the alternative that is closest to the value: one that takes its
// type, with the fewest problems.
func nearest(e *jsonschema.ValidationError) (best []problem.Problem) {
	for _, fits := range []bool{true, false} {
		for _, cause := range e.Causes {
			found := leaves(nil, cause)
			if otherType(cause, len(e.InstanceLocation)) != fits && (best == nil || len(found) < len(best)) {
				best = found
			}
		}
		if best != nil {
			break
		}
	}
	return best
}

// otherType reports whether an alternative takes values of another type.
func otherType(e *jsonschema.ValidationError, depth int) bool {
	if _, ok := e.ErrorKind.(*kind.Type); ok {
		return len(e.InstanceLocation) == depth
	}
	return len(e.Causes) == 1 && otherType(e.Causes[0], depth)
}

var printer = message.NewPrinter(language.English)

func words(k jsonschema.ErrorKind) string {
	if required, ok := k.(*kind.Required); ok {
		return strings.Join(required.Missing, ", ") + " is missing"
	}
	return k.LocalizedString(printer)
}

// schemaError says what is no JSON Schema, with the pointer of its place.
func schemaError(err error) error {
	var outer *jsonschema.SchemaValidationError
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return problem.Join(problem.At("", "this is not a JSON Schema: %s", err))
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	return problem.Join(problem.At(ordered.Pointer(v.InstanceLocation...), "this is not a JSON Schema: %s", words(v.ErrorKind)))
}

// noLoader keeps schemas from reading files and addresses.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not supported: put the target of $ref under $defs", url)
}

// CompileVocabulary compiles the text of a schema of this program, which may describe trees of any depth;
// of, if not empty, is the $ref of the part that values keep.
func CompileVocabulary(text []byte, of string) (*Schema, error) {
	v, err := ordered.DecodeObject(text)
	if err == nil && of != "" {
		v = v.With("$ref", of)
	}
	if err != nil {
		return nil, err
	}
	s, err := compile("urn:atelier:vocabulary", v)
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "compile a vocabulary: %w", err)
	}
	return s, nil
}
