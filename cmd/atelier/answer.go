package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"atelier/agent"
	"atelier/media"
)

// asked is the open question that a beginning of its id names, or the oldest one.
func asked(open []agent.Question, id string) (agent.Question, error) {
	if id == "" {
		return open[0], nil
	}
	var rows []identified
	for _, q := range open {
		if q.ID == id {
			return q, nil
		}
		if strings.HasPrefix(q.ID, id) {
			rows = append(rows, identified{q.ID, short(shown(q.Question), 60)})
		}
	}
	found, err := one(id, "question", rows)
	if err != nil {
		return agent.Question{}, err
	}
	if i := slices.IndexFunc(open, func(q agent.Question) bool { return q.ID == found }); i >= 0 {
		return open[i], nil
	}
	return agent.Question{ID: id}, nil // that it is not open is the service's to say
}

// decided answers a question of yes and no.
func decided(q agent.Question, yes bool) (json.RawMessage, error) {
	name, f, ok := onlyField(q.Schema)
	if kind, _ := f.Type.(string); !ok || kind != "boolean" {
		return nil, media.Errorf(media.CodeInvalid, "the question %q is no matter of yes and no: answer in words, or with --answer '%s'", short(shown(q.Question), 80), exampleAnswer(q.Schema))
	}
	return fieldJSON(name, yes)
}

// inWords makes words an answer of the question's form, which has to ask for one thing.
func inWords(q agent.Question, text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	name, f, ok := onlyField(q.Schema)
	if !ok {
		return nil, media.Errorf(media.CodeInvalid, "the question %q asks for several things: answer with --answer '%s'", short(shown(q.Question), 80), exampleAnswer(q.Schema))
	}
	v, err := f.read(text)
	if err != nil {
		return nil, err
	}
	return fieldJSON(name, v)
}

// onlyField is the one thing that a form asks for: its only required field, its only field, or, with
// an empty name, the form itself where it is no object.
func onlyField(schema json.RawMessage) (name string, f form, ok bool) {
	if json.Unmarshal(schema, &f) != nil {
		return "", f, false
	}
	names := f.Required
	if len(names) == 0 {
		for n := range f.Properties {
			names = append(names, n)
		}
	}
	kind, _ := f.Type.(string)
	switch {
	case len(names) == 1:
		f, ok = f.Properties[names[0]]
		kind, _ = f.Type.(string)
		return names[0], f, ok && kind != "object" && kind != "array"
	case len(names) > 1:
		return "", f, false
	}
	return "", f, kind != "" && kind != "object" && kind != "array" || len(f.Enum) > 0
}

// read makes text a value of a field: one of its choices, yes or no, a number, or the text itself.
func (f form) read(text string) (any, error) {
	if len(f.Enum) > 0 {
		var all []string
		for _, v := range f.Enum {
			b, err := json.Marshal(v)
			if s, ok := v.(string); ok && strings.EqualFold(s, text) || err == nil && string(b) == text {
				return v, nil
			}
			all = append(all, string(b))
		}
		return nil, media.Errorf(media.CodeInvalid, "%q is none of the choices: answer %s", short(text, 60), strings.Join(all, " or "))
	}
	switch kind, _ := f.Type.(string); kind {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "y", "true":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
		return nil, media.Errorf(media.CodeInvalid, "%q is neither yes nor no", short(text, 60))
	case "integer", "number":
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "%q is no number", short(text, 60))
		}
		return json.Number(text), nil
	}
	return text, nil
}

// fieldJSON is an object of one field, or the value itself where the field has no name.
func fieldJSON(name string, v any) (json.RawMessage, error) {
	if name != "" {
		v = map[string]any{name: v}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "write the answer: %w", err)
	}
	return b, nil
}
