package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier/agent"
	"atelier/agent/formtext"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/workflows"
	"atelier/workflow/ordered"
)

// ask shows what a run waits for and the commands that answer it.
func (w *world) ask(run string, open []agent.Question) {
	for i, q := range open {
		if q.AgentPath == workflows.AgentName {
			w.line("%s", withRefs(q.Question))
			w.line("answer with: %s", workflowAnswerCommand(run))
			continue
		}
		w.question(q)
		command := "atelier resume " + run
		if i > 0 {
			command += " --question " + q.ID
		}
		w.line("answer with: %s --answer %s", command, quoted(exampleAnswer(q.Schema)))
		if short := shortAnswer(q.Schema); short != "" {
			w.line("or with:     %s %s", command, short)
		}
	}
}

// question shows a question and the form of its answer.
func (w *world) question(q agent.Question) {
	w.line("")
	w.line("%s asks: %s", q.AgentPath, withRefs(q.Question))
	if d := q.Details; d != nil {
		if d.Action != "" {
			w.line("  action: %s %s", d.Action, short(string(d.Params), 400))
			w.line("  price:  %s %s", estimateText(d.EstimatedUSD), d.Estimate)
		}
		if d.Reason != "" {
			w.line("  reason: %s", d.Reason)
		}
	}
	w.form(q.Schema)
}

// quoted returns text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shortAnswer returns an answer to type that is not JSON; empty for a form with several fields.
func shortAnswer(schema json.RawMessage) string {
	field, ok := formtext.FieldOf(schema)
	if ok && field.Boolean() {
		return "--approve, or --deny"
	}
	var f form
	if json.Unmarshal(schema, &f) != nil {
		return ""
	}
	if field.Name != "" {
		f = f.Properties[field.Name]
	}
	if text, isText := f.example(0).(string); ok && isText {
		return quoted(text)
	}
	return ""
}

// withRefs returns text for people, with each placeholder replaced by its ref.
func withRefs(text string) string {
	return media.ResolveString(text, func(r media.Ref) string { return "[" + string(r) + "]" })
}

// form shows the fields of a form in their order, or its schema if it is not a plain object.
func (w *world) form(schema json.RawMessage) {
	var f form
	var order struct {
		Properties *ordered.Object `json:"properties"`
	}
	if err := cmp.Or(json.Unmarshal(schema, &f), json.Unmarshal(schema, &order)); err != nil || len(f.Properties) == 0 {
		var b bytes.Buffer
		_ = json.Compact(&b, schema) // a schema is valid JSON
		w.line("  form: %s", b.String())
		return
	}
	var rows [][]string
	for name := range order.Properties.All() {
		p := f.Properties[name]
		need := "optional"
		if slices.Contains(f.Required, name) {
			need = "required"
		}
		rows = append(rows, []string{"  " + name, p.kind(), need, short(cmp.Or(p.Description, p.Title), 80)})
	}
	table(w.stdout, []string{"  FIELD", "TYPE", "", ""}, rows)
}

// kind describes briefly what a field accepts.
func (f form) kind() string {
	if len(f.Enum) > 0 {
		var all []string
		for _, v := range f.Enum {
			all = append(all, string(ledger.JSON(v)))
		}
		return short(strings.Join(all, " or "), 80)
	}
	switch t := f.Type.(type) {
	case string:
		return t
	case []any:
		return short(fmt.Sprint(t...), 40)
	}
	return "any"
}

// form holds the parts of a JSON Schema that an example needs.
type form struct {
	Type        any             `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Const       any             `json:"const"`
	Default     any             `json:"default"`
	Enum        []any           `json:"enum"`
	Examples    []any           `json:"examples"`
	Required    []string        `json:"required"`
	Properties  map[string]form `json:"properties"`
	Items       *form           `json:"items"`
	MinItems    int             `json:"minItems"`
	Minimum     *float64        `json:"minimum"`
	AnyOf       []form          `json:"anyOf"`
	OneOf       []form          `json:"oneOf"`
}

// exampleAnswer returns an example of an answer that matches a form.
func exampleAnswer(schema json.RawMessage) string {
	var f form
	if err := json.Unmarshal(schema, &f); err != nil {
		return "{}" // the schema is true or false
	}
	return string(ledger.JSON(f.example(0)))
}

// maxFormDepth is the maximum depth of an example.
const maxFormDepth = 8

func (f form) example(depth int) any {
	given := slices.Concat([]any{f.Const, f.Default}, f.Examples, f.Enum)
	if i := slices.IndexFunc(given, func(v any) bool { return v != nil }); i >= 0 {
		return given[i]
	}
	if choice := slices.Concat(f.AnyOf, f.OneOf); f.Type == nil && len(choice) > 0 && depth < maxFormDepth {
		return choice[0].example(depth + 1)
	}
	kind, _ := f.Type.(string)
	if list, ok := f.Type.([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch kind {
	case "boolean":
		return true
	case "integer", "number":
		if f.Minimum != nil {
			return *f.Minimum
		}
		return 1
	case "null":
		return nil
	case "array":
		items := []any{}
		for f.Items != nil && len(items) < max(1, min(f.MinItems, maxFormDepth)) && depth < maxFormDepth {
			items = append(items, f.Items.example(depth+1))
		}
		return items
	case "string":
		return "…"
	}
	out := map[string]any{} // the required properties, or all if none is required
	for name, p := range f.Properties {
		if depth < maxFormDepth && (len(f.Required) == 0 || slices.Contains(f.Required, name)) {
			out[name] = p.example(depth + 1)
		}
	}
	return out
}

// openQuestion returns the open question whose id starts with id; the oldest one if id is empty.
func openQuestion(open []agent.Question, id string) (agent.Question, error) {
	if id == "" {
		return open[0], nil
	}
	found := agent.Question{ID: id} // the service reports that it is not open
	var rows []identified
	for _, q := range open {
		if q.ID == id {
			return q, nil
		}
		if strings.HasPrefix(q.ID, id) {
			found, rows = q, append(rows, identified{q.ID, short(withRefs(q.Question), 60)})
		}
	}
	_, err := one(id, "question", rows)
	return found, err
}

// yesOrNo answers a yes-or-no question.
func yesOrNo(q agent.Question, yes bool) (json.RawMessage, error) {
	f, ok := formtext.FieldOf(q.Schema)
	if !ok || !f.Boolean() {
		return nil, media.Errorf(media.CodeInvalid, "the question %q is not a yes-or-no question: answer with text, or with --answer '%s'", short(withRefs(q.Question), 80), exampleAnswer(q.Schema))
	}
	return f.AnswerBool(yes)
}

// answerFromText converts text into an answer of the question's form, which must have one field.
func answerFromText(q agent.Question, text string) (json.RawMessage, error) {
	f, ok := formtext.FieldOf(q.Schema)
	if !ok {
		return nil, media.Errorf(media.CodeInvalid, "the question %q has several fields: answer with --answer '%s'", short(withRefs(q.Question), 80), exampleAnswer(q.Schema))
	}
	return f.AnswerText(text)
}
