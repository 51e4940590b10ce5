package view

import (
	"slices"
	"strings"

	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/schema"
	"atelier/workflow/template"
)

// Prompt returns the text that is sent to a provider for a prompt. Text stays as it is. An object becomes text by its
// template or, without a template, by joining its non-empty texts in order with ", ", including nested texts and lists.
// Keys that are parameters are omitted.
func Prompt(by *template.Template, data any, scope template.Scope, params *ordered.Object) (string, error) {
	if s, ok := data.(string); ok {
		return s, nil
	}
	if by != nil {
		return by.Text(scope, true)
	}
	var texts []string
	if o, ok := data.(*ordered.Object); ok {
		for k, v := range o.All() {
			if !params.Object("properties").Has(k) {
				template.Walk(v, func(_, s string) any {
					if strings.TrimSpace(s) != "" {
						texts = append(texts, s)
					}
					return s
				})
			}
		}
	}
	return strings.Join(texts, ", "), nil
}

// Derive derives the schema of a form from data. It keeps what the display schema says about each part, such as title,
// enum and bounds.
func Derive(s *schema.Node, data any) *ordered.Object {
	out := &ordered.Object{}
	if s != nil {
		for k, v := range s.Keywords.All() {
			switch k {
			case "_ux", "type", "properties", "additionalProperties", "items", "required", "$defs", "$ref", "$schema", "$id", "$comment":
			default:
				out.Set(k, v)
			}
		}
	}
	switch data := data.(type) {
	case *ordered.Object:
		fields := &ordered.Object{}
		for k, v := range data.All() {
			fields.Set(k, Derive(property(s, k), v))
		}
		out.Set("type", "object")
		out.Set("properties", fields)
	case []any:
		out.Set("type", "array")
		if len(data) > 0 {
			var items *schema.Node
			if s != nil {
				items = s.Items
			}
			if conform.Validate(ordered.New("items", Derive(nil, data[0])), "", data) == nil { // one schema describes them all
				out.Set("items", Derive(items, data[0]))
			}
		}
	case nil:
		types := []string{"string"}
		if s != nil && len(s.Types) > 0 {
			types = s.Types
		}
		if !slices.Contains(types, "null") {
			types = append(types[:len(types):len(types)], "null")
		}
		out.Set("type", ordered.List(types))
	default:
		t := typeOf(data)
		if t == "integer" && (s == nil || s.Takes("number")) { // a person may replace 1 with 1.5
			t = "number"
		}
		out.Set("type", t)
	}
	return out
}

func property(s *schema.Node, key string) *schema.Node {
	if s == nil {
		return nil
	}
	return s.Property(key)
}
