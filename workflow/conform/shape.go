package conform

import (
	"slices"
	"strconv"
	"strings"

	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Shape checks that a schema is an object within the limits, and that each $ref refers to a part of the same document
// without recursion.
func Shape(schema any) error {
	w := &shape{root: schema}
	w.visit("", schema, 0, nil)
	return w.Err()
}

// shape walks a schema as a form does: it visits the target of a $ref at each reference.
type shape struct {
	root   any
	fields int
	problem.List
}

// visit checks the schema at a pointer. refs are the references that led to it.
func (w *shape) visit(pointer string, v any, depth int, refs []string) {
	if len(w.List) > 0 {
		return // one problem of this kind is enough
	}
	if _, ok := v.(bool); ok {
		return
	}
	o, ok := v.(*ordered.Object)
	w.fields++
	switch {
	case !ok:
		w.Fail(pointer, "a JSON Schema must be an object")
		return
	case w.fields > MaxFields:
		w.Fail("", "the schema has more than %d fields: remove some", MaxFields)
		return
	case depth > MaxDepth:
		w.Fail("", "the schema is more than %d levels deep: make it flatter", MaxDepth)
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

func (w *shape) follow(pointer string, ref any, depth int, refs []string) {
	name, _ := ref.(string)
	at := ordered.Join(pointer, "$ref")
	target, ok := Lookup(w.root, name)
	switch {
	case slices.Contains(refs, name):
		w.Fail(at, "$ref %s is recursive: a form cannot be recursive", name)
	case !ok:
		w.Fail(at, "$ref %s has no target in this document: write #/$defs/NAME", name)
	default:
		w.visit(strings.TrimPrefix(name, "#"), target, depth+1, append(refs[:len(refs):len(refs)], name))
	}
}

// Lookup returns the target of a $ref such as #/$defs/prompt in a document.
func Lookup(root any, ref string) (any, bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, false
	}
	return ordered.At(root, pointer)
}
