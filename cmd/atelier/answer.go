package main

import (
	"encoding/json"
	"strings"

	"atelier/agent"
	"atelier/agent/formtext"
	"atelier/media"
)

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
