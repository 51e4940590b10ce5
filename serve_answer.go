package atelier

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"atelier/agent"
	"atelier/agent/formtext"
	"atelier/api"
	"atelier/media"
	"atelier/workflow/ordered"
)

// valueOf converts plain text, or yes or no, to a value that matches the question's schema.
func valueOf(open []agent.Question, a api.Answer) (json.RawMessage, error) {
	i := 0
	if a.Question != "" {
		i = slices.IndexFunc(open, func(q agent.Question) bool { return q.ID == a.Question })
	}
	if i < 0 || i >= len(open) {
		return json.RawMessage("null"), nil // the service reports that the question is not open
	}
	f, ok := formtext.FieldOf(open[i].Schema)
	if !ok || a.Approve != nil && !f.Boolean() {
		return nil, media.Errorf(media.CodeInvalid, "the question has more than one field: give answer, a value that matches its schema")
	}
	if a.Approve != nil {
		return f.AnswerBool(*a.Approve)
	}
	return f.AnswerText(*a.Text)
}

// flaws appends the innermost problems of a validation, as text with pointers into the request.
func flaws(out []api.Flaw, v *jsonschema.ValidationError) []api.Flaw {
	for _, cause := range v.Causes {
		out = flaws(out, cause)
	}
	if len(v.Causes) > 0 {
		return out
	}
	return append(out, api.Flaw{Pointer: "/answer" + ordered.Pointer(v.InstanceLocation...), Detail: v.ErrorKind.LocalizedString(message.NewPrinter(language.English))})
}
