// Package conform checks workflow JSON against JSON Schemas (2020-12). It checks the structure of schemas, within
// limits that suit a form, and values against schemas. Problems have JSON pointers. The package may import media,
// workflow/ordered and workflow/problem.
package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Limits of schemas. The target of a $ref counts at each reference.
const (
	// MaxDepth is the maximum nesting depth of schemas.
	MaxDepth = 32
	// MaxFields is the maximum number of schemas in a document.
	MaxFields = 1000
)

// maxExponent is the maximum exponent of a number in a checked value, positive or negative.
const maxExponent = 1000

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	closed   []string // the permitted top-level names; nil if any are permitted
}

// Compile compiles a self-contained schema and fetches nothing. It rejects schemas that are too deep, too large or
// recursive.
func Compile(schema any) (*Schema, error) {
	if err := Shape(schema); err != nil {
		return nil, err
	}
	s, err := compile("atelier:///schema", schema)
	if err == nil {
		return s, nil
	}
	var outer *jsonschema.SchemaValidationError
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return nil, problem.Join(problem.At("", "this is not a JSON Schema: %s", err))
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	return nil, problem.Join(problem.At(ordered.Pointer(v.InstanceLocation...), "this is not a JSON Schema: %s", words(v.ErrorKind)))
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

// CompileParams compiles a schema of parameters: only the top-level names in its properties are valid, even if the
// schema permits others.
func CompileParams(schema *ordered.Object) (*Schema, error) {
	if schema.Has("$ref") {
		return nil, problem.Join(problem.At("/$ref", "a schema of parameters must list them in properties: use $ref in those, not here"))
	}
	s, err := Compile(schema)
	if err == nil {
		s.closed = append([]string{}, slices.Sorted(maps.Keys(s.compiled.Properties))...)
	}
	return s, err
}

// Check returns the problems of a value, ordered by pointer.
func (s *Schema) Check(v any) []problem.Problem {
	var found problem.List
	outOfRange(&found, "", v)
	if len(found) > 0 {
		return found
	}
	if o, ok := v.(*ordered.Object); ok && s.closed != nil {
		known := &ordered.Object{}
		for key, e := range o.All() {
			if slices.Contains(s.closed, key) {
				known.Set(key, e)
			} else { // its other problems do not matter
				found.Fail(ordered.Join("", key), "%s is unknown: use %s", key, strings.Join(s.closed, ", "))
			}
		}
		v = known
	}
	err := s.compiled.Validate(ordered.Plain(v))
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		found = append(found, leaves(invalid)...)
	} else {
		found.Check("", err)
	}
	slices.SortStableFunc(found, func(a, b problem.Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.Compact(found)
}

// Validate compiles a schema and checks a value. Pointers of problems begin with under.
func Validate(schema *ordered.Object, under string, v any) error {
	s, err := Compile(schema)
	if err != nil {
		return err
	}
	return s.Validate(under, v)
}

// Validate is [Schema.Check] as an error. Pointers of problems begin with under.
func (s *Schema) Validate(under string, v any) error {
	return problem.Join(problem.Under(under, problem.Join(s.Check(v)...))...)
}

// outOfRange finds numbers with exponents beyond maxExponent, which the validator cannot compare.
func outOfRange(found *problem.List, pointer string, v any) {
	switch v := v.(type) {
	case json.Number:
		if i := strings.IndexAny(string(v), "eE"); i >= 0 {
			if n, err := strconv.Atoi(string(v[i+1:])); err != nil || max(n, -n) > maxExponent {
				found.Fail(pointer, "the number is out of range")
			}
		}
	case *ordered.Object:
		for key, e := range v.All() {
			outOfRange(found, ordered.Join(pointer, key), e)
		}
	case []any:
		for i, e := range v {
			outOfRange(found, ordered.Join(pointer, strconv.Itoa(i)), e)
		}
	}
}

// leaves converts the causes of a validation error to problems.
func leaves(e *jsonschema.ValidationError) (found problem.List) {
	pointer := ordered.Pointer(e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			found.Fail(ordered.Join(pointer, name), "%s is unknown: remove it", name)
		}
		return found
	case *kind.PropertyNames:
		return problem.List{problem.At(ordered.Join(pointer, k.Property), "%s is not allowed as a name", k.Property)}
	case *kind.FalseSchema:
		return problem.List{problem.At(pointer, "nothing is allowed here: remove it")}
	}
	if len(e.Causes) == 0 {
		return problem.List{problem.At(pointer, "%s", words(e.ErrorKind))}
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return nearest(e)
	}
	for _, cause := range e.Causes {
		found = append(found, leaves(cause)...)
	}
	return found
}

// nearest returns the problems of the alternative that is closest to the value: the one with the fewest problems,
// preferably among those that accept the type of the value.
func nearest(e *jsonschema.ValidationError) (best problem.List) {
	for _, fits := range []bool{true, false} {
		for _, cause := range e.Causes {
			found := leaves(cause)
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

// otherType reports whether an alternative accepts only values of another type.
func otherType(e *jsonschema.ValidationError, depth int) bool {
	if _, ok := e.ErrorKind.(*kind.Type); ok {
		return len(e.InstanceLocation) == depth
	}
	return len(e.Causes) == 1 && otherType(e.Causes[0], depth)
}

var printer = message.NewPrinter(language.English)

func words(k jsonschema.ErrorKind) string {
	if required, ok := k.(*kind.Required); ok {
		if len(required.Missing) == 1 {
			return required.Missing[0] + " is missing"
		}
		return strings.Join(required.Missing, ", ") + " are missing"
	}
	return k.LocalizedString(printer)
}

// noLoader prevents schemas from reading files and URLs.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not supported: put the target of $ref under $defs", url)
}

// Vocabulary compiles one of this program's own schemas, which may describe trees of any depth. If of is not empty, it
// is the $ref of the part that values must match. An invalid schema is a mistake in the program: Vocabulary panics.
func Vocabulary(text []byte, of string) *Schema {
	v, err := ordered.DecodeObject(text)
	if err != nil {
		panic(err)
	}
	if of != "" {
		v = v.With("$ref", of)
	}
	s, err := compile("urn:atelier:vocabulary", v)
	if err != nil {
		panic(err)
	}
	return s
}
