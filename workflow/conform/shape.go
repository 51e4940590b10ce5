package conform

import (
	"slices"
	"strconv"
	"strings"

	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Shape proves that a schema is an object, keeps the limits, and that each $ref names a part of
// the same document and leads round in no circle.
func Shape(schema any) []problem.Problem {
	w := &shape{root: schema}
	w.visit("", schema, 0, nil)
	return w.found
}

// shape walks a schema as a form does: what $ref names is visited at each place.
type shape struct {
	root   any
	fields int
	found  []problem.Problem
}

// visit looks at the schema at a pointer; refs are those that led to it.
func (w *shape) visit(pointer string, v any, depth int, refs []string) {
	if len(w.found) > 0 {
		return // one problem of this kind says it all
	}
	if _, ok := v.(bool); ok {
		return
	}
	o, ok := v.(*ordered.Object)
	w.fields++
	switch {
	case !ok:
		w.fail(pointer, "a JSON Schema must be an object")
		return
	case w.fields > MaxFields:
		w.fail("", "the schema has more than %d fields: remove some", MaxFields)
		return
	case depth > MaxDepth:
		w.fail("", "the schema is more than %d levels deep: make it flatter", MaxDepth)
		return
	}
	if ref, ok := o.Get("$ref"); ok {
		w.follow(pointer, ref, depth, refs)
	}
	for key, child := range o.All() {
		at := ordered.Join(pointer, key)
		switch key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			named, _ := child.(*ordered.Object)
			for name, s := range named.All() {
				w.visit(ordered.Join(at, name), s, depth+1, refs)
			}
		case "additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames":
			w.visit(at, child, depth+1, refs)
		case "oneOf", "anyOf", "allOf", "prefixItems":
			list, _ := child.([]any)
			for i, s := range list {
				w.visit(ordered.Join(at, strconv.Itoa(i)), s, depth+1, refs)
			}
		}
	}
}

func (w *shape) fail(pointer, format string, args ...any) {
	w.found = append(w.found, problem.At(pointer, format, args...))
}

func (w *shape) follow(pointer string, ref any, depth int, refs []string) {
	name, _ := ref.(string)
	at := ordered.Join(pointer, "$ref")
	target, ok := Lookup(w.root, name)
	switch {
	case slices.Contains(refs, name):
		w.fail(at, "$ref %s is recursive: a form cannot be recursive", name)
	case !ok:
		w.fail(at, "$ref %s has no target in this document: write #/$defs/NAME", name)
	default:
		w.visit(strings.TrimPrefix(name, "#"), target, depth+1, append(refs[:len(refs):len(refs)], name))
	}
}

// Lookup finds what a $ref such as #/$defs/prompt names in a document.
func Lookup(root any, ref string) (any, bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, false
	}
	path, err := ordered.Path(pointer)
	if err != nil {
		return nil, false
	}
	return ordered.Get(root, path...)
}
