// Package formtext converts plain text, or a yes or no, to an answer that matches the JSON Schema of an
// agent's question. Its errors have code media.CodeInvalid and list the valid answers. It imports only media.
package formtext

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"atelier/media"
)

// Field is the single value that a question asks for.
type Field struct {
	// Name is the property of the answer; empty if the answer is the value itself.
	Name   string
	schema schema
}

// schema is the part of a JSON Schema that is used.
type schema struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
}

// kind returns the type if there is one, apart from null.
func (s schema) kind() string {
	list, _ := s.Type.([]any)
	if list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return t == "null" }); len(list) == 1 {
		s.Type = list[0]
	}
	kind, _ := s.Type.(string)
	return kind
}

// FieldOf returns the only required property of a form, its only property, or the form itself if it
// is not an object. It returns false for a form that asks for several values.
func FieldOf(form json.RawMessage) (f Field, ok bool) {
	var s schema
	if json.Unmarshal(form, &s) != nil {
		return f, false
	}
	names := s.Required
	if len(names) == 0 {
		for n := range s.Properties {
			names = append(names, n)
		}
	}
	switch len(names) {
	case 0:
		return Field{schema: s}, s.kind() != "" && s.single() || len(s.Enum) > 0
	case 1:
		p, known := s.Properties[names[0]]
		return Field{names[0], p}, known && p.single()
	}
	return f, false
}

func (s schema) single() bool { return s.kind() != "object" && s.kind() != "array" }

// Boolean reports whether the field is a yes-or-no value.
func (f Field) Boolean() bool { return f.schema.kind() == "boolean" }

// Choices returns the texts that the field accepts; none if it has no list of choices.
func (f Field) Choices() (texts []string) {
	for _, v := range f.schema.Enum {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// AnswerBool returns the answer to a [Field.Boolean] field.
func (f Field) AnswerBool(yes bool) (json.RawMessage, error) { return f.encode(yes) }

// AnswerText returns the answer for a text: one of the choices, yes or no, a number, or the text itself.
func (f Field) AnswerText(text string) (json.RawMessage, error) {
	v, err := f.schema.read(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	return f.encode(v)
}

func (s schema) read(text string) (any, error) {
	if len(s.Enum) > 0 {
		var all []string
		for _, v := range s.Enum {
			b, err := json.Marshal(v)
			if c, ok := v.(string); ok && strings.EqualFold(c, text) || err == nil && string(b) == text {
				return v, nil
			}
			all = append(all, string(b))
		}
		e := media.Errorf(media.CodeInvalid, "%.60q is none of the choices: answer %s", media.ErrorText(text), strings.Join(all, " or "))
		e.Valid = Field{schema: s}.Choices()
		return nil, e
	}
	switch s.kind() {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "y", "true":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
		return nil, media.Errorf(media.CodeInvalid, "%.60q is neither yes nor no", media.ErrorText(text))
	case "integer", "number":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, media.Errorf(media.CodeInvalid, "%.60q is not a number", media.ErrorText(text))
		}
		return json.Number(text), nil
	}
	return text, nil
}

func (f Field) encode(v any) (json.RawMessage, error) {
	if f.Name != "" {
		v = map[string]any{f.Name: v}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "write the answer: %w", err)
	}
	return b, nil
}
